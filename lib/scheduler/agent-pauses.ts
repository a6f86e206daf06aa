/**
 * The commands that pause an agent, and end that: an operator holds its breaker open.
 *
 * Owns: which agents there are, repeated commands, two operators and failing calls at once. Does not own:
 * what an open breaker holds back (`core/step/breaker.ts`), when processes hear of it
 * (`agent/breaker.ts`, `supervisor/admission.ts`).
 */

import type { Caller } from '../core/values/caller.ts';
import type { DecisionInputs } from '../core/decisions/change.ts';
import type { BreakerNews } from '../core/decisions/news.ts';
import { refuse } from '../core/values/errors.ts';
import { given } from '../core/values/given.ts';
import { cut } from '../core/values/text.ts';
import { type Breaker, withPausedAgent, withResumedAgent } from '../core/step/breaker.ts';
import { announceOnce } from '../engine/announce.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import type { Scheduler } from './start.ts';

/** Lost races in a row: of a service in trouble every failed call writes the record. */
const MAX_ROUNDS = 20;

/** The agents that the workflows of this process name. */
export const agentNames = ({ workflows }: Scheduler): readonly string[] =>
  [
    ...new Set(
      [...workflows.values()].flatMap(({ workflow }) => workflow.agents.map(({ spec }) => spec.name)),
    ),
  ].sort();

/**
 * Nothing is sent to the agent any more; what was begun goes on to its end. One that is
 * paused already stays as it is.
 * @throws SteadfastError `unknown-agent`
 */
export const pauseAgent = (
  scheduler: Scheduler,
  agent: string,
  { reason = 'paused by an operator', by }: { readonly reason?: string; readonly by?: Caller },
): Promise<Breaker | undefined> =>
  changed(scheduler, agent, (before, inputs) =>
    withPausedAgent(before, agent, { reason, ...given({ by }) }, inputs),
  );

/** @throws SteadfastError `unknown-agent` */
export const resumeAgent = (
  scheduler: Scheduler,
  agent: string,
  { by }: { readonly by?: Caller },
): Promise<Breaker | undefined> =>
  changed(scheduler, agent, (before, inputs) => withResumedAgent(before, by, inputs));

async function changed(
  scheduler: Scheduler,
  agent: string,
  change: (before: Breaker | undefined, inputs: DecisionInputs) => Breaker | undefined,
): Promise<Breaker | undefined> {
  refuseUnknownAgent(scheduler, agent);
  const { breakers, log } = scheduler.ports;
  if (breakers === undefined) throw new Error('this process has no place for breakers');
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const before = await breakers.read(agent);
    const next = change(before, decisionInputsOf(scheduler.ports));
    if (next === undefined) return before;
    if ((await breakers.write(next)) === 'conflict') continue;
    log.note({ what: next.pause === undefined ? 'agent-resumed' : 'agent-paused', agent });
    await announceOnce(scheduler.ports, newsOf(next, scheduler.ports.clock.now()));
    return next;
  }
  throw new Error(`the breaker of agent '${agent}' changed at every try to change it`);
}

function newsOf({ agent, pause, lastPause }: Breaker, at: number): BreakerNews {
  const common = { about: 'breaker', agent, at, view: '/agents' } as const;
  return pause === undefined
    ? { ...common, change: 'resumed', ...given({ since: lastPause?.at, by: lastPause?.endedBy }) }
    : { ...common, change: 'paused', ...given({ by: pause.by }) };
}

/** @throws SteadfastError `unknown-agent` */
export function refuseUnknownAgent(scheduler: Scheduler, agent: string): void {
  const names = agentNames(scheduler);
  if (names.includes(agent)) return;
  const known = names.join(', ') || 'none';
  throw refuse('unknown-agent', `there is no agent '${cut(agent, 60)}'; there are: ${known}`);
}
