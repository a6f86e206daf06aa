/**
 * The evaluation of an execution: the next write that is due, or the messages to send.
 *
 * Owns: the order of the rules that carry an execution on: leases that ended, failure, deadline, skips, success, the
 * fence, the end of an undo, the announcement of the end. Does not own: what a piece of work is (`step/ready.ts`), which messages
 * are sent and the next wake time (`supervision/dispatch.ts`), what an attempt writes (`step/claim.ts`).
 *
 * An agent after its report, the scheduler after a start or a cancel, and a supervisor evaluate in the same way;
 * only a supervisor ends leases, repeats dispatches that were not claimed, and sets the wake time.
 * S8 a join starts once, because the claim decides, not the message.
 */

import { askAboutDeadline } from '../operators/deadline.ts';
import { ask, remindOfIncident } from '../operators/incident.ts';
import { askAboutPause, halt, suspend } from '../operators/pause.ts';
import { closeDueIncidents } from '../operators/resolution.ts';
import { leavesTolerated, standingAtEnd } from '../operators/standing.ts';
import { agentStep, isBefore, type Plan } from '../plan/plan.ts';
import type { Rule } from '../plan/rule.ts';
import { blankStep, endedPause, executionAfter, stepAfter } from '../records/change.ts';
import {
  alsoAffected,
  type Decision,
  evaluateNext,
  IDLE,
  joined,
  nothing,
  writing,
} from '../records/decision.ts';
import type { Ended } from '../records/ended.ts';
import type { Evaluation } from '../records/events.ts';
import { given } from '../records/given.ts';
import { hasUnannounced, openIncidents, type Snapshot } from '../records/snapshot.ts';
import {
  type Cause,
  isLeased,
  isPausedOrPausing,
  isPerforming,
  isTerminal,
  type Step,
} from '../records/state.ts';
import { closedWithoutAttempt } from '../step/claim.ts';
import { giveUpDeferred } from '../step/defer.ts';
import { leaseOverAt } from '../step/lease.ts';
import { leftOutIn } from '../step/left-out.ts';
import { isAllOver, isClear, keepsEffects, standsUnmended, stepToFence, stepToSkip } from '../step/ready.ts';
import { isReady } from '../step/turn.ts';
import { attemptedVariant } from '../step/recovery.ts';
import { expired } from '../step/report.ts';
import { isTimeOver } from '../step/within.ts';
import { send, supervise } from '../supervision/dispatch.ts';
import type { ExecutionStatus } from '../transitions.ts';
import { endOf } from '../waiting/child.ts';
import { openEntry, remind, announceChange } from '../waiting/entry.ts';
import {
  beginTry,
  endChildren,
  endOverTime,
  passedTime,
  startChildren,
  stopChildren,
  wakeForTime,
} from './child-rules.ts';
import { end, failedOnFailure, finish, notifyOfEnd } from './follow-up.ts';
import { withParent } from './on-child.ts';
import { enterNextStage } from './next-stage.ts';
import { keptOutput } from './output.ts';
import { failStep, keepPast, passDeadline } from './stop.ts';
import { tolerate } from './tolerate.ts';

/** Each rule checks the status itself; the first one that has a write to make is followed. */
const rulesOf = (): readonly Rule[] => [
  endLease,
  closeIncidents,
  endChildren,
  // Before what follows from another failure: what is final need not be decided on.
  tolerate,
  enterNextStage,
  failStep,
  succeed,
  passDeadline,
  askAboutDeadline,
  refuseCondition,
  skip,
  openEntry,
  passedTime,
  remind,
  remindOfIncident,
  endOverTime,
  beginTry,
  startChildren,
  suspend,
  halt,
  askAboutPause,
  keepPast,
  fence,
  stopChildren,
  giveUpDeferred,
  openIncident,
  endUndo,
  wakeForTime,
  announceChange,
];

/** Of an execution that is following up; its steps may all fail, so none of the others could have anything to write. */
const followingUp = (): readonly Rule[] => [
  endLease,
  closeIncidents,
  remindOfIncident,
  notifyOfEnd,
  tolerate,
  refuseCondition,
  skip,
  giveUpDeferred,
  openIncident,
  finish,
  wakeForTime,
  announceChange,
];

