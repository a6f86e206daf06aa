/**
 * Two releases at once in one deployment, each with agents of its own: messages and records cross both ways,
 * under kills. The other mixtures are in `two-releases.nightly.test.ts`.
 */

import { agents, crossUnderKills } from './mixed-releases.ts';

test('a deployment that works in turns loses, doubles and misreads nothing under kills', () =>
  crossUnderKills(agents('charge-card', 'schedule-shipping')));
