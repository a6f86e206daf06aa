/**
 * The record of an entry: what an open approval or callback has in the inbox, beside the incidents.
 *
 * Owns: the shape, and what is announced of it. Does not own: when one is opened, reminded of
 * and closed (`waiting/entry.ts`), incidents (`records/incident.ts`): an entry is none, and
 * nothing that counts those counts it.
 *
 * A step has one entry, under its name: a retry of the execution opens it again.
 */

import type { Json } from '../values/json.ts';
import type { AskedOf } from './question.ts';

/** What becomes of an entry; each is announced on the event bus. */
export type EntryChange = 'opened' | 'reminded' | 'closed';

export interface Entry extends AskedOf {
  readonly step: string;
  /** The life of its execution, as in a step. */
  readonly life: string;
  readonly version: number;
  readonly writeId: string;
  readonly kind: 'approval' | 'callback';
  readonly openedAt: number;
  /** When the time for the answer is over. A heartbeat that is missing may end it sooner. */
  readonly deadlineAt: number;
  /** What holds then. */
  readonly otherwise: 'approve' | 'reject' | 'fail';
  /** What the approval shows to the approver, by name, as it was when it was opened. Absent: nothing. */
  readonly shown?: Readonly<Record<string, Json>>;
  /** Reminders so far, since it was opened. */
  readonly reminders: number;
  readonly remindedAt?: number;
  /** When the next reminder is due; absent where none comes before the deadline. */
  readonly remindAt?: number;
  /** The changes that are not announced yet, in order. Absent: none. */
  readonly unannounced?: readonly EntryChange[];
  readonly closedAt?: number;
  /** `deadline`: there was no answer in time. `moot`: the execution went another way. */
  readonly closedBy?: 'answer' | 'deadline' | 'moot';
  /** Absent if it is open or moot. */
  readonly outcome?: 'done' | 'failed';
}

/**
 * What is announced of an entry, at least once each. Never with a token or a comment, and of
 * outputs only what its author shows.
 */
export interface EntryNews
  extends Pick<Entry, 'step' | 'kind' | 'openedAt' | 'deadlineAt' | 'otherwise' | 'shown' | 'tags'> {
  readonly about: 'entry';
  readonly change: EntryChange;
  readonly executionId: string;
  readonly workflow: string;
  /** When the change was written. */
  readonly at: number;
  /** So many so far; of a reminder its own number. */
  readonly reminders: number;
  readonly closedBy?: Entry['closedBy'];
  readonly outcome?: Entry['outcome'];
  /** Where all of it is shown: a path of the API. */
  readonly view: string;
}

export type OpenEntry = Entry & { readonly closedAt?: never };

export const isOpenEntry = (entry: Entry | undefined): entry is OpenEntry =>
  entry !== undefined && entry.closedAt === undefined;
