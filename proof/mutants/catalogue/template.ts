/**
 * Mutants of the template: permissions, limits and wiring, found in its text or by running it on the local
 * cloud.
 */

import { jest, type Mutant } from '../mutant.ts';

export const TEMPLATE: readonly Mutant[] = [
  {
    id: 'recursion-cut',
    bug: 'Lambda cuts a long chain of steps off as a loop.',
    file: 'lib/infra/deployed-agent.ts',
    find: 'recursiveLoop: RecursiveLoop.ALLOW',
    replace: 'recursiveLoop: RecursiveLoop.TERMINATE',
    killer: jest('infra/stack', 'only the scheduler and the agents may run in a long chain'),
  },
  {
    id: 'delete-granted',
    bug: 'Every role may delete from the table.',
    file: 'lib/infra/state-table.ts',
    find: "decide: ['dynamodb:GetItem',",
    replace: "decide: ['dynamodb:DeleteItem', 'dynamodb:GetItem',",
    killer: jest('infra/permissions', 'each function may do what is listed, and nothing else'),
  },
  {
    id: 'calls-unheard',
    bug: 'The rule that starts a supervisor listens for another event than the one that is sent.',
    file: 'lib/infra/wake-ups.ts',
    find: 'detailType: [detailType]',
    replace: 'detailType: [source]',
    killer: jest('e2e/quiet', 'healthy orders one after the other share one supervisor'),
  },
];
