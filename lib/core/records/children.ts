/**
 * The records of executions that belong to a step: the parent's record of them, and each child's record of
 * its parent.
 *
 * Owns: the shapes. Does not own: their consequences (`waiting/child.ts`, `waiting/child-retry.ts`).
 */

import type { ExecutionStatus } from '../moves.ts';
import type { Failure } from '../values/failure.ts';
import type { Json } from '../values/json.ts';
import type { ValueRef } from './value-ref.ts';

/** The step that runs this execution as one of its own. */
export interface Parent {
  readonly executionId: string;
  readonly step: string;
  readonly index: number;
  /** When the parent started, which distinguishes it from an earlier execution with the same id. */
  readonly since?: number;
  /** The step's epoch when this execution was started; absent for the first. A retry begins another epoch. */
  readonly epoch?: number;
  /**
   * Only if the step has a recovery or rounds: which of its tries this execution is; absent for the first.
   */
  readonly try?: number;
  /**
   * Set for a part of a list and for a round that an agent performs: only the parent needs such an execution.
   */
  readonly part?: true;
  /**
   * When the topmost execution started, which tells how old its plan is. Set only if a lane needs it; absent:
   * `since`.
   */
  readonly planSince?: number;
  /**
   * Set if the parent, or an execution above it, has a place in a lane: then this execution is in that lane,
   * too.
   */
  readonly inLane?: true;
  /** Absent for a part of a root's own list, which has the workflow and the tags itself. */
  readonly root?: Root;
}

/** The topmost execution, as a question in a child execution names it. */
export interface Root {
  readonly workflow: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** How an execution that belongs to a step ended. */
export interface ChildEnd {
  readonly status: ExecutionStatus;
  /** The version of the child's record: a later end counts, an earlier one is outdated. */
  readonly version: number;
  /** True if the child left no effect: its effects were undone, or it never had any. */
  readonly clean: boolean;
  /** How many items of its part of the list failed and were tolerated. */
  readonly failed?: number;
  /** Set if the child succeeded, but a tolerated failure in it may have left an effect. */
  readonly left?: true;
  /**
   * Why the child ended without success: only a step and a failure code, so that many ends are alike and can
   * be grouped.
   */
  readonly why?: string;
  /**
   * Set if the child failed because one of its steps failed for good: another try in the same way cannot
   * help.
   */
  readonly permanent?: true;
  /**
   * Set if the child failed after an operator had canceled it: a retry of the parent does not continue it.
   */
  readonly canceled?: true;
  /** Until when an attempt of the child that is not undone may still act: the next try waits for that. */
  readonly actsUntil?: number;
  /** Only in a lane: until when any attempt of the child, even an undo or after a success, may still act. */
  readonly lateUntil?: number;
}

/** The most bytes of its executions' outputs that a step keeps; larger outputs stay in those executions. */
export const MAX_GATHERED_BYTES = 100_000;
/** The largest input of a round, because the step's record contains it. */
export const MAX_ROUND_INPUT_BYTES = 100_000;

/**
 * What happens to a step's executions when they are stopped. `stop`: those under way are undone, and
 * successful ones stay. `recall`: successful ones are undone, too. `leave`: nothing is undone.
 */
export type StopGoal = 'stop' | 'recall' | 'leave';

/** The executions of a child or map step. */
export interface Children {
  readonly count: number;
  /** All executions below this index were started. */
  readonly started: number;
  /** How many items the whole list has; 1 for a child step. */
  readonly items: number;
  readonly tolerated: number;
  /** The total size of outputs of a list that were left out. A step that reads them fails. */
  readonly leftOutBytes?: number;
  /** The size of a lost output of one of the executions. */
  readonly lostBytes?: number;
  /** Ends by index. A set, not a counter, because a child may notify its parent again. */
  readonly ended: Readonly<Record<string, ChildEnd>>;
  /**
   * Set while the executions are stopped: the goal, and the index below which all were stopped. If the step
   * is still running, its time is over (`within`).
   */
  readonly stop?: { readonly goal: StopGoal; readonly below: number };
  /**
   * The step's epoch when the executions were first started, if the parent was retried since; otherwise
   * absent.
   */
  readonly epoch?: number;
  /**
   * Only if the step has a recovery or rounds: the latest recorded try, absent for the first. Unless a round
   * is being undone, notices of other tries are ignored.
   */
  readonly try?: number;
  /** Only in a lane: until when an earlier try may still act. */
  readonly lateUntil?: number;
  /** Only for a step with rounds. */
  readonly rounds?: RoundsSoFar;
  /**
   * By number (an item's place in a list, otherwise the try, from 1): the version of the end after which the
   * execution is retried. Only a later end counts, because a notice may come late, even while a round is
   * undone.
   */
  readonly restartedAfter?: Readonly<Record<string, number>>;
}

/** A message that was taken, and when it was accepted. */
export interface ReceivedMessage {
  readonly id: string;
  readonly at: number;
}

/** The rounds of a step. They are numbered as tries, together with failed ones. */
export interface RoundsSoFar {
  /** How many rounds before the latest have succeeded. */
  readonly done: number;
  /** The numbers of failed tries that were followed by others: 100 at most. */
  readonly failed?: readonly number[];
  /** The input of the latest round; absent: the step's input for the first. */
  readonly input?: Json;
  /** Set if the latest round's input is stored outside the table: `input` is absent until it is loaded. */
  readonly inputAt?: ValueRef;
  /** Set while the latest round waits for the message that it begins with: how long it waits. */
  readonly awaits?: { readonly withinMs: number };
  /** The message that the latest round began with; its body is in the input. */
  readonly received?: ReceivedMessage;
  /** Set if the answer of the latest round ends the rounds. */
  readonly isOver?: true;
  /** Set if a tolerated failure in an earlier round may have left something in effect. */
  readonly left?: true;
  /**
   * Set while the rounds are undone, one at a time, the latest first: the number of the round being undone.
   * Those with higher numbers are undone already.
   */
  readonly compensating?: number;
}

/** The notice to a parent that one of its executions has ended. */
export interface ParentNotice {
  readonly parent: Parent;
  readonly end: ChildEnd;
}

export interface ChildStart {
  readonly id: string;
  readonly planId: string;
  readonly input: Json;
  readonly parent: Parent;
  /** The parent's group. */
  readonly fairGroup?: string;
  /** The parent's tags, for a part of a list, so that a person who is asked about an item sees them. */
  readonly tags?: Readonly<Record<string, string>>;
  /** The version of the end after which the failed execution goes on. */
  readonly restartedAfter?: number;
  /** Why the execution must never begin: a placeholder takes its place. */
  readonly refused?: Failure;
}

/** All the executions that a step will have. */
export interface Planned {
  readonly starts: readonly ChildStart[];
  readonly items: number;
  readonly tolerated: number;
}

export function laterEnds(known: Children['ended'], news: Children['ended']): Children['ended'] {
  const ended: Record<string, ChildEnd> = { ...known };
  for (const [index, end] of Object.entries(news)) {
    if ((ended[index]?.version ?? 0) < end.version) ended[index] = end;
  }
  return ended;
}

/** How many items failed and were tolerated, in all parts so far. */
export const failedOf = ({ ended }: Children): number =>
  Object.values(ended).reduce((sum, end) => sum + (end.failed ?? 0), 0);
