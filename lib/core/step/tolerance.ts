/**
 * When a tolerated failure is final.
 *
 * Owns: that time, and why the step failed. Does not own: the write (`execution/step-rules.ts`), the
 * compensation (`ready.ts`).
 *
 * S20 a failure is final at once if the step was certainly not done. If it may have acted and has an undo,
 * once that has succeeded. If it may have acted and has no undo, once a person decides so; in a list, which
 * asks no person about single items, once the attempt can no longer act.
 */

import type { Plan, PlanStep } from '../plan/plan.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isPerforming, type Step } from '../records/state.ts';
import { effectOf } from './effect.ts';
import { answersOwed, isBetweenStages, mayFail } from './turn.ts';
import { OVER_TIME } from './within.ts';

/**
 * The time at which the failure of a step that may fail is final; 'person' if one must be asked first;
 * undefined while the step is being undone.
 */
export function toleratedAt(plan: Plan, step: PlanStep, record: Step): number | 'person' | undefined {
  if (isBetweenStages(record)) return undefined;
  if (record.status === 'compensated') return 0;
  const isItem = plan.tolerated !== undefined;
  const { is, isOwed, actsUntil } = effectOf(step, record);
  if (record.status === 'compensation-failed' && isItem) return actsUntil;
  if (record.status !== 'failed') return undefined;
  if (step.kind !== 'agent') return answersOwed(step, record) > 0 ? undefined : actsUntil;
  if (isOwed) return undefined;
  // On-failure steps are never undone: if it is certain that one acted, no one is asked.
  const isKnown = plan.onFailureOf !== undefined && record.wrongAnswer !== undefined;
  const isSaid = isKnown || record.afterFailure === 'continue' || isItem;
  return is !== 'none' && !isSaid ? 'person' : actsUntil;
}

/** When failures become final by themselves. */
export const toleratedTimes = (plan: Plan, { execution, steps }: Snapshot): number[] =>
  isPerforming(execution.status)
    ? plan.steps.flatMap((step) => {
        const record = steps[step.name];
        // The step's next stage follows at once.
        if (record?.status === 'compensated' && record.nextStage !== undefined) return [0];
        if (record === undefined || !mayFail(plan, step, record)) return [];
        const at = toleratedAt(plan, step, record);
        return typeof at === 'number' ? [at] : [];
      })
    : [];

/** Why the step failed, not why its undo did. */
export const whyItFailed = ({ attempts, failure: last, isOverTime }: Step): Step['failure'] =>
  isOverTime === true
    ? OVER_TIME
    : (attempts.findLast(({ mode, failure }) => mode !== 'undo' && failure !== undefined)?.failure ?? last);
