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
  'undoing',
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
  'held',
  'sealed',
  'done',
  'failed',
  'skipped',
  'undoing',
  'undone',
  'undo-failed',
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

/** What can happen to a step, and what it means. */
export const STEP_EVENTS = {
  claim: 'an agent took the step and starts an attempt',
  park: 'it is held back until a time, and no attempt is charged: a dead service, or nobody takes it',
  beat: 'the holder renewed its lease, or the outside said that it is still at it',
  done: 'the attempt reported its output (also late, while nothing else has started)',
  retry: 'the attempt failed or was lost, and the ladder allows another one',
  fail: 'the attempt failed, and the ladder is at its end',
  ask: 'nothing is left to try by itself: a person is asked',
  lose: "the attempt's outcome is unknown: no report until its lease ended, or a lost reply",
  probe: 'an agent took the step to ask the outside world for its outcome',
  'find-done': 'the probe found the work done',
  'find-nothing': 'the probe found that the work was not done, and the ladder allows another attempt',
  'find-nothing-last': 'the probe found that the work was not done, and the ladder is at its end',
  'find-open': 'the probe found the work under way, or could not tell, or was itself lost',
  'give-up': 'no probe could tell, too often',
  'choose-retry': 'a person had it tried again',
  'choose-output': 'a person gave its output',
  'choose-skip': 'a person had it skipped',
  'choose-end': 'a person, or the time for an answer, ended it',
  'choose-undone': 'a person undid it by hand',
  elapse: 'its time has come',
  answer: 'the outside answered before its turn',
  complete: 'the outside answered: done',
  reject: 'the outside answered: it cannot be done',
  expire: 'the outside did not answer in time',
  'start-children': 'executions of its own were started',
  told: 'an execution of its own ended',
  'stop-children': 'its executions are canceled, and those that had succeeded are undone',
  leave: 'its executions are stopped, and what they did is left as it is',
  stay: 'its executions had succeeded before they could be stopped, and what they did is left as it is',
  skip: 'its condition does not hold',
  hold: 'the execution is being paused: nobody may take the step',
  release: 'the pause is over, and it was ready',
  'release-retry': 'the pause is over, and its next attempt was due',
  'release-unknown': 'the pause is over, and its outcome was unknown',
  renew: 'an operator had the failed execution tried again: the step begins anew',
  'renew-retry': 'likewise, where an attempt may have acted and may be repeated',
  'renew-unknown': 'likewise, where an attempt may have acted and must be asked for first',
  'renew-children': 'likewise, where executions of its own failed: those are tried again',
  'renew-answered': 'likewise, where the outside had answered before its turn',
  seal: 'the execution is being undone: the step will never start',
  'start-undo': 'an agent took the step to compensate it',
  'retry-undo': 'the compensation failed or was lost, and may be tried again',
  undone: 'the compensation is done',
  'fail-undo': 'the compensation failed for good',
  'give-up-undo': 'the compensation was held back for too long: a person is asked',
} as const;
export type StepEvent = keyof typeof STEP_EVENTS;

/** What can happen to an execution, and what it means. */
export const EXECUTION_EVENTS = {
  watch: 'somebody looked and set the next time to look',
  adopt: 'news that no lease covers was taken over together with its step',
  ask: 'a person is asked',
  answer: 'a question was answered, and others are open',
  resume: 'the last open question was answered',
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
  announce: 'the end was told to the outside',
} as const;
export type ExecutionEvent = keyof typeof EXECUTION_EVENTS;

type Table<Status extends string, Event extends string> = Readonly<
  Record<Status, Readonly<Partial<Record<Event, Status>>>>
>;

