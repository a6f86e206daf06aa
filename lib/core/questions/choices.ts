/**
 * The choices that an incident offers: those that are safe now.
 *
 * Owns: which answers are offered, and why one is refused. Does not own: what an answer writes
 * (`operators/resolution.ts`), who may answer (IAM), the transport (`api/`).
 *
 * S10 a resolution that could leave an effect behind unseen is offered only to a person who says that nothing
 * happened, and only when nothing can still happen; no choice is offered that would undo steps behind a point
 * of no return.
 */

import { planInStatus } from '../plan/on-failure.ts';
import { isTolerated } from '../plan/outcomes.ts';
import { type AgentStep, agentStep, type ChildStep, graphOf, type Plan } from '../plan/plan.ts';
import type { Resolution } from '../decisions/events.ts';
import type { Choice, Incident } from '../records/question.ts';
import type { Deed } from '../records/people.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isPerforming, type Step } from '../records/state.ts';
import { lastPoint, mayBePast, wayBack } from '../step/point-of-no-return.ts';
import { effectOf } from '../step/effect.ts';
import { attemptedVariant, isRepeatable } from '../step/recovery.ts';
import { mayFail } from '../step/turn.ts';
import { isCleanEnd } from '../waiting/child-tries.ts';
import { deadlineChoices } from './deadline.ts';
import { timeText } from '../values/text.ts';

/**
 * The choices that are safe now, and for those that are not safe yet or not without a person's word, the
 * reason.
 */
export function choicesFor(storedPlan: Plan, state: Snapshot, incident: Incident, now: number): Offered[] {
  if (incident.closedAt !== undefined) return [];
  const plan = planInStatus(storedPlan, state.execution);
  const undoAll = { choice: 'undo-all' } as const;
  const isPaused = state.execution.status === 'paused';
  const goesOn = isPaused || isPerforming(state.execution.status);
  if (incident.kind === 'pause') {
    if (!isPaused) return [];
    const back = wayBack(plan, state) === 'free' ? [undoAll] : [];
    return [{ choice: 'resume' }, ...back, { choice: 'keep' }];
  }
  if (incident.kind === 'deadline') return deadlineChoices(state, incident);
  const record = state.steps[incident.step ?? ''];
  const child = graphOf(plan).step.get(incident.step ?? '');
  if (child?.kind === 'child' && record !== undefined)
    return goesOn ? choicesForChild(plan, state, child, record, now) : [];
  const step = agentStep(plan, incident.step ?? '');
  if (step === undefined || record === undefined) return [];
  if (incident.kind === 'undo') {
    const from = (at: number): Pick<Offered, 'notBefore'> => (at > now ? { notBefore: at } : {});
    const deadAt = record.processDeadlineAt + attemptedVariant(step, record).settleMs;
    // Once all effects must stay, nothing is undone any more.
    const { status, cause } = state.execution;
    const isLeft = status === 'compensating' && cause?.undo === false;
    return [
      ...(isLeft ? [] : [{ choice: 'retry' } as const]),
      // A person may have stopped accepted work; if the execution goes on beside it, it must be over (S20).
      { choice: 'skip', ...from(deadAt) },
      ...(goesOn && isTolerated(step)
        ? [{ choice: 'continue' as const, ...from(Math.max(deadAt, effectOf(step, record).actsUntil)) }]
        : []),
      { choice: 'keep' },
    ];
  }
  if (!goesOn) return [];
  const after = effectOf(step, record).actsUntil;
  const { effect } = attemptedVariant(step, record);
  const careful = record.mayHaveActed
    ? {
        ...(effect === 'none' ? {} : { needs: 'nothingHappened' as const }),
        ...(after > now ? { notBefore: after } : {}),
      }
    : {};
  const again = isRepeatable({ ...step, effect }) ? {} : careful;
  if (record.wrongAnswer !== undefined)
    return choicesForAnswer(plan, state, step, effect === 'probed' ? {} : again);
  return [
    { choice: 'retry', ...again },
    { choice: 'retry-with-input', ...careful },
    { choice: 'give-output' },
    { choice: 'skip', ...careful },
    // If the step itself may be past the point of no return, only a person's word says that it is not.
    ...(isTolerated(step)
      ? [{ choice: 'continue' } as const]
      : wayBack(plan, state, step.name) === 'free'
        ? [{ ...undoAll, ...(mayBePast(step, record) ? careful : {}) }]
        : []),
    // It has its end already, which no on-failure step changes.
    ...(plan.onFailureOf === undefined ? [{ choice: 'keep' } as const] : []),
  ];
}

