/**
 * The subject of a question, in one line: the values that its approval shows, its workflow, its tags. The
 * page and the command line both show it.
 *
 * Owns: the text and its order. Does not own: which values are shown, and how an answer is given
 * (`core/questions/callback.ts`).
 */

import type { Json } from '../core/values/json.ts';
import type { QuestionSubject } from '../core/records/question.ts';

export interface About extends QuestionSubject {
  readonly shown?: Readonly<Record<string, Json>>;
}

/**
 * Prints 'amount: 5200, hotel: Ritz · hotel-booking · in trip · bookingId: 4711', with the values to
 * decide on first.
 */
export const aboutText = ({ workflow, tags = {}, root, shown = {} }: About): string =>
  [pairsText(shown), workflow, pairsText(tags), root === undefined ? '' : rootText(root)]
    .filter((part) => part !== '')
    .join(' · ');

/** Prints 'in trip · bookingId: 4711'. */
export const rootText = ({ workflow, tags = {} }: NonNullable<QuestionSubject['root']>): string =>
  [`in ${workflow}`, pairsText(tags)].filter((part) => part !== '').join(' · ');

export const pairsText = (values: Readonly<Record<string, Json>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
