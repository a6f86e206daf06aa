/**
 * Encodes questions to `decide` and its answers as small numbers. Owns: the types of questions and answers.
 * Does not own: the questions (`agents.ts`, `actors.ts`), the asking (`decider.ts`).
 */

import type { Report } from '../../lib/core/decisions/events.ts';
import type { ChildEnd } from '../../lib/core/records/children.ts';
import type { Next } from '../../lib/core/decisions/decision.ts';
import type { Mode } from '../../lib/core/records/state.ts';
import { TICK } from './times.ts';

export const MODES: readonly Mode[] = ['execute', 'probe', 'undo'];
/** The code of the set of all steps. A set has one bit for each step. */
export const ALL_STEPS = 0x80;
export const LIFE_TICKS = 2;

export interface Stored {
  readonly exec: number;
  /** The record's number for each step of the plan, in order; 0 if there is none. */
  readonly steps: readonly number[];
}

/** The decided work on child executions: starting, stopping or gathering. */
export type FamilyWork = Extract<Next, { readonly kind: 'start-children' | 'stop-children' | 'gather' }>;

export interface Hint {
  readonly step: number;
  readonly mode: number;
  readonly attempt: number;
}

export interface Outcome {
  /** The execution's new record, or -1. */
  readonly exec: number;
  /** The step with a new record (or -1), and that record. */
  readonly step: number;
  readonly stepTo: number;
  /** Messages, one bit each (`slotOf`). */
  readonly sends: number;
  readonly next: 'idle' | 'evaluate' | 'perform' | 'family' | 'other';
  readonly fresh: boolean;
  readonly affected: number;
  readonly announces: boolean;
  readonly early: boolean;
  readonly what: string;
  readonly problems: readonly string[];
  /** Work on the child's execution that comes before the step's record. */
  readonly family?: FamilyWork;
  /** How the execution ended, for its parent. */
  readonly end?: ChildEnd;
}

export type ReportKind =
  | 'done'
  | 'accepted'
  | 'transient'
  | 'permanent'
  | 'acted'
  | 'lost'
  | 'timeout'
  | 'found'
  | 'found-nothing'
  | 'cannot-tell'
  | 'still-running'
  | 'compensated';

const failure = { code: 'x', message: '' };
export const REPORTS: Readonly<Record<ReportKind, Report>> = {
  done: { kind: 'done', codeReturned: true, output: null },
  accepted: { kind: 'accepted', codeReturned: true, withinMs: TICK, askAfterMs: TICK },
  transient: { kind: 'failed', codeReturned: true, permanent: false, failure },
  permanent: { kind: 'failed', codeReturned: true, permanent: true, failure },
  acted: { kind: 'wrong-answer', codeReturned: true, failure, answer: '?' },
  lost: { kind: 'unknown', codeReturned: true, failure },
  timeout: { kind: 'unknown', codeReturned: false, failure },
  found: { kind: 'found', codeReturned: true, verdict: 'done', output: null },
  'found-nothing': { kind: 'found', codeReturned: true, verdict: 'not-done' },
  'cannot-tell': { kind: 'found', codeReturned: true, verdict: 'cannot-tell' },
  'still-running': { kind: 'found', codeReturned: true, verdict: 'running' },
  compensated: { kind: 'compensated', codeReturned: true },
};

/** The messages that a step may have in flight: two attempts, two probes, an undo. */
export const SLOTS = 5;
export const slotOf = ({ step, mode, attempt }: Hint): number =>
  1 << (step * SLOTS + (mode === 2 ? 4 : mode * 2 + Math.min(attempt, 2) - 1));
export const hintOf = (bit: number): Hint => {
  const kind = bit % SLOTS;
  const mode = kind === 4 ? 2 : kind >> 1;
  return { step: Math.floor(bit / SLOTS), mode, attempt: mode === 2 ? 1 : (kind & 1) + 1 };
};

export const keyOf = ({ exec, steps }: Stored, kind: number, first: number, second: number): string =>
  String.fromCharCode(exec, ...steps, kind, first, second);
