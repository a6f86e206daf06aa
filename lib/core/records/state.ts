/**
 * The records of an execution and of its steps, as the store holds them.
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
import type { Children, Parent } from './children.ts';
import type { Failure } from '../values/failure.ts';
import type { Json } from '../values/json.ts';
import type { Hold } from './hold.ts';
import type { OwnLane } from './lane.ts';
import type { ValueRef } from './value-ref.ts';
import type { EarlierPauses, Pause } from './pauses.ts';
import type { People } from './people.ts';

/** What an attempt is for: perform the step, ask the external service for its outcome, or compensate it. */
export type Mode = 'execute' | 'probe' | 'undo';

/**
 * The end of an execution whose on-failure steps are performed, or were: nothing of it changes any more,
 * but by a retry, which removes it.
 */
export interface End {
  /** As it will be once they are over. */
  readonly status: ExecutionStatus;
  readonly at: number;
  /**
   * Which end it is: the version of the write that made it, or later kept it from being
   * tried again. A parent compares it.
   */
  readonly version: number;
  /** Its parent knows it. */
  readonly parentKnows?: true;
  /**
   * Its parent was tried again meanwhile: so is this one, with the write that
   * says that its end was announced.
   */
  readonly again?: true;
}

/** Why an execution left the straight path. */
export interface Cause {
  readonly kind: 'failure' | 'cancel' | 'deadline' | 'parent';
  readonly at: number;
  readonly step?: string;
  readonly failure: Failure;
  /** False: what has acted is left as it is, because a person said so. */
  readonly undo?: false;
  /** The person who canceled it, or resolved the incident that stopped it. */
  readonly by?: Caller;
}

/** An operator had a failed execution tried again. */
export interface Retried {
  readonly at: number;
  readonly by?: Caller;
  readonly reason: string;
  /** Why it had failed. */
  readonly cause?: Cause;
}

/** Work does not begin before a time. That an attempt may still act is no such reason: nothing passes it. */
export interface NotBefore {
  readonly at: number;
  /**
   * `breaker`: its agent's service is dead. `paused`: an operator has paused its agent. `unclaimed`: it was
   * not claimed yet. `not-deployed`: there is no such agent. `rate`: its agent may begin no more attempts
   * then.
   */
  readonly why: 'breaker' | 'paused' | 'unclaimed' | 'not-deployed' | 'rate';
  /** Since when, for all but `rate`. */
  readonly since?: number;
  /** The person who paused its agent, and the reason. */
  readonly pause?: Omit<Hold, 'at'>;
}

/** As a step's record keeps it, whose `retryAt` is the time. A supervisor sends the work then. */
export interface Deferred extends NotBefore {
  readonly mode: Mode;
  /** When it was deferred. */
  readonly at: number;
}

/** What puts an execution at risk. */
export interface RiskReason {
  /**
   * As of a deferral; or `cannot-tell`: a probe could not, `last-try`: nothing is left to try but what it is
   * at, `late`: three quarters of its time are over, `overdue`: no supervisor has evaluated it.
   */
  readonly why: Exclude<Deferred['why'], 'rate'> | 'cannot-tell' | 'last-try' | 'late' | 'overdue';
  readonly step?: string;
  /** The agent of that step. */
  readonly agent?: string;
  /** Other agents that steps wait for, at most ten. */
  readonly agents?: readonly string[];
}

/** The supervisor's own dispatches of one piece of work that was not claimed; the gap doubles with each. */
export interface Dispatch {
  readonly count: number;
  readonly lastAt: number;
}

