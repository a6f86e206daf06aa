/**
 * The records of an execution and of its steps, as the store keeps them.
 *
 * Owns: the shapes and a few total questions about them. Does not own: statuses and legal moves
 * (`transitions.ts`), pauses (`pauses.ts`), the records beside these (`question.ts`, `children.ts`), what to
 * do next (`decide.ts`), how a record is stored (`aws/dynamo-items.ts`).
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
 * The end of an execution whose on-failure steps are, or were, performed: only a retry changes it, by
 * removing it.
 */
export interface End {
  /** The status once they are over. */
  readonly status: ExecutionStatus;
  readonly at: number;
  /**
   * Identifies the end: the version of the write that made it, or that later ruled out a retry. A parent
   * compares it.
   */
  readonly version: number;
  /** Its parent has been notified. */
  readonly parentKnows?: true;
  /**
   * Its parent was retried meanwhile: so is this one, with the write that records the announcement of its
   * end.
   */
  readonly again?: true;
}

/** Why an execution left the straight path. */
export interface Cause {
  readonly kind: 'failure' | 'cancel' | 'deadline' | 'parent';
  readonly at: number;
  readonly step?: string;
  readonly failure: Failure;
  /** False: effects are left as they are, because a person said so. */
  readonly undo?: false;
  /** The person who canceled it, or resolved the incident that stopped it. */
  readonly by?: Caller;
}

/** An operator retried a failed execution. */
export interface Retried {
  readonly at: number;
  readonly by?: Caller;
  readonly reason: string;
  /** Why it had failed. */
  readonly cause?: Cause;
}

/**
 * Work does not begin before a time. (That an attempt may still act is not such a reason: nothing overrides
 * that.)
 */
export interface NotBefore {
  /** The earliest time; in a step, where `retryAt` is that, the time at which the work was deferred. */
  readonly at: number;
  /**
   * `breaker`: its agent's service is dead. `paused`: an operator has paused its agent. `unclaimed`: it was
   * not claimed yet. `not-deployed`: there is no such agent. `rate`: its agent may begin no more attempts at
   * that time.
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
   * The reason of a deferral; or `cannot-tell`: a probe could not tell; `last-try`: no stage is left after
   * this one; `late`: three quarters of its time are over; `overdue`: no supervisor has evaluated it.
   */
  readonly why: Exclude<NotBefore['why'], 'rate'> | 'cannot-tell' | 'last-try' | 'late' | 'overdue';
  readonly step?: string;
  /** The agent of that step. */
  readonly agent?: string;
  /** Other agents that steps wait for, at most ten. */
  readonly agents?: readonly string[];
}

/** The supervisor's own dispatches of one piece of work that was not claimed; the gap doubles each time. */
export interface Dispatch {
  readonly count: number;
  readonly lastAt: number;
}

