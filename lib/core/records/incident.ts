/**
 * The record of an incident: a question to a person, with a time by which it answers itself.
 *
 * Owns: the shape, the choices there are, when the time of a question is over. Does not own: when a question is asked
 * (`operators/incident.ts`), which choices it offers (`operators/choices.ts`), what an answer writes (`operators/resolution.ts`).
 */

import type { Failure } from './failure.ts';
import { type Execution, isPausedOrPausing } from './state.ts';

/** What a person may decide. */
export const CHOICES = [
  'retry',
  'retry-with-input',
  'give-output',
  'skip',
  'resume',
  'undo-all',
  'fail',
] as const;
export type Choice = (typeof CHOICES)[number];

/** A question to a person, with a time by which it answers itself. */
export interface Incident {
  readonly number: number;
  /** Of its execution, as of a step. */
  readonly life: string;
  readonly version: number;
  readonly writeId: string;
  /**
   * `recovery`: nothing is left to try by itself. `undo`: an effect could not be undone. `pause`: nobody has ended a pause
   * within its time; it is about no step. `deadline`: the execution's time is over, and there is no way back.
   */
  readonly kind: 'recovery' | 'undo' | 'pause' | 'deadline';
  /** Of `deadline`: one that is not over and on which nobody works, if there is any. */
  readonly step?: string;
  /**
   * Of the step when the question came up: a later version that comes to this again is another question. Of a pause: its
   * number.
   */
  readonly stepVersion: number;
  readonly failure: Failure;
  readonly openedAt: number;
  readonly deadlineAt: number;
  /** What is chosen when nobody answers in time. */
  readonly otherwise: Choice;
  /** The deadline stands still during a pause; it has been moved for those up to this number. */
  readonly movedFor?: number;
  readonly resolvedAt?: number;
  readonly choice?: Choice;
  /** `deadline`: nobody answered in time. `moot`: the execution went another way. */
  readonly by?: 'person' | 'deadline' | 'moot';
  readonly reason?: string;
}

/** The deadline of a question holds only where the execution is not paused, but for the question about the pause. */
export const isDue = (execution: Execution, incident: Incident, now: number): boolean =>
  incident.deadlineAt <= now && (incident.kind === 'pause' || !isPausedOrPausing(execution.status));
