/**
 * Simulated operators who have an agent called now, once they see that its service is away.
 *
 * Owns: when. It draws no random numbers, so other choices of the world are unchanged. Does not own: what
 * follows (`lib/scheduler/try-now.ts`), whether an answer was lost on the way (`process.ts`).
 */

import { tryNow } from '../../lib/scheduler/try-now.ts';
import type { Scheduler } from '../../lib/scheduler/start.ts';
import { type Host, processOutside, schedulerFor } from './process.ts';
import { AGENT_NAMES } from './service.ts';

const FIRST_MS = 9_000;
/** The distance in time between agents. */
const APART_MS = 1_700;

export function tryAgentsNow(host: Host): void {
  for (const [at, agent] of AGENT_NAMES.entries()) tryOnceOpen(host, agent, FIRST_MS + at * APART_MS);
}

/** Repeats, because the service may still be away. */
function tryOnceOpen(host: Host, agent: string, everyMs: number): void {
  const { events, external, faults, kinds } = host;
  events.plan(everyMs, async () => {
    if (faults.healed()) return;
    const { openedAt } = (await external.breakers.read(agent)) ?? {};
    if (openedAt !== undefined)
      await tryNow(schedulerOf(host), agent).then(
        ({ woken }) => void (kinds.triedNow += Math.min(1, woken)),
        // The answer was lost: try again next time.
        () => undefined,
      );
    tryOnceOpen(host, agent, everyMs);
  });
}

/** Knows all agents of the world. */
function schedulerOf(host: Host): Scheduler {
  const workflow = { agents: AGENT_NAMES.map((name) => ({ spec: { name } })) };
  const workflows = new Map([['all', { workflow }]]);
  return { ...schedulerFor(host, processOutside(host)), workflows } as unknown as Scheduler;
}