function rulesFor(status: ExecutionStatus): readonly Rule[] {
  if (isTerminal(status)) return [announceChange, announce];
  return status === 'following-up' ? followingUp() : rulesOf();
}

/** @param plan as it is during the execution's status */
export function evaluate(plan: Plan, state: Snapshot, event: Evaluation): Decision {
  const rules = rulesFor(state.execution.status);
  for (const rule of rules) {
    const decision = rule(plan, state, event);
    if (decision === undefined) continue;
    // From a state that was not just read nothing may come but hints and the end of the execution.
    const allowed = event.fresh || rule === succeed || rule === announce;
    return allowed ? decision : nothing(evaluateNext(event.affected));
  }
  return event.by === 'supervisor' ? supervise(plan, state, event) : send(plan, state, event);
}

const endLease: Rule = (plan, state, event) => {
  if (event.by !== 'supervisor') return undefined;
  const record = Object.values(state.steps).find(
    (step) => isLeased(step) && leaseOverAt(plan, step, event.graceFrom) <= event.now,
  );
  const planStep = record && agentStep(plan, record.name);
  if (planStep === undefined || !isLeased(record)) return undefined;
  const { name, attempt, mode, leaseUntil } = record;
  const step = expired(planStep, record, {
    ...event,
    isOverTime: isTimeOver(planStep, state, event.readAt),
  });
  return writing(state.execution.id, { step }, evaluateNext(alsoAffected(event.affected, name)), {
    what: 'lease-ended',
    step: name,
    attempt,
    detail: mode,
    agent: attemptedVariant(planStep, record).agent,
    ms: event.now - leaseUntil,
    ...given({ failure: step.attempts.at(-1)?.failure }),
  });
};

const closeIncidents: Rule = (plan, state, event) =>
  stillAffected(event, closeDueIncidents(plan, state, event));
const openIncident: Rule = (plan, state, event) => stillAffected(event, ask(plan, state, event));

/** The evaluation's own write is not forgotten over an incident that came up on the way. */
function stillAffected(event: Evaluation, decision: Decision | undefined): Decision | undefined {
  if (decision?.next.kind !== 'evaluate') return decision;
  const { affected, fresh } = decision.next;
  return { ...decision, next: evaluateNext(joined(event.affected, affected), fresh) };
}

/** Whether a step applies cannot be told from what was left out: it has neither to be done nor to be skipped. */
const refuseCondition: Rule = (plan, state, event) => {
  if (!isPerforming(state.execution.status)) return undefined;
  for (const step of plan.steps) {
    if (step.when === undefined || !isReady(step, state)) continue;
    const failure = leftOutIn(step.when, state.steps);
    if (failure === undefined) continue;
    const record = state.steps[step.name] ?? blankStep(step.name, state.execution);
    const failed = stepAfter(record, 'fail', event, { changedAt: event.now, failure });
    const next = evaluateNext(alsoAffected(event.affected, step.name));
    const note = { what: 'step-failed', step: step.name };
    return writing(state.execution.id, { step: failed }, next, note);
  }
  return undefined;
};

const skip: Rule = (plan, state, event) => {
  if (!isPerforming(state.execution.status)) return undefined;
  const name = stepToSkip(plan, state)?.name;
  if (name === undefined) return undefined;
  const step = closedWithoutAttempt(state, name, 'skip', event);
  const next = evaluateNext(alsoAffected(event.affected, name));
  const note = { what: 'step-skipped', step: name };
  return writing(state.execution.id, { step }, next, note);
};

const succeed: Rule = (plan, state, event) => {
  const { execution } = state;
  // When all is done nothing is left to pause; where an incident is open, its resolution comes first.
  const isPaused = isPausedOrPausing(execution.status);
  if ((execution.status !== 'running' && !isPaused) || openIncidents(state).length > 0) return undefined;
  if (!isAllOver(plan, state.steps)) return undefined;
  // The wake time stays as it is, so that the end is announced even if this process dies now.
  const succeeded = executionAfter(execution, 'succeed', event, {
    ...keptOutput(plan, state),
    ...endedPause(execution, event.now),
    endedAt: event.now,
  });
  const next = evaluateNext(event.affected, false);
  return writing(execution.id, { execution: succeeded }, next, { what: 'succeeded' });
};

