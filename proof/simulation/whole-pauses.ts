/**
 * Simulated pauses: for a while new executions of a workflow are born paused, and the breakers of paused
 * agents stay open.
 *
 * Owns: when. Does not own: the operators who resume executions that were born paused (`operators.ts`).
 */

import type { WorkflowPauses } from '../../lib/core/ports.ts';
import { callerIn } from './cast.ts';
import type { Emphasis } from './emphasis.ts';
import type { Choice } from './plans.ts';
import { withHold, withoutHold } from '../../lib/core/records/hold.ts';
import { newBreaker } from '../../lib/core/step/breaker.ts';
import type { Host } from './process.ts';
import { AGENT_NAMES } from './service.ts';

/** The share of the workflows that are paused, in a world in which some are. */
const PAUSED_SHARE = 0.7;
const LATEST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 40_000;

/** The pauses that all processes read; nothing in a world without them. */
export function pausedWorkflows(host: Host, workflows: Iterable<string>): WorkflowPauses | undefined {
  const { pausing: choice, events } = host;
  if (choice === undefined) return undefined;
  const held = new Map<string, { readonly fromAt: number; readonly untilAt: number; withinMs: number }>();
  for (const workflow of workflows) {
    if (!choice.chance(PAUSED_SHARE)) continue;
    const fromAt = events.now + choice.between(0, LATEST_PAUSE_MS);
    const untilAt = fromAt + choice.between(5_000, LONGEST_PAUSE_MS);
    held.set(workflow, {
      fromAt,
      untilAt,
      withinMs: choice.pick([20_000, 1_200_000]),
    });
  }
  return {
    read: async (workflow) => {
      const { fromAt = Number.POSITIVE_INFINITY, untilAt = 0, withinMs } = held.get(workflow) ?? {};
      const common = { workflow, version: 1, writeId: '' };
      if (events.now < fromAt || events.now >= untilAt || withinMs === undefined) return common;
      return {
        ...common,
        pause: { at: fromAt, reason: 'simulated', withinMs, ...callerIn(host) },
      };
    },
    write: async () => 'conflict',
  };
}

/** The share of the agents that are paused, in a world in which some are. */
const PAUSED_AGENTS = 0.9;
/** Even while their services are dead. */
const LATEST_AGENT_PAUSE_MS = 300_000;
const LONGEST_AGENT_PAUSE_MS = 150_000;
/** The share of the pauses that nobody can read at first. */
const UNREAD_SHARE = 0.4;
const LONGEST_UNREAD_MS = 120_000;

/** Pauses some agents for a while; if another process writes the same breaker, it tries again. */
export function pauseAgents(host: Host): void {
  const { pausing: choice, events } = host;
  for (const agent of choice === undefined ? [] : AGENT_NAMES) {
    if (choice === undefined || !choice.chance(PAUSED_AGENTS)) continue;
    pauseOnceOpen(host, choice, agent);
    const afterMs = choice.between(0, LATEST_AGENT_PAUSE_MS);
    if (choice.chance(UNREAD_SHARE)) {
      const from = events.now + afterMs - choice.between(0, LONGEST_UNREAD_MS / 3);
      host.unread.set(agent, {
        from,
        until: from + choice.between(LONGEST_UNREAD_MS / 2, LONGEST_UNREAD_MS),
      });
    }
    events.plan(afterMs, () => changeBreaker(host, agent, 'pause'));
    events.plan(afterMs + choice.between(5_000, LONGEST_AGENT_PAUSE_MS), () =>
      changeBreaker(host, agent, 'resume'),
    );
  }
}

/** The frequent faults where agents are paused: then some are paused once their breakers are open. */
export const PAUSE_RATES: Emphasis['rates'] = { deadDependency: 1 };

const OPEN_EVERY_MS = [3_000, 12_000] as const;
const OPEN_PAUSE_MS = [3_000, 15_000] as const;

/** An operator who sees that a service is away pauses its agent for a while, and again. */
function pauseOnceOpen(host: Host, choice: Choice, agent: string): void {
  const { events, faults, external } = host;
  events.plan(choice.between(...OPEN_EVERY_MS), async () => {
    if (faults.healed()) return;
    const { openedAt, pause } = (await external.breakers.read(agent)) ?? {};
    if (openedAt === undefined || pause !== undefined) return pauseOnceOpen(host, choice, agent);
    await changeBreaker(host, agent, 'pause');
    events.plan(choice.between(...OPEN_PAUSE_MS), async () => {
      await changeBreaker(host, agent, 'resume');
      pauseOnceOpen(host, choice, agent);
    });
  });
}

async function changeBreaker(host: Host, agent: string, what: 'pause' | 'resume'): Promise<void> {
  const { breakers, random } = host.external;
  const before = await breakers.read(agent);
  const inputs = { now: host.events.now, writeId: random.id(), random: 0 };
  const next =
    what === 'pause'
      ? withHold(before ?? newBreaker(agent), { reason: 'simulated' }, inputs)
      : withoutHold(before, undefined, inputs);
  if (next === undefined) return;
  if (what === 'pause') host.kinds.pausedAgent += 1;
  if ((await breakers.write(next)) === 'conflict') await changeBreaker(host, agent, what);
}