export interface Execution {
  readonly id: string;
  /**
   * Fresh at the create that won: distinguishes the successive executions of one id. Part of every effect
   * key.
   */
  readonly life: string;
  readonly workflow: string;
  /**
   * Content hash of the plan it started with and keeps; for a child, its parent's with the path to its own
   * (`planAt`).
   */
  readonly plan: string;
  readonly parent?: Parent;
  /** By callback step: a secret that only the token's holder knows. */
  readonly callbackKeys?: Readonly<Record<string, string>>;
  readonly status: ExecutionStatus;
  readonly version: number;
  readonly writeId: string;
  readonly epoch: number;
  /** Null in a record that was read alone, if `inputKey` says that the input is stored beside it. */
  readonly input: Json;
  /** The store's key of the input, if the input is not in the execution's own record. */
  readonly inputKey?: string;
  /** The input is stored outside the table: `input` is null until it is loaded. */
  readonly inputAt?: ValueRef;
  /** Hash of the start request's body: the same key with another body is refused (S11). */
  readonly inputHash: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** The hash of its group (`fairBy`): goes out with each of its messages. */
  readonly fairGroup?: string;
  /** Only if its workflow has a lane. */
  readonly lane?: OwnLane;
  /** Names of the searchable tags, one for each index of tags. */
  readonly search?: readonly string[];
  readonly startedAt: number;
  /** Absent for a child, which its parent started, and if the gateway does not say who calls. */
  readonly startedBy?: Caller;
  /** Only at the root of a tree in which an approval must come from another person (S19). */
  readonly people?: People;
  readonly endedAt?: number;
  readonly deadlineAt: number;
  /** When it must be evaluated (S12). Absent only when the execution has ended and its end was announced. */
  readonly wakeAt?: number;
  /**
   * Since when its record says that its steps put it at risk; no decision reads it
   * (`supervision/notice-risk.ts`).
   */
  readonly riskSince?: number;
  /** The reason, from the latest write that found it at risk. */
  readonly risk?: RiskReason;
  /** While it waits for a person: the step of the question, the first if there are several. */
  readonly asks?: string;
  /** The operators' commands that it has obeyed, in the form of `operators/obey.ts`. */
  readonly commands: readonly string[];
  readonly cause?: Cause;
  /** Absent if there are no on-failure steps to perform. */
  readonly end?: End;
  /** The latest 10; the last one is under way while the execution is paused. */
  readonly pauses?: readonly Pause[];
  /** The sum of all earlier pauses, whose time is given back as well. */
  readonly earlierPauses?: EarlierPauses;
  /** The latest 10. */
  readonly retries?: readonly Retried[];
  /** The execution that this one was started to replace. */
  readonly replaces?: string;
  /** Where its caller wants its end and its questions to be sent. It may be secret: no view has it. */
  readonly callbackUrl?: string;
  readonly output?: Json;
  /** The output is stored outside the table: `output` is absent until it is loaded. */
  readonly outputAt?: ValueRef;
  /** The output's size if it was too large to be kept here: read it from the steps. */
  readonly outputBytes?: number;
  /** The size of a lost value that is part of the output: then nobody can read the output. */
  readonly lostBytes?: number;
  /** By work key (`decide`'s `workKey`); only pieces of work that are still open are kept. */
  readonly dispatches: Readonly<Record<string, Dispatch>>;
}

/** One try, as history shows it. */
export interface Attempt {
  readonly number: number;
  readonly mode: Mode;
  /** The number of its effect key; absent: 1. */
  readonly key?: number;
  /** Absent: 0. */
  readonly variant?: number;
  /** A person gave its input. */
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
  /** Only for an on-failure step: the epoch, if it is earlier than the record's. */
  readonly epoch?: number;
}

/** An attempt, and when its process is certainly dead; without a token, several early ones together. */
export interface ProcessOfAttempt {
  readonly token?: string;
  readonly deadlineAt: number;
}

