/**
 * A child that is its parent's point of no return: after it has passed its own point, no step of the parent
 * is undone; if it ended without effects, all are.
 */

import { askPerson, retry as tries, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ports, Store } from '../../lib/core/ports.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { cancel, pause, retry } from '../../lib/scheduler/commands.ts';
import { statuses } from './book.ts';
import { anAgent, anyObject, type Harness, harness, settle } from './harness.ts';
import { withStore } from './process.ts';

const input = anyObject as never;
const DAY = 86_400_000;
const [bank, packer, shipper, mailer] = ['bank', 'packer', 'shipper', 'mailer'].map((name) => anAgent(name));

const shipping = workflow('shipping', { input, within: '1h' }, (w) => {
  const packed = w.step('pack', packer!, {});
  const gone = w.step('hand-over', shipper!, {}, { after: [packed], pointOfNoReturn: true });
  w.step(
    'notify',
    mailer!,
    {},
    { after: [gone], recovery: [askPerson({ within: '20m', otherwise: 'keep' })] },
  );
}) as never as Workflow<object>;

const order = workflow('order', { input, within: '3h' }, (w) => {
  const charged = w.step('charge', bank!, {});
  w.child('ship', shipping, {}, { after: [charged], pointOfNoReturn: true });
  w.step('book', packer!, { book: true }, { after: [charged], recovery: [tries(0)] });
}) as Workflow;

/** The outside world of an order: its record, and which services work. */
function world(wrap?: (ports: Ports) => Ports) {
  const live = new Set<string>();
  const undone: string[] = [];
  const admissions: Record<string, Promise<void> | undefined> = {};
  const open: Record<string, () => void> = {};
  const failing = new Set<string>();
  const shut = (name: string): void => {
    admissions[name] = new Promise((resolve) => {
      open[name] = () => {
        admissions[name] = undefined;
        resolve();
      };
    });
  };
  const service = (name: string) => ({
    execute: async ({ idempotencyKey }: { idempotencyKey: string }, given: unknown) => {
      const what = (given as { book?: true }).book === true ? 'book' : name;
      if (admissions[what] !== undefined) await admissions[what];
      if (failing.has(what)) throw new PermanentError('no');
      live.add(idempotencyKey);
      return {};
    },
    undo: async ({ idempotencyKey }: { idempotencyKey: string }) => {
      undone.push(idempotencyKey);
      live.delete(idempotencyKey);
    },
  });
  const agents = Object.fromEntries(
    ['bank', 'packer', 'shipper', 'mailer'].map((name) => [name, service(name)]),
  );
  const h = harness(order, agents, 1, wrap);
  return { h, live, undone, shut, open: (name: string) => open[name]?.(), failing };
}

const childOf = (h: Harness, id: string): Promise<Snapshot> => h.state(`${id}.ship.0`);
const untilChild = (h: Harness, id: string, step: string, status: string) => async (): Promise<boolean> =>
  (await h.store.read(`${id}.ship.0`))?.steps[step]?.status === status;

/** Delivers messages until the condition is met, without advancing time. */
async function runUntil(h: Harness, id: string, reached: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 200 && !(await reached()); round += 1) {
    for (const send of h.sent.splice(0)) void h.deliver(send).catch(() => undefined);
    await settle();
  }
  expect(await reached()).toBe(true);
  expect((await h.state(id)).execution.endedAt).toBeUndefined();
}

