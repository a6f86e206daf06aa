/**
 * The supervisor: finds due executions and evaluates them. It has no state machine of its own.
 *
 * Owns: the sweep (shards, all pages, bounded concurrency, isolating a bad item), which supervisor sweeps
 * which shards, when to sweep again and when to stop. Does not own: an evaluation (`core/rules.ts`), the
 * order (`due.ts`), the record of a sweep (`receipts.ts`). Any number of supervisors may run at once, on the
 * same shards: every write is conditional.
 *
 * L4 an item that cannot be handled delays no other. L5 each supervisor of a tick keeps its own shards and
 * visits the others', so that a dead supervisor is replaced at once. C3 a tick that finds nothing due before
 * the next one ends at once, after one query for each of its own shards. A tick with due executions stays
 * until the next one, so that work that starts meanwhile is supervised.
 */

import type { Clock, Due, Ports } from '../core/ports.ts';
import type { Mailbox } from '../core/records/mailbox.ts';
import type { NewlyLost } from '../core/records/receipts.ts';
import { sayable } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { type PlanCache, planOf } from '../engine/plans.ts';
import { withoutWakeTime } from '../engine/mailbox.ts';
import { reconcile, type Oversight } from '../engine/reconcile.ts';
import { withoutCalls } from '../engine/wake-up.ts';
import { admissionControl, type Ask } from './admission.ts';
import { haveGroups, fairly, readAhead } from './due.ts';
import { Grace, type ShardSweep, type Sweep } from './outage.ts';
import { type Stay, STAYS_WHEN_BUSY } from './stay.ts';

export interface TickOptions {
  /** When the next tick is due; this one ends before. */
  readonly untilAt: number;
  readonly sweepEveryMs: number;
  /** @default the only part */
  readonly part?: Part;
  /**
   * What this process remembers from earlier ticks.
   * @default nothing
   */
  readonly grace?: Grace;
  /**
   * How many messages a sweep sends to an agent even if its queue is full (`admission.ts`).
   * @default FREE_SENDS
   */
  readonly freeSends?: number;
  /**
   * Called after every sweep, to leave receipts (`receipts.ts`); `last` after the last one.
   * @default no receipts
   */
  readonly leave?: (sweeps: readonly ShardSweep[], last: boolean) => Promise<void>;
  /**
   * How long the supervisor stays, and what it promises.
   * @default until `untilAt`, once it has found a due execution; it makes no promise
   */
  readonly stay?: Stay;
}

/**
 * One of the supervisors that a tick starts together. It keeps the shards whose number modulo `of` is `part`.
 */
export interface Part {
  readonly part: number;
  readonly of: number;
}

export const SWEEP_EVERY_MS = 2_000;
/**
 * The most evaluations at once in a shard. Each makes a few calls to the store, so this limits the load of a
 * sweep after an outage.
 */
const CONCURRENCY = 8;
/**
 * After an evaluation that came too early, because its agent may be sent no more now, the sweep rests for
 * this many times its length. In a crowd that waits for one agent most evaluations are like that. Without
 * rests they would take the store's capacity, and money, from the agents that work off the crowd. Executions
 * behind the crowd only have their turn later.
 */
const RESTS_PER_EVALUATION = 3;
const MAX_REST_MS = 1_000;
/**
 * After this time a sweep of executions with groups (`fairBy`) begins again, without a pause: an execution
 * that has become due since then may have an earlier turn.
 */
const TURNS_AGAIN_MS = 1_000;
/**
 * The sweep from which other supervisors' shards are visited (in an idle system the first may last a whole
 * tick), …
 */
const FIRST_VISIT = 2;
/** … and for how many sweeps work must be overdue there: then no supervisor can be at work in it. */
const MISSED_SWEEPS = 1.5;

/** Makes one tick: sweeps until the next one while something is due. @returns the sweeps made */
export async function tick(world: Ports, plans: PlanCache, options: TickOptions): Promise<readonly Sweep[]> {
  const ports = withoutCalls(world);
  const {
    untilAt,
    sweepEveryMs,
    part,
    leave,
    freeSends,
    grace = new Grace(),
    stay = STAYS_WHEN_BUSY,
  } = options;
  const kept = new Set(shardsOf(ports, part));
  const sweeps: Sweep[] = [];
  const evaluated = new Map<string, number>();
  let busy = false;
  let overdueAt: number | undefined;
  for (let lap = 1; ; lap += 1) {
    // Other supervisors of its tick may end without notice.
    if (lap >= FIRST_VISIT && stay.isSecond?.() === false && busy)
      for (const shard of shardsOf(ports)) kept.add(shard);
    const ask = admissionControl(ports, sweepEveryMs, freeSends);
    const reach = { untilAt, grace, stay, ask, turns: { evaluated, everyMs: TURNS_AGAIN_MS } };
    const own = await sweepShards(ports, plans, [...kept], reach);
    const others = lap >= FIRST_VISIT ? shardsOf(ports).filter((shard) => !kept.has(shard)) : [];
    const lateMs = MISSED_SWEEPS * sweepEveryMs;
    const visited = await sweepShards(ports, plans, others, { ...reach, lateMs });
    grace.swept(ports.clock.now(), [...own, ...visited]);
    // The shard's supervisor is dead, has ended, or cannot keep up: keep the shard here, too.
    for (const { shard, due } of visited) if (due > 0) kept.add(shard);
    const sweep = sumOf([...own, ...visited]);
    sweeps.push(sweep);
    busy ||= sweep.busy;
    if (sweep.due > 0) overdueAt = ports.clock.now();
    const isCut = [...own, ...visited].some(({ cut }) => cut);
    if (!isCut) evaluated.clear();
    const nextAt = ports.clock.now() + (isCut ? 0 : sweepEveryMs);
    const last =
      nextAt >= untilAt || !(await stay.stays({ now: sweep.busy, ever: busy, ...defined({ overdueAt }) }));
    await leave?.([...own, ...visited.filter(({ shard }) => kept.has(shard))], last);
    if (last) return sweeps;
    if (!isCut) await ports.clock.sleep(sweepEveryMs);
  }
}

