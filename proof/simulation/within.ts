/**
 * Workflows whose steps have a time of their own: changes a plan for a world that has this trait.
 *
 * Owns: the share of such steps and their times. Does not own: which worlds have the trait (`traits.ts`),
 * what is judged (`oracle-within.ts`). It draws from its own random stream, so other worlds are unchanged.
 */

import type { Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Choice } from './plans.ts';

const SHARE = 0.6;
/** Some are shorter than a backoff, a lost process or a child takes, and some are longer. */
const TIMES = [15_000, 40_000, 90_000, 300_000] as const;

export function withTimes(plan: Plan, choice: Choice): Plan {
  const steps = plan.steps.map((drawn): PlanStep => {
    const step: PlanStep = drawn.kind === 'child' ? { ...drawn, plan: withTimes(drawn.plan, choice) } : drawn;
    const isAwaiting = step.kind === 'callback' || step.kind === 'approval' || step.kind === 'receive';
    if (isAwaiting || !choice.chance(SHARE)) return step;
    const withinMs = choice.pick(TIMES);
    // An author may not write a time that an attempt could not keep.
    const leastMs = step.kind === 'agent' ? step.timeoutMs : step.kind === 'wait' ? (step.forMs ?? 0) + 1 : 0;
    return { ...step, withinMs: Math.max(withinMs, leastMs) };
  });
  return { ...plan, steps };
}
