/**
 * Two releases at once in one deployment, each with some agents, exchange messages and records under kills.
 * Other mixtures: `two-releases.nightly.test.ts`.
 */

import { agents, crossUnderKills } from './mixed-releases.ts';

test('a deployment that works in turns loses, doubles and misreads nothing under kills', () =>
  crossUnderKills(agents('charge-card', 'schedule-shipping')));
