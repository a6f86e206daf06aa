/** Two releases at once, as in `two-releases.test.ts`: here one has all agents, the other all other roles. */

import { AGENTS, agents, crossUnderKills } from './mixed-releases.ts';

const ROLES = ['Scheduler', 'Supervisor', 'Audit', 'Agents/steadfast-bulk'];

test.each([
  ['works for an upgraded scheduler and supervisor', agents(...AGENTS)],
  ['has upgraded its agents alone', ROLES],
])('a deployment that %s loses, doubles and misreads nothing under kills', (_, old) => crossUnderKills(old));
