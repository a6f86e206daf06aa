/**
 * Why work is deferred, in words: the obstacle when it was deferred, and whether it still exists.
 *
 * Owns: this text. Does not own: until when work is deferred (`step/defer.ts`), what comes next (`why.ts`).
 *
 * The step's record describes the moment of the deferral. The text says that a breaker is open now, or an
 * agent paused now, only if the breaker was read now.
 */

import type { AgentStep, PlanStep } from '../core/plan/plan.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { NotBefore, Step } from '../core/records/state.ts';
import { timeText } from '../core/values/text.ts';
import { attemptedVariant, variantOf } from '../core/step/recovery.ts';
import { isUntried } from '../core/step/turn.ts';
import { afterStart, type CodeStart } from './words.ts';
import { personText } from './past.ts';

/** An open breaker. If its service began to fail soon after other code began to run, it has both times. */
export type OpenNow = NotBefore & { readonly began?: CodeStart & { readonly at: number } };
/** The current state of each agent's breaker; unknown for an agent that is missing here. */
export type Breakers = ReadonlyMap<string, OpenNow | 'closed'>;

/** Returns the agent of deferred work: the next attempt's, or for a probe or an undo the latest attempt's. */
const agentFor = (step: AgentStep, record: Step, { mode }: NotBefore): AgentStep =>
  mode === 'execute' ? variantOf(step, record.stage) : attemptedVariant(step, record);

/**
 * Returns the agents whose breaker or pause has deferred work here, so that reading their breakers is
 * worthwhile.
 */
export const deferringAgents = (steps: readonly PlanStep[], state: Snapshot): readonly string[] => [
  ...new Set(
    steps.flatMap((step) => {
      const record = state.steps[step.name];
      const { deferred } = record ?? {};
      if (step.kind !== 'agent' || record === undefined || deferred === undefined) return [];
      return deferred.why === 'breaker' || deferred.why === 'paused'
        ? [agentFor(step, record, deferred).agent]
        : [];
    }),
  ),
];

export function becauseDeferred(
  step: PlanStep,
  record: Step,
  deferred: NotBefore,
  breakers: Breakers,
): string {
  const agent = step.kind === 'agent' ? agentFor(step, record, deferred).agent : step.name;
  const first = isUntried(step, record) ? 'not tried yet: ' : '';
  const last = record.failure === undefined ? '' : `; its last attempt ended with ${record.failure.code}`;
  return `${first}${wayOf(agent, deferred, breakers.get(agent))}${last}`;
}

function wayOf(agent: string, deferred: NotBefore, now: OpenNow | 'closed' | undefined): string {
  const { why, at, since = at } = deferred;
  switch (why) {
    case 'breaker':
    case 'paused':
      return now === undefined ? wayThen(agent, deferred) : wayNow(agent, deferred, now);
    case 'rate':
      return `the rate of agent '${agent}' was used up by other attempts at ${timeText(at)}; no attempt is charged`;
    case 'unclaimed':
      return `no agent '${agent}' has taken its message yet, so it is sent again at growing gaps`;
    case 'not-deployed':
      return `no agent '${agent}' was deployed, from ${timeText(since)} to ${timeText(at)} at least, so it was deferred and no attempt is charged`;
  }
}

const byWhom = (pause: NotBefore['pause']): string => `by ${personText(pause?.by)}: ${pause?.reason ?? ''}`;

function wayNow(agent: string, { why, at }: NotBefore, now: OpenNow | 'closed'): string {
  if (now === 'closed')
    return why === 'paused'
      ? `agent '${agent}' was paused at ${timeText(at)}, and is not paused any more`
      : `the breaker of agent '${agent}' was open at ${timeText(at)}, and has closed since`;
  return now.pause === undefined
    ? `the breaker of agent '${agent}' has been open since ${timeText(now.since ?? now.at)}${beginning(now)}: it is not called until that closes, and no attempt is charged`
    : `agent '${agent}' has been paused since ${timeText(now.since ?? now.at)}, ${byWhom(now.pause)}; it is not called until that ends, and no attempt is charged`;
}

const beginning = ({ began }: OpenNow): string =>
  began === undefined
    ? ''
    : ` (its service has been failing since ${timeText(began.at)}${afterStart(began.at, began)})`;

const wayThen = (agent: string, { why, at, since = at, pause }: NotBefore): string =>
  why === 'paused'
    ? `agent '${agent}' was paused at ${timeText(at)}, since ${timeText(since)}, ${byWhom(pause)}; so it was deferred and no attempt is charged`
    : `the breaker of agent '${agent}' was open at ${timeText(at)}, since ${timeText(since)}, so it was deferred and no attempt is charged`;
