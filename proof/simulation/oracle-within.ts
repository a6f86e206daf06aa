/**
 * Judges `within` of steps: nothing begins after it, and nothing fails because of it earlier.
 *
 * Owns: this check, with the pauses in the world's book (`oracle-times.ts`). Does not own: the wake time at
 * the end (`oracle-wake.ts`).
 */

import type { ChildStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import { type Snapshot, incidentsIn } from '../../lib/core/records/snapshot.ts';
import { type Step } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';
import { overTimeAt, turnOf } from './oracle-turns.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';

/** When a step's time starts: at its turn, or a person's retry. */
function sinceOf(step: PlanStep, state: Snapshot): number {
  const again = incidentsIn(state)
    .filter(({ step: about, kind }) => about === step.name && kind === 'recovery')
    .filter(({ choice }) => choice === 'retry' || choice === 'retry-with-input')
    .map(({ closedAt }) => closedAt ?? 0);
  return Math.max(turnOf(step, state) ?? 0, ...again);
}

interface Context {
  /** True time. */
  readonly now: number;
  /** How long the execution was paused since a time. */
  readonly pausedMs: (sinceAt: number) => number;
  /** The possible difference of the clocks that bound its time. */
  readonly earlyMs: (sinceAt: number) => number;
  readonly kinds: KindCounts;
  readonly isLagging: boolean;
}

/** @param after a step as it is written */
export function judgeWithin(
  problems: string[],
  plan: Plan,
  before: Snapshot,
  after: Step,
  { now, pausedMs, earlyMs, kinds, isLagging }: Context,
): void {
  const step = plan.steps.find(({ name }) => name === after.name);
  const known = before.steps[after.name];
  const isOver = after.status === 'failed' && after.failure?.code === 'within' && known?.status !== 'failed';
  if (step === undefined || step.kind === 'callback' || step.kind === 'approval' || step.kind === 'receive')
    return;
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
  // Compared by the clock of the process that began the attempt.
  const lateMs = (after.claimedAt ?? 0) - overAt;
  if (isClaim && lateMs > CLOCKS_DIFFER_MS)
    problems.push(`L1 an attempt of '${step.name}' begins ${lateMs} ms after its time`);
  if (step.kind === 'child' && !isLagging) judgeTries(problems, step, before, known, after);
}

/** The time between a read and its decision if nothing is frozen. */
const DECIDED_WITHIN_MS = 1_000;

/** Checks that a child without effects is neither retried nor asked about after its time. */
function judgeTries(
  problems: string[],
  step: ChildStep,
  before: Snapshot,
  known: Step | undefined,
  { status, children, changedAt }: Step,
): void {
  const sinceAt = turnOf(step, before);
  const isNextRound = (children?.rounds?.done ?? 0) > (known?.children?.rounds?.done ?? 0);
  const isBegun = isNextRound || (known?.status === 'retrying' && status === 'running');
  const ends = Object.values(children?.ended ?? {});
  const isGoingOn = known?.status === 'running' && (status === 'retrying' || status === 'waiting');
  const isClean = ends.length > 0 && ends.every(({ clean }) => clean);
  if (sinceAt === undefined || !(isBegun || (isGoingOn && isClean))) return;
  // The records' own times are compared with the clock of the process that wrote this.
  const { status: of, pauses } = before.execution;
  const at = Math.min(changedAt, of === 'paused' ? (pauses?.at(-1)?.at ?? changedAt) : changedAt);
  const lateMs = at - overTimeAt(step.name, step.withinMs ?? 0, sinceAt, before) - DECIDED_WITHIN_MS;
  if (lateMs > 0)
    problems.push(
      `L1 '${step.name}' is ${status} again ${lateMs} ms after its time, and nothing of it is left`,
    );
}