export const STEP_MOVES: Table<StepStatus, StepEvent> = {
  ready: {
    claim: 'running',
    park: 'retrying',
    skip: 'skipped',
    hold: 'held',
    seal: 'sealed',
    elapse: 'done',
    beat: 'waiting',
    answer: 'answered',
    complete: 'done',
    reject: 'failed',
    expire: 'failed',
    fail: 'failed',
    'start-children': 'running',
    'stop-children': 'undoing',
  },
  running: {
    beat: 'running',
    done: 'done',
    retry: 'retrying',
    ask: 'waiting',
    fail: 'failed',
    lose: 'unknown',
    'start-children': 'running',
    told: 'running',
    'stop-children': 'undoing',
  },
  retrying: {
    claim: 'running',
    park: 'retrying',
    done: 'done',
    'choose-output': 'done',
    hold: 'held',
    seal: 'sealed',
    'start-undo': 'undoing',
    'give-up-undo': 'undo-failed',
  },
  waiting: {
    park: 'waiting',
    beat: 'waiting',
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
    seal: 'sealed',
    'start-undo': 'undoing',
    'give-up-undo': 'undo-failed',
  },
  answered: { complete: 'done', reject: 'failed', skip: 'skipped', seal: 'sealed' },
  unknown: {
    probe: 'probing',
    park: 'unknown',
    done: 'done',
    'choose-output': 'done',
    hold: 'held',
    seal: 'sealed',
    'start-undo': 'undoing',
    'give-up-undo': 'undo-failed',
  },
  probing: {
    beat: 'probing',
    'find-done': 'done',
    'find-nothing': 'retrying',
    'find-nothing-last': 'failed',
    'find-open': 'unknown',
    ask: 'waiting',
    'give-up': 'failed',
  },
  held: {
    hold: 'held',
    release: 'ready',
    'release-retry': 'retrying',
    'release-unknown': 'unknown',
    done: 'done',
    seal: 'sealed',
    'start-undo': 'undoing',
    'give-up-undo': 'undo-failed',
  },
  sealed: {
    renew: 'ready',
    'renew-retry': 'retrying',
    'renew-unknown': 'unknown',
    'renew-answered': 'answered',
  },
  done: {
    'start-undo': 'undoing',
    'give-up-undo': 'undo-failed',
    park: 'done',
    'stop-children': 'undoing',
    told: 'done',
  },
  failed: {
    ask: 'waiting',
    'start-undo': 'undoing',
    'give-up-undo': 'undo-failed',
    park: 'failed',
    'stop-children': 'undoing',
    told: 'failed',
    renew: 'ready',
    'renew-retry': 'retrying',
    'renew-unknown': 'unknown',
    'renew-children': 'running',
  },
  skipped: {},
  undoing: {
    'start-undo': 'undoing',
    park: 'undoing',
    beat: 'undoing',
    'retry-undo': 'undoing',
    undone: 'undone',
    'fail-undo': 'undo-failed',
    'give-up-undo': 'undo-failed',
    'stop-children': 'undoing',
    told: 'undoing',
    leave: 'failed',
    stay: 'done',
  },
  undone: {},
  'undo-failed': { 'choose-retry': 'undoing', 'choose-undone': 'undone' },
};

export const EXECUTION_MOVES: Table<ExecutionStatus, ExecutionEvent> = {
  running: {
    watch: 'running',
    adopt: 'running',
    ask: 'waiting',
    pause: 'pausing',
    succeed: 'succeeded',
    stop: 'undoing',
  },
  waiting: {
    watch: 'waiting',
    adopt: 'waiting',
    ask: 'waiting',
    answer: 'waiting',
    resume: 'running',
    pause: 'pausing',
    stop: 'undoing',
  },
  pausing: {
    watch: 'pausing',
    adopt: 'pausing',
    answer: 'pausing',
    halt: 'paused',
    'go-on': 'running',
    'go-on-asking': 'waiting',
    succeed: 'succeeded',
    stop: 'undoing',
  },
  paused: {
    watch: 'paused',
    adopt: 'paused',
    ask: 'paused',
    answer: 'paused',
    'go-on': 'running',
    'go-on-asking': 'waiting',
    succeed: 'succeeded',
    stop: 'undoing',
  },
  undoing: {
    watch: 'undoing',
    adopt: 'undoing',
    ask: 'undoing',
    answer: 'undoing',
    keep: 'undoing',
    compensate: 'compensated',
    fail: 'failed',
    cancel: 'canceled',
  },
  succeeded: { watch: 'succeeded', announce: 'succeeded', recall: 'undoing' },
  compensated: { watch: 'compensated', announce: 'compensated' },
  failed: { watch: 'failed', announce: 'failed', retry: 'running' },
  canceled: { watch: 'canceled', announce: 'canceled' },
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
