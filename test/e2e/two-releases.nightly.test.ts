/**
 * Two releases at once in one deployment, as in `two-releases.test.ts`, but one release has all agents and
 * the other all roles.
 */

import { AGENTS, agents, crossUnderKills } from './mixed-releases.ts';

const ROLES = ['Scheduler', 'Supervisor', 'Audit', 'Agents/steadfast-bulk'];

test.each([
  ['works for an upgraded scheduler and supervisor', agents(...AGENTS)],
  ['has upgraded its agents alone', ROLES],
])('a deployment that %s loses, doubles and misreads nothing under kills', (_, old) => crossUnderKills(old));
