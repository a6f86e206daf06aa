/**
 * The records of an execution and of its steps, as the store keeps them.
 *
 * Owns: the shapes, and simple questions about them that always have an answer. Does not own: statuses and
 * legal moves (`transitions.ts`), pauses (`pauses.ts`), the records beside these (`question.ts`,
 * `children.ts`), what to do next (`decide.ts`), how a record is stored (`aws/dynamo-items.ts`).
 *
 * A step has no record until it is first claimed, fenced, skipped or deferred: absent means `ready` (or not
 * yet). Absent optional fields are left out, never `undefined`.
 */

import type { ExecutionStatus, StepStatus } from '../moves.ts';
import type { Caller } from '../values/caller.ts';
import type { Children, Parent, ReceivedMessage } from './children.ts';
import type { Failure } from '../values/failure.ts';
import type { Json } from '../values/json.ts';
import type { Hold } from './hold.ts';
import type { OwnLane } from './lane.ts';
import type { ValueRef } from './value-ref.ts';
import type { EarlierPauses, Pause } from './pauses.ts';
import type { People } from './people.ts';

/** An attempt's purpose: perform the step, ask the external service for its outcome, or compensate it. */
export type Mode = 'execute' | 'probe' | 'undo';

/**
 * The end of an execution with on-failure steps, during them and afterwards. Only a retry changes it, by
 * removing it.
 */
export interface End {
  /** The status once its on-failure steps are over. */
  readonly status: ExecutionStatus;
  readonly at: number;
  /**
   * The version of the write that recorded the end, or of a later write that ruled out a retry. A parent
   * identifies the end by it.
   */
  readonly version: number;
  /** Set once its parent has been notified. */
  readonly parentKnows?: true;
  /**
   * Set if its parent was retried before this end was announced: the write that records the announcement then
   * also retries this execution.
   */
  readonly again?: true;
}

/** Why an execution left the normal course. */
export interface Cause {
  readonly kind: 'failure' | 'cancel' | 'deadline' | 'parent';
  readonly at: number;
  readonly step?: string;
  readonly failure: Failure;
  /** Set if effects stay because a person said so. */
  readonly undo?: false;
  /** The person who canceled it, or resolved the incident that stopped it. */
  readonly by?: Caller;
}

/** The retry of a failed execution by an operator. */
export interface Retried {
  readonly at: number;
  readonly by?: Caller;
  readonly reason: string;
  /** Why it had failed. */
  readonly cause?: Cause;
}

/**
 * Why work must not begin before a time. Waiting for an attempt that may still act is no such reason: that
 * wait cannot be overridden.
 */
export interface NotBefore {
  /**
   * The earliest time. In a step's record: when the work was deferred, because there `retryAt` is the
   * earliest time.
   */
  readonly at: number;
  /**
   * `breaker`: its agent's service is dead. `paused`: an operator has paused its agent. `unclaimed`: it was
   * not claimed yet. `not-deployed`: there is no such agent. `rate`: its agent's rate allows no earlier
   * attempt.
   */
  readonly why: 'breaker' | 'paused' | 'unclaimed' | 'not-deployed' | 'rate';
  /** Since when; absent for `rate`. */
  readonly since?: number;
  /** The person who paused its agent, and the reason. */
  readonly pause?: Omit<Hold, 'at'>;
  /** The work of the step that is deferred; only in a step. */
  readonly mode?: Mode;
}

/** The reason why an execution is at risk. */
export interface RiskReason {
  /**
   * The reason of a deferral; or `cannot-tell`: a probe could not tell; `last-try`: no stage follows this
   * one; `late`: three quarters of its time are over; `overdue`: no supervisor has evaluated it.
   */
  readonly why: Exclude<NotBefore['why'], 'rate'> | 'cannot-tell' | 'last-try' | 'late' | 'overdue';
  readonly step?: string;
  /** The agent of that step. */
  readonly agent?: string;
  /** Other agents that steps wait for, at most ten. */
  readonly agents?: readonly string[];
}

