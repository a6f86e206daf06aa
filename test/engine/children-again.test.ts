/**
 * Retrying an execution whose child executions failed: the children continue where they failed, and no work
 * is repeated (S6, S10).
 */

import { decide } from '../../lib/core/decide.ts';
import { retry as tries, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { Parent, ParentNotice } from '../../lib/core/records/children.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { endOf } from '../../lib/core/waiting/child-end.ts';
import { notifyParent } from '../../lib/engine/children.ts';
import { cancel, retry } from '../../lib/scheduler/commands.ts';
import { stepOfKey } from './book.ts';
import { anAgent, anyObject, type Harness, harness } from './harness.ts';
import { withStore } from './process.ts';

const input = anyObject as never;
const plain = anAgent('plain', { undo: 'none' });
const once = { recovery: [tries(0)] } as const;

const inner = workflow('inner', { input, within: '1h' }, (w) => {
  const x = w.step('x', plain, {}, once);
  const y = w.step('y', plain, {}, { after: [x], ...once });
  return { y: y.output };
});
const outer = workflow('outer', { input, within: '3h' }, (w) => {
  const first = w.step('first', plain, {}, once);
  const sub = w.child('sub', inner as never as Workflow<object>, {} as never, { after: [first] });
  w.step('last', plain, {}, { after: [sub] });
}) as Workflow;
const deep = workflow('deep', { input, within: '9h' }, (w) => {
  w.child('outer', outer, {});
}) as Workflow;
const listed = workflow('listed', { input, within: '3h' }, (w) => {
  const items = (w.input as never as { items: never }).items;
  const each = w.map('each', plain, items, (n) => ({ n }) as never, { ...once });
  w.step('last', plain, { of: each.output as never }, { after: [each] });
}) as Workflow;

interface Broken {
  /** The effect keys, as the end of the execution's id and the step. */
  readonly keys: Set<string>;
  readonly done: string[];
}

function broken(flow: Workflow, ...keys: string[]): { h: Harness; service: Broken } {
  const service: Broken = { keys: new Set(keys), done: [] };
  const execute = async ({ idempotencyKey }: { idempotencyKey: string }): Promise<object> => {
    const step = stepOfKey(idempotencyKey);
    if ([...service.keys].some((key) => step.endsWith(key))) throw new PermanentError('declined');
    service.done.push(step);
    return {};
  };
  return { h: harness(flow, { plain: { execute } }), service };
}

async function failed(h: Harness, given: object = {}): Promise<string> {
  const { id } = await h.begin(given as never);
  expect((await h.run(id)).execution.status).toBe('failed');
  return id;
}

/** The effects without repetitions, sorted by key. */
const once1 = (done: readonly string[]): string[] => {
  expect(new Set(done).size).toBe(done.length);
  return [...done].sort();
};

describe('the retry of an execution with a child that failed', () => {
  it('has the child go on where it failed, under its id and its effect keys', async () => {
    const { h, service } = broken(outer, '.y');
    const id = await failed(h);
    expect((await h.state(id)).steps['sub']?.failure?.code).toBe('child-failed');
    service.keys.clear();
    await retry(h.scheduler, id, {});
    const { execution, steps } = await h.run(id);
    expect(execution).toMatchObject({ status: 'succeeded', epoch: 2 });
    expect(steps['sub']).toMatchObject({ status: 'done', epoch: 2, output: { y: {} } });
    expect(steps['sub']).not.toHaveProperty('failure');
    const child = await h.state(`${id}.sub.0`);
    expect(child.execution).toMatchObject({ status: 'succeeded', epoch: 2 });
    expect(child.steps).toMatchObject({ x: { attempt: 1 }, y: { attempt: 2 } });
    expect(once1(service.done)).toEqual([`${id}.first`, `${id}.last`, `${id}.sub.0.x`, `${id}.sub.0.y`]);
  });

  it('may fail again, and be tried again', async () => {
    const { h, service } = broken(outer, '.y');
    const id = await failed(h);
    await retry(h.scheduler, id, {});
    expect((await h.run(id)).execution).toMatchObject({ status: 'failed', epoch: 2 });
    service.keys.clear();
    await retry(h.scheduler, id, {});
    expect((await h.run(id)).execution).toMatchObject({ status: 'succeeded', epoch: 3 });
    expect(service.done).toHaveLength(4);
  });

  it('reaches a child of the child', async () => {
    const { h, service } = broken(deep, '.y');
    const id = await failed(h);
    service.keys.clear();
    await retry(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(service.done).toHaveLength(4);
  });

  it('does not take the earlier end for news, however late it is announced', async () => {
    const { h, service } = broken(outer, '.y');
    const { id } = await h.begin();
    const child = `${id}.sub.0`;
    // The write that records the announcement of its end is lost, so the end is announced again when the
    // retry is written.
    const ports = withStore(h, (store) => ({
      write: async (write) => {
        const isLast = write.executionId === child && write.execution?.status === 'failed';
        if (isLast && write.execution?.wakeAt === undefined) throw new Error('lost');
        return store.write(write);
      },
    }));
    await h.run(id, { portsOf: () => ports });
    expect((await h.state(child)).execution.wakeAt).toBeDefined();
    service.keys.clear();
    let end: ParentNotice | undefined;
    const dying = withStore(h, (store) => ({
      create: async (execution) => {
        if (execution.id === child) await notifyParent(h, end as ParentNotice, undefined);
        return store.create(execution);
      },
    }));
    const { execution: before, steps } = await h.state(child);
    end = { parent: before.parent as Parent, end: endOf(inner.plan, { execution: before, steps }) };
    await retry({ ...h.scheduler, ports: dying }, id, {});
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it('is obeyed once, although the process that continues the child dies before it reports', async () => {
    const { h, service } = broken(outer, '.y');
    const id = await failed(h);
    service.keys.clear();
    let isLost = false;
    const ports = withStore(h, (store) => ({
      write: async (write) => {
        if (!isLost && write.executionId === id && write.step?.name === 'sub') {
          isLost = true;
          throw new Error('died');
        }
        return store.write(write);
      },
    }));
    await retry({ ...h.scheduler, ports }, id, {});
    expect(isLost).toBe(true);
    const { execution } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect((await h.state(`${id}.sub.0`)).execution.epoch).toBe(2);
    expect(service.done).toHaveLength(4);
  });

  it('counts its next failure as its end, whatever started it once more', async () => {
    const { h } = broken(outer, '.y');
    const id = await failed(h);
    const heard = (await h.state(id)).steps['sub']?.children?.ended['0']?.version as number;
    await retry(h.scheduler, id, {});
    await h.run(id);
    const state = await h.state(`${id}.sub.0`);
    const inputs = { now: h.clock.now(), random: 0, writeId: 'w' };
    const writes = [heard, state.execution.version - 1].map(
      (version) => decide(inner.plan, state, { type: 'restart', endVersion: version, ...inputs }).write,
    );
    expect(writes).toMatchObject([undefined, { execution: { status: 'running', epoch: 3 } }]);
  });

  it('and a cancel at once: a process that read an older state can no longer continue the child (S10)', async () => {
    const { h, service } = broken(outer, '.y');
    const id = await failed(h);
    service.keys.clear();
    let isCanceled = false;
    // The cancel, and everything that follows, takes place between the read of the child and its retry.
    const ports: Ports = withStore(h, (store) => ({
      write: async (write) => {
        if (!isCanceled && write.executionId === `${id}.sub.0`) {
          isCanceled = true;
          await cancel(h.scheduler, id, {});
          await h.run(id);
        }
        return store.write(write);
      },
    }));
    await retry({ ...h.scheduler, ports }, id, {});
    expect(isCanceled).toBe(true);
    expect((await h.state(id)).execution.status).toBe('canceled');
    expect((await h.state(`${id}.sub.0`)).execution.status).toBe('failed');
    expect(service.done).toHaveLength(2);
  });

  it('that was canceled starts another one in its place', async () => {
    const { h, service } = broken(outer);
    const { id } = await h.begin();
    const isAtY = ({ message }: { message: { step: string } }): boolean => message.step !== 'y';
    const started = ({ steps }: Snapshot): boolean => steps['sub']?.status === 'running';
    await h.run(id, { until: started, deliverable: isAtY });
    await cancel(h.scheduler, `${id}.sub.0`, {});
    expect((await h.run(id)).execution.status).toBe('failed');
    await retry(h.scheduler, id, {});
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps['sub']?.children).not.toHaveProperty('restart');
    expect((await h.state(`${id}.sub.0-e2t1`)).execution.status).toBe('succeeded');
    expect(once1(service.done)).toContain(`${id}.sub.0-e2t1.y`);
  });
});

describe('the retry of an execution with a list', () => {
  it('repeats the items that failed and no others', async () => {
    const { h, service } = broken(listed, '.0.3', '.0.7');
    const id = await failed(h, { items: Array.from({ length: 10 }, (_, n) => n) });
    service.keys.clear();
    await retry(h.scheduler, id, {});
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps['each']?.output).toMatchObject({ total: 10, failed: 0 });
    expect(once1(service.done)).toHaveLength(11);
  });

  it('of which some parts were stopped is refused, with the reason', async () => {
    const { h } = broken(listed, '.0.3');
    const { id } = await h.begin({ items: Array.from({ length: 60 }, (_, n) => n) });
    await h.run(id, { deliverable: ({ message }) => message.execution === `${id}.each.0` });
    await expect(retry(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-retryable',
      message: expect.stringContaining("'each'"),
    });
  });
});
