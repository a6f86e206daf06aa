/**
 * The agent behind bulk actions, which each deployment contains.
 *
 * Owns: its declaration and its settings. Does not own: its work (`scheduler/bulk-page.ts`), its queue and
 * its function (`deployed-agent.ts`).
 */

import { Function as LambdaFunction, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { BULK } from '../core/plan/built-in.ts';
import type { AgentDeclaration } from './agent-fleet.ts';
import type { AgentSettings } from './agent-settings.ts';
import { callerSetting } from './settings-of-props.ts';
import type { SteadfastProps } from './steadfast-props.ts';

/** Its declaration. It has no peers, because `AgentFleet.allowAll` lets it send to all agents. */
export const BULK_AGENT: AgentDeclaration = { ...BULK, peers: [] };

/** The key of its function's code. */
export const BULK_ENTRY = 'bulk';

/**
 * The most pages under way at the same time, each of a hundred commands, ten at a time. A smaller
 * `agentConcurrency` applies instead.
 */
const CONCURRENCY = 10;

/** Adds this agent's settings to those of the others. */
export const bulkSettings = ({
  agentSettings = {},
  agentConcurrency = CONCURRENCY,
  bulkActions,
}: Pick<SteadfastProps, 'agentConcurrency' | 'agentSettings' | 'bulkActions'>): Readonly<
  Record<string, AgentSettings>
> =>
  bulkActions === false
    ? agentSettings
    : {
        ...agentSettings,
        [BULK.name]: { maxConcurrency: Math.min(CONCURRENCY, agentConcurrency), ...agentSettings[BULK.name] },
      };

/** Tells the agent which sessions are one person, because it answers approvals in a person's name. */
export function addCallerSetting(handler: IFunction, props: SteadfastProps): void {
  if (!(handler instanceof LambdaFunction)) return;
  for (const [name, value] of Object.entries(callerSetting(props))) handler.addEnvironment(name, value);
}
