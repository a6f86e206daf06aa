/**
 * The deadline of an execution that has no way back: it no longer ends anything, so a person is asked.
 *
 * Owns: the incident, its choices, which all lead forward or leave things as they are, and what a resolution
 * writes. Does not own: when there is no way back (`step/point-of-no-return.ts`), the deadline of an
 * execution that can be undone (`execution/end-rules.ts`), the incidents of single steps (`incident.ts`).
 *
 * L1 behind a point of no return, too, a person is asked when the time is over. A resolution that goes on
 * gives the execution its time once more, and then a person is asked again; without a resolution everything
 * is left as it is. S10 nothing is undone.
 */

import { agentSteps, type Plan } from '../plan/plan.ts';
import {
  executionAfter,
  type ExecutionChanges,
  type DecisionInputs,
  stepAfter,
  stop,
} from '../decisions/change.ts';
import { type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import type { Resolution } from '../decisions/events.ts';
import { defined } from '../values/defined.ts';
import type { Incident } from '../records/question.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { type Execution, isLeased, isSatisfied, isUndecided, type Step } from '../records/state.ts';
import { isAskedAtDeadline, lastPoint } from '../step/point-of-no-return.ts';
import { type IncidentKind, LAST_INCIDENT_MS, opening, resolved } from './incident.ts';
import type { Rule } from '../step/rule.ts';

/** Comes after `stopAtDeadline`, which handles the executions that can be undone. */
export const askAboutDeadline: Rule = {
  apply: (plan, state, event) => {
    if (event.now < state.execution.deadlineAt || !isAskedAtDeadline(plan, state)) return undefined;
    const step = stepThatHangs(plan, state);
    const point = lastPoint(plan, state)?.name ?? '';
    const asked = {
      kind: 'deadline' as const,
      step: step?.name,
      stepVersion: step?.version ?? 0,
      failure: {
        code: 'deadline',
        message: `it did not end in time, and nothing is undone past the point of no return '${point}'`,
      },
      deadlineAt: event.now + LAST_INCIDENT_MS,
      otherwise: 'keep' as const,
    };
    return opening(state, asked, event);
  },
  dueAt: (plan, state) =>
    isAskedAtDeadline(plan, state)
      ? [
          {
            at: state.execution.deadlineAt,
            coming: () => ({ what: 'its time is over and a person is asked', who: 'person' }),
          },
        ]
      : [],
  says: { 'incident-opened': 'a person is asked' },
};

/**
 * The statuses of a step that is not over and may have no attempt under way: a person may know its outcome.
 */
const HANGING: ReadonlySet<Step['status'] | undefined> = new Set(['retrying', 'accepted', 'unknown']);
const isHanging = (record: Step | undefined): record is Step =>
  HANGING.has(record?.status) && !isLeased(record);

const stepThatHangs = (plan: Plan, { steps }: Snapshot): Step | undefined =>
  agentSteps(plan)
    .map(({ name }) => steps[name])
    .find(isHanging);

export const DEADLINE: IncidentKind = {
  choices: (_plan, state, { step }) => {
    if (!isUndecided(state.execution.status)) return [];
    const hangs = step !== undefined && isHanging(state.steps[step]);
    return [{ choice: 'resume' }, ...(hangs ? [{ choice: 'give-output' as const }] : []), { choice: 'keep' }];
  },
  isMoot: (plan, { execution, steps }) =>
    execution.status === 'compensating' || plan.steps.every(({ name }) => isSatisfied(steps[name])),
  resolve: resolveDeadline,
};

/** Gives the execution its time once more, if it has none left and goes on because a person said so. */
export const timeAgain = (
  plan: Plan,
  { deadlineAt }: Execution,
  now: number,
): Pick<ExecutionChanges, 'deadlineAt'> => (now < deadlineAt ? {} : { deadlineAt: now + plan.withinMs });

function resolveDeadline(
  plan: Plan,
  state: Snapshot,
  incident: Incident,
  answer: Resolution,
  inputs: DecisionInputs,
): Decision {
  const { execution } = state;
  const question = resolved(incident, answer, inputs);
  if (answer.choice === 'keep') {
    const { failure } = incident;
    const by = defined({ by: answer.caller });
    return stop(state, inputs, { kind: 'deadline', at: inputs.now, failure, undo: false, ...by }, question);
  }
  const record = state.steps[incident.step ?? ''];
  const step =
    answer.choice === 'give-output' && record !== undefined
      ? stepAfter(record, 'done', inputs, {
          changedAt: inputs.now,
          output: answer.output ?? null,
          failure: undefined,
          retryAt: undefined,
        })
      : undefined;
  const goesOn = executionAfter(execution, 'adopt', inputs, timeAgain(plan, execution, inputs.now));
  return writing(
    execution.id,
    { execution: goesOn, step, question },
    evaluateNext(step === undefined ? 'all' : [step.name]),
    { what: 'incident-resolved', detail: answer.choice },
  );
}
