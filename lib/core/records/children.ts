/**
 * The records of executions that belong to a step: what the parent knows of them, and what
 * each of them knows of its parent.
 *
 * Owns: the shapes. Does not own: what follows from them (`waiting/child.ts`, `waiting/child-retry.ts`).
 */

import type { ExecutionStatus } from '../moves.ts';
import type { Failure } from '../values/failure.ts';
import type { Json } from '../values/json.ts';
import type { ValueRef } from './value-ref.ts';

/** The step that runs an execution as one of its own. */
export interface Parent {
  readonly executionId: string;
  readonly step: string;
  readonly index: number;
  /** When the parent started: what an earlier life of its id has left behind is not its own. */
  readonly since?: number;
  /** The step's epoch when it was started; absent: the first. One that is tried again has others. */
  readonly epoch?: number;
  /** Only for a step with a recovery or with rounds: which of its tries this is; absent: the first. */
  readonly try?: number;
  /** A part of a list, or a round that an agent performs: of interest to its parent alone. */
  readonly part?: true;
  /** When the one above all started, as old as its plan; only where a lane reads it; absent: `since`. */
  readonly planSince?: number;
  /** It, or one above it, has a place in a lane, which this one is in as well. */
  readonly inLane?: true;
  /** Absent for a part of a root's own list, which has the workflow and the tags itself. */
  readonly root?: Root;
}

/** What a question in an execution of a step says of the one above all others. */
export interface Root {
  readonly workflow: string;
  readonly tags?: Readonly<Record<string, string>>;
}

/** How an execution that belongs to a step ended. */
export interface ChildEnd {
  readonly status: ExecutionStatus;
  /** The version of the child's record: a later end counts, an earlier one is old news. */
  readonly version: number;
  /** Nothing of it is in effect any more, or ever was. */
  readonly clean: boolean;
  /** Items of its part of the list that failed and were tolerated. */
  readonly failed?: number;
  /** It succeeded, and a failure that was tolerated in it may have left something in effect. */
  readonly left?: true;
  /** What it ended for, if no success: a step and its code. Alike in many, so that their ends are grouped. */
  readonly why?: string;
  /** It failed because a step of it failed for good: the same again cannot help. */
  readonly permanent?: true;
  /** It failed, and an operator had canceled it: it does not go on because its parent is tried again. */
  readonly canceled?: true;
  /**
   * Until then an attempt of it may still be acting, of what is not undone: the next try begins no sooner.
   */
  readonly actsUntil?: number;
  /**
   * Only in a lane: until then an attempt of it, also to undo, or after a success, may still be acting.
   */
  readonly lateUntil?: number;
}

/** The most that a step keeps of its executions' outputs; more is left with them. */
export const MAX_GATHERED_BYTES = 100_000;

/**
 * What becomes of a step's executions once they are stopped. `stop`: those under way are undone, and what has
 * succeeded stays. `recall`: that is undone as well. `leave`: nothing is undone.
 */
export type StopGoal = 'stop' | 'recall' | 'leave';

/** The executions of a child or map step. */
export interface Children {
  readonly count: number;
  /** All below this index were started. */
  readonly started: number;
  /** Items of the whole list; of a child step 1. */
  readonly items: number;
  readonly tolerated: number;
  /** The size together of a list's outputs that were left out. A step that reads them fails. */
  readonly leftOutBytes?: number;
  /** The size of one of their outputs that is lost. */
  readonly lostBytes?: number;
  /** By index: a set, never a counter, for a child may notify its parent again. */
  readonly ended: Readonly<Record<string, ChildEnd>>;
  /**
   * While they are stopped: to which end, and below which index all were. Of a running step its time is over
   * (`within`).
   */
  readonly stop?: { readonly goal: StopGoal; readonly below: number };
  /**
   * The step's epoch when they were first started, once its execution was tried
   * again; absent: the step's own.
   */
  readonly epoch?: number;
  /**
   * Only for a step with a recovery, or with rounds: the latest recorded try, the only one whose news counts
   * while none is undone; absent: the first.
   */
  readonly try?: number;
  /** Only in a lane: until then one of the tries before may still be acting. */
  readonly lateUntil?: number;
  /** Only of a step that is repeated. */
  readonly rounds?: RoundsSoFar;
  /**
   * By number, of a list the place of the item, else the try, from 1: the version of an end after which it is
   * to be tried again, or was. Only a later one counts. News may come late, also while a round is undone.
   */
  readonly restartedAfter?: Readonly<Record<string, number>>;
}

/** The rounds of a step: its tries number them, and those that failed. */
export interface RoundsSoFar {
  /** Rounds that have succeeded before the latest. */
  readonly done: number;
  /** The numbers of tries that failed, and that others followed: 100 at most. */
  readonly failed?: readonly number[];
  /** What the latest is given; absent: what the step gives the first. */
  readonly input?: Json;
  /** What the latest is given lies beside the table: absent here, until it is loaded. */
  readonly inputAt?: ValueRef;
  /** The latest has answered what ends them. */
  readonly isOver?: true;
  /** A failure that was tolerated in an earlier one may have left something in effect. */
  readonly left?: true;
  /** While they are undone, one at a time, the latest first: the try that is. Those above it are over. */
  readonly compensating?: number;
}

/** The notice to a parent that an execution of its own has ended. */
export interface ParentNotice {
  readonly parent: Parent;
  readonly end: ChildEnd;
}

export interface ChildStart {
  readonly id: string;
  readonly planId: string;
  readonly input: Json;
  readonly parent: Parent;
  /** Its parent's. */
  readonly fairGroup?: string;
  /** Its parent's, for a part of a list: a person who is asked about an item sees them. */
  readonly tags?: Readonly<Record<string, string>>;
  /** It has failed, and goes on if this is the version of that end. */
  readonly restartedAfter?: number;
  /** Why it never begins: its place is taken instead. */
  readonly refused?: Failure;
}

/** All the executions that a step will have. */
export interface Planned {
  readonly starts: readonly ChildStart[];
  readonly items: number;
  readonly tolerated: number;
}
