/**
 * The record of an incident: a question to a person, with a time at which its default holds.
 *
 * Owns: the shape, the choices there are, when the time of an incident is over. Does not own: when one is
 * opened (`questions/incident.ts`), which choices it offers (`questions/choices.ts`), what a resolution
 * writes (`operators/resolution.ts`).
 */

import type { Caller } from '../values/caller.ts';
import type { Failure } from '../values/failure.ts';
import type { AskedOf } from './question.ts';
import { type Execution, isPausedOrPausing } from './state.ts';

/** What a person may decide. */
export const CHOICES = [
  'retry',
  'retry-with-input',
  'give-output',
  'skip',
  'resume',
  'undo-all',
  'continue',
  'fail',
] as const;
export type Choice = (typeof CHOICES)[number];

/** What becomes of an incident; each is announced on the event bus. */
export type IncidentChange = 'opened' | 'reminded' | 'resolved';

/** A question to a person, with a time at which its default holds. */
export interface Incident extends AskedOf {
  readonly number: number;
  /** The life of its execution, as in a step. */
  readonly life: string;
  readonly version: number;
  readonly writeId: string;
  /**
   * `recovery`: nothing is left to try by itself. `undo`: an effect could not be undone. `pause`: no
   * operator has ended a pause within its time; it is about no step. `deadline`: the execution's time is
   * over, and there is no way back.
   */
  readonly kind: 'recovery' | 'undo' | 'pause' | 'deadline';
  /** `deadline`: a step that is not over and has no attempt under way, if there is one. */
  readonly step?: string;
  /**
   * The step's version when the incident was opened: a later version that comes to this again is another
   * incident. `pause`: the number of the pause.
   */
  readonly stepVersion: number;
  readonly failure: Failure;
  /**
   * `recovery`: the step's work is done, but its agent answered this, which is no valid output; text, cut at
   * 4 KB.
   */
  readonly wrongAnswer?: string;
  readonly openedAt: number;
  readonly deadlineAt: number;
  /** The choice that holds when the time is over. */
  readonly otherwise: Choice;
  /** The deadline stands still during a pause; it has been moved for those up to this number. */
  readonly movedFor?: number;
  /** Reminders so far; absent: none. */
  readonly reminders?: number;
  readonly remindedAt?: number;
  /** When the next reminder is due; absent where none is declared, or comes before the deadline. */
  readonly remindAt?: number;
  /** Not announced: an earlier incident about the same list was. It is asked and answered by itself. */
  readonly quiet?: true;
  /** The changes that are not announced yet, in order. Absent: none. */
  readonly unannounced?: readonly IncidentChange[];
  readonly resolvedAt?: number;
  readonly choice?: Choice;
  /** `deadline`: no person chose in time. `moot`: the execution went another way. */
  readonly by?: 'person' | 'deadline' | 'moot';
  /** The person, where the gateway vouches for one. */
  readonly caller?: Caller;
  readonly reason?: string;
  /** The command to many executions by which it was resolved: repeated, it is known. */
  readonly commandId?: string;
}

/**
 * The deadline of an incident holds only while the execution is not paused, but
 * for the incident about the pause.
 */
export const holdsNow = (execution: Execution, { kind }: Incident): boolean =>
  kind === 'pause' || !isPausedOrPausing(execution.status);
