/**
 * A child with a recovery: its tries run one after the other, each only after the previous one has ended
 * without effects (S10).
 */

import { explain } from '../../lib/explain/why.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { notifyParent } from '../../lib/engine/children.ts';
import { cancel, pause, resume } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { statuses } from './book.ts';
import { drain, type Harness } from './harness.ts';
import { deferred, type Fault, failingWrite, heldWrite, withStore } from './process.ts';
import { moving, provided } from './region.ts';

const DAY = 86_400_000;

const upIs =
  (status: string) =>
  ({ steps }: Snapshot): boolean =>
    steps['up']?.status === status;
describe('a group that is provisioned in another region', () => {
  const moved = (id: string): string[] => [
    `south ${id}.up.0-e1t3.network`,
    `south ${id}.up.0-e1t3.cluster`,
    ` ${id}.announce`,
  ];

  it('is tried again there once the first region is given back, and leaves nothing behind', async () => {
    const { h, outside } = provided(['north']);
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect(execution).toMatchObject({ status: 'succeeded', output: { at: 'south' } });
    expect([...outside.stands]).toEqual(moved(id));
    for (const child of [`${id}.up.0`, `${id}.up.0-e1t2`])
      expect((await h.state(child)).execution.status).toBe('compensated');
    expect((await h.state(`${id}.up.0-e1t3`)).execution.parent).toMatchObject({ index: 0, try: 3 });
    expect(steps['up']).toMatchObject({ status: 'done', children: { try: 3 } });
    expect(steps['up']?.attempts.map(({ number, outcome }) => [number, outcome])).toEqual([
      [1, 'failed'],
      [2, 'failed'],
    ]);
  });

  it('is not tried again where it failed for good: what a step does not try again, no group does', async () => {
    const { h, outside } = provided([]);
    outside.closed.add('north');
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect(execution).toMatchObject({ status: 'succeeded', output: { at: 'south' } });
    expect(steps['up']).toMatchObject({ status: 'done', children: { try: 2 } });
    expect(outside.done.filter((one) => one.startsWith('north'))).toEqual([`north ${id}.up.0.network`]);
    expect((await h.state(`${id}.up.0`)).steps['cluster']).toMatchObject({ isPermanent: true });
  });

  it('asks a person at once where no other way is left, and forgets what failed for good once it is tried again', async () => {
    const { h, outside } = provided([]);
    for (const region of ['north', 'south']) outside.closed.add(region);
    const { id } = await h.begin();
    const asked = await h.run(id, { until: upIs('waiting') });
    expect(asked.steps['up']).toMatchObject({ children: { try: 2 }, isPermanent: true });
    outside.closed.clear();
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry' });
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps['up']).not.toHaveProperty('isPermanent');
  });

  it.each<Fault>(['before', 'after'])(
    'does so whichever write a process dies %s: nothing doubled, nothing left, nothing stuck',
    async (fault) => {
      let writes = 0;
      const counted = provided(['north'], (world) =>
        withStore(world, (store) => ({ write: (write) => ((writes += 1), store.write(write)) })),
      );
      await counted.h.run((await counted.h.begin()).id);
      for (let nth = 1; nth <= writes; nth += 1) {
        const { h, outside } = provided(['north'], (world) => failingWrite(world, nth, fault));
        const { id } = await h.begin();
        const { execution } = await h.run(id);
        expect([nth, execution.status]).toEqual([nth, 'succeeded']);
        // A failed write may cost an attempt in the child, and so a try.
        expect([...outside.stands].map((one) => one.replace(/-e1t\d/, ''))).toEqual(
          moved(id).map((one) => one.replace(/-e1t\d/, '')),
        );
        expect(new Set(outside.done).size).toBe(outside.done.length);
      }
    },
  );

  it('says in its explanation which try it is, what became of the others, and when the next begins', async () => {
    const { h } = provided(['north']);
    const { id } = await h.begin();
    const waits = await h.run(id, { until: upIs('retrying') });
    const why = explain(moving.plan, waits, h.clock.now());
    expect(why.steps[0]).toMatchObject({
      status: 'retrying',
      because: `try 1 is over and has left nothing in effect (child-compensated: its execution ${id}.up.0 ended: compensated: step 'cluster' failed (TransientError))`,
    });
    expect(why.next).toMatchObject({ what: 'try 2 begins', who: 'supervisor' });
    const second = await h.run(id, {
      until: ({ steps }) => steps['up']?.children?.try === 2,
      deliverable: () => false,
    });
    expect(explain(moving.plan, second, h.clock.now()).steps[0]).toMatchObject({
      because: 'try 2: 0 of 1 executions ended',
      next: { what: `try 2: execution ${id}.up.0-e1t2 end`, who: 'child' },
    });
    const { past } = explain(moving.plan, await h.run(id), h.clock.now());
    expect(
      past.filter(({ step }) => step === 'up').map(({ what }) => what.replace(/, \w+ \w+:/, ':')),
    ).toEqual([
      `try 1: failed: its execution ${id}.up.0 ended: compensated: step 'cluster' failed (TransientError)`,
      `try 2: failed: its execution ${id}.up.0-e1t2 ended: compensated: step 'cluster' failed (TransientError)`,
      'try 3: done: 1 of 1 executions ended (1 succeeded)',
    ]);
  });
});

