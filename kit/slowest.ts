/**
 * The option `slowest`: how long a service may still act after its caller gave up. Only the author of a test
 * knows this.
 *
 * Owns: its type, its refusals, and the reminder if it is missing. Does not own: the fault
 * (`agent-calls.ts`).
 */

import type { Agent } from '../lib/core/plan/agent.ts';
import { type Duration, formatDuration, parseDuration } from '../lib/core/values/duration.ts';
import { refuse } from '../lib/core/values/errors.ts';
import type { AgentCall } from './agent-calls.ts';

/** The time for all agents' services, or by agent. */
export type Slowest = Duration | Readonly<Record<string, Duration>>;

export const timesOf = (slowest: Slowest = {}): readonly Duration[] =>
  typeof slowest === 'string' ? [slowest] : Object.values(slowest);

/** The agent's slowest time in ms; undefined if none was given. */
export function slowestMs(slowest: Slowest | undefined, agent: string): number | undefined {
  const said = typeof slowest === 'string' ? slowest : slowest?.[agent];
  return said === undefined ? undefined : parseDuration(said, 'slowest');
}

interface WithAgents {
  readonly agents: readonly Agent[];
}

/** @throws SteadfastError `unknown-agent`, `bad-duration` */
export function checkSlowest({ agents }: WithAgents, slowest: Slowest | undefined): void {
  for (const one of timesOf(slowest)) parseDuration(one, 'slowest');
  if (typeof slowest !== 'object') return;
  const known = agents.map(({ spec }) => spec.name);
  const stranger = Object.keys(slowest).find((name) => !known.includes(name));
  if (stranger === undefined) return;
  throw refuse('unknown-agent', `slowest names '${stranger}'; the agents are: ${known.join(', ')}`);
}

/** For the report: agents without a given time; their `lateEffectWithin` was used instead. */
export function unsaid(
  { agents }: WithAgents,
  slowest: Slowest | undefined,
  calls: readonly AgentCall[],
): string[] {
  const believed = agents
    .filter(({ spec }) => slowestMs(slowest, spec.name) === undefined)
    .filter(({ spec }) => calls.some((call) => call.agent === spec.name))
    .map(({ spec }) => `${spec.name} ${formatDuration(spec.settleMs)}`);
  if (believed.length === 0) return [];
  return [
    `effects that come later than an agent’s lateEffectWithin (${believed.join(', ')}); say how late a service may act, for example slowest: '45s'`,
  ];
}