describe('a cancel while the child is under way', () => {
  it('stops it first, and undoes everything where it had not passed its own point', async () => {
    const { h, live, undone, shut, open } = world();
    shut('packer');
    const { id } = await h.begin();
    await runUntil(h, id, untilChild(h, id, 'pack', 'running'));
    await cancel(h.scheduler, id, {});
    await h.sweep();
    expect(undone).toEqual([]);
    open('packer');
    const end = await h.run(id);
    expect(end.execution).toMatchObject({ status: 'canceled', cause: { kind: 'cancel' } });
    expect((await childOf(h, id)).execution.status).toBe('canceled');
    expect(statuses(end)).toMatchObject({ charge: 'compensated', ship: 'compensated' });
    expect([...live]).toEqual([]);
  });

  it('undoes nothing if the child had passed it, and says that this cancel did not undo everything', async () => {
    const { h, live, undone, shut, open } = world();
    shut('mailer');
    const { id } = await h.begin();
    await runUntil(h, id, untilChild(h, id, 'notify', 'running'));
    await cancel(h.scheduler, id, {});
    await h.sweep();
    expect((await h.state(id)).execution.status).toBe('compensating');
    expect(undone).toEqual([]);
    open('mailer');
    const end = await h.run(id);
    expect(end.execution).toMatchObject({ status: 'failed', cause: { kind: 'cancel', undo: false } });
    expect((await childOf(h, id)).execution).toMatchObject({
      status: 'failed',
      cause: { kind: 'parent', undo: false },
    });
    expect(undone).toEqual([]);
    expect([...live].filter((key) => /\.(?:charge|hand-over)\./.test(key))).toHaveLength(2);
  });

  it('waits for an end that is announced late', async () => {
    let deaf = true;
    const { h, undone, shut, open } = world((ports) =>
      withStore(ports as never, (store) => ({
        write: (write) =>
          deaf && write.step?.name === 'ship' && write.execution !== undefined
            ? Promise.reject(new Error('the process is dead'))
            : store.write(write),
      })),
    );
    shut('mailer');
    const { id } = await h.begin();
    await runUntil(h, id, untilChild(h, id, 'notify', 'running'));
    open('mailer');
    await runUntil(h, id, async () => (await childOf(h, id)).execution.status === 'succeeded');
    expect((await h.state(id)).steps['ship']).toMatchObject({ status: 'running', children: { ended: {} } });
    await cancel(h.scheduler, id, {});
    deaf = false;
    const end = await h.run(id);
    expect(end.execution).toMatchObject({ status: 'failed', cause: { kind: 'cancel', undo: false } });
    expect(statuses(end)).toMatchObject({ charge: 'done', ship: 'done' });
    expect(undone).toEqual([]);
  });
});

it('a child of which nobody has said that it was created is stopped before anything is undone', async () => {
  let letGo = (): void => undefined;
  const admission = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let creates = 0;
  const { h, live, shut } = world((ports) => {
    const create: Store['create'] = async (execution: Execution) => {
      if (execution.parent !== undefined && (creates += 1) === 1) await admission;
      return ports.store.create(execution);
    };
    return withStore(ports as never, () => ({ create }));
  });
  shut('book');
  const { id } = await h.begin();
  await runUntil(h, id, async () => creates === 1);
  await cancel(h.scheduler, id, {});
  const end = h.run(id);
  await settle();
  letGo();
  expect((await end).execution.status).toBe('canceled');
  expect((await childOf(h, id)).execution).toMatchObject({ status: 'canceled', version: 1 });
  expect([...live]).toEqual([]);
});

describe('a failure beside the child', () => {
  it('undoes nothing once the child has passed its point, and a retry goes on where both stopped', async () => {
    const { h, live, undone, shut, open, failing } = world();
    shut('mailer');
    shut('book');
    failing.add('book');
    const { id } = await h.begin();
    await runUntil(h, id, untilChild(h, id, 'notify', 'running'));
    open('book');
    await runUntil(h, id, async () => (await h.state(id)).execution.status === 'compensating');
    open('mailer');
    const end = await h.run(id);
    expect(end.execution).toMatchObject({
      status: 'failed',
      cause: { kind: 'failure', step: 'book', undo: false },
    });
    expect(undone).toEqual([]);
    failing.clear();
    const before = [...live];
    await retry(h.scheduler, id, {});
    const again = await h.run(id);
    expect(again.execution.status).toBe('succeeded');
    expect(statuses(again)).toEqual({ charge: 'done', ship: 'done', book: 'done' });
    expect([...live]).toEqual(expect.arrayContaining(before));
    expect(undone).toEqual([]);
  });

  it('undoes everything where the child had not begun', async () => {
    const { h, live, shut, open, failing } = world();
    shut('packer');
    shut('book');
    failing.add('book');
    failing.add('packer');
    const { id } = await h.begin();
    await runUntil(h, id, untilChild(h, id, 'pack', 'running'));
    open('book');
    open('packer');
    const end = await h.run(id);
    expect(end.execution.status).toBe('compensated');
    expect([...live]).toEqual([]);
  });
});

