/**
 * The time of steps, judged anew: nothing begins after it, nothing fails for it before it.
 *
 * Owns: this check, with the pauses that the world's own book saw (`oracle-times.ts`). Does not own: the wake time that
 * brings the end about (`oracle-wake.ts`).
 */

import type { Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';
import { CLOCKS_DIFFER_MS, turnOf } from './oracle-wake.ts';

/** Since when the time of a step runs: its turn, or when a person had it tried again, and not its undo. */
function sinceOf(step: PlanStep, state: Snapshot): number {
  const again = Object.values(state.incidents ?? {})
    .filter(({ step: about, kind }) => about === step.name && kind === 'recovery')
    .filter(({ choice }) => choice === 'retry' || choice === 'retry-with-input')
    .map(({ resolvedAt }) => resolvedAt ?? 0);
  return Math.max(turnOf(step, state) ?? 0, ...again);
}

interface Context {
  /** True time. */
  readonly now: number;
  /** How long it was paused since then. */
  readonly pausedMs: (sinceAt: number) => number;
  /** By what the clocks that bound its time may differ. */
  readonly earlyMs: (sinceAt: number) => number;
  readonly kinds: KindCounts;
}

/** @param after a step as it is written */
export function judgeWithin(
  problems: string[],
  plan: Plan,
  before: Snapshot,
  after: Step,
  { now, pausedMs, earlyMs, kinds }: Context,
): void {
  const step = plan.steps.find(({ name }) => name === after.name);
  const known = before.steps[after.name];
  const isOver = after.status === 'failed' && after.failure?.code === 'within' && known?.status !== 'failed';
  if (step === undefined || step.kind === 'callback' || step.kind === 'approval') return;
  if (isOver) kinds[step.kind === 'agent' ? 'overTime' : 'overTimeChildren'] += 1;
  if (step.withinMs === undefined) {
    if (isOver) problems.push(`L1 '${step.name}' failed for its time, and has none`);
    return;
  }
  const sinceAt = sinceOf(step, before);
  const overAt = sinceAt + step.withinMs + pausedMs(sinceAt);
  if (isOver && now + earlyMs(sinceAt) < overAt)
    problems.push(`L1 '${step.name}' failed for its time ${overAt - now} ms before it was over`);
  const isClaim = after.leaseUntil !== undefined && after.token !== known?.token && after.mode === 'execute';
  // By the clock of the process that began it.
  const lateMs = (after.claimedAt ?? 0) - overAt;
  if (isClaim && lateMs > CLOCKS_DIFFER_MS)
    problems.push(`L1 an attempt of '${step.name}' begins ${lateMs} ms after its time`);
}
