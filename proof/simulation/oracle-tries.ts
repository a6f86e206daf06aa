/**
 * Judges how often a step is tried and undone: as often as declared.
 *
 * Owns: S9: the number of claims of each stage and of an undo, against the plan and people's requests. Does
 * not own: which stage comes next.
 */

import type { Plan } from '../../lib/core/plan/plan.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import { type Snapshot, incidentsIn } from '../../lib/core/records/snapshot.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { actedAs } from './oracle-order.ts';

/** The simulated service's message for an effect that can never be undone. */
export const NEVER_COMPENSATED = 'cannot be taken back';

/** @param after a write of the step */
export function judgeTries(problems: string[], plan: Plan, before: Snapshot, after: Step): void {
  const step = plan.steps.find(({ name }) => name === after.name);
  if (step?.kind !== 'agent') return;
  const known = before.steps[after.name];
  const isClaim = after.leaseUntil !== undefined && after.token !== known?.token;
  const isGivenUp =
    after.status === 'compensation-failed' &&
    known?.status === 'compensating' &&
    known.leaseUntil !== undefined;
  if (!isClaim && !isGivenUp) return;
  const undo = actedAs(step, after).undo;
  // The first try plus the declared retries.
  const declared = undo === 'none' ? 0 : undo.attempts + 1;
  const asked = askedAgain(before, after.name);
  if (isClaim && after.mode === 'undo') {
    if (after.undoAttempt !== (known?.undoAttempt ?? 0) + 1)
      problems.push(`S9 the undo of '${after.name}' is not counted`);
    if (after.undoAttempt > declared + asked)
      problems.push(
        `S9 the undo of '${after.name}' is tried for the ${after.undoAttempt}th time of ${declared}`,
      );
  }
  if (isClaim && after.mode === 'execute') {
    const stage = step.recovery[after.stage - 1];
    const tries =
      after.stage === 0 ? 1 : stage === undefined || stage.kind === 'askPerson' ? 0 : stage.attempts;
    if (after.stageAttempt > tries + asked)
      problems.push(
        `S9 '${after.name}' is tried for the ${after.stageAttempt}th time of ${tries} on stage ${after.stage}`,
      );
  }
  if (isGivenUp && after.failure?.message !== NEVER_COMPENSATED && after.undoAttempt < declared)
    problems.push(`S9 the undo of '${after.name}' is given up after ${after.undoAttempt} of ${declared}`);
}

/** How often people retried the step; each adds one try. */
const askedAgain = ({ execution, questions = {} }: Snapshot, name: string): number =>
  incidentsIn({ questions }).filter(
    ({ step, choice }: Incident) => step === name && (choice === 'retry' || choice === 'retry-with-input'),
  ).length +
  execution.epoch -
  1;