it('a child that fails behind its own point leaves everything, and a retry of the parent has it go on', async () => {
  const { h, undone, failing } = world();
  failing.add('mailer');
  const { id } = await h.begin();
  const end = await h.run(id, { maxMs: DAY });
  expect(end.execution).toMatchObject({
    status: 'failed',
    cause: { kind: 'failure', step: 'ship', undo: false },
  });
  expect(undone).toEqual([]);
  failing.clear();
  await retry(h.scheduler, id, {});
  expect((await h.run(id)).execution.status).toBe('succeeded');
});

it('the end of a pause stops the child first, too', async () => {
  const { h, undone, shut, open } = world();
  shut('mailer');
  const { id } = await h.begin();
  await runUntil(h, id, untilChild(h, id, 'notify', 'running'));
  await pause(h.scheduler, id, { withinMs: 60_000 });
  await h.run(id, { until: ({ questions }) => questions?.[1] !== undefined });
  expect((await h.state(id)).questions?.[1]).toMatchObject({ kind: 'pause', otherwise: 'undo-all' });
  open('mailer');
  await h.run(id, { until: ({ steps }) => steps['ship']?.children?.ended[0] !== undefined, maxMs: DAY });
  const end = await h.run(id, { maxMs: 8 * DAY });
  expect(end.execution).toMatchObject({ status: 'failed', cause: { undo: false } });
  expect(undone).toEqual([]);
});

describe('a cancel that leaves what has acted as it is', () => {
  it('ends as failed, and a retry goes on with the very same child', async () => {
    const { h, live, undone, shut, open } = world();
    shut('packer');
    const { id } = await h.begin();
    await runUntil(h, id, untilChild(h, id, 'pack', 'running'));
    await cancel(h.scheduler, id, { undo: false });
    open('packer');
    const end = await h.run(id);
    expect(end.execution).toMatchObject({ status: 'failed', cause: { kind: 'cancel', undo: false } });
    expect((await childOf(h, id)).execution).toMatchObject({ status: 'failed', cause: { kind: 'parent' } });
    expect(undone).toEqual([]);
    await retry(h.scheduler, id, {});
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect((await childOf(h, id)).execution.status).toBe('succeeded');
    expect([...live].filter((key) => key.startsWith(`${id}.ship.0.hand-over.`))).toHaveLength(1);
  });

  it('of the child alone cannot be undone elsewhere: its parent is not tried again', async () => {
    const { h, shut, open } = world();
    shut('packer');
    const { id } = await h.begin();
    await runUntil(h, id, untilChild(h, id, 'pack', 'running'));
    await cancel(h.scheduler, `${id}.ship.0`, { undo: false });
    open('packer');
    const end = await h.run(id);
    expect((await childOf(h, id)).execution).toMatchObject({ status: 'failed', cause: { kind: 'cancel' } });
    expect(end.execution).toMatchObject({
      status: 'failed',
      cause: { kind: 'failure', step: 'ship', undo: false },
    });
    await expect(retry(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-retryable',
      message: expect.stringContaining('an operator canceled one of its executions'),
    });
    await expect(retry(h.scheduler, `${id}.ship.0`, {})).rejects.toMatchObject({ code: 'not-retryable' });
  });
});