/**
 * The work is done, and its agent's answer is not an output. So no choice is offered that would repeat or
 * forget it: a person gives the right answer, or has it asked for again.
 */
function choicesForAnswer(
  plan: Plan,
  state: Snapshot,
  step: AgentStep,
  again: Omit<Offered, 'choice'>,
): Offered[] {
  const isFree = wayBack(plan, state, step.name) === 'free' && !mayBePast(step, state.steps[step.name]);
  return [
    { choice: 'give-output' },
    { choice: 'retry', ...again },
    ...(isTolerated(step) ? [{ choice: 'continue' } as const] : []),
    ...(isFree ? [{ choice: 'undo-all' } as const] : []),
    { choice: 'keep' },
  ];
}

/**
 * Another try, if the latest has left nothing, or a person says so; no choice is offered for which a person
 * must check what it did.
 */
function choicesForChild(plan: Plan, state: Snapshot, step: ChildStep, record: Step, now: number): Offered[] {
  const isClean = record.children !== undefined && isCleanEnd(record.children);
  const after = effectOf(step, record).actsUntil;
  const careful = isClean
    ? {}
    : { needs: 'nothingHappened' as const, ...(after > now ? { notBefore: after } : {}) };
  const goesOn = mayFail(plan, step, record);
  const isFree = wayBack(plan, state) === 'free';
  return [
    { choice: 'retry', ...careful },
    { choice: 'retry-with-input', ...careful },
    ...(goesOn ? [{ choice: 'continue' } as const] : isFree ? [{ choice: 'undo-all' } as const] : []),
    { choice: 'keep' },
  ];
}

interface Offered {
  readonly choice: Choice;
  readonly needs?: 'nothingHappened';
  readonly notBefore?: number;
}

/**
 * A person may have everything stopped, and then a child reports what it did; it is not promised that
 * everything before it is undone.
 */
function stopFirst(plan: Plan, state: Snapshot, { choice }: Resolution): string {
  if (choice !== 'undo-all' || wayBack(plan, state) !== 'stoppable') return '';
  const name = lastPoint(plan, state)?.name ?? '';
  return `, because step '${name}' is a point of no return, and its execution has not ended: a cancel stops that first, then undoes everything if it left nothing behind`;
}

/**
 * Why an answer is not possible, or nothing.
 * @param asOf when it was given: the person cannot have checked what could still happen then
 */
export function resolutionProblem(
  plan: Plan,
  state: Snapshot,
  incident: Incident,
  answer: Resolution,
  asOf: number,
): string | undefined {
  const offered = choicesFor(plan, state, incident, asOf);
  const match = offered.find((one) => one.choice === answer.choice);
  if (match === undefined) {
    const possible =
      offered.map((one) => one.choice).join(', ') || 'none, because the execution has gone another way';
    return `'${answer.choice}' is not possible here${stopFirst(plan, state, answer)}; possible are: ${possible}`;
  }
  if (match.needs === 'nothingHappened' && answer.nothingHappened !== true) {
    return `an attempt may have acted: '${answer.choice}' needs "nothingHappened": true from a person who has checked`;
  }
  if (match.notBefore !== undefined && match.notBefore > asOf) {
    return `an attempt may still act: '${answer.choice}' is possible from ${timeText(match.notBefore)}: check again then`;
  }
  if (answer.input !== undefined && answer.choice !== 'retry-with-input')
    return `'${answer.choice}' takes no input`;
  if (answer.output !== undefined && answer.choice !== 'give-output')
    return `'${answer.choice}' takes no output`;
  if (answer.choice === 'retry-with-input' && answer.input === undefined)
    return "'retry-with-input' needs an input";
  if (answer.choice === 'give-output' && answer.output === undefined) return "'give-output' needs an output";
  return undefined;
}

const DEEDS: Readonly<Partial<Record<Choice, Deed>>> = {
  retry: 'retried',
  'retry-with-input': 'gave-input',
  'give-output': 'gave-output',
  skip: 'skipped',
  continue: 'continued',
  resume: 'continued',
};

/**
 * The act that a resolution is: if the execution goes on because a person says so, it counts as an act of
 * that person; if it ends, it does not.
 */
export const deedOf = (choice: Choice): Deed | undefined => DEEDS[choice];
