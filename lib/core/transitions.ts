/**
 * The legal moves of a step and of an execution, as data. Read this first.
 *
 * Owns: which status may follow which, and by what. Does not own: when a move is due (`execution/rules.ts`, `step/claim.ts`) or
 * what else changes with it. `docs/STATE-MACHINE.md` is printed from these tables.
 *
 * S1 a terminal execution status has no row that leads out, but for an operator's retry of one that failed, and for a child
 * that succeeded and whose parent is undone. S2 nothing changes a status but `moveStep` and `moveExecution`, and they
 * refuse whatever has no row.
 */

import { refuse } from './records/errors.ts';

export const EXECUTION_STATUSES = [
  'running',
  'waiting',
  'pausing',
  'paused',
  'compensating',
  'succeeded',
  'compensated',
  'failed',
  'canceled',
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

export const STEP_STATUSES = [
  'ready',
  'running',
  'retrying',
  'waiting',
  'answered',
  'unknown',
  'probing',
  'suspended',
  'fenced',
  'done',
  'failed',
  'skipped',
  'compensating',
  'compensated',
  'compensation-failed',
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** What can happen to a step, and what it means. */
export const STEP_EVENTS = {
  claim: 'an agent took the step and starts an attempt',
  defer: 'it is held back until a time, and no attempt is charged: a dead service, or nobody takes it',
  heartbeat: 'the holder renewed its lease, or the external party said that it is still at it',
  done: 'the attempt reported its output (also late, while nothing else has started)',
  retry: 'the attempt failed or was lost, and the recovery allows another one',
  fail: 'the attempt failed, and the recovery is at its end',
  ask: 'nothing is left to try by itself: a person is asked',
  lose: "the attempt's outcome is unknown: no report until its lease ended, or a lost reply",
  probe: 'an agent took the step to ask the outside world for its outcome',
  'find-done': 'the probe found the work done',
  'find-nothing': 'the probe found that the work was not done, and the recovery allows another attempt',
  'find-nothing-last': 'the probe found that the work was not done, and the recovery is at its end',
  'find-open': 'the probe found the work under way, or could not tell, or was itself lost',
  'give-up': 'no probe could tell, too often',
  'choose-retry': 'a person had it tried again',
  'choose-output': 'a person gave its output',
  'choose-skip': 'a person had it skipped',
  'choose-end': 'a person, or the time for an answer, ended it',
  'choose-compensated': 'a person undid it by hand',
  elapse: 'its time has come',
  answer: 'the external party answered before its turn',
  complete: 'the external party answered: done',
  reject: 'the external party answered: it cannot be done',
  expire: 'the external party did not answer in time',
  'start-children': 'executions of its own were started',
  'child-ended': 'an execution of its own ended',
  'stop-children': 'its executions are canceled, and those that had succeeded are undone',
  'keep-effects': 'its executions are stopped, and what they did is left as it is',
  stay: 'its executions had succeeded before they could be stopped, and what they did is left as it is',
  skip: 'its condition does not hold',
  suspend: 'the execution is being paused: nobody may take the step',
  release: 'the pause is over, and it was ready',
  'release-retry': 'the pause is over, and its next attempt was due',
  'release-unknown': 'the pause is over, and its outcome was unknown',
  restart: 'an operator had the failed execution tried again: the step begins anew',
  'restart-retry': 'likewise, where an attempt may have acted and may be repeated',
  'restart-unknown': 'likewise, where an attempt may have acted and must be asked for first',
  'restart-children': 'likewise, where executions of its own failed: those are tried again',
  'restart-answered': 'likewise, where the external party had answered before its turn',
  fence: 'the execution is being undone: the step will never start',
  'start-undo': 'an agent took the step to compensate it',
  'retry-undo': 'the compensation failed or was lost, and may be tried again',
  compensated: 'the compensation is done',
  'fail-undo': 'the compensation failed for good',
  'give-up-undo': 'the compensation was held back for too long: a person is asked',
} as const;
export type StepEvent = keyof typeof STEP_EVENTS;

/** What can happen to an execution, and what it means. */
export const EXECUTION_EVENTS = {
  'set-wake-time': 'somebody looked and set the next time to look',
  adopt: 'news that no lease covers was taken over together with its step',
  ask: 'a person is asked',
  resolve: 'an incident was resolved, and others are open',
  resume: 'the last open incident was resolved',
  pause: 'an operator paused it: nothing new starts',
  halt: 'nobody works and nobody can begin: the pause is complete',
  'go-on': 'the pause is over',
  'go-on-asking': 'the pause is over, and questions are open',
  succeed: 'every step is done or skipped',
  stop: 'a step failed for good, the deadline passed, or an operator canceled',
  keep: 'a point of no return was passed before it could be stopped: what has acted stays',
  recall: 'its parent is being undone',
  compensate: 'every step that acted is undone',
  fail: 'nothing had to be undone, or something could not be, or what has acted stays as it is',
  cancel: 'canceled by an operator or with its parent, and every step that acted is undone',
  retry: 'an operator had it tried again, nothing of it being undone',
  announce: 'the end was told to the external party',
} as const;
export type ExecutionEvent = keyof typeof EXECUTION_EVENTS;

type Table<Status extends string, Event extends string> = Readonly<
  Record<Status, Readonly<Partial<Record<Event, Status>>>>
>;

export const STEP_MOVES: Table<StepStatus, StepEvent> = {
  ready: {
    claim: 'running',
    defer: 'retrying',
    skip: 'skipped',
    suspend: 'suspended',
    fence: 'fenced',
    elapse: 'done',
    heartbeat: 'waiting',
    answer: 'answered',
    complete: 'done',
    reject: 'failed',
    expire: 'failed',
    fail: 'failed',
    'start-children': 'running',
    'stop-children': 'compensating',
  },
  running: {
    heartbeat: 'running',
    done: 'done',
    retry: 'retrying',
    ask: 'waiting',
    fail: 'failed',
    lose: 'unknown',
    'start-children': 'running',
    'child-ended': 'running',
    'stop-children': 'compensating',
  },
  retrying: {
    claim: 'running',
    defer: 'retrying',
    done: 'done',
    'choose-output': 'done',
    suspend: 'suspended',
    fence: 'fenced',
    'start-undo': 'compensating',
    'give-up-undo': 'compensation-failed',
  },
  waiting: {
    defer: 'waiting',
    heartbeat: 'waiting',
    answer: 'answered',
    complete: 'done',
    reject: 'failed',
    expire: 'failed',
    skip: 'skipped',
    done: 'done',
    'choose-retry': 'retrying',
    'choose-output': 'done',
    'choose-skip': 'skipped',
    'choose-end': 'failed',
    fence: 'fenced',
    'start-undo': 'compensating',
    'give-up-undo': 'compensation-failed',
  },
  answered: { complete: 'done', reject: 'failed', skip: 'skipped', fence: 'fenced' },
  unknown: {
    probe: 'probing',
    defer: 'unknown',
    done: 'done',
    'choose-output': 'done',
    suspend: 'suspended',
    fence: 'fenced',
    'start-undo': 'compensating',
    'give-up-undo': 'compensation-failed',
  },
  probing: {
    heartbeat: 'probing',
    'find-done': 'done',
    'find-nothing': 'retrying',
    'find-nothing-last': 'failed',
    'find-open': 'unknown',
    ask: 'waiting',
    'give-up': 'failed',
  },
  suspended: {
    suspend: 'suspended',
    release: 'ready',
    'release-retry': 'retrying',
    'release-unknown': 'unknown',
    done: 'done',
    fence: 'fenced',
    'start-undo': 'compensating',
    'give-up-undo': 'compensation-failed',
  },
  fenced: {
    restart: 'ready',
    'restart-retry': 'retrying',
    'restart-unknown': 'unknown',
    'restart-answered': 'answered',
  },
  done: {
    'start-undo': 'compensating',
    'give-up-undo': 'compensation-failed',
    defer: 'done',
    'stop-children': 'compensating',
    'child-ended': 'done',
  },
  failed: {
    ask: 'waiting',
    'start-undo': 'compensating',
    'give-up-undo': 'compensation-failed',
    defer: 'failed',
    'stop-children': 'compensating',
    'child-ended': 'failed',
    restart: 'ready',
    'restart-retry': 'retrying',
    'restart-unknown': 'unknown',
    'restart-children': 'running',
  },
  skipped: {},
  compensating: {
    'start-undo': 'compensating',
    defer: 'compensating',
    heartbeat: 'compensating',
    'retry-undo': 'compensating',
    compensated: 'compensated',
    'fail-undo': 'compensation-failed',
    'give-up-undo': 'compensation-failed',
    'stop-children': 'compensating',
    'child-ended': 'compensating',
    'keep-effects': 'failed',
    stay: 'done',
  },
  compensated: {},
  'compensation-failed': { 'choose-retry': 'compensating', 'choose-compensated': 'compensated' },
};

export const EXECUTION_MOVES: Table<ExecutionStatus, ExecutionEvent> = {
  running: {
    'set-wake-time': 'running',
    adopt: 'running',
    ask: 'waiting',
    pause: 'pausing',
    succeed: 'succeeded',
    stop: 'compensating',
  },
  waiting: {
    'set-wake-time': 'waiting',
    adopt: 'waiting',
    ask: 'waiting',
    resolve: 'waiting',
    resume: 'running',
    pause: 'pausing',
    stop: 'compensating',
  },
  pausing: {
    'set-wake-time': 'pausing',
    adopt: 'pausing',
    resolve: 'pausing',
    halt: 'paused',
    'go-on': 'running',
    'go-on-asking': 'waiting',
    succeed: 'succeeded',
    stop: 'compensating',
  },
  paused: {
    'set-wake-time': 'paused',
    adopt: 'paused',
    ask: 'paused',
    resolve: 'paused',
    'go-on': 'running',
    'go-on-asking': 'waiting',
    succeed: 'succeeded',
    stop: 'compensating',
  },
  compensating: {
    'set-wake-time': 'compensating',
    adopt: 'compensating',
    ask: 'compensating',
    resolve: 'compensating',
    keep: 'compensating',
    compensate: 'compensated',
    fail: 'failed',
    cancel: 'canceled',
  },
  succeeded: { 'set-wake-time': 'succeeded', announce: 'succeeded', recall: 'compensating' },
  compensated: { 'set-wake-time': 'compensated', announce: 'compensated' },
  failed: { 'set-wake-time': 'failed', announce: 'failed', retry: 'running' },
  canceled: { 'set-wake-time': 'canceled', announce: 'canceled' },
};

export const canMoveStep = (status: StepStatus, event: StepEvent): boolean =>
  STEP_MOVES[status][event] !== undefined;

/** @throws SteadfastError `illegal-move`: a defect of ours, for every caller asks first */
export function moveStep(status: StepStatus, event: StepEvent): StepStatus {
  const next = STEP_MOVES[status][event];
  if (next === undefined) throw refuse('illegal-move', `a step that is ${status} cannot '${event}'`);
  return next;
}

/** @throws SteadfastError `illegal-move` */
export function moveExecution(status: ExecutionStatus, event: ExecutionEvent): ExecutionStatus {
  const next = EXECUTION_MOVES[status][event];
  if (next === undefined) throw refuse('illegal-move', `an execution that is ${status} cannot '${event}'`);
  return next;
}
