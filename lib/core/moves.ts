/**
 * The statuses of a step and of an execution, and the events that change them: their names, and their
 * meanings in words.
 *
 * Owns: the words, which `docs/STATE-MACHINE.md` and the console print. Does not own: which event leads from
 * which status to which (`transitions.ts`).
 */

export const EXECUTION_STATUSES = [
  'running',
  'waiting',
  'paused',
  'compensating',
  'following-up',
  'succeeded',
  'compensated',
  'failed',
  'canceled',
] as const;
/**
 * The status of an execution. Under way: `running`; `waiting` for a person's answer; `paused` by an operator;
 * `compensating`, what its steps did is being undone; `following-up`, its end is certain and its on-failure
 * steps are performed. Ended: `succeeded`; `compensated`, without success and all undone; `failed`, without
 * success, and something stays or nothing had to be undone; `canceled`.
 */
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

export const STEP_STATUSES = [
  'ready',
  'running',
  'retrying',
  'accepted',
  'waiting',
  'answered',
  'unknown',
  'probing',
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

/** The meaning of an execution's status, for a reader who meets the word for the first time. */
export const EXECUTION_MEANS: Readonly<Record<ExecutionStatus, string>> = {
  running: 'its steps are performed, or wait for their time or an external party',
  waiting: 'a person is asked, and it waits for the answer',
  paused: 'an operator has paused it: attempts under way run to their end, and nothing new starts',
  compensating: 'it cannot succeed any more: what its steps did is being undone',
  'following-up': 'its end is certain, and its on-failure steps are performed',
  succeeded: 'every step is done, skipped or tolerated',
  compensated: 'it did not succeed, and all that its steps did is undone',
  failed: 'it did not succeed: nothing had to be undone, or something stays as it is',
  canceled: 'it was canceled, and what its steps did is undone or stays as the canceler chose',
};

/** The meaning of a step's status. */
export const STEP_MEANS: Readonly<Record<StepStatus, string>> = {
  ready: 'it can begin: an agent has not taken it yet',
  running: 'an attempt is under way',
  retrying: 'its last attempt failed or was put off, and another one follows',
  accepted: 'its service has taken the work, and is asked from time to time whether it is done',
  waiting: 'it waits for a time, a person, an external party or executions of its own',
  answered: 'its answer came before its turn, and is kept until then',
  unknown: 'an attempt was lost, so nobody knows whether it acted: its service is asked before anything else',
  probing: 'its service is being asked whether an attempt acted',
  fenced: 'it will never start, because its execution is being undone',
  done: 'it was performed',
  failed: 'no attempt succeeded, and none is left',
  skipped: 'it was left out: its condition does not hold, or a person skipped it',
  tolerated: 'it failed, and its execution goes on without it',
  compensating: 'what it did is being undone',
  compensated: 'what it did is undone',
  'compensation-failed': 'what it did could not be undone: it may still be in effect',
};

/** The events of a step, and their meanings. */
export const STEP_EVENTS = {
  claim: 'an agent took the step and starts an attempt',
  defer: 'it is put off until a time, and no attempt is charged: a dead service, or no agent takes it',
  heartbeat: 'the holder renewed its lease, or the external party reported that it is still working',
  done: 'it is performed: by the report of an attempt (also a late one, while nothing else has started), by what a probe found, or by the output that a person gave',
  accept:
    'the external service has taken the work and will do it; the attempt is over (also late, while nothing else has started)',
  fail: 'the attempt failed or was lost: its recovery allows another one, asks a person, or is at its end; of a child: the try is over and left nothing',
  ask: 'its failure cannot be undone: a person is asked',
  lose: "the attempt's outcome is unknown: no report until its lease ended, or a lost reply",
  'process-died':
    'the process of an attempt that was lost is dead, with all that it started: nothing waits for it any more',
  probe: 'an agent took the step to ask the external service for its outcome, or how far accepted work is',
  'find-nothing':
    'the probe found that the work was not done: its recovery allows another attempt, asks a person, or is at its end',
  'find-open':
    'the probe found the work under way, or could not tell, or was itself lost: the outcome stays unknown, or the work accepted',
  'give-up': 'no probe can tell, or accepted work was not over in time: it fails, or a person is asked',
  'choose-retry': 'a person chose to retry it: another attempt, or, where the work is done, another probe',
  'choose-end': 'a person ended it or goes on without it, or nobody answered in time',
  elapse: 'its time has come; of a round that waits for its message: it begins without one',
  queue: 'its lane is full: it waits for a place',
  admit: 'its lane has a place for it',
  answer: 'the external party answered before its turn',
  receive: 'a message of its name was sent to the execution, and it or its next round took it',
  complete: 'the external party answered: done',
  reject: 'the external party answered: it cannot be done',
  expire: 'its time is over: the external party did not answer, or no attempt succeeded',
  'start-children': 'executions of its own were started',
  'begin-try':
    'its next try or round is recorded, or an operator has its executions tried again: each is created after that',
  'end-rounds': 'its latest round was the last one: the answers of all rounds are gathered',
  'child-ended': 'an execution of its own ended',
  'stop-children':
    'its executions are canceled, and those that had succeeded are undone; or its time is over, and it fails then',
  'keep-effects':
    'its executions are stopped, or had succeeded before they could be, and what they did is left as it is',
  skip: 'its condition does not hold, or a person skipped it',
  'next-stage': 'what the former stage may have done is undone, and the next one follows',
  tolerate: 'its failure is tolerated: what it may have done is undone, or left as it is',
  restart:
    'an operator retried the failed execution: the step begins again, or, where an attempt may have acted, is repeated or asked for first',
  'restart-answered': 'likewise, where the external party had answered before its turn',
  overdue: 'its time is over, or it was deferred for too long, and a person is asked',
  fence: 'the execution is being undone: the step will never start',
  'start-undo': 'an agent took the step to compensate it',
  compensated: 'the compensation is done, by an agent or by a person',
  'fail-undo':
    'the compensation failed, was lost or could not begin in time: it may be tried again, or a person is asked',
} as const;
export type StepEvent = keyof typeof STEP_EVENTS;

/** The events of an execution, and their meanings. */
export const EXECUTION_EVENTS = {
  'set-wake-time': 'it was evaluated, and has its next wake time',
  adopt: 'it was written together with a step that no lease covers, or with a question',
  ask: 'an incident or an approval is open: a person is asked',
  resolve: 'no incident and no approval is open any more',
  pause: 'an operator paused it: nothing new starts',
  resume: 'the pause is over; it waits again at once, in the same write, if a person is asked',
  succeed: 'every step is done, skipped or tolerated',
  stop: 'a step failed for good, the deadline passed, or an operator canceled',
  'leave-effects': 'a point of no return was passed before it could be stopped: what has acted stays',
  'follow-up': 'nothing is left to undo or to answer: its end is certain, and its on-failure steps begin',
  recall: 'its parent is being undone',
  compensate: 'every step that acted is undone',
  fail: 'nothing had to be undone, or something could not be, or what has acted stays as it is',
  cancel: 'canceled by an operator or with its parent, and every step that acted is undone',
  retry: 'an operator retried it, and nothing of it was undone',
  announce: 'the end was announced on the event bus',
} as const;
export type ExecutionEvent = keyof typeof EXECUTION_EVENTS;
