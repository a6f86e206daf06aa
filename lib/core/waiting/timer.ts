/**
 * The time of a `wait`: from the plan, or read from the data.
 *
 * Owns: when that time has come, or why it is not known. Does not own: what follows then (`waits.ts`), the
 * forms of a time (`values/duration.ts`), what an author may write (`author/checks/check-waiting.ts`).
 */

import type { WaitStep } from '../plan/plan.ts';
import { evaluateExpression } from '../plan/refs.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { leftOutIn } from '../step/left-out.ts';
import { scopeOf, turnAt } from '../step/turn.ts';
import { lengthMsOf, lengthProblem, timeOf, timeProblem } from '../values/duration.ts';
import type { Failure } from '../values/failure.ts';

/** Returns when a wait whose turn has come is over; or why the data contains no time. */
export function elapsesAt(step: WaitStep, snapshot: Snapshot): number | Failure {
  const sinceAt = turnAt(step, snapshot);
  if (step.forMs !== undefined) return sinceAt + step.forMs;
  const expr = step.for ?? step.until ?? null;
  const leftOut = leftOutIn(expr, snapshot);
  if (leftOut !== undefined) return leftOut;
  const read = evaluateExpression(expr, scopeOf(snapshot));
  if (step.for === undefined) return timeOf(read) ?? { code: 'bad-time', message: timeProblem(read) };
  const lengthMs = lengthMsOf(read);
  return lengthMs === undefined ? { code: 'bad-time', message: lengthProblem(read) } : sinceAt + lengthMs;
}
