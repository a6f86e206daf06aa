/**
 * A table is restored to any earlier moment, while messages from later remain: S13, L1, L2, S6. The table
 * lacks the later acts, but the external services recognise them by their keys.
 */

import type { AttemptContext } from '../../lib/core/plan/agent.ts';
import type { Verdict } from '../../lib/core/plan/answers.ts';
import type { Trigger } from '../../lib/scheduler/trigger.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ports, Store } from '../../lib/core/ports.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { startFrom } from '../../lib/scheduler/starter.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, type Harness, harness, settle } from '../engine/harness.ts';

const recovery = [retry(3, { delay: '1s', maxDelay: '5s' })];
const order = workflow('order', { input: anyObject, within: '1h' }, (w) => {
  const paid = w.step('paid', anAgent('pay', { effect: 'probed' }), {}, { recovery });
  const kept = w.step('kept', anAgent('keep'), {}, { recovery });
  w.step('shipped', anAgent('ship', { effect: 'probed' }), {}, { recovery, after: [paid, kept] });
  return {};
}) as Workflow;

/** Services that deduplicate by key. The first try of each gets no answer. */
function services(): { readonly done: Set<string>; readonly all: Harness['implementations'] } {
  const done = new Set<string>();
  const execute = async ({ idempotencyKey, attempt }: AttemptContext): Promise<object> => {
    if (attempt === 1 && !done.has(idempotencyKey)) throw new Error('no answer');
    done.add(idempotencyKey);
    return { key: idempotencyKey };
  };
  const probe = async ({ idempotencyKey }: AttemptContext): Promise<Verdict<unknown>> =>
    done.has(idempotencyKey) ? { verdict: 'done', output: { key: idempotencyKey } } : { verdict: 'not-done' };
  const undo = async (): Promise<void> => undefined;
  const agent = { execute, probe, undo };
  return { done, all: { pay: agent, keep: agent, ship: agent } as Harness['implementations'] };
}

interface Recording {
  /** The table after each write. */
  readonly moments: Snapshot[];
  readonly messages: Send[];
}

const recorded =
  ({ moments, messages }: Recording) =>
  (world: MemoryWorld): Ports => {
    const after = async <Result>(id: string, written: Promise<Result>): Promise<Result> => {
      const result = await written;
      const state = await world.store.read(id);
      if (state !== undefined) moments.push(structuredClone(state));
      return result;
    };
    const store: Store = {
      shards: world.store.shards,
      writePlan: (hash, plan) => world.store.writePlan(hash, plan),
      readPlan: (hash) => world.store.readPlan(hash),
      read: (id) => world.store.read(id),
      readExecution: (id) => world.store.readExecution(id),
      openQuestions: (below) => world.store.openQuestions(below),
      due: (...query) => world.store.due(...query),
      list: (query) => world.store.list(query),
      survey: (since, workflows) => world.store.survey(since, workflows),
      inbox: (...query) => world.store.inbox(...query),
      create: (execution) => after(execution.id, world.store.create(execution)),
      write: (write) => after(write.executionId, world.store.write(write)),
    };
    const send = async (sends: readonly Send[]): Promise<void> => {
      messages.push(...structuredClone(sends));
      await world.queue.send(sends);
    };
    return { ...world, store, queue: { send } };
  };

/** Restores a snapshot write by write, because the store accepts only the next version of each record. */
async function restore(to: Harness, from: Harness, { execution, steps }: Snapshot): Promise<void> {
  const plan = await from.store.readPlan(execution.plan);
  await to.store.writePlan(execution.plan, plan!);
  const executionId = execution.id;
  for (let version = 1; version <= execution.version; version += 1) {
    const last = version === execution.version;
    const one = { ...execution, version, writeId: last ? execution.writeId : `old-${version}` };
    if (version === 1) await to.store.create(one);
    else await to.store.write({ executionId, execution: one });
  }
  for (const step of Object.values(steps)) {
    for (let version = 1; version <= step.version; version += 1) {
      const writeId = version === step.version ? step.writeId : `old-${version}`;
      await to.store.write({ executionId, step: { ...step, version, writeId } });
    }
  }
}

async function lost(): Promise<
  Recording & { readonly h: Harness; readonly external: ReturnType<typeof services> }
> {
  const recording: Recording = { moments: [], messages: [] };
  const external = services();
  const h = harness(order, external.all, 1, recorded(recording));
  const { id } = await h.begin();
  expect((await h.run(id)).execution.status).toBe('succeeded');
  return { ...recording, h, external };
}

