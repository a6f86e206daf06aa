/**
 * The shapes and small words that all parts of an explanation share.
 *
 * Owns: how an instant and a failure are written. Does not own: what is said (`explain/why.ts`, `explain/history.ts`,
 * `explain/waiting.ts`, `explain/warnings.ts`).
 */

import type { Failure } from '../records/failure.ts';

/** Something that will happen: by itself at `at` at the latest, unless something earlier changes it. */
export interface Next {
  readonly what: string;
  /** Epoch ms; absent when it waits for another step. */
  readonly at?: number;
  /** Absent when nothing is to happen. */
  readonly who?: 'agent' | 'person' | 'external-party' | 'child' | 'supervisor';
  readonly step?: string;
}

export const iso = (at: number): string => new Date(at).toISOString();

/** Something that happened, with the record it is read from. */
export interface Happened {
  readonly at: number;
  readonly what: string;
  readonly step?: string;
  readonly evidence: Readonly<Record<string, unknown>>;
}

export const inBrackets = (failure: Failure | undefined): string =>
  failure === undefined ? '' : ` (${failure.code}: ${failure.message})`;
