/**
 * RULES[status]: the rules of an execution in each status. The first rule that has something to write is
 * applied, then the list starts again (`evaluate.ts`).
 *
 * Owns: which rules apply in which status, and their order. Does not own: the rules, each a value with its
 * due times, its write and its words (`step/rule.ts`).
 *
 * S12 at the wake time a supervisor evaluates the execution again. It is the earliest time at which a rule is
 * due, a message that no agent took must be repeated, or an unseen lease may have ended: a claim does not
 * change the wake time (`supervision/wake-time.ts`).
 */

import { beginTry, endChildren, endOverTime, startChildren, stopChildren } from './execution/child-rules.ts';
import {
  announce,
  endUndo,
  failStep,
  finish,
  leaveEffects,
  notifyOfEnd,
  stopAtDeadline,
  succeed,
} from './execution/end-rules.ts';
import { leaveLane, leaveQueue, useLane } from './waiting/lane.ts';
import {
  closeFailure,
  endLease,
  fence,
  giveUpAccepted,
  refuseCondition,
  skip,
} from './execution/step-rules.ts';
import { readAnswers } from './execution/on-round.ts';
import { outdateSweeps, wakeEarlier } from './supervision/dispatch.ts';
import { askForAnswer } from './questions/callback.ts';
import { askAboutDeadline, openIncident } from './questions/incident.ts';
import { announceChange, moveDeadline, remind } from './questions/life.ts';
import { askAboutPause, waitForLate } from './holds/pause.ts';
import { closeIncidents } from './operators/incidents.ts';
import { giveUpDeferred } from './step/defer.ts';
import type { Rule } from './step/rule.ts';
import { endAtTime, takeMessage } from './waiting/waits.ts';
import type { ExecutionStatus } from './moves.ts';

// `announceChange` puts each change of a question on the event bus, at least once.
const LAST: readonly Rule[] = [wakeEarlier, announceChange, outdateSweeps];
const FORWARD: readonly Rule[] = [
  endLease,
  moveDeadline,
  closeIncidents,
  endChildren,
  readAnswers,
  // Before the rules about other failures: a tolerated failure is final and needs no decision.
  closeFailure,
  failStep,
  succeed,
  stopAtDeadline,
  askAboutDeadline,
  refuseCondition,
  skip,
  askForAnswer,
  // Before the time limits: a message accepted in time is taken, however late that is noticed.
  takeMessage,
  endAtTime,
  useLane,
  remind,
  endOverTime,
  beginTry,
  startChildren,
  giveUpDeferred,
  openIncident,
  ...LAST,
];
const ENDED: readonly Rule[] = [announceChange, leaveLane, announce];

export const RULES: Readonly<Record<ExecutionStatus, readonly Rule[]>> = {
  running: FORWARD,
  // A person is asked, so the execution does not succeed before the answer.
  waiting: FORWARD.filter((rule) => rule !== succeed),
  // No step starts, and neither time limits nor reminders apply: the resume moves both by the length of the
  // pause. Attempts under way report, or their leases end; child executions go on; the lane skips the
  // execution. If all steps are done, it succeeds. A person can resume it, cancel it and answer questions
  // (`operators/`): an answer that stops it acts at once, any other at the resume. When the pause expires, a
  // person is asked (`holds/pause.ts`).
  paused: [
    endLease,
    closeIncidents,
    endChildren,
    succeed,
    useLane,
    askAboutPause,
    announceChange,
    waitForLate,
  ],
  compensating: [
    endLease,
    closeIncidents,
    endChildren,
    closeFailure,
    remind,
    leaveEffects,
    giveUpAccepted,
    fence,
    stopChildren,
    giveUpDeferred,
    openIncident,
    endUndo,
    ...LAST,
  ],
  // The end is certain. Only the on-failure steps still run, and each of them may fail.
  'following-up': [
    endLease,
    closeIncidents,
    remind,
    notifyOfEnd,
    leaveQueue,
    closeFailure,
    refuseCondition,
    skip,
    giveUpDeferred,
    openIncident,
    finish,
    ...LAST,
  ],
  succeeded: ENDED,
  compensated: ENDED,
  failed: ENDED,
  canceled: ENDED,
};
