/**
 * Calls an agent now although its breaker is open, because its service has been repaired.
 *
 * Owns: making the breaker half-open now, and which deferred steps are woken. Does not own: who gets the
 * trial (`agent/breaker.ts`), when a woken step is due (`core/supervision/dispatch.ts`).
 *
 * While the breaker is open, only one step is woken, because only one may be the trial, and all others would
 * be deferred again. Once it has closed, all steps that still wait are woken. Reading is bounded; steps that
 * are not found go on at their own times.
 */

import { type Breaker, OPEN_FRESH_MS, notBeforeOf, withoutCooldown } from '../core/step/breaker.ts';
import type { TryNow } from '../core/decisions/events.ts';
import { waitingFor } from '../core/supervision/dispatch.ts';
import { stateAfterRetry } from '../core/execution/after-retry.ts';
import { isSteadfastError } from '../core/values/errors.ts';
import { planInStatus } from '../core/plan/on-failure.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import { changeRecord } from '../engine/change-record.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { reconcile } from '../engine/reconcile.ts';
import { refuseUnknownAgent } from './holds.ts';
import { type Scheduler, show } from './start.ts';

/** The most open executions that are read: those due soonest. */
const MOST_EXAMINED = 1_000;
/** The most messages that a supervisor sends to an agent in a sweep. */
const MOST_WOKEN = 300;
const READ_AT_ONCE = 20;

export interface TriedNow {
  readonly breaker: Breaker | undefined;
  /** How many steps were woken. */
  readonly woken: number;
  /** When they begin to be sent, and the first of them; absent if none was woken. */
  readonly dueAt?: number;
  readonly first?: { readonly executionId: string; readonly step: string };
  /**
   * There may be more: not all open executions were read, or more steps were found than are woken at once.
   */
  readonly atLeast?: true;
}

/** @throws SteadfastError `unknown-agent` */
export async function tryNow(scheduler: Scheduler, agent: string): Promise<TriedNow> {
  refuseUnknownAgent(scheduler, agent);
  const { breakers, clock, log } = scheduler.ports;
  if (breakers === undefined) throw new Error('this process has no place for breakers');
  const { before, written } = await changeRecord(breakers, [agent], (record) =>
    withoutCooldown(record, decisionInputsOf(scheduler.ports)),
  );
  const breaker = written ?? before;
  const now = clock.now();
  const notBefore = notBeforeOf(breaker, now);
  const isTrial = notBefore !== undefined;
  if (isTrial && notBefore.at > now) return { breaker, woken: 0 };
  // Until then a process may defer the step because of an older read of the breaker.
  const wanted = { agent, at: now + OPEN_FRESH_MS };
  const failed = isTrial ? (breaker?.calls ?? []).map(({ executionId }) => executionId) : [];
  const woken = await wake(scheduler, wanted, failed, isTrial ? 1 : MOST_WOKEN);
  log.note({ what: 'agent-tried-now', agent, detail: `steps woken: ${woken.woken}` });
  return { breaker, ...woken };
}

/**
 * Wakes steps. A failed read or write ends this, and the answer counts the steps woken so far.
 * @param first executions that are read before others
 * @throws the error of a port if no step has been woken
 */
async function wake(
  scheduler: Scheduler,
  wanted: TryNow,
  first: readonly string[],
  most: number,
): Promise<Omit<TriedNow, 'breaker'>> {
  const soonest = await soonestDue(scheduler);
  const ids = [...new Set([...first, ...soonest.ids])];
  const woken: NonNullable<TriedNow['first']>[] = [];
  const failed: unknown[] = [];
  const unlessFailed = <Result>(work: Promise<Result>): Promise<Result | undefined> =>
    work.catch((error: unknown) => void failed.push(error));
  for (let from = 0; from < ids.length && failed.length === 0; from += READ_AT_ONCE) {
    const batch = ids.slice(from, from + READ_AT_ONCE);
    const read = await Promise.all(batch.map((id) => unlessFailed(waitingIn(scheduler, id, wanted))));
    for (const { state, plan, readAt, steps } of read.flatMap((one) => one ?? [])) {
      if (woken.length >= most) return answer(woken, wanted, false);
      const { id: executionId } = state.execution;
      const known = { state, fresh: true, readAt };
      const work = reconcile(scheduler.ports, plan, executionId, {
        by: 'agent',
        affected: [],
        known,
        tryNow: wanted,
      });
      const isDone = await unlessFailed(work.then(() => true));
      if (isDone === true) woken.push(...steps.map((step) => ({ executionId, step })));
    }
  }
  if (woken.length === 0 && failed.length > 0) throw failed[0];
  return answer(woken, wanted, soonest.isWhole && failed.length === 0);
}

function answer(
  woken: readonly NonNullable<TriedNow['first']>[],
  { at }: TryNow,
  isWhole: boolean,
): Omit<TriedNow, 'breaker'> {
  const [first] = woken;
  return {
    woken: woken.length,
    ...(first === undefined ? {} : { dueAt: at, first }),
    ...(isWhole ? {} : { atLeast: true }),
  };
}

async function soonestDue({
  ports: { store },
}: Scheduler): Promise<{ readonly ids: readonly string[]; readonly isWhole: boolean }> {
  const limit = Math.ceil(MOST_EXAMINED / store.shards);
  const shards = Array.from({ length: store.shards }, (_, shard) => shard);
  const pages = await Promise.all(
    shards.map((shard) => store.due(shard, Number.MAX_SAFE_INTEGER, undefined, limit)),
  );
  const due = pages.flatMap(({ items }) => items).toSorted((one, other) => one.wakeAt - other.wakeAt);
  return {
    ids: due.map(({ executionId }) => executionId),
    isWhole: pages.every(({ cursor }) => cursor === undefined),
  };
}

interface Found {
  readonly state: Snapshot;
  readonly plan: Plan;
  readonly readAt: number;
  readonly steps: readonly string[];
}

/**
 * The steps that wait for the agent; undefined if there are none, or if this version cannot read the
 * execution.
 * @throws the error of a port: an execution that could not be read may wait
 */
async function waitingIn(
  scheduler: Scheduler,
  executionId: string,
  wanted: TryNow,
): Promise<Found | undefined> {
  try {
    const readAt = scheduler.ports.clock.now();
    const { state, plan } = await show(scheduler, executionId);
    const steps = waitingFor(planInStatus(plan, state.execution), stateAfterRetry(plan, state), wanted);
    return steps.length === 0
      ? undefined
      : { state, plan, readAt, steps: steps.map(({ record }) => record.name) };
  } catch (error) {
    if (isSteadfastError(error)) return undefined;
    throw error;
  }
}
