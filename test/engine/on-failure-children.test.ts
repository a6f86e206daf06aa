/**
 * Child executions with on-failure steps: the parent is notified at once, and only of their own end (S21).
 */

import { retry as tries, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { cancel, retry } from '../../lib/scheduler/commands.ts';
import { anAgent, anyObject, type Harness, harness, type RunOptions } from './harness.ts';
import { failingWrite, withStore } from './process.ts';

const DAY = 86_400_000;
const plain = anAgent('plain', { undo: 'none' });
const desk = anAgent('desk', { undo: 'none' });
const once = { recovery: [tries(0)] } as const;

const inner = workflow('inner', { input: anyObject, within: '1h' }, (w) => {
  w.step('x', plain, {}, once);
  w.onFailure('tell', desk, { code: w.failure.code });
});
const outer = workflow('outer', { input: anyObject, within: '3h' }, (w) => {
  const sub = w.child('sub', inner as never as Workflow<object>, {} as never);
  w.step('last', plain, {}, { after: [sub] });
}) as Workflow;

interface Begun {
  readonly h: Harness;
  readonly id: string;
  readonly childId: string;
  /** The messages that customer service received, and the acts. */
  readonly said: Set<string>;
  readonly service: { works: boolean };
}

async function begun(wrap?: (world: Ports) => Ports): Promise<Begun> {
  const said = new Set<string>();
  const service = { works: false };
  const execute = async ({ idempotencyKey }: { idempotencyKey: string }): Promise<object> => {
    if (!service.works) throw new PermanentError('declined');
    said.add(idempotencyKey);
    return {};
  };
  const tell = async ({ idempotencyKey }: { idempotencyKey: string }): Promise<object> => {
    said.add(idempotencyKey);
    return {};
  };
  const h = harness(outer, { plain: { execute }, desk: { execute: tell } }, 1, wrap);
  const { id } = await h.begin();
  return { h, id, childId: `${id}.sub.0`, said, service };
}

/** Loses all messages to the desk agent. */
const untold: RunOptions = { deliverable: ({ agent }) => agent !== 'desk', maxMs: 20_000_000 };

const deskKey = ({ execution: { id, life } }: Snapshot, epoch: number): string =>
  `${id}.on-failure-${epoch}.tell.${life}`;

describe('a child that is following up', () => {
  it('has announced its end to its parent, which ends before it', async () => {
    const { h, id, childId } = await begun();
    expect((await h.run(id, untold)).execution.status).toBe('failed');
    const child = await h.state(childId);
    expect(child.execution).toMatchObject({
      status: 'following-up',
      end: { status: 'failed', parentKnows: true },
    });
    const { version } = child.execution.end as { version: number };
    const heard = (await h.state(id)).steps['sub']?.children?.ended[0];
    expect(heard).toMatchObject({ status: 'failed', version, clean: true });
    await h.run(childId);
    expect((await h.state(id)).steps['sub']?.children?.ended[0]).toEqual(heard);
  });

  it('and whose parent is tried again goes on once it is over, and tells anew if it fails once more', async () => {
    const { h, id, childId, said, service } = await begun();
    await h.run(id, untold);
    await retry(h.scheduler, id, {});
    await h.run(id, { ...untold, until: ({ steps }) => steps['sub']?.status === 'running' });
    expect((await h.state(childId)).execution).toMatchObject({
      status: 'following-up',
      epoch: 1,
      end: { again: true },
    });
    const child = await h.run(childId, {
      until: ({ execution: { epoch, wakeAt } }) => epoch === 2 && wakeAt === undefined,
    });
    expect(h.announced.map(({ executionId, status }) => [executionId, status])).toContainEqual([
      childId,
      'failed',
    ]);
    expect((await h.run(id)).execution).toMatchObject({ status: 'failed', epoch: 2 });
    expect([...said]).toEqual([deskKey(child, 1), deskKey(child, 2)]);
    service.works = true;
    await retry(h.scheduler, id, {});
    expect((await h.run(id)).execution).toMatchObject({ status: 'succeeded', epoch: 3 });
    expect(said.size).toBe(4);
  });

  it('is stopped by a parent that is canceled meanwhile, and stays failed', async () => {
    const { h, id, childId, said } = await begun();
    await h.run(id, untold);
    await retry(h.scheduler, id, {});
    await h.run(id, { ...untold, until: ({ steps }) => steps['sub']?.status === 'running' });
    const asked = (await h.state(childId)).execution.end as { version: number };
    await cancel(h.scheduler, id, {});
    expect((await h.run(id, untold)).execution.status).toBe('canceled');
    const { end } = (await h.state(childId)).execution;
    expect(end).not.toHaveProperty('again');
    expect(end?.version).toBeGreaterThan(asked.version);
    expect((await h.state(id)).steps['sub']?.children?.ended[0]?.version).toBe(end?.version);
    const { execution } = await h.run(childId);
    expect(execution).toMatchObject({ status: 'failed', epoch: 1 });
    expect(said.size).toBe(1);
  });

  it('is not followed up by itself where its parent ends it', async () => {
    const { h, id, childId, said, service } = await begun();
    service.works = true;
    await h.run(id, {
      deliverable: ({ agent }) => agent !== 'plain',
      until: ({ steps }) => steps['sub']?.status === 'running',
    });
    await cancel(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('canceled');
    const { execution } = await h.state(childId);
    expect(execution).toMatchObject({ status: 'canceled', cause: { kind: 'parent' } });
    expect(execution).not.toHaveProperty('end');
    expect(said.size).toBe(0);
  });

  it.each(['before', 'after'] as const)(
    'hangs nowhere and tells each end once, whatever write of it is lost (%s it took place)',
    async (fault) => {
      for (let nth = 1, isBeyond = false; !isBeyond; nth += 1) {
        let writes = 0;
        const { h, id, childId, said } = await begun((world) =>
          withStore(failingWrite(world, nth, fault), (store) => ({
            write: (write) => {
              writes += 1;
              return store.write(write);
            },
          })),
        );
        await h.run(id, { ...untold, maxMs: DAY });
        await retry(h.scheduler, id, { commandId: 'once' }).catch(() => undefined);
        if ((await h.state(id)).execution.epoch === 1) await retry(h.scheduler, id, { commandId: 'once' });
        await h.run(id, {
          ...untold,
          maxMs: DAY,
          until: ({ execution, steps }) => execution.epoch === 2 && steps['sub']?.status === 'running',
        });
        const { execution } = await h.run(id, { maxMs: DAY });
        const child = await h.run(childId, { maxMs: DAY });
        expect([nth, execution.status, execution.epoch]).toEqual([nth, 'failed', 2]);
        expect(child.execution).toMatchObject({ status: 'failed', epoch: 2 });
        expect([...said]).toEqual([deskKey(child, 1), deskKey(child, 2)]);
        isBeyond = writes < nth;
      }
    },
  );
});
