/**
 * Judges attempts by the limits of their agent, that of the step or of a stage.
 *
 * Owns: P4 a lease never outlasts `progressWithin`, and an attempt is given up for lack of progress only
 * after it; calling the other judges of attempts. Does not own: how many tries there are (`oracle-tries.ts`),
 * when a next stage begins (`oracle-stages.ts`), accepted work (`oracle-accepted.ts`), who may renew a lease
 * (`oracle-writers.ts`), noticing the end of a lease (`oracle-wake.ts`).
 */

import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';
import { actedAs } from './oracle-order.ts';
import { judgeStages } from './oracle-stages.ts';
import { judgeTries } from './oracle-tries.ts';

interface Context {
  readonly kinds: KindCounts;
  /** Whether clocks are set in this world: an attempt then gets the skipped time back. */
  readonly clocksJump: boolean;
}

/** @param after a step as it is written */
export function judgeAttempt(
  problems: string[],
  plan: Plan,
  before: Snapshot,
  after: Step,
  context: Context,
): void {
  judgeTries(problems, plan, before, after);
  judgeStages(problems, plan, before, after, context.kinds);
  judgeProgress(problems, plan, before, after, context);
}

function judgeProgress(
  problems: string[],
  plan: Plan,
  { steps }: Snapshot,
  after: Step,
  { kinds, clocksJump }: Context,
): void {
  const step = plan.steps.find(({ name }) => name === after.name);
  const known = steps[after.name];
  if (step?.kind !== 'agent') return;
  if (after.leaseUntil !== undefined) {
    const { maxNoProgressMs } = actedAs(step, after);
    if (maxNoProgressMs === undefined || after.mode !== 'execute' || clocksJump) return;
    const longMs = after.leaseUntil - advancedAt(after) - maxNoProgressMs;
    if (longMs > 0)
      problems.push(`P4 the lease of '${step.name}' lasts ${longMs} ms too long for no progress`);
    return;
  }
  if (known?.leaseUntil === undefined || known.mode !== 'execute') return;
  if (after.attempts.at(-1)?.failure?.code !== 'no-progress' || after.attempts === known.attempts) return;
  const acted = actedAs(step, known);
  if (acted !== step && acted.maxNoProgressMs !== undefined) kinds.stalledOther += 1;
  const earlyMs = advancedAt(known) + (acted.maxNoProgressMs ?? Number.POSITIVE_INFINITY) - known.leaseUntil;
  if (earlyMs > 0)
    problems.push(`P4 '${step.name}' is given up for no progress ${earlyMs} ms before it had to make some`);
}

const advancedAt = ({ progressAt, claimedAt = 0 }: Step): number => progressAt ?? claimedAt;
