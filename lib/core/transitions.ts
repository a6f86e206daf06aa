/**
 * The legal moves of a step and of an execution, as data. Read this first.
 *
 * Owns: which status may follow which, and by what. Does not own: what each move means in words (`records/moves.ts`), when it is
 * due (`execution/rules.ts`, `step/claim.ts`) or what else changes with it. `docs/STATE-MACHINE.md` is printed from these tables.
 *
 * S1 a terminal execution status has no row that leads out, but for a retry of one that failed, and for a child that succeeded and
 * whose parent is undone. S2 nothing changes a status but `moveStep` and `moveExecution`, which refuse whatever has no row.
 */

import { refuse } from './records/errors.ts';
import type { ExecutionEvent, StepEvent } from './records/moves.ts';

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
  'tolerated',
  'compensating',
  'compensated',
  'compensation-failed',
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

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
    'end-children': 'running',
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
    'end-children': 'running',
  },
  retrying: {
    claim: 'running',
    defer: 'retrying',
    expire: 'failed',
    done: 'done',
    'choose-output': 'done',
    suspend: 'suspended',
    fence: 'fenced',
    'start-undo': 'compensating',
    'give-up-undo': 'compensation-failed',
    'begin-try': 'running',
  },
  waiting: {
    defer: 'waiting',
    heartbeat: 'waiting',
    answer: 'answered',
    complete: 'done',
    elapse: 'done',
    reject: 'failed',
    expire: 'failed',
    skip: 'skipped',
    done: 'done',
    'choose-retry': 'retrying',
    'choose-output': 'done',
    'choose-skip': 'skipped',
    'choose-end': 'failed',
    'choose-continue': 'failed',
    fence: 'fenced',
    'start-undo': 'compensating',
    'give-up-undo': 'compensation-failed',
    'stop-children': 'compensating',
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
    defer: 'suspended',
    release: 'ready',
    'release-retry': 'retrying',
    'release-unknown': 'unknown',
    'release-failed': 'failed',
    'release-undo': 'compensating',
    done: 'done',
    leave: 'tolerated',
    fence: 'fenced',
    'start-undo': 'compensating',
    'give-up-undo': 'compensation-failed',
  },
  fenced: {
    restart: 'ready',
    'restart-retry': 'retrying',
    'restart-unknown': 'unknown',
    'restart-answered': 'answered',
    'restart-children': 'running',
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
    'keep-effects': 'failed',
    done: 'done',
    tolerate: 'tolerated',
    leave: 'tolerated',
    suspend: 'suspended',
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
  tolerated: {},
  compensating: {
    'start-undo': 'compensating',
    leave: 'tolerated',
    suspend: 'suspended',
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
  compensated: { tolerate: 'tolerated' },
  'compensation-failed': {
    'choose-retry': 'compensating',
    'choose-compensated': 'compensated',
    leave: 'tolerated',
  },
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
