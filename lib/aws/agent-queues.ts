/**
 * The queues of the agents that a function may send to, read from its environment.
 *
 * Owns: how a queue's URL is put together. All queue names of a deployment share one prefix, so the
 * environment contains the URL up to that prefix once, and then only the agents' names. Does not own: the
 * prefix (`infra/queue-names.ts`).
 */

import { ENV } from './names.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** @returns agent name → queue URL; empty if the environment names no agent */
export function agentQueues(environment: Environment): ReadonlyMap<string, string> {
  const names = (environment[ENV.agents] ?? '').split(',').filter((name) => name !== '');
  return new Map(names.map((name) => [name, `${environment[ENV.queues] ?? ''}${name}`]));
}
