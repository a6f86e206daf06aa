/**
 * The records of executions that belong to a step: what the parent knows about them, and what each of them
 * knows about its parent.
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
  /** When the parent started: remains of an earlier life of its id are not its own. */
  readonly since?: number;
  /** The step's epoch when it was started; absent: the first. A retried step has others. */
  readonly epoch?: number;
  /** Only for a step with a recovery or with rounds: which of its tries this is; absent: the first. */
  readonly try?: number;
  /** A part of a list, or a round that an agent performs: only its parent needs it. */
  readonly part?: true;
  /**
   * When the topmost execution started, whose plan is this old; only present if a lane reads it; absent:
   * `since`.
   */
  readonly planSince?: number;
  /** It, or one above it, has a place in a lane, and so this one is in that lane as well. */
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
  /** Nothing of it is in effect any more, or ever was. */
  readonly clean: boolean;
  /** Items of its part of the list that failed and were tolerated. */
  readonly failed?: number;
  /** It succeeded, and a tolerated failure in it may have left something in effect. */
  readonly left?: true;
  /** Why it ended without success: a step and its code. Many are alike, so that their ends are grouped. */
  readonly why?: string;
  /** It failed because one of its steps failed for good: the same again cannot help. */
  readonly permanent?: true;
  /** It failed after an operator had canceled it: it does not go on when its parent is retried. */
  readonly canceled?: true;
  /**
   * Until then an attempt of it that is not undone may still be acting: the next try does not begin before.
   */
  readonly actsUntil?: number;
  /** Only in a lane: until then an attempt of it, even to undo or after a success, may still be acting. */
  readonly lateUntil?: number;
}

/** The most that a step keeps of its executions' outputs; if there is more, they keep it. */
export const MAX_GATHERED_BYTES = 100_000;
/** The step's record contains the input of its round. */
export const MAX_ROUND_INPUT_BYTES = 100_000;

/**
 * What becomes of a step's executions once they are stopped. `stop`: those under way are undone, and
 * successful ones stay. `recall`: successful ones are undone as well. `leave`: nothing is undone.
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
  /** The total size of a list's outputs that were left out. A step that reads them fails. */
  readonly leftOutBytes?: number;
  /** The size of one of their outputs that is lost. */
  readonly lostBytes?: number;
  /** Ends by index: a set, never a counter, because a child may notify its parent again. */
  readonly ended: Readonly<Record<string, ChildEnd>>;
  /**
   * While they are stopped: to which end, and the index below which all were stopped. For a running step it
   * means that its time is over (`within`).
   */
  readonly stop?: { readonly goal: StopGoal; readonly below: number };
  /**
   * The step's epoch when they were first started, once its execution was retried; absent: the step's own.
   */
  readonly epoch?: number;
  /**
   * Only for a step with a recovery, or with rounds: the latest recorded try, whose notices alone count while
   * no round is undone; absent: the first.
   */
  readonly try?: number;
  /** Only in a lane: until then one of the earlier tries may still be acting. */
  readonly lateUntil?: number;
  /** Only for a step that is repeated. */
  readonly rounds?: RoundsSoFar;
  /**
   * By number (the item's place in a list, otherwise the try, from 1): the version of an end after which it
   * must be retried, or was. Only a later end counts. A notice may come late, even while a round is undone.
   */
  readonly restartedAfter?: Readonly<Record<string, number>>;
}

/** A message that was taken, and when it was accepted. */
export interface ReceivedMessage {
  readonly id: string;
  readonly at: number;
}

/** The rounds of a step: its tries number them, together with failed tries. */
export interface RoundsSoFar {
  /** How many rounds before the latest have succeeded. */
  readonly done: number;
  /** The numbers of failed tries that others followed: 100 at most. */
  readonly failed?: readonly number[];
  /** The input of the latest round; absent: the step's input for the first. */
  readonly input?: Json;
  /** The latest round's input is stored outside the table: `input` is absent until it is loaded. */
  readonly inputAt?: ValueRef;
  /** The latest round has its number, and begins with a message: how long it waits for that. */
  readonly awaits?: { readonly withinMs: number };
  /** The message that the latest round has begun with; the input has its body. */
  readonly received?: ReceivedMessage;
  /** The latest round's answer ends them. */
  readonly isOver?: true;
  /** A tolerated failure in an earlier round may have left something in effect. */
  readonly left?: true;
  /**
   * While they are undone, one at a time, the latest first: the number being undone. Higher numbers are over.
   */
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
  /** The parent's group. */
  readonly fairGroup?: string;
  /** The parent's tags, for a part of a list: a person who is asked about an item sees them. */
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
