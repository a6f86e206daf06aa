/**
 * What `GET /agents` answers: of each agent its queue, its breaker, and the latest failure that the breaker has heard of.
 *
 * Owns: the answer, and that a part of it that cannot be read is left out. Does not own: the rules (`core/breaker.ts`).
 *
 * Costs one request to SQS and one read per agent.
 */

import { type Breaker, passageOf } from '../core/breaker.ts';
import type { Scheduler } from '../roles/scheduler.ts';
import type { AgentView, BreakerView } from './answers.ts';

export async function agentsOf(scheduler: Scheduler): Promise<AgentView[]> {
  const { queue, breakers, clock } = scheduler.ports;
  const workflows = new Map<string, string[]>();
  const effects = new Map<string, AgentView['effect']>();
  for (const { workflow } of scheduler.workflows.values()) {
    for (const { spec } of workflow.agents) {
      workflows.set(spec.name, [...(workflows.get(spec.name) ?? []), workflow.name]);
      effects.set(spec.name, spec.effect);
    }
  }
  const names = [...workflows.keys()].sort();
  const depths = (await queue.depths?.(names).catch(() => undefined)) ?? {};
  const now = clock.now();
  return Promise.all(
    names.map(async (name): Promise<AgentView> => {
      const breaker = await breakers?.read(name).catch(() => undefined);
      const depth = depths[name];
      return {
        name,
        effect: effects.get(name) ?? 'unsafe',
        workflows: workflows.get(name) ?? [],
        ...(depth === undefined ? {} : { queue: depth }),
        breaker: breakerView(breaker, now),
        ...(breaker?.failure === undefined
          ? {}
          : { lastError: { ...breaker.failure, at: breaker.failedAt } }),
      };
    }),
  );
}

function breakerView(breaker: Breaker | undefined, now: number): BreakerView {
  const { openedAt, openUntil = now, trialUntil } = breaker ?? {};
  if (openedAt === undefined) return { status: 'closed' };
  if (openUntil > now) return { status: 'open', since: openedAt, until: openUntil };
  const isTrying = passageOf(breaker, now).kind === 'hold';
  return {
    status: 'half-open',
    since: openedAt,
    ...(isTrying && trialUntil !== undefined ? { trialUntil } : {}),
  };
}