/** The external service has accepted the work of the latest attempt, and does it by itself. */
export interface Accepted {
  /** The service's name for it; a crash may have lost it. */
  readonly token?: string;
  readonly at: number;
  /** Until then it acts, unless it is known to be over. */
  readonly untilAt: number;
  /** A probe's "never" counts if the probe was asked from this time on. */
  readonly askFrom: number;
  /** The pause before the first probe; later ones grow from it. */
  readonly everyMs: number;
  /**
   * The version of the write that set the time of the next probe: an older message belongs to an older one.
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
  /** The life of its execution: a record of an earlier life does not belong to this one. */
  readonly life: string;
  readonly status: StepStatus;
  readonly version: number;
  readonly writeId: string;
  /**
   * The execution's epoch when the step was last claimed, fenced or skipped: if it is older than the
   * execution's, a failed or fenced step begins again.
   */
  readonly epoch: number;
  /**
   * The decision of a person, or of the deadline, about its failure, which otherwise is tolerated once it is
   * certain (S20).
   */
  readonly afterFailure?: 'continue' | 'stop';
  /**
   * A retry of its execution restarted it while an attempt may have acted: if that is found not done, it
   * begins its recovery again.
   */
  readonly restarted?: true;
  /** How many attempts to execute were claimed, all stages together. */
  readonly attempt: number;
  /** The stage of the recovery of the next attempt: 0 is the first attempt, n the n-th stage. */
  readonly stage: number;
  /** How many attempts were claimed on this stage. */
  readonly stageAttempt: number;
  /**
   * The stage that follows once the possible effects of the attempted one are undone: its outcome was
   * unknown.
   */
  readonly nextStage?: number;
  /**
   * It failed for good: the same again cannot help, nor can a repetition of the group of steps that fails
   * with it.
   */
  readonly isPermanent?: true;
  /** It failed because its time was over (`within`), not because of its last attempt. */
  readonly isOverTime?: true;
  /** When a person retried it: its time (`within`) began again. */
  readonly againAt?: number;
  /**
   * The input that a person gave for the next attempt, instead of the plan's; its claim makes it the key's
   * input.
   */
  readonly givenInput?: Json;
  /**
   * Number of the effect key of the latest attempt to execute, from 1: a probe, an undo and a late success
   * use it.
   */
  readonly key: number;
  /** The variant of the recovery that the key stands for, with its agent and its input: 0 is the first. */
  readonly keyVariant: number;
  /** The key's input if a person gave it. */
  readonly keyInput?: Json;
  /** An undo was claimed under the key: the next attempt to execute has another. */
  readonly keySpent?: true;
  /**
   * The token of the latest claim; kept after the lease is gone, so that its late success is recognised (S5).
   */
  readonly token?: string;
  /** The latest attempt to execute, if probes were claimed since: its late success still counts. */
  readonly actedToken?: string;
  /** The end of the lease; absent when the step is not leased. */
  readonly leaseUntil?: number;
  readonly mode?: Mode;
  readonly claimedAt?: number;
  /** By then the process of every attempt so far is certainly dead. */
  readonly processDeadlineAt: number;
  /** Each attempt's share of it, if an earlier process may have been alive when the latest was claimed. */
  readonly processes?: readonly ProcessOfAttempt[];
  /** Some attempt's outcome was unknown. Only `compensated` or a believed `notDone` clears it (S10). */
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
   * When its undo, or an on-failure step, was first deferred or failed because of a dead service; kept until
   * it is over or a person has chosen.
   */
  readonly undoDeferredAt?: number;
  readonly output?: Json;
  /** The output is stored outside the table: `output` is absent until it is loaded. */
  readonly outputAt?: ValueRef;
  readonly failure?: Failure;
  /**
   * An attempt did its work, or a probe found it done, and this is the agent's answer: text of a value that
   * is not an output. Kept until there is an output, the step is undone, or it is certain that nothing was
   * done.
   */
  readonly wrongAnswer?: string;
  /** The person who answered a callback or an approval. */
  readonly by?: Caller;
  /** The message that it took; of rounds each has its own. */
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
  /** How many there were between those. */
  readonly leftOut?: number;
}

const TERMINAL: ReadonlySet<ExecutionStatus> = new Set(['succeeded', 'compensated', 'failed', 'canceled']);

export const isTerminal = (status: ExecutionStatus): boolean => TERMINAL.has(status);

/** Forward work is done in these statuses: other branches go on while a person is asked about one. */
export const isForward = (status: ExecutionStatus): boolean => status === 'running' || status === 'waiting';

/** Nothing has stopped it, and it has not ended: it goes forward, or will after a pause. */
export const isUndecided = (status: ExecutionStatus): boolean => isForward(status) || status === 'paused';

/** Attempts to execute begin in these statuses: of steps, or of on-failure steps once there is an end. */
export const isPerforming = (status: ExecutionStatus): boolean =>
  isForward(status) || status === 'following-up';

/** Its end is known: it is over, or only its on-failure steps are not. */
export const hasEnd = ({ status }: Pick<Execution, 'status'>): boolean =>
  isTerminal(status) || status === 'following-up';

/** The pause under way. */
export const pauseOf = ({ status, pauses }: Execution): Pause | undefined =>
  status === 'paused' ? pauses?.at(-1) : undefined;

/** A step with an attempt under way, as `leaseUntil` alone shows: no other begins while its lease lasts. */
export type LeasedStep = Step & { readonly leaseUntil: number; readonly token: string; readonly mode: Mode };

export const isLeased = (step: Step | undefined): step is LeasedStep => step?.leaseUntil !== undefined;

/** Predecessors in this status let a step start: no move but the undo of a done step follows. */
export const isSatisfied = (step: Step | undefined): boolean =>
  step?.status === 'done' || step?.status === 'skipped' || step?.status === 'tolerated';

export const callbackToken = (execution: Execution, step: string): string | undefined => {
  const key = execution.callbackKeys?.[step];
  return key === undefined ? undefined : `${execution.id}.${step}.${key}`;
};