/** How often a supervisor itself sent one piece of unclaimed work; the gap doubles each time. */
export interface Dispatch {
  readonly count: number;
  readonly lastAt: number;
}

export interface Execution {
  readonly id: string;
  /**
   * A random id made when the execution is created. It tells successive executions of one id apart, and is
   * part of every effect key.
   */
  readonly life: string;
  readonly workflow: string;
  /**
   * Content hash of the plan with which it started and which it keeps; for a child, its parent's with the
   * path to its own (`planAt`).
   */
  readonly plan: string;
  readonly parent?: Parent;
  /** By callback step, a secret that only the holder of the token knows. */
  readonly callbackKeys?: Readonly<Record<string, string>>;
  readonly status: ExecutionStatus;
  readonly version: number;
  readonly writeId: string;
  readonly epoch: number;
  /** Null if `inputKey` is set and only this record was read: the input is then in another record. */
  readonly input: Json;
  /** The store's key of an input that is not in the execution's own record. */
  readonly inputKey?: string;
  /** Set if the input is stored outside the table: `input` is null until it is loaded. */
  readonly inputAt?: ValueRef;
  /** Hash of the start request's body: the same key with another body is refused (S11). */
  readonly inputHash: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** The hash of its group (`fairBy`); each of its messages carries it. */
  readonly fairGroup?: string;
  /** Only if its workflow has a lane. */
  readonly lane?: OwnLane;
  /** Names of the searchable tags, one for each index of tags. */
  readonly search?: readonly string[];
  readonly startedAt: number;
  /** Absent for a child, which its parent started, and if the gateway does not say who calls. */
  readonly startedBy?: Caller;
  /** Only at the root of a tree with an approval that another person must give (S19). */
  readonly people?: People;
  readonly endedAt?: number;
  readonly deadlineAt: number;
  /** When it must be evaluated (S12). Absent only when the execution has ended and its end was announced. */
  readonly wakeAt?: number;
  /** Since when its steps put it at risk. No decision reads it (`supervision/notice-risk.ts`). */
  readonly riskSince?: number;
  /** The reason, from the latest write that found it at risk. */
  readonly risk?: RiskReason;
  /** While it waits for a person: the first step that has a question. */
  readonly asks?: string;
  /** The operators' commands that it has obeyed, in the form of `operators/obey.ts`. */
  readonly commands: readonly string[];
  readonly cause?: Cause;
  /** Absent if there are no on-failure steps to perform. */
  readonly end?: End;
  /** The latest 10; while the execution is paused, the last one is the current one. */
  readonly pauses?: readonly Pause[];
  /** The sum of all earlier pauses, which do not count towards time limits either. */
  readonly earlierPauses?: EarlierPauses;
  /** The latest 10. */
  readonly retries?: readonly Retried[];
  /** The execution that this one was started to replace. */
  readonly replaces?: string;
  /** The address to which its end and its questions are sent. It may be secret, so no view has it. */
  readonly callbackUrl?: string;
  readonly output?: Json;
  /** The output is stored outside the table: `output` is absent until it is loaded. */
  readonly outputAt?: ValueRef;
  /** The size of an output that was too large to keep here; it can be read from the steps. */
  readonly outputBytes?: number;
  /** The size of a lost value that is part of the output, which can therefore no longer be read. */
  readonly lostBytes?: number;
  /** By work key (`decide`'s `workKey`), for open pieces of work only. */
  readonly dispatches: Readonly<Record<string, Dispatch>>;
}

/** One try, as history shows it. */
export interface Attempt {
  readonly number: number;
  readonly mode: Mode;
  /** The number of its effect key; absent for 1. */
  readonly key?: number;
  /** The variant of the recovery; absent for 0, the first. */
  readonly variant?: number;
  /** Set if a person gave its input. */
  readonly given?: true;
  /** The id of the message that a round began with. */
  readonly message?: string;
  readonly claimedAt: number;
  readonly endedAt: number;
  readonly outcome:
    | 'done'
    | 'accepted'
    | 'failed'
    | 'unknown'
    | 'not-done'
    | 'still-running'
    | 'cannot-tell'
    | 'compensated';
  readonly failure?: Failure;
  /** Only for an on-failure step: the epoch, if earlier than the record's. */
  readonly epoch?: number;
}

