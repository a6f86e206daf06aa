/**
 * The trait of worlds whose external party sends heartbeats and rarely an answer: changes their plans.
 *
 * Owns: the share of such callbacks, and how often the party only sends a heartbeat. Does not own: which
 * worlds have the trait (`traits.ts`), the judgement (`oracle-wake.ts`, `oracle-times.ts`). It draws from its
 * own random stream, so other worlds are unchanged.
 */

import type { CallbackStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Choice } from './plans.ts';

const SHARE = 0.7;
const BEATING_SHARE = 0.93;

/** Adds a callback before the plan that heartbeats keep open until its deadline. */
export function withBeats(plan: Plan, choice: Choice): Plan {
  if (!choice.chance(SHARE)) return plan;
  const callback: CallbackStep = {
    kind: 'callback',
    name: 'beating',
    after: [],
    withinMs: choice.pick([150_000, 300_000]),
    heartbeatMs: 120_000,
  };
  const steps = plan.steps.map((step): PlanStep => ({ ...step, after: [...step.after, callback.name] }));
  return { ...plan, steps: [callback, ...steps] };
}

/** Whether the party now sends only a heartbeat. */
export const onlyBeats = (choice: Choice | undefined): boolean => choice?.chance(BEATING_SHARE) === true;
