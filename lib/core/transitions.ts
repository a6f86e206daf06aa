/**
 * The legal moves of a step and of an execution, as data.
 *
 * Owns: which event leads from which status to which. Does not own: the meaning of each event (`moves.ts`),
 * when a move is due and what else it changes (`rules.ts`, `step/`). `docs/STATE-MACHINE.md` is printed from
 * here.
 *
 * S1 no row leads out of a terminal execution status, except the retry of a failed execution and, for a child
 * that succeeded, the recall by its parent. S2 only `moveStep` and `moveExecution` (`decisions/change.ts`)
 * change a status, and they refuse a move without a row.
 */

import type { ExecutionEvent, ExecutionStatus, StepEvent, StepStatus } from './moves.ts';

/**
 * An event says what happened. If it may lead to several statuses, the write chooses one
 * (`StepChanges.status`).
 */
type Table<Status extends string, Event extends string, To> = Readonly<
  Record<Status, Readonly<Partial<Record<Event, To>>>>
>;

/** Rows that several statuses share. */
const UNDO = { 'start-undo': 'compensating', 'fail-undo': 'compensation-failed' } as const;
const PROBE = { probe: 'probing', overdue: 'waiting', fence: 'fenced', ...UNDO } as const;
const SUCCESS = { done: 'done', accept: 'accepted' } as const; // as reported, on time or late
const RESTARTED = { restart: ['ready', 'retrying', 'unknown'], 'begin-try': 'running' } as const;
const ENDED = { compensate: 'compensated', fail: 'failed', cancel: 'canceled' } as const;

const stays = <Status extends string, Event extends StepEvent | ExecutionEvent>(
  status: Status,
  ...events: Event[]
) => Object.fromEntries(events.map((event) => [event, status])) as Readonly<Record<Event, Status>>;

export const STEP_MOVES: Table<StepStatus, StepEvent, StepStatus | readonly StepStatus[]> = {
  // Not begun; most of these steps have no record. `step/turn.ts` decides which may begin now.
  ready: {
    claim: 'running',
    defer: 'retrying',
    skip: 'skipped',
    fence: 'fenced',
    elapse: 'done',
    admit: 'done',
    receive: 'done',
    queue: 'waiting',
    heartbeat: 'waiting',
    answer: 'answered',
    complete: 'done',
    reject: 'failed',
    expire: 'failed',
    fail: 'failed',
    'start-children': 'running',
    'stop-children': ['running', 'compensating'],
  },
  running: {
    ...stays('running', 'heartbeat', 'process-died', 'start-children', 'child-ended'),
    ...stays('running', 'begin-try', 'end-rounds', 'receive', 'elapse'),
    ...SUCCESS,
    fail: ['retrying', 'failed', 'waiting'],
    lose: 'unknown',
    'stop-children': ['running', 'compensating'],
  },
  accepted: { ...stays('accepted', 'defer', 'process-died'), ...SUCCESS, ...PROBE },
  retrying: {
    ...stays('retrying', 'defer', 'process-died'),
    claim: 'running',
    expire: 'failed',
    ...SUCCESS,
    fence: 'fenced',
    overdue: 'waiting',
    ...UNDO,
    'begin-try': 'running',
    'stop-children': 'compensating',
  },
  // Waits for a person, an external party, or a place in a lane.
  waiting: {
    ...stays('waiting', 'defer', 'heartbeat', 'process-died', 'queue'),
    admit: 'done',
    answer: 'answered',
    complete: 'done',
    elapse: 'done',
    reject: 'failed',
    expire: 'failed',
    skip: 'skipped',
    ...SUCCESS,
    'choose-retry': ['retrying', 'unknown'],
    'choose-end': 'failed',
    fence: 'fenced',
    ...UNDO,
    'stop-children': 'compensating',
  },
  answered: { complete: 'done', reject: 'failed', skip: 'skipped', fence: 'fenced' },
  unknown: { ...stays('unknown', 'defer', 'process-died'), ...SUCCESS, ...PROBE },
  probing: {
    ...stays('probing', 'heartbeat', 'process-died'),
    done: 'done',
    'find-nothing': ['retrying', 'failed', 'waiting'],
    'find-open': ['unknown', 'accepted'],
    'give-up': ['failed', 'waiting'],
  },
  fenced: { 'process-died': 'fenced', ...RESTARTED, 'restart-answered': 'answered' },
  done: {
    ...stays('done', 'defer', 'process-died', 'child-ended'),
    ...UNDO,
    'stop-children': 'compensating',
  },
  failed: {
    ...stays('failed', 'keep-effects', 'defer', 'process-died', 'child-ended'),
    ask: 'waiting',
    ...SUCCESS,
    tolerate: 'tolerated',
    ...UNDO,
    'stop-children': 'compensating',
    ...RESTARTED,
  },
  skipped: {},
  tolerated: {},
  compensating: {
    ...stays('compensating', 'defer', 'heartbeat', 'process-died'),
    ...stays('compensating', 'stop-children', 'child-ended'),
    ...UNDO,
    'fail-undo': ['compensating', 'compensation-failed'],
    tolerate: 'tolerated',
    compensated: 'compensated',
    'keep-effects': ['failed', 'done'],
  },
  compensated: { tolerate: 'tolerated', 'next-stage': 'retrying' },
  'compensation-failed': {
    'process-died': 'compensation-failed',
    'choose-retry': 'compensating',
    compensated: 'compensated',
    tolerate: 'tolerated',
  },
};

export const EXECUTION_MOVES: Table<ExecutionStatus, ExecutionEvent, ExecutionStatus> = {
  running: {
    ...stays('running', 'set-wake-time', 'adopt'),
    ask: 'waiting',
    pause: 'paused',
    succeed: 'succeeded',
    stop: 'compensating',
  },
  waiting: {
    ...stays('waiting', 'set-wake-time', 'adopt'),
    resolve: 'running',
    pause: 'paused',
    stop: 'compensating',
  },
  paused: {
    ...stays('paused', 'set-wake-time', 'adopt'),
    resume: 'running',
    succeed: 'succeeded',
    stop: 'compensating',
  },
  compensating: {
    ...stays('compensating', 'set-wake-time', 'adopt', 'leave-effects'),
    'follow-up': 'following-up',
    ...ENDED,
  },
  'following-up': {
    ...stays('following-up', 'set-wake-time', 'adopt'),
    ...ENDED,
  },
  succeeded: { 'set-wake-time': 'succeeded', announce: 'succeeded', recall: 'compensating' },
  compensated: { 'set-wake-time': 'compensated', announce: 'compensated' },
  failed: { 'set-wake-time': 'failed', announce: 'failed', retry: 'running' },
  canceled: { 'set-wake-time': 'canceled', announce: 'canceled' },
};