function shardsOf(ports: Ports, { part, of }: Part = { part: 0, of: 1 }): number[] {
  const all = Array.from({ length: ports.store.shards }, (_, shard) => shard);
  return all.filter((shard) => shard % of === part);
}

interface Reach {
  /** No evaluation begins later. Something due before this time is worth staying for. */
  readonly untilAt: number;
  /** Evaluates only work that is overdue for at least this long. */
  readonly lateMs?: number;
  /** Says what may be sent, for all shards of the sweep together. */
  readonly ask: Ask;
  readonly grace: Grace;
  readonly stay: Stay;
  /** Absent: evaluates everything due, however long that takes. */
  readonly turns?: Turns;
}

interface Turns {
  readonly everyMs: number;
  /**
   * By execution, the wake time at which it was evaluated since the last complete sweep. So an execution that
   * keeps its wake time does not take its group's turn again and again.
   */
  readonly evaluated: Map<string, number>;
}

interface Swept extends ShardSweep {
  /** True if due executions were left for the next sweep. */
  readonly cut: boolean;
}

/** Evaluates everything due once, all shards side by side, until `untilAt` at the latest. Never rejects. */
export async function sweepOnce(
  world: Ports,
  plans: PlanCache,
  untilAt: number,
  grace: Grace = new Grace(),
): Promise<Sweep> {
  const ports = withoutCalls(world);
  const ask = admissionControl(ports, SWEEP_EVERY_MS);
  const reach = { untilAt, grace, stay: STAYS_WHEN_BUSY, ask };
  const sweeps = await sweepShards(ports, plans, shardsOf(ports), reach);
  grace.swept(ports.clock.now(), sweeps);
  return sumOf(sweeps);
}

const sweepShards = (
  ports: Ports,
  plans: PlanCache,
  shards: readonly number[],
  reach: Reach,
): Promise<Swept[]> =>
  Promise.all(
    shards.map((shard) =>
      sweepShard(ports, plans, shard, reach).catch((error: unknown) => {
        // The index could not be read: stay, because it may be back before the next tick.
        ports.log.note({ what: 'sweep-failed', detail: sayable(error) });
        return { shard, due: 0, failed: 1, oldestOverdueMs: 0, busy: true, cut: false };
      }),
    ),
  );

const sumOf = (sweeps: readonly Sweep[]): Sweep =>
  sweeps.reduce(
    (all, one) => ({
      due: all.due + one.due,
      failed: all.failed + one.failed,
      oldestOverdueMs: Math.max(all.oldestOverdueMs, one.oldestOverdueMs),
      busy: all.busy || one.busy,
    }),
    { due: 0, failed: 0, oldestOverdueMs: 0, busy: false },
  );

