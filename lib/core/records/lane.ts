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
  /** When the root execution whose plan sets this limit started: a later start has a later plan. */
  readonly limitAt?: number;
  readonly holders: readonly LaneEntry[];
  /** Epoch ms since when no execution has had a place: the record may be removed. */
  readonly emptyAt?: number;
}

/** An execution's own fields about its lane. */
export interface OwnLane {
  /** The lane's hash: it contains no value of an input. */
  readonly key: string;
  /** The priority, 0 to 9, given at the start. */
  readonly priority?: number;
  /** The epoch in which the execution got its place. */
  readonly admitted?: number;
  /**
   * When the execution's time began: when it got its place, or, if it got the place during a pause, when that
   * pause began.
   */
  readonly placedAt?: number;
  /** When the execution, one of the first in the queue, reads the lane again. */
  readonly checkAt?: number;
  /** Set once the execution has ended: the time from which it can no longer act. */
  readonly freeAt?: number;
  /** The version of the write that ended the execution: it leaves the lane in a later write. */
  readonly endVersion?: number;
  /** Set if the end is announced and the execution leaves the lane later. */
  readonly announced?: true;
  /** The epoch in which it left the queue; set if it left before its end. */
  readonly left?: number;
}

/** The work at a lane for an execution, between two decisions. */
export interface LaneWork {
  /** The lane's step. */
  readonly step: string;
  readonly how: 'enter' | 'check' | 'leave';
  readonly lane: string;
  readonly atMost: number;
  /** Set only at a start, which writes its plan's limit into the lane: how old that plan is. */
  readonly limitAt?: number;
  readonly own: Queued;
  /** True while the execution is paused: the lane skips it. */
  readonly isPaused: boolean;
  /** True if the execution got its place in this epoch. */
  readonly wasIn: boolean;
  /** True if the execution is over: a place of an earlier epoch, before a retry, is free then, too. */
  readonly isOver: boolean;
}

/** The result of that work. */
export type LaneDone =
  | {
      readonly type: 'lane-seen';
      readonly step: string;
      readonly epoch: number;
      readonly placed: boolean;
      /** True if it is among the first of the queue. */
      readonly first: boolean;
    }
  | { readonly type: 'lane-left'; readonly step: string };

export const isSameEntry = (one: LaneEntry, other: LaneEntry): boolean =>
  one.id === other.id && one.life === other.life && one.epoch === other.epoch;