describe('news of an older try', () => {
  it('is not believed, whatever its version', async () => {
    const { h } = provided(['north']);
    const { id } = await h.begin();
    const before = await h.run(id, {
      until: ({ steps }) => steps['up']?.children?.started === 1 && steps['up'].children.try === 2,
    });
    const { parent } = (await h.state(`${id}.up.0`)).execution;
    for (const status of ['succeeded', 'failed', 'compensated'] as const) {
      const end = { status, version: 99, clean: true };
      await notifyParent(h, { parent: parent as never, end }, undefined);
    }
    expect((await h.state(id)).steps['up']).toEqual(before.steps['up']);
    expect((await h.run(id)).execution).toMatchObject({ status: 'succeeded', output: { at: 'south' } });
  });
});

describe('between two tries', () => {
  it('a pause holds the next one up, and its end lets it begin', async () => {
    const { h } = provided(['north']);
    const { id } = await h.begin();
    await h.run(id, { until: upIs('retrying') });
    await pause(h.scheduler, id, {});
    await h
      .run(id, { until: () => h.clock.now() > 1_700_000_000_000 + 5 * DAY, maxMs: 6 * DAY })
      .catch(() => undefined);
    expect((await h.state(id)).steps['up']).toMatchObject({ status: 'retrying' });
    expect(await h.store.read(`${id}.up.0-e1t2`)).toBeUndefined();
    await resume(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it.each([
    ['undone', {}, 'canceled'],
    ['left as it is', { undo: false }, 'failed'],
  ] as const)('an execution that is stopped, and %s, begins none', async (_, how, status) => {
    const { h, outside } = provided(['north']);
    const { id } = await h.begin();
    await h.run(id, { until: upIs('retrying') });
    await cancel(h.scheduler, id, how);
    const end = await h.run(id);
    expect(end.execution.status).toBe(status);
    expect(statuses(end)).toEqual({ up: 'fenced' });
    expect(await h.store.read(`${id}.up.0-e1t2`)).toBeUndefined();
    expect(outside.stands.size).toBe(0);
  });

  it.each([
    ['a pause', (h: Harness, id: string) => pause(h.scheduler, id, {})],
    ['a cancel', (h: Harness, id: string) => cancel(h.scheduler, id, {})],
  ])('a process that read before %s cannot record the next', async (_, stop) => {
    let held: ReturnType<typeof heldWrite> | undefined;
    const { h } = provided(['north'], (world) => {
      held = heldWrite(world, ({ step }) => step?.status === 'running' && step.children?.try === 2);
      return held.ports;
    });
    const { id } = await h.begin();
    let here = false;
    void held?.arrived.then(() => {
      here = true;
    });
    await h.run(id, { until: () => here });
    await stop(h, id);
    held?.release();
    expect(await held?.result).toBe('conflict');
    expect(await h.store.read(`${id}.up.0-e1t2`)).toBeUndefined();
  });
});

describe('a try that is recorded and not created yet', () => {
  it('never begins once its parent is stopped: its place is taken', async () => {
    const [arrived, released] = [deferred<void>(), deferred<void>()];
    const second = (id: string): boolean => id.endsWith('-e1t2');
    let first = true;
    const { h, outside } = provided(['north'], (world) =>
      withStore(world, (store) => ({
        create: async (execution) => {
          if (!second(execution.id) || !first) return store.create(execution);
          first = false;
          arrived.resolve();
          await released.promise;
          return store.create(execution);
        },
      })),
    );
    const { id } = await h.begin();
    let here = false;
    void arrived.promise.then(() => {
      here = true;
    });
    await h.run(id, { until: () => here });
    await cancel(h.scheduler, id, {});
    const end = await h.run(id);
    expect(end.execution.status).toBe('canceled');
    released.resolve();
    await drain(h);
    expect((await h.state(`${id}.up.0-e1t2`)).execution).toMatchObject({ status: 'canceled', version: 1 });
    expect(outside.stands.size).toBe(0);
  });
});
