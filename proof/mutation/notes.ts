/** Survivors that a person has judged. Owns: what was concluded. Does not own: the counts. */

import { SAME } from './notes-same.ts';
import { AROUND } from './notes-around.ts';

export interface Note {
  readonly file: string;
  /** A piece of the line. */
  readonly at: string;
  /** 'test': a test notices it now. 'equivalent': no test could. 'open': a test could. */
  readonly answer: 'test' | 'equivalent' | 'open';
  readonly said: string;
}

export const NOTES: readonly Note[] = [
  {
    file: 'lib/core/step/lease.ts',
    at: 'record.token !== token) return',
    answer: 'test',
    said: 'a heartbeat under a token of the past renewed the lease. Properties see it in all their runs, not in a hundred.',
  },
  {
    file: 'lib/core/step/claim.ts',
    at: '...keyOfClaim(step, before),',
    answer: 'test',
    said: 'what a retry of the execution has begun anew was forgotten by a probe, or remembered by the next attempt.',
  },
  {
    file: 'lib/core/execution/on-message.ts',
    at: 'piece.step.agent === event.agent &&',
    answer: 'test',
    said: 'a message in another agent’s queue was claimed there.',
  },
  {
    file: 'lib/core/execution/on-message.ts',
    at: 'if (event.processDeadlineAt - event.now < MIN_REMAINING_MS)',
    answer: 'test',
    said: 'a process with exactly the time that an attempt needs gave its message back.',
  },
  {
    file: 'lib/core/execution/on-report.ts',
    at: 'return dependents.every(',
    answer: 'test',
    said: 'the second read (C1) was spared although one of two dependents waits for another step, too.',
  },
  {
    file: 'lib/core/execution/on-report.ts',
    at: "if (step.status !== 'done' || !isPlain) return false;",
    answer: 'test',
    said: 'the second read was spared after a failure, or while a person is asked.',
  },
  {
    file: 'lib/core/execution/on-message.ts',
    at: 'work.dueAt > event.now && isOpenToLateMessages(work) &&',
    answer: 'test',
    said: 'each claim of what was once held back wrote the execution, too.',
  },
  {
    file: 'lib/core/step/probe-report.ts',
    at: "if (next.kind === 'person') return stepAfter(record, 'ask', inputs, proven);",
    answer: 'test',
    said: 'a probe that finds nothing on the last stage before a person failed the step; nobody was asked.',
  },
  {
    file: 'lib/core/step/lease.ts',
    at: "if (stage.kind === 'useAgent') ms =",
    answer: 'test',
    said: 'H left out the agents that a recovery may come to: a shorter lease of theirs was looked at late.',
  },
  {
    file: 'lib/core/supervision/wake-time.ts',
    at: 'const isQuiet = stepToSuspend(plan, snapshot) === undefined && !records.some(isLeased);',
    answer: 'test',
    said: 'a pause in which one still works was watched as if all were held.',
  },
  {
    file: 'lib/core/supervision/wake-time.ts',
    at: "snapshot.execution.status === 'pausing' ||",
    answer: 'test',
    said: 'a pause that is not complete was left alone while a person is asked about something else.',
  },
  {
    file: 'lib/core/supervision/wake-time.ts',
    at: 'work.some((piece) => piece.dueAt <= readAt)',
    answer: 'equivalent',
    said: 'left out, the same instant comes from the smallest `dueAt`, which is never taken from before the read.',
  },
  {
    file: 'lib/core/supervision/wake-time.ts',
    at: 'if (dispatch !== undefined && wasSentSinceDeferred(work, dispatch))',
    answer: 'equivalent',
    said: 'the function asks the same; the first half is for the compiler.',
  },
  {
    file: 'lib/core/execution/on-message.ts',
    at: 'wakeAt !== undefined && (isSent(wakeAt)',
    answer: 'equivalent',
    said: 'what is undefined is neither before nor after a time.',
  },
  {
    file: 'lib/core/step/report.ts',
    at: "{ kind: 'unknown', failure, codeReturned: false }",
    answer: 'equivalent',
    said: 'of a probe whose lease ended only the failure is read.',
  },
  ...SAME,
  ...AROUND,
];
