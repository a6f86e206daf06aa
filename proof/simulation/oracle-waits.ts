/**
 * Judges timers by the plan, the instant in the execution's input, and true time.
 *
 * Owns: a timer ends neither early nor late; one until an instant fails if its `within` ends first, and at
 * once if the input has no instant. Does not own: `within` (`oracle-within.ts`), the allowed delays
 * (`oracle-times.ts`).
 */

import type { WaitStep } from '../../lib/core/plan/plan.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import { isLostFailure } from '../../lib/core/step/left-out.ts';
import { isJsonObject } from '../../lib/core/values/json.ts';
import type { KindCounts } from './kinds.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';

/** The instant in the input, in epoch ms; undefined if there is none. */
export function instantIn({ input }: Execution): number | undefined {
  const at = isJsonObject(input) ? input['at'] : undefined;
  const ms = typeof at === 'string' ? Date.parse(at) : at;
  return typeof ms === 'number' && Number.isFinite(ms) ? ms : undefined;
}

interface Context {
  /** True time. */
  readonly now: number;
  /** When the step's turn came. */
  readonly sinceAt: number;
  /** How long the execution was paused since then. */
  readonly pausedMs: number;
  /** The possible difference of the clocks that measure the step's time. */
  readonly earlyMs: number;
  readonly lateMs: (dueAt: number) => number;
  readonly kinds: KindCounts;
}

/** @param step the timer's record at its end */
export function judgeWait(
  problems: string[],
  planned: WaitStep,
  execution: Execution,
  step: Step,
  context: Context,
): void {
  const { name, status, failure } = step;
  // Its condition or time is lost.
  if (status === 'failed' && isLostFailure(failure)) return;
  if (planned.until !== undefined) return judgeUntil(problems, planned, execution, step, context);
  const { now, sinceAt, lateMs } = context;
  const dueAt = sinceAt + (planned.forMs ?? 0);
  if (now + CLOCKS_DIFFER_MS < dueAt) problems.push(`L1 '${name}' was over ${dueAt - now} ms too early`);
  const late = lateMs(dueAt);
  if (late > 0) problems.push(`L1 '${name}' was over ${late} ms too late`);
}

function judgeUntil(
  problems: string[],
  { withinMs = Number.POSITIVE_INFINITY }: WaitStep,
  execution: Execution,
  { name, status, failure }: Step,
  { now, sinceAt, pausedMs, earlyMs, lateMs, kinds }: Context,
): void {
  const instant = instantIn(execution);
  const isWithoutTime = status === 'failed' && failure?.code === 'bad-time';
  if (isWithoutTime !== (instant === undefined))
    problems.push(`L1 '${name}' is ${status} (${failure?.code}), and the instant in its data is ${instant}`);
  if (isWithoutTime) kinds.untilNoInstant += 1;
  const overAt = sinceAt + withinMs + pausedMs;
  const dueAt = Math.max(sinceAt, Math.min(instant ?? sinceAt, overAt));
  const late = lateMs(dueAt);
  if (late > 0) problems.push(`L1 '${name}' was over ${late} ms too late`);
  if (instant === undefined || isWithoutTime) return;
  if (status === 'done') {
    if (instant > sinceAt + CLOCKS_DIFFER_MS) kinds.waitedUntil += 1;
    if (now + CLOCKS_DIFFER_MS < instant)
      problems.push(`L1 '${name}' was over ${instant - now} ms before its instant`);
    if (instant > overAt + earlyMs)
      problems.push(`L1 '${name}' is done, and its time was over ${instant - overAt} ms before its instant`);
    return;
  }
  if (failure?.code !== 'within') problems.push(`L1 '${name}' failed with ${failure?.code} at its instant`);
  if (instant + earlyMs < overAt)
    problems.push(`L1 '${name}' failed for its time, and its instant came ${overAt - instant} ms before`);
}
