/**
 * The shape of a rule: when it is due, what it does, and its words.
 *
 * Owns: the shape. Does not own: which rules apply in which status, and in what order (`rules.ts`).
 */

import type { Plan } from '../plan/plan.ts';
import type { Decision } from '../decisions/decision.ts';
import type { Evaluation } from '../decisions/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Away } from '../values/away.ts';
import type { Work } from './ready.ts';

/** A future event, in words. */
export interface Coming {
  readonly what: string;
  readonly who: 'agent' | 'person' | 'external-party' | 'child' | 'supervisor';
}

/** A time at which a rule is due without any write. */
export interface Due {
  /** Epoch ms. */
  readonly at: number;
  readonly step?: string;
  /** Absent if the execution itself does not change, as for a reminder or an announcement. */
  readonly coming?: () => Coming;
}

/** The inputs of the due times besides the state. */
export interface Timing {
  /** The clock before the state was read. */
  readonly readAt: number;
  /** The open work of the state. */
  readonly work: readonly Work[];
  /** A lease that could not be renewed since then gets its length once more. */
  readonly graceFrom?: number | undefined;
  readonly away?: readonly Away[] | undefined;
}

export interface Rule {
  /** The decision, if the rule has something to write now. */
  readonly apply: (plan: Plan, state: Snapshot, event: Evaluation) => Decision | undefined;
  /** S12 the wake time is the earliest of these. Absent if only a write makes the rule due. */
  readonly dueAt?: (plan: Plan, state: Snapshot, timing: Timing) => readonly Due[];
  /**
   * The texts for what `apply` is about to do, by the note of its write or, without a write, by the kind of
   * its next act.
   */
  readonly says: Readonly<Record<string, string>>;
  /** Set if it also applies to a state that was not just read. */
  readonly unread?: true;
}
