/**
 * The people of a tree with an approval that another person must give (`approval({ by: 'another' })`). A tree
 * is an execution that was started from outside, with all executions below it.
 *
 * Owns: the record of each person, who may not answer such an approval, how many persons fit. Does not own:
 * who a person is (`values/caller.ts`), when and where an act is written (`scheduler/people.ts`).
 *
 * S19 all are in the root's record. An act is entered there before it takes place, or in the same write: if
 * two persons act at the same time, one is entered first, and the other sees it.
 */

import { isSamePerson } from '../values/caller.ts';

/**
 * An act that keeps a person from answering. For an approval its step is named, because its own answer may be
 * repeated.
 */
export type Deed =
  | 'started'
  | 'retried'
  | 'gave-input'
  | 'gave-output'
  | 'skipped'
  | 'continued'
  | `approved:${string}`;

/** By person, what they did. */
export type People = Readonly<Record<string, Deed>>;

/** A person's act, as an event enters it. */
export interface Acted {
  readonly person: string;
  readonly deed: Deed;
}

/** The most persons of one tree: none is forgotten, so a further person's act is refused. */
export const MAX_PEOPLE = 32;

export const approvalOf = (executionId: string, step: string): Deed => `approved:${executionId}/${step}`;

const isApproval = (deed: Deed): boolean => deed.startsWith('approved:');

/**
 * Adds an entry. Any other act outweighs a person's approval. Of two approvals the later one is kept, because
 * the earlier may never have been written.
 */
export function peopleAfter(people: People, { person, deed }: Acted): People {
  const known = people[person];
  const isOutweighed = known !== undefined && (known === deed || !isApproval(known));
  return isOutweighed ? people : { ...people, [person]: deed };
}

export const isFull = (people: People, person: string): boolean =>
  people[person] === undefined && Object.keys(people).length >= MAX_PEOPLE;

/** The act that keeps the person from answering this approval; undefined if there is none. */
export const deedAgainst = (people: People, person: string, approval: Deed): Deed | undefined =>
  Object.entries(people).find(([known, deed]) => deed !== approval && isSamePerson(known, person))?.[1];

const WORDS: Readonly<Record<Exclude<Deed, `approved:${string}`>, string>> = {
  started: 'started it',
  retried: 'retried it',
  'gave-input': 'gave input to it',
  'gave-output': 'gave the output of one of its steps',
  skipped: 'skipped one of its steps',
  continued: 'let it continue after an incident',
};

/** A person's act in the tree as text: 'started it', 'approved step …'. */
export const deedText = (deed: Deed): string =>
  deed in WORDS ? WORDS[deed as keyof typeof WORDS] : `approved ${deed.slice('approved:'.length)}`;