const fence: Rule = (plan, state, event) => {
  if (state.execution.status !== 'compensating') return undefined;
  const name = stepToFence(plan, state)?.name;
  if (name === undefined) return undefined;
  const step = closedWithoutAttempt(state, name, 'fence', event);
  return writing(state.execution.id, { step }, evaluateNext('all'), { what: 'step-fenced', step: name });
};

/** Nothing works and nothing is left to undo: the end, and which one it is. */
const endUndo: Rule = (plan, state, event) => {
  const { execution } = state;
  if (execution.status !== 'compensating' || openIncidents(state).length > 0) return undefined;
  // Another process may be starting a child of a step that this evaluation could not stop.
  if (event.passOver !== undefined) return undefined;
  const left = keepsEffects(state);
  const stuck = plan.steps.filter((step) => state.steps[step.name]?.status === 'compensation-failed');
  const rest = plan.steps.filter((step) => !stuck.includes(step));
  // Behind an undo that failed for good its predecessors stay as they are: undoing them would lie about the order.
  const open = rest.filter((step) => !isClear(step, state.steps[step.name], left));
  if (open.some((step) => !stuck.some((other) => isBefore(plan, step.name, other.name)))) return undefined;
  if (open.some((step) => isLeased(state.steps[step.name]))) return undefined;
  const anyCompensated = plan.steps.some((step) => wasCompensated(state.steps[step.name]));
  const stands = plan.steps.some((step) => standsUnmended(step, state.steps[step.name]));
  const anyLeft = left || stuck.length > 0 || stands || leavesTolerated(plan, state);
  const move = endMove(execution.cause, anyCompensated, anyLeft);
  const cause =
    stuck.length === 0 || execution.cause === undefined
      ? {}
      : { cause: { ...execution.cause, failure: undoFailure(stuck.map((step) => step.name)) } };
  return end(plan, state, move, cause, event);
};

/** Also by an execution of its own that undid itself. */
const wasCompensated = (record: Step | undefined): boolean =>
  record?.status === 'compensated' ||
  Object.values(record?.children?.ended ?? {}).some(({ status }) => status === 'compensated');

function endMove(
  cause: Cause | undefined,
  anyCompensated: boolean,
  anyLeft: boolean,
): 'fail' | 'cancel' | 'compensate' {
  if (anyLeft) return 'fail';
  if (cause?.kind === 'cancel' || cause?.kind === 'parent') return 'cancel';
  return anyCompensated ? 'compensate' : 'fail';
}

const undoFailure = (names: readonly string[]): Cause['failure'] => ({
  code: 'compensation-failed',
  message: `the effects of these steps could not be undone: ${names.join(', ')}`,
});

/**
 * The end is announced first; the write that removes the wake time records that it was, or the one that has the execution go on
 * with its parent.
 */
const announce: Rule = (plan, state, event) => {
  const { execution } = state;
  // The process that wrote the end announces it, else a supervisor: many may read it at the same time.
  const another = event.by === 'agent' && event.outrun === true;
  // What became of its entries is announced before its end.
  if (execution.wakeAt === undefined || another || hasUnannounced(state)) return nothing();
  const failed = failedOnFailure(plan, state);
  const ended: Ended = {
    executionId: execution.id,
    workflow: execution.workflow,
    status: execution.status,
    startedAt: execution.startedAt,
    endedAt: execution.endedAt ?? event.now,
    ...given({ startedBy: execution.startedBy, cause: execution.cause?.kind, by: execution.cause?.by }),
    ...given({ standing: standingAtEnd(plan, state) }),
    ...(failed.length === 0 ? {} : { onFailureFailed: failed }),
  };
  const announced = executionAfter(execution, 'announce', event, { dispatches: {}, wakeAt: undefined });
  const { parent, end: known } = execution;
  return {
    // The end of a part of a list is of interest to its parent alone.
    ...(parent?.part === true ? {} : { announce: ended }),
    ...(parent === undefined || known !== undefined
      ? {}
      : { notifyParent: { parent, end: endOf(plan, state) } }),
    ...(known?.again === true
      ? withParent(plan, state, event)
      : writing(execution.id, { execution: announced }, IDLE)),
  };
};
