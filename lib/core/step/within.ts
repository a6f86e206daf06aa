/**
 * The time of a step (`within`): from its turn on, all its attempts, waits and retries.
 *
 * Owns: when it is over, extended by the length of pauses. Does not own: the writes then (`waiting/waits.ts`,
 * for child executions `waiting/child.ts`), aborting an attempt (`agent/attempt.ts`).
 *
 * When it is over, the step begins nothing new. Work that resolves an outcome (a probe, the undo, a question
 * to a person) has times of its own.
 */

import type { PlanStep } from '../plan/plan.ts';
import type { StepChanges } from '../decisions/change.ts';
import type { Failure } from '../values/failure.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { summedSince } from '../records/pauses.ts';
import { type Execution, pauseOf } from '../records/state.ts';
import { isTurn, turnAt } from './turn.ts';

/**
 * How long the execution has been paused since an instant, which time limits do not count, and the number of
 * the latest pause. A pause counts once it is over.
 * @param beyond counts only pauses with a higher number
 */
export function pausesSince(
  { pauses = [], earlierPauses }: Pick<Execution, 'pauses' | 'earlierPauses'>,
  sinceAt: number,
  beyond = 0,
): { readonly ms: number; readonly until: number } {
  const each = pauses.map(({ number, at, endedAt = at }) => ({
    number,
    ms: Math.max(0, endedAt - Math.max(at, sinceAt)),
  }));
  const { number = 0 } = earlierPauses ?? {};
  const earlier = earlierPauses === undefined ? 0 : summedSince(earlierPauses, sinceAt);
  const counted = [{ number, ms: earlier }, ...each].filter((one) => one.number > beyond && one.ms > 0);
  return {
    ms: counted.reduce((sum, { ms }) => sum + ms, 0),
    until: counted.at(-1)?.number ?? beyond,
  };
}

/** The end of a span that began at a time: pauses lengthen it. */
export const timeEndsAt = (
  execution: Pick<Execution, 'pauses' | 'earlierPauses'>,
  sinceAt: number,
  lengthMs: number,
): number => sinceAt + lengthMs + pausesSince(execution, sinceAt).ms;

/**
 * When the time of a step is over; a retry by a person gives it its time once more. It begins with the step's
 * turn: of a retried execution that waits for its place, earlier work is probed before that (seed 50753).
 */
export function timeOverAt(step: PlanStep, snapshot: Snapshot): number {
  if (step.withinMs === undefined || !isTurn(step, snapshot)) return Number.POSITIVE_INFINITY;
  const sinceAt = Math.max(turnAt(step, snapshot), snapshot.steps[step.name]?.againAt ?? 0);
  return timeEndsAt(snapshot.execution, sinceAt, step.withinMs);
}

/** The instant to compare times with: during a pause, that at which the pause began. */
export const nowWithoutPause = (execution: Execution, now: number): number =>
  Math.min(now, pauseOf(execution)?.at ?? now);

export const isTimeOver = (step: PlanStep, snapshot: Snapshot, now: number): boolean =>
  step.withinMs !== undefined && nowWithoutPause(snapshot.execution, now) >= timeOverAt(step, snapshot);

export const OVER_TIME: Failure = {
  code: 'within',
  message: "the step did not end in time ('within')",
};

/** The changes of a step that fails because its time is over. */
export const FAILED_FOR_TIME: StepChanges = { failure: OVER_TIME, isOverTime: true };