it('at whichever moment, it ends, asks for nothing under another key, and drops what is from afterwards', async () => {
  const { moments } = await lost();
  expect(moments.length).toBeGreaterThan(10);
  let dropped = 0;
  for (const at of moments.keys()) {
    // Each moment gets the same past, at whose end the external services have done everything.
    const { h, messages, external, moments: again } = await lost();
    expect(again[at]?.execution.version).toBe(moments[at]?.execution.version);
    const later = harness(order, external.all, 2);
    later.clock.advanceTo(h.clock.now() + 600_000);
    await restore(later, h, again[at]!);
    const keys = [...external.done].sort();
    expect(keys).toHaveLength(3);
    // All messages that were ever sent, again and twice, the latest first: many are from after the moment.
    const late = messages.toReversed().map((send) => ({ ...send, delayMs: 0 }));
    later.sent.push(...late, ...structuredClone(late));
    const { execution, steps } = await later.run(again[at]!.execution.id);
    expect([at, execution.status]).toEqual([at, 'succeeded']);
    expect(Object.values(steps).map(({ status }) => status)).toEqual(['done', 'done', 'done']);
    expect([...external.done].sort()).toEqual(keys);
    dropped += later.notes.filter(({ detail }) => detail === 'from after a restore').length;
  }
  expect(dropped).toBeGreaterThan(moments.length);
});

it('knows no start from after its moment: sent again, it is another execution, with effect keys of its own (S18)', async () => {
  const recording: Recording = { moments: [], messages: [] };
  const external = services();
  const h = harness(order, external.all, 1, recorded(recording));
  const { id } = await h.begin({}, 'key-1');
  await h.run(id);
  const before = [...external.done];
  const later = harness(order, external.all, 2);
  later.clock.advanceTo(h.clock.now() + 600_000);
  // So a caller that sends it again must know what it has done already: docs/OPERATIONS.md has the starts
  // listed first.
  expect((await later.begin({}, 'key-1')).id).toBe(id);
  expect((await later.run(id)).execution.status).toBe('succeeded');
  expect(external.done.size).toBe(2 * before.length);
});

const trigger: Trigger = {
  name: 'sold',
  workflow: 'order',
  from: 'event',
  input: { orderId: { $ref: 'input', path: ['id'] } },
  key: [{ $ref: 'input', path: ['id'] }],
};

/** A deployment with a trigger that gets an event every second. */
class Running {
  /** The table in use. */
  table: Harness;
  readonly waiting: string[] = [];
  readonly started: { readonly event: string; readonly id: string; readonly table: Harness }[] = [];
  events = 0;
  /** The construct's `atRest`: queues are not read, and no supervisor starts. */
  isAtRest = false;

  constructor(table: Harness) {
    this.table = table;
  }

  now = (): number => this.table.clock.now();

  async sleep(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      this.table.clock.advanceTo(this.now() + 1_000);
      this.events += 1;
      this.waiting.push(`e-${this.events}`);
      await this.#work();
    }
  }

  async #work(): Promise<void> {
    if (!this.isAtRest)
      for (const event of this.waiting.splice(0)) {
        const message = { id: event, body: JSON.stringify({ id: event }), attributes: {} };
        const outcome = await startFrom(this.table.scheduler, trigger, message);
        if (outcome.kind === 'started')
          this.started.push({ event, id: outcome.executionId, table: this.table });
      }
    // The deliveries are not awaited: they may wait for time, which moves only here.
    if (!this.isAtRest)
      for (const send of this.table.sent.splice(0)) void this.table.deliver(send).catch(() => undefined);
    if (!this.isAtRest) void this.table.sweep();
    await settle();
  }
}

/**
 * Follows the runbook. @returns how many starts are lost: neither in the table, nor listed, nor in a queue
 */
async function restoredWhileRunning(atRest: boolean): Promise<{ lost: number; came: number }> {
  const external = services();
  const old = harness(order, external.all, 1);
  const running = new Running(old);
  await running.sleep(3_000);
  const backup = await Promise.all(
    running.started.map(async ({ id }) => structuredClone(await old.state(id))),
  );
  await running.sleep(2_000);
  running.isAtRest = atRest;
  // The longest timeout and a minute: running code may write until then.
  if (atRest) await running.sleep(120_000);
  const written = async (): Promise<Snapshot[]> =>
    Promise.all(running.started.filter(({ table }) => table === old).map(({ id }) => old.state(id)));
  const before = await written();
  const listed = new Set(running.started.map(({ event }) => event));
  const table = harness(order, external.all, 2);
  table.clock.advanceTo(running.now());
  for (const snapshot of backup) await restore(table, old, snapshot);
  // A restore takes a while.
  await running.sleep(20_000);
  if (atRest) expect(await written()).toEqual(before);
  table.clock.advanceTo(running.now());
  running.table = table;
  running.isAtRest = false;
  await running.sleep(2_000);
  expect(running.waiting).toEqual([]);
  const known = new Set(running.started.filter((start) => start.table === table).map(({ event }) => event));
  const events = Array.from({ length: running.events }, (_, at) => `e-${at + 1}`);
  return {
    lost: events.filter((event) => !known.has(event) && !listed.has(event)).length,
    came: events.length,
  };
}

it('with a trigger running loses no start when the deployment is at rest', async () => {
  const { came, ...rest } = await restoredWhileRunning(true);
  expect(rest).toEqual({ lost: 0 });
  // The trigger did run: it sent more events while processes were waited for, and while the table was
  // restored.
  expect(came).toBeGreaterThan(30);
});

it('with a trigger running loses what it starts in the old table when nothing is at rest', async () => {
  expect(await restoredWhileRunning(false)).toEqual({ lost: 20, came: 27 });
});