/** When the process of an attempt is certainly dead; without a token, those of several early attempts. */
export interface ProcessOfAttempt {
  readonly token?: string;
  readonly deadlineAt: number;
}

/** Work of the latest attempt that the external service has accepted and does by itself. */
export interface Accepted {
  /** The service's name for it; a crash may have lost it. */
  readonly token?: string;
  readonly at: number;
  /** Until when it may act, unless it is known to be over. */
  readonly untilAt: number;
  /** A probe's `notDone` counts only if the probe was made at this time or later. */
  readonly askFrom: number;
  /** The pause before the first probe; later pauses grow from it. */
  readonly everyMs: number;
  /**
   * The version of the write that set the time of the next probe; it tells messages for earlier probes apart.
   */
  readonly seq: number;
  /** How often it was probed. */
  readonly asked: number;
  /** The latest progress that a probe has reported, and when it changed. */
  readonly progress?: string | number;
  readonly progressAt?: number;
}

export interface Step {
  readonly name: string;
  /** The life of its execution: a record of another life does not belong to it. */
  readonly life: string;
  readonly status: StepStatus;
  readonly version: number;
  readonly writeId: string;
  /**
   * The execution's epoch when the step was last claimed, fenced or skipped. If it is older than the
   * execution's, a failed or fenced step begins again.
   */
  readonly epoch: number;
  /**
   * A decision about its failure, by a person or at a deadline. Without it, a failure that is certain is
   * tolerated (S20).
   */
  readonly afterFailure?: 'continue' | 'stop';
  /**
   * Set if a retry of the execution restarted the step while an attempt may have acted. If a probe then says
   * `notDone`, the recovery begins again.
   */
  readonly restarted?: true;
  /** How many attempts to execute were claimed, all stages together. */
  readonly attempt: number;
  /** The stage of the recovery of the next attempt: 0 is the first attempt, n the n-th stage. */
  readonly stage: number;
  /** How many attempts were claimed on this stage. */
  readonly stageAttempt: number;
  /**
   * The stage that follows. It begins once the possible effects of the current stage, whose outcome was
   * unknown, are undone.
   */
  readonly nextStage?: number;
  /**
   * Set if it failed for good: neither another attempt nor another try of the surrounding workflow can help.
   */
  readonly isPermanent?: true;
  /** Set if it failed because its time was over (`within`), not because of its last attempt. */
  readonly isOverTime?: true;
  /** When a person retried it; its time (`within`) counts from then. */
  readonly againAt?: number;
  /**
   * The input that a person gave for the next attempt, instead of the plan's. Its claim makes it the key's
   * input.
   */
  readonly givenInput?: Json;
  /**
   * The effect key of the latest attempt to execute, numbered from 1. Probes, undos and late successes use
   * it.
   */
  readonly key: number;
  /** The variant of the recovery, with its agent and input, that the key belongs to: 0 is the first. */
  readonly keyVariant: number;
  /** The key's input if a person gave it. */
  readonly keyInput?: Json;
  /** Set once an undo was claimed under the key: the next attempt to execute gets another. */
  readonly keySpent?: true;
  /** The token of the latest claim. It is kept after the lease, so that a late success is recognised (S5). */
  readonly token?: string;
  /** The latest attempt to execute, if probes were claimed since: its late success still counts. */
  readonly actedToken?: string;
  /** The end of the lease; absent when the step is not leased. */
  readonly leaseUntil?: number;
  readonly mode?: Mode;
  readonly claimedAt?: number;
  /** The time at which the processes of all attempts so far are certainly dead. */
  readonly processDeadlineAt: number;
  /**
   * The same time for each attempt, kept if an earlier process may have been alive when the latest attempt
   * was claimed.
   */
  readonly processes?: readonly ProcessOfAttempt[];
  /**
   * True if some attempt's outcome was unknown. Only `compensated` or a believed `notDone` clears it (S10).
   */
  readonly mayHaveActed: boolean;
  /** Present from the service's answer until the work is known to be over, or is undone. */
  readonly accepted?: Accepted;
  readonly heartbeat: number;
  /** When the attempt under way sent its latest heartbeat; absent before its first. */
  readonly heartbeatAt?: number;
  /** A number if the author's code gave one: only a larger one is progress. */
  readonly progress?: string | number;
  readonly progressAt?: number;
  /** The next attempt, probe or undo does not begin before this time. */
  readonly retryAt?: number;
  readonly deferred?: NotBefore;
  /**
   * When the step's undo (or an on-failure step itself) was first deferred, or failed, because of a dead
   * service. Kept until it is over or a person has chosen.
   */
  readonly undoDeferredAt?: number;
  readonly output?: Json;
  /** The output is stored outside the table: `output` is absent until it is loaded. */
  readonly outputAt?: ValueRef;
  readonly failure?: Failure;
  /**
   * The agent's answer as text, if the work is done but this is not an output. Kept until there is an output,
   * the step is undone, or it is certain that nothing was done.
   */
  readonly wrongAnswer?: string;
  /** The person who answered a callback or an approval. */
  readonly by?: Caller;
  /** The message that it took; each round has its own. */
  readonly received?: ReceivedMessage;
  /** Probes without a verdict since the outcome became unknown. */
  readonly probes: number;
  /** How many attempts to undo were claimed. */
  readonly undoAttempt: number;
  readonly children?: Children;
  /** When its status last changed other than by a claim or a heartbeat. */
  readonly changedAt: number;
  /** 20 at most: the first ones and the latest. */
  readonly attempts: readonly Attempt[];
  /** How many were left out between those. */
  readonly leftOut?: number;
}

