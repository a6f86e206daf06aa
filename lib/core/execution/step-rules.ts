/**
 * The rules of an evaluation for single steps: a lease that ended, a condition that is false, the fence.
 *
 * Owns: when each is due. Does not own: what an attempt whose lease ended becomes (`step/report.ts`),
 * which steps there are (`step/ready.ts`).
 */

import { agentStep, agentSteps, hasChildren, isCallback, type Plan, type PlanStep } from '../plan/plan.ts';
import { blankStep, stepAfter } from '../decisions/change.ts';
import { evaluateNext, writing } from '../decisions/decision.ts';
import { defined } from '../values/defined.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { isLeased, type Step } from '../records/state.ts';
import { isAwaited, givenUpAt } from '../step/process-deadline.ts';
import { closedWithoutAttempt } from '../step/claim.ts';
import { leaseOverAt } from '../step/lease.ts';
import { isLostFailure, leftOutIn } from '../step/left-out.ts';
import { stepToFence, stepToSkip } from '../step/ready.ts';
import { attemptedVariant } from '../step/recovery.ts';
import { leaseLost } from '../step/report.ts';
import type { Rule } from '../step/rule.ts';
import { isTurnToBegin, isTurn, isUnbegun } from '../step/turn.ts';
import { isTimeOver } from '../step/within.ts';

export const endLease: Rule = {
  apply: (plan, state, event) => {
    if (event.by !== 'supervisor') return undefined;
    const record = Object.values(state.steps).find(
      (step) => isLeased(step) && leaseOverAt(plan, step, event.graceFrom, event.away) <= event.now,
    );
    const planStep = record && agentStep(plan, record.name);
    if (planStep === undefined || !isLeased(record)) return undefined;
    const { name, attempt, mode, leaseUntil } = record;
    const step = leaseLost(planStep, record, {
      ...event,
      isOverTime: isTimeOver(planStep, state, event.readAt),
    });
    return writing(state.execution.id, { step }, evaluateNext([name]), {
      what: 'lease-ended',
      step: name,
      attempt,
      detail: mode,
      agent: attemptedVariant(planStep, record).agent,
      ms: event.now - leaseUntil,
      ...defined({ failure: step.attempts.at(-1)?.failure }),
    });
  },
  dueAt: (plan, { steps }, { graceFrom, away }) =>
    Object.values(steps)
      .filter(isLeased)
      .map((record) => ({
        at: leaseOverAt(plan, record, graceFrom, away),
        step: record.name,
        coming: () => ({ what: SILENT, who: 'supervisor' }),
      })),
  says: { 'lease-ended': 'the lease has ended: the outcome of the attempt counts as unknown' },
};

const SILENT = 'its agent reports, or renews its lease; if it stays silent, its outcome counts as unknown';

/**
 * If an input of its condition was left out, the condition cannot be evaluated, so the step fails: it
 * can be neither done nor skipped.
 */
export const refuseCondition: Rule = {
  apply: (plan, state, event) => {
    for (const step of plan.steps) {
      if (step.when === undefined || !isDueWithCondition(step, state)) continue;
      const failure = leftOutIn(step.when, state);
      // Child executions may be starting: their places are taken first (`child-rules.ts`).
      if (failure === undefined || (hasChildren(step) && isLostFailure(failure))) continue;
      const record = state.steps[step.name] ?? blankStep(step.name, state.execution);
      const move = isUnbegun(record) ? 'fail' : 'reject';
      const failed = stepAfter(record, move, event, { changedAt: event.now, failure });
      const next = evaluateNext([step.name]);
      const note = { what: 'step-failed', step: step.name };
      return writing(state.execution.id, { step: failed }, next, note);
    }
    return undefined;
  },
  says: { 'step-failed': 'a step fails, because its condition cannot be evaluated' },
};

/** A callback may be answered, or get a heartbeat, before its turn. */
const isDueWithCondition = (step: PlanStep, state: Snapshot): boolean =>
  isTurnToBegin(step, state) ||
  (isCallback(step) &&
    isTurn(step, state) &&
    ['waiting', 'answered'].includes(state.steps[step.name]?.status ?? 'ready'));

export const skip: Rule = {
  apply: (plan, state, event) => {
    const name = stepToSkip(plan, state)?.name;
    if (name === undefined) return undefined;
    const step = closedWithoutAttempt(state, name, 'skip', event);
    const next = evaluateNext([name]);
    const note = { what: 'step-skipped', step: name };
    return writing(state.execution.id, { step }, next, note);
  },
  says: { 'step-skipped': 'a step is skipped, because its condition does not hold' },
};

/** No probe could determine the outcome of accepted work, and by now it acts no more. */
export const giveUpAccepted: Rule = {
  apply: (plan, state, event) => {
    const left = awaited(plan, state).find((record) => givenUpAt(record.accepted) <= event.now);
    if (left === undefined) return undefined;
    const step = closedWithoutAttempt(state, left.name, 'fence', event);
    const note = { what: 'step-fenced', step: left.name };
    return writing(state.execution.id, { step }, evaluateNext('all'), note);
  },
  dueAt: (plan, state) =>
    awaited(plan, state).map(({ name, accepted }) => ({
      at: givenUpAt(accepted),
      step: name,
      coming: () => ({ what: 'accepted work is left as it is: its time is over', who: 'supervisor' }),
    })),
  says: { 'step-fenced': 'accepted work is left as it is, because its time is over' },
};

type AcceptedStep = Step & Required<Pick<Step, 'accepted'>>;

const awaited = (plan: Plan, { steps }: Snapshot): AcceptedStep[] =>
  agentSteps(plan).flatMap((step) => {
    const record = steps[step.name];
    if (record?.accepted === undefined || isLeased(record)) return [];
    return isAwaited(attemptedVariant(step, record), record) ? [record as AcceptedStep] : [];
  });

export const fence: Rule = {
  apply: (plan, state, event) => {
    const name = stepToFence(plan, state)?.name;
    if (name === undefined) return undefined;
    const step = closedWithoutAttempt(state, name, 'fence', event);
    return writing(state.execution.id, { step }, evaluateNext('all'), { what: 'step-fenced', step: name });
  },
  says: { 'step-fenced': 'a step that has not started is closed for good' },
};
