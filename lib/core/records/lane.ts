/**
 * The records of lanes: who holds a place, who waits for one, and what an execution keeps of its own.
 *
 * Owns: the shapes. Does not own: whose place is free (`in-lane.ts`), when an execution queues and leaves
 * (`execution/lane-rules.ts`), the order of writes (`engine/lanes.ts`).
 */

/** One epoch of one execution. */
export interface LaneEntry {
  readonly id: string;
  readonly life: string;
  readonly epoch: number;
}

/** It waits for a place: the lowest `place` is next, then by id. */
export interface Queued extends LaneEntry {
  readonly place: number;
}

/** A lane, by the hash of its name and of the key. */
export interface Lane {
  readonly lane: string;
  /** Tells apart the records that one key has had, one after the other. */
  readonly life: string;
  readonly version: number;
  readonly writeId: string;
  readonly atMost: number;
  /** When the execution was started from outside whose plan says so: a later one has a later plan. */
  readonly limitAt?: number;
  readonly holders: readonly LaneEntry[];
  /** Epoch ms from which nobody had a place: it may go. */
  readonly emptyAt?: number;
}

/** What an execution keeps of its lane. */
export interface OwnLane {
  /** The lane's hash: no value of an input is in it. */
  readonly key: string;
  /** 0 to 9, given at the start. */
  readonly priority?: number;
  /** The epoch in which it got its place. */
  readonly admitted?: number;
  /** When its time began: with its place, or with the pause in which it got it. */
  readonly placedAt?: number;
  /** It is among the first in the queue, and reads the lane again then. */
  readonly checkAt?: number;
  /** It has ended: from then on nothing of it can act. */
  readonly freeAt?: number;
  /** The version of the write that ended it: to leave is a later write. */
  readonly endVersion?: number;
  /** Its end is announced, and it leaves later. */
  readonly announced?: true;
  /** The epoch in which it left the queue before it ended. */
  readonly left?: number;
}

/** What is done at a lane for an execution, between two decisions. */
export interface LaneWork {
  /** The lane's step. */
  readonly step: string;
  readonly how: 'enter' | 'check' | 'leave';
  readonly lane: string;
  readonly atMost: number;
  /** A start writes the limit of its plan, which is as old as this; nothing else writes it. */
  readonly limitAt?: number;
  readonly own: Queued;
  /** Passed over, until the pause is over. */
  readonly isPaused: boolean;
  /** It got its place in this epoch. */
  readonly wasIn: boolean;
}

/** What came of it. */
export type LaneDone =
  | {
      readonly type: 'lane-seen';
      readonly step: string;
      readonly epoch: number;
      readonly placed: boolean;
      /** It is among the first of the queue. */
      readonly first: boolean;
    }
  | { readonly type: 'lane-left'; readonly step: string };

export const isSameEntry = (one: LaneEntry, other: LaneEntry): boolean =>
  one.id === other.id && one.life === other.life && one.epoch === other.epoch;
