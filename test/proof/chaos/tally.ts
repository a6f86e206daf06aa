/** The fault counts of a sufficiently long run. */

import { FUNCTIONS } from '../../../proof/chaos/fault-plan.ts';
import type { Tally } from '../../../proof/chaos/saboteur.ts';

export const TALLY: Tally = {
  kills: Object.fromEntries(FUNCTIONS.map((name) => [name, 20])) as Tally['kills'],
  freezes: 5,
  storeRestarts: 3,
  ambiguous: 10,
  throttled: 10,
  lateIndexes: 10,
  transactions: 10,
  refusedIndexes: 10,
  cutThaws: 5,
  burntReceives: 10,
};
