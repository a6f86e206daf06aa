/**
 * The effect key: the name under which the outside world knows what a step does.
 *
 * Owns: its text, and what of it is made fresh. Does not own: where a life is stored (`start.ts`).
 *
 * S18 an execution has effect keys of its own, also where an earlier one had its id: an idempotency key that is used again
 * after its retention starts another execution under the same id, and an outside service remembers for longer.
 */

import type { Execution } from './state.ts';

const LIFE_CHARS = 10;

/** Letters and digits in lower case, so that a key may be a part of a file's name or of an address. @param freshId of the dice */
export const lifeOf = (freshId: string): string =>
  freshId
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(-LIFE_CHARS);

/** `<execution>.<step>.<life>`; an execution of a release that knew no lives has none. */
export const effectKeyOf = ({ id, life }: Pick<Execution, 'id' | 'life'>, step: string): string =>
  life === '' ? `${id}.${step}` : `${id}.${step}.${life}`;
