/**
 * Workflows with a wait that is shorter than any lease, behind an agent's step.
 *
 * Owns: the share of such workflows and the waits' times. Does not own: which worlds have the trait
 * (`traits.ts`), what is judged (`oracle-wake.ts`). It draws from its own random stream, so other worlds are
 * unchanged. Only worlds in which no process dies have it: in others the end of such a wait may be noticed a
 * horizon later, so they would show nothing.
 */

import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Choice } from './plans.ts';

const SHARE = 0.7;
const LEASE_MS = 20_000;
/** Longer than clocks may differ: a shorter wait may be noticed as late as that. */
const TIMES = [6_000, 8_000, 12_000] as const;

export function withShortWait(plan: Plan, choice: Choice): Plan {
  const agents = plan.steps.filter(({ kind }) => kind === 'agent');
  if (agents.length === 0 || !choice.chance(SHARE)) return plan;
  const after = [choice.pick(agents).name];
  const brief = { kind: 'wait', name: 'brief', after, forMs: choice.pick(TIMES) } as const;
  const steps = plan.steps.map((step) => (step.kind === 'agent' ? { ...step, leaseMs: LEASE_MS } : step));
  return { ...plan, steps: [...steps, brief] };
}
