/**
 * RULES[status]: what can happen to an execution in each status, in order. The first rule that
 * has a write to make is followed (`evaluate.ts`).
 *
 * Owns: which rules hold in which status, and their order. Does not own: the rules themselves, each a value
 * with the times at which it is due, what it writes, and the words for it (`step/rule.ts`).
 *
 * S12 no rule is due before the wake time, when a supervisor evaluates the execution again: when a rule is
 * due, or a message that no agent took must be repeated, or a lease that began unseen may have ended, because
 * a claim does not change the wake time; whichever is first (`supervision/wake-time.ts`).
 */

import { beginTry, endChildren, endOverTime, startChildren, stopChildren } from './execution/child-rules.ts';
import { announce, endUndo, succeed } from './execution/end-rules.ts';
import { finish, notifyOfEnd } from './execution/follow-up.ts';
import { leaveLane, leaveQueue, useLane } from './execution/lane-rules.ts';
import { enterNextStage } from './execution/next-stage.ts';
import {
  closeIncidents,
  endLease,
  fence,
  leaveAccepted,
  openIncident,
  refuseCondition,
  skip,
} from './execution/step-rules.ts';
import { failStep, keepPast, passDeadline } from './execution/stop.ts';
import { passedTime, wakeForTime } from './execution/time-rules.ts';
import { tolerate } from './execution/tolerate.ts';
import { askAboutDeadline } from './questions/deadline.ts';
import { askForAnswer, moveDeadline } from './questions/callback.ts';
import { announceChange, remind } from './questions/life.ts';
import { askAboutPause, halt, suspend } from './holds/pause.ts';
import { giveUpDeferred } from './step/defer.ts';
import type { Rule } from './step/rule.ts';
import type { ExecutionStatus } from './moves.ts';

const FORWARD: readonly Rule[] = [
  endLease,
  closeIncidents,
  endChildren,
  // Before the rules about other failures: a tolerated failure is final, and needs no decision.
  tolerate,
  enterNextStage,
  failStep,
  succeed,
  passDeadline,
  askAboutDeadline,
  refuseCondition,
  skip,
  askForAnswer,
  passedTime,
  useLane,
  moveDeadline,
  // Writes a reminder of an open question whenever the author's `remindEvery` has passed; without that, none.
  remind,
  endOverTime,
  beginTry,
  startChildren,
  giveUpDeferred,
  openIncident,
  wakeForTime,
  // Announces each change of a question on the event bus, at least once: opened, reminded, closed.
  announceChange,
];
const ENDED: readonly Rule[] = [announceChange, leaveLane, announce];

export const RULES: Readonly<Record<ExecutionStatus, readonly Rule[]>> = {
  running: FORWARD,
  // A person is asked, so the execution does not succeed before the answer.
  waiting: FORWARD.filter((rule) => rule !== succeed),
  // No step starts: one that becomes ready is suspended too. No time limit expires, and no reminder is due: a
  // resume gives the time back. Attempts under way report, or their leases end; children go on; a lane gives
  // the execution no place. If all steps are done, the execution succeeds. A person may resume or cancel it,
  // and answer questions: an answer that stops the execution stops it at once; what any other answer allows
  // begins at the resume (`operators/`). When the pause itself expires, a person is asked; without an answer,
  // what can be undone is undone (`holds/pause.ts`).
  pausing: [endLease, closeIncidents, endChildren, succeed, suspend, useLane, halt, announceChange],
  paused: [endLease, closeIncidents, endChildren, succeed, suspend, useLane, askAboutPause, announceChange],
  compensating: [
    endLease,
    closeIncidents,
    endChildren,
    tolerate,
    enterNextStage,
    remind,
    keepPast,
    leaveAccepted,
    fence,
    stopChildren,
    giveUpDeferred,
    openIncident,
    endUndo,
    wakeForTime,
    announceChange,
  ],
  // The end is certain. Only the on-failure steps still run, and each of them may fail.
  'following-up': [
    endLease,
    closeIncidents,
    remind,
    notifyOfEnd,
    leaveQueue,
    tolerate,
    refuseCondition,
    skip,
    giveUpDeferred,
    openIncident,
    finish,
    wakeForTime,
    announceChange,
  ],
  succeeded: ENDED,
  compensated: ENDED,
  failed: ENDED,
  canceled: ENDED,
};
