/**
 * Workflows whose people are reminded: changes a plan for a world that has this trait.
 *
 * Owns: the share of such stages, and how often they remind. Does not own: which worlds have the trait
 * (`traits.ts`), what is judged (`oracle-reminders.ts`). It draws from its own random stream, so other worlds
 * are unchanged.
 */

import type { Plan, PlanStep, Stage } from '../../lib/core/plan/plan.ts';
import type { Choice } from './plans.ts';

const SHARE = 0.8;
/** Shorter than any person's time. */
const EVERY_MS = [60_000, 150_000] as const;

export function withReminders(plan: Plan, choice: Choice): Plan {
  const { onFailure } = plan;
  return {
    ...plan,
    steps: plan.steps.map((step) => reminding(step, choice)),
    ...(onFailure === undefined ? {} : { onFailure: onFailure.map((step) => reminding(step, choice)) }),
  };
}

function reminding<Kind extends PlanStep>(step: Kind, choice: Choice): Kind {
  const recovery: readonly Stage[] = 'recovery' in step ? (step.recovery ?? []) : [];
  const stages = recovery.map((stage) =>
    stage.kind === 'askPerson' && choice.chance(SHARE)
      ? { ...stage, remindMs: choice.pick(EVERY_MS) }
      : stage,
  );
  return {
    ...step,
    ...(recovery.length === 0 ? {} : { recovery: stages }),
    ...(step.kind === 'child' ? { plan: withReminders(step.plan, choice) } : {}),
    ...(step.kind === 'map' ? { each: reminding(step.each, choice) } : {}),
  };
}
