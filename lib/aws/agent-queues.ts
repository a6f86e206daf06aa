/**
 * The queues of the agents that a function may send to, read off its environment.
 *
 * Owns: how an address is put together. All agents of a deployment have queues of one name prefix, so the
 * environment holds the address up to that prefix once, and of each agent its name alone. Does not own: the
 * prefix (`infra/queue-names.ts`).
 */

import { ENV } from './names.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** @returns agent name → queue URL; none where the environment names no agent */
export function agentQueues(environment: Environment): ReadonlyMap<string, string> {
  const names = (environment[ENV.agents] ?? '').split(',').filter((name) => name !== '');
  return new Map(names.map((name) => [name, `${environment[ENV.queues] ?? ''}${name}`]));
}
