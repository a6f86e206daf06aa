/**
 * The records of lanes: which executions have a place, which wait for one, and an execution's own fields.
 *
 * Owns: the shapes. Does not own: which places are free (`in-lane.ts`), when an execution queues and leaves
 * (`waiting/lane.ts`), the order of writes (`engine/lanes.ts`).
 */

/** One epoch of one execution. */
export interface LaneEntry {
  readonly id: string;
  readonly life: string;
  readonly epoch: number;
}

/** An execution that waits for a place: the lowest `place` is next, then the lowest id. */
export interface Queued extends LaneEntry {
  readonly place: number;
}

/** A lane, by the hash of its name and of the key. */
export interface Lane {
  readonly lane: string;
  /** Distinguishes the successive records of one key. */
  readonly life: string;
  readonly version: number;
  readonly writeId: string;
  readonly atMost: number;
  /** When the root execution whose plan sets this limit was started: a later start has a later plan. */
  readonly limitAt?: number;
  readonly holders: readonly LaneEntry[];
  /** Epoch ms from which no execution had a place: the record may be removed. */
  readonly emptyAt?: number;
}

/** An execution's own fields about its lane. */
export interface OwnLane {
  /** The lane's hash: it contains no value of an input. */
  readonly key: string;
  /** 0 to 9, given at the start. */
  readonly priority?: number;
  /** The epoch in which the execution got its place. */
  readonly admitted?: number;
  /**
   * When the time of the execution began: when it got its place, or with the pause during which it got it.
   */
  readonly placedAt?: number;
  /** When the execution, which is among the first in the queue, reads the lane again. */
  readonly checkAt?: number;
  /** Set once the execution has ended: from this time on nothing of it can act. */
  readonly freeAt?: number;
  /** The version of the write that ended the execution: it leaves the lane in a later write. */
  readonly endVersion?: number;
  /** Set if the end is announced and the execution leaves the lane later. */
  readonly announced?: true;
  /** The epoch in which the execution left the queue before it ended. */
  readonly left?: number;
}

/** The work at a lane for an execution, between two decisions. */
export interface LaneWork {
  /** The lane's step. */
  readonly step: string;
  readonly how: 'enter' | 'check' | 'leave';
  readonly lane: string;
  readonly atMost: number;
  /** A start writes the limit of its plan, which is as old as this; no other write does. */
  readonly limitAt?: number;
  readonly own: Queued;
  /** Whether the execution is paused: the lane skips it until the pause is over. */
  readonly isPaused: boolean;
  /** Whether the execution has got its place in this epoch. */
  readonly wasIn: boolean;
}

/** The result of that work. */
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