async function sweepShard(ports: Ports, plans: PlanCache, shard: number, reach: Reach): Promise<Swept> {
  const { untilAt, lateMs, stay, turns } = reach;
  const evaluatesUntilAt = Math.min(untilAt, stay.evaluatesUntilAt());
  let [due, failed, oldestOverdueMs, busy, cut] = [0, 0, 0, false, false];
  const missing = new Map<string, Set<string>>();
  const lost = new Map<string, NewlyLost>();
  const counting = countingLost(ports, lost);
  let cursor: string | undefined;
  do {
    const askedAt = ports.clock.now();
    const dueAt = lateMs === undefined ? Math.max(askedAt, untilAt) : askedAt - lateMs;
    const page = await readAhead(ports.store, shard, dueAt, askedAt, cursor);
    // An answer may have corrected a clock that was ahead: what is not due now is not overdue.
    const now = Math.min(askedAt, ports.clock.now());
    const overdue = page.items.filter((item) => item.wakeAt <= now);
    const inGroups = haveGroups(overdue) ? turns : undefined;
    const next = inGroups
      ? fairly(overdue.filter(({ executionId, wakeAt }) => inGroups.evaluated.get(executionId) !== wakeAt))
      : overdue;
    busy ||= page.items.length > 0;
    if (page.items.length > 0) await stay.found();
    due += overdue.length;
    for (const item of overdue) oldestOverdueMs = Math.max(oldestOverdueMs, now - item.wakeAt);
    if (reach.grace.begins(now, oldestOverdueMs)) ports.log.note({ what: 'grace', ms: oldestOverdueMs });
    const oversight = { ask: reach.ask, graceFrom: reach.grace.since, away: ports.away?.() };
    const untilNextAt = inGroups
      ? Math.min(evaluatesUntilAt, ports.clock.now() + inGroups.everyMs)
      : evaluatesUntilAt;
    const all = await evaluateAll(ports, next, untilNextAt, (item) => {
      inGroups?.evaluated.set(item.executionId, item.wakeAt);
      return evaluateOne(counting, plans, item, oversight, missing);
    });
    failed += all.failed;
    cut ||= inGroups !== undefined && all.left > 0 && ports.clock.now() <= evaluatesUntilAt;
    // The order is earliest first: after a page that ends with an item not due, no item is due.
    cursor = overdue.length === page.items.length ? page.cursor : undefined;
  } while (cursor !== undefined && !cut && ports.clock.now() <= evaluatesUntilAt);
  const met = { ...(missing.size === 0 ? {} : { missing }), ...(lost.size === 0 ? {} : { lost }) };
  return { shard, due, failed, oldestOverdueMs, busy, cut, ...met };
}

/** Counts by agent, once each is written, the leases ended because a process went silent. */
function countingLost(ports: Ports, lost: Map<string, NewlyLost>): Ports {
  const { log } = ports;
  const note: Ports['log']['note'] = (one, origin) => {
    const { what, agent, executionId } = one;
    if (what === 'lease-ended' && agent !== undefined)
      lost.set(agent, { attempts: (lost.get(agent)?.attempts ?? 0) + 1, executionId });
    log.note(one, origin);
  };
  // Not by spread: the object may be an instance of a class, with methods.
  return Object.create(ports, { log: { value: { note } } }) as Ports;
}

/** Evaluates the items. @returns how many could not be handled, and for how many there was no time */
async function evaluateAll(
  ports: Ports,
  items: readonly Due[],
  untilAt: number,
  evaluate: (item: Due) => Promise<'early' | 'done'>,
): Promise<{ failed: number; left: number }> {
  const queue = [...items];
  let failed = 0;
  const worker = async (): Promise<void> => {
    for (let item = queue[0]; item !== undefined; item = queue[0]) {
      const beganAt = ports.clock.now();
      if (beganAt > untilAt) return;
      queue.shift();
      try {
        if ((await evaluate(item)) === 'early') await rest(ports.clock, beganAt, untilAt);
      } catch (error) {
        failed += 1;
        ports.log.note({ what: 'evaluation-failed', executionId: item.executionId, detail: sayable(error) });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, worker));
  return { failed, left: queue.length };
}

async function rest(clock: Clock, beganAt: number, untilAt: number): Promise<void> {
  const now = clock.now();
  const restMs = Math.min(MAX_REST_MS, RESTS_PER_EVALUATION * (now - beganAt), untilAt - now);
  if (restMs > 0) await clock.sleep(restMs);
}

/** The mailbox by which the execution was found, read before it. */
const mailboxOf = async (ports: Ports, { executionId, mailbox, life }: Due): Promise<Mailbox | undefined> =>
  mailbox === undefined || life === undefined ? undefined : ports.mailboxes?.readMailbox(executionId, life);

async function evaluateOne(
  ports: Ports,
  plans: PlanCache,
  item: Due,
  oversight: Omit<Oversight, 'ask'> & { readonly ask: Ask },
  missing: Map<string, Set<string>>,
): Promise<'early' | 'done'> {
  const { executionId } = item;
  // Only an item that was found by its mailbox needs the mailbox.
  const mailbox = item.mailbox === undefined ? undefined : await mailboxOf(ports, item);
  const readAt = ports.clock.now();
  const state = await ports.store.read(executionId);
  if (state === undefined || (mailbox !== undefined && mailbox.life !== state.execution.life)) {
    if (mailbox !== undefined) await withoutWakeTime(ports, mailbox);
    return 'done';
  }
  const plan = await planOf(ports.store, plans, state.execution.plan);
  const known = { state, fresh: true, readAt };
  let early = false;
  const ask: Oversight['ask'] = async (agents) => {
    const admissions = await oversight.ask(agents, state.execution.fairGroup);
    for (const [agent, { sends, notBefore }] of Object.entries(admissions)) {
      if (notBefore.why === 'not-deployed')
        missing.set(agent, (missing.get(agent) ?? new Set()).add(executionId));
      else early ||= notBefore.why === 'unclaimed' && sends === 0;
    }
    return admissions;
  };
  await reconcile(ports, plan, executionId, {
    by: 'supervisor',
    affected: [],
    known,
    oversight: { ...oversight, ask },
    ...defined({ mailbox }),
  });
  return early ? 'early' : 'done';
}