export interface Execution {
  readonly id: string;
  /**
   * Fresh at the create that won: tells apart the executions that one id has had, one after the
   * other. Part of every effect key.
   */
  readonly life: string;
  readonly workflow: string;
  /**
   * Content hash of the plan it started with and keeps; of a child, its parent's with
   * the way to its own (`planAt`).
   */
  readonly plan: string;
  readonly parent?: Parent;
  /** By callback step: what only the holder of its token knows. */
  readonly callbackKeys?: Readonly<Record<string, string>>;
  readonly status: ExecutionStatus;
  readonly version: number;
  readonly writeId: string;
  readonly epoch: number;
  /** Null in a record that was read alone, if `inputKey` says that the input is beside it. */
  readonly input: Json;
  /** The store's key of the input, if the input is not in the execution's own record. */
  readonly inputKey?: string;
  /** The input lies beside the table: null here, until it is loaded. */
  readonly inputAt?: ValueRef;
  /** Hash of the start request's body: the same key with another body is refused (S11). */
  readonly inputHash: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Whose it is, hashed (`fairBy`): goes out with each of its messages. */
  readonly fairGroup?: string;
  /** Only if its workflow has a lane. */
  readonly lane?: OwnLane;
  /** Names of those by which it is found, one for each index of tags. */
  readonly search?: readonly string[];
  readonly startedAt: number;
  /** Absent for a child, which its parent started, and where the gateway does not say who calls. */
  readonly startedBy?: Caller;
  /** Only at the root of a tree in which an approval must come from another person (S19). */
  readonly people?: People;
  readonly endedAt?: number;
  readonly deadlineAt: number;
  /** When it must be evaluated (S12). Absent only when the execution has ended and its end was announced. */
  readonly wakeAt?: number;
  /**
   * Since when it has been written that its steps put it at risk; read by no decision
   * (`supervision/notice-risk.ts`).
   */
  readonly riskSince?: number;
  /** Why; as of the latest write that had it at risk. */
  readonly risk?: RiskReason;
  /** While it waits for a person: the step that is asked about, of several the first. */
  readonly asks?: string;
  /** The operators' commands that it has obeyed, as `operators/remembered.ts` keeps them. */
  readonly commands: readonly string[];
  readonly cause?: Cause;
  /** Absent where there are no on-failure steps to perform. */
  readonly end?: End;
  /** The latest 10; the last one is under way while the execution is paused. */
  readonly pauses?: readonly Pause[];
  /** The sum of all earlier pauses, whose time is given back as well. */
  readonly earlierPauses?: EarlierPauses;
  /** The latest 10. */
  readonly retries?: readonly Retried[];
  /** The execution that this one was started to make good for. */
  readonly replaces?: string;
  readonly output?: Json;
  /** The output lies beside the table: absent here, until it is loaded. */
  readonly outputAt?: ValueRef;
  /** The output's size when it was too large to be kept here: read it from the steps. */
  readonly outputBytes?: number;
  /** The size of a value that the output is made of and that is lost: then nobody can read the output. */
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
  /** Its input was given by a person. */
  readonly given?: true;
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

/** An attempt, and by when its process is dead for certain; without a token several early ones together. */
export interface ProcessOfAttempt {
  readonly token?: string;
  readonly deadlineAt: number;
}

/** The external service has taken the work of the latest attempt, and does it by itself. */
export interface Accepted {
  /** What the service calls it; a crash may have lost it. */
  readonly token?: string;
  readonly at: number;
  /** Until then it acts, unless it is known to be over. */
  readonly untilAt: number;
  /** That it will never be done is believed if it was asked from then on. */
  readonly askFrom: number;
  /** The pause before the first question; later ones grow from it. */
  readonly everyMs: number;
  /** The version of the write that set the time of the next probe: an older message is of an older one. */
  readonly seq: number;
  /** How often it was asked for. */
  readonly asked: number;
  /** The latest that a probe has reported, and when it changed. */
  readonly progress?: string | number;
  readonly progressAt?: number;
}

/**
 * In these statuses an agent may take a step on the way forward; of a failure that
 * is tolerated, to compensate it.
 */

export interface Step {
  readonly name: string;
  /** The life of its execution: a record of an earlier life does not belong to this one. */
  readonly life: string;
  readonly status: StepStatus;
  readonly version: number;
  readonly writeId: string;
  /**
   * The execution's epoch when the step was last claimed, fenced or skipped: if it is older, a failed or
   * fenced step begins again.
   */
  readonly epoch: number;
  /**
   * What a person, or the time for an answer, said of its failure, which is tolerated
   * otherwise once it is certain (S20).
   */
  readonly afterFailure?: 'continue' | 'stop';
  /**
   * A retry of its execution restarted it while an attempt may have acted: found not
   * done, it begins its recovery again.
   */
  readonly restarted?: true;
  /** Attempts to execute that were claimed, all stages together. */
  readonly attempt: number;
  /** The stage of the recovery at which the next attempt is: 0 is the first attempt, n the n-th stage. */
  readonly stage: number;
  /** Attempts claimed on this stage. */
  readonly stageAttempt: number;
  /** The stage that follows once what the acted one may have done is undone: its outcome was not known. */
  readonly nextStage?: number;
  /**
   * It failed for good: the same again cannot help, nor can it for the group of steps whose failure it is.
   */
  readonly isPermanent?: true;
  /** It failed because its time was over (`within`), not because of its last attempt. */
  readonly isOverTime?: true;
  /** When a person retried it: the time that it has (`within`) began once more. */
  readonly againAt?: number;
  /**
   * The input that a person gave for the next attempt, instead of the plan's; its claim makes it the key's.
   */
  readonly givenInput?: Json;
  /**
   * Number of the effect key of the latest attempt to execute, from 1: a probe, an undo
   * and a late success are under it.
   */
  readonly key: number;
  /** The variant of the recovery that the key stands for, with its agent and its input: 0 is the first. */
  readonly keyVariant: number;
  /** The input that it stands for where a person gave it. */
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
  /** By then the process of every attempt so far is dead for certain. */
  readonly processDeadlineAt: number;
  /**
   * Each attempt's share of it, where an earlier one's process may have been
   * alive when the latest was claimed.
   */
  readonly processes?: readonly ProcessOfAttempt[];
  /** Some attempt's outcome was unknown. Cleared only by `compensated` or by a believed `notDone` (S10). */
  readonly mayHaveActed: boolean;
  /** From the service's answer until the work is known to be over, or is undone. */
  readonly accepted?: Accepted;
  readonly heartbeat: number;
  /** When the attempt under way sent its latest heartbeat; absent before its first. */
  readonly heartbeatAt?: number;
  /** A number where the author's code gave one: only a larger one is progress. */
  readonly progress?: string | number;
  readonly progressAt?: number;
  /** Not before then: the next attempt, probe or undo. */
  readonly retryAt?: number;
  readonly deferred?: Deferred;
  /**
   * When its undo, or an on-failure step, was first deferred or failed because of a dead service; until it
   * is over or a person has chosen.
   */
  readonly undoDeferredAt?: number;
  readonly output?: Json;
  /** The output lies beside the table: absent here, until it is loaded. */
  readonly outputAt?: ValueRef;
  readonly failure?: Failure;
  /**
   * An attempt did its work, or a probe found it done, and this is what the agent answered:
   * text of a value that is no output. Until an output is there, the step is undone, or it is
   * certain that nothing was done.
   */
  readonly wrongAnswer?: string;
  /** The person who answered a callback or an approval. */
  readonly by?: Caller;
  /** Probes without a verdict since the outcome became unknown. */
  readonly probes: number;
  /** Attempts to undo that were claimed. */
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

/** Attempts to execute begin in these statuses: of steps, or once there is an end of on-failure steps. */
export const isPerforming = (status: ExecutionStatus): boolean =>
  isForward(status) || status === 'following-up';

/** How it ended is known: it is over, or its on-failure steps alone are not. */
export const hasEnd = ({ status }: Pick<Execution, 'status'>): boolean =>
  isTerminal(status) || status === 'following-up';

/** The pause under way. */
export const pauseOf = ({ status, pauses }: Execution): Pause | undefined =>
  status === 'paused' ? pauses?.at(-1) : undefined;

/** A step with an attempt under way: no other may begin while its lease lasts. `leaseUntil` alone says so. */
export type LeasedStep = Step & { readonly leaseUntil: number; readonly token: string; readonly mode: Mode };

export const isLeased = (step: Step | undefined): step is LeasedStep => step?.leaseUntil !== undefined;

/**
 * Predecessors in this status let a step start: no other move follows but, of a step that is done, its undo.
 */
export const isSatisfied = (step: Step | undefined): boolean =>
  step?.status === 'done' || step?.status === 'skipped' || step?.status === 'tolerated';

export const callbackToken = (execution: Execution, step: string): string | undefined => {
  const key = execution.callbackKeys?.[step];
  return key === undefined ? undefined : `${execution.id}.${step}.${key}`;
};