const TERMINAL: ReadonlySet<ExecutionStatus> = new Set(['succeeded', 'compensated', 'failed', 'canceled']);

export const isTerminal = (status: ExecutionStatus): boolean => TERMINAL.has(status);

/** True while forward work is done: other branches go on while a person is asked about one. */
export const isForward = (status: ExecutionStatus): boolean => status === 'running' || status === 'waiting';

/** True if it goes forward, or will after a pause: it was not stopped and has not ended. */
export const isUndecided = (status: ExecutionStatus): boolean => isForward(status) || status === 'paused';

/** True if attempts to execute may begin: of steps, or of on-failure steps once there is an end. */
export const isPerforming = (status: ExecutionStatus): boolean =>
  isForward(status) || status === 'following-up';

/** True if its end is certain; its on-failure steps may still be running. */
export const hasEnd = ({ status }: Pick<Execution, 'status'>): boolean =>
  isTerminal(status) || status === 'following-up';

/** The pause under way. */
export const pauseOf = ({ status, pauses }: Execution): Pause | undefined =>
  status === 'paused' ? pauses?.at(-1) : undefined;

/**
 * A step with an attempt under way; only `leaseUntil` shows that. No other attempt begins while the lease
 * lasts.
 */
export type LeasedStep = Step & { readonly leaseUntil: number; readonly token: string; readonly mode: Mode };

export const isLeased = (step: Step | undefined): step is LeasedStep => step?.leaseUntil !== undefined;

/** True if the step lets its successors start: from then on only an undo can follow. */
export const isSatisfied = (step: Step | undefined): boolean =>
  step?.status === 'done' || step?.status === 'skipped' || step?.status === 'tolerated';

export const callbackToken = (execution: Execution, step: string): string | undefined => {
  const key = execution.callbackKeys?.[step];
  return key === undefined ? undefined : `${execution.id}.${step}.${key}`;
};
