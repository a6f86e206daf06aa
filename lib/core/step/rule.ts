/**
 * The shape of a rule: when it is due, what it does, how it is said.
 *
 * Owns: the shape. Does not own: which rules hold in which status, and in what order (`rules.ts`).
 */

import type { Plan } from '../plan/plan.ts';
import type { Decision } from '../decisions/decision.ts';
import type { Evaluation } from '../decisions/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Away } from '../values/away.ts';
import type { Work } from './ready.ts';

/** What is to come, in words. */
export interface Coming {
  readonly what: string;
  readonly who: 'agent' | 'person' | 'external-party' | 'child' | 'supervisor';
}

/** A time at which a rule is due without any write. */
export interface Due {
  /** Epoch ms. */
  readonly at: number;
  readonly step?: string;
  /** Absent where nothing becomes of the execution: a reminder, an announcement. */
  readonly coming?: () => Coming;
}

/** What the times rest on beside the state. */
export interface Timing {
  /** The clock before the state was read. */
  readonly readAt: number;
  /** The open work of the state. */
  readonly work: readonly Work[];
  /** Leases that could not be renewed since then get their length once more. */
  readonly graceFrom?: number | undefined;
  readonly away?: readonly Away[] | undefined;
}

export interface Rule {
  /** The decision, where the rule has something to write now. */
  readonly apply: (plan: Plan, state: Snapshot, event: Evaluation) => Decision | undefined;
  /** S12 the wake time is the earliest of these. Absent where only a write makes the rule due. */
  readonly dueAt?: (plan: Plan, state: Snapshot, timing: Timing) => readonly Due[];
  /** What `apply` is about to do, by the note of its write, or by what comes next where it writes nothing. */
  readonly says: Readonly<Record<string, string>>;
  /** It also holds on a state that was not just read. */
  readonly unread?: true;
}
