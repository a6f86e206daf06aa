/**
 * The canary of a deployment: an execution that is started every few minutes, and whose end is counted.
 *
 * Owns: adding its workflow and agent to those of the folders, and its schedule. Does not own: its steps
 * (`scheduler/canary-workflow.ts`), the alarm (`alarms.ts`).
 */

import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import type { Duration } from 'aws-cdk-lib/core';
import { CANARY } from '../core/plan/built-in.ts';
import { programFile } from '../project/package-files.ts';
import type { Discovery } from './discovery.ts';
import type { Triggers } from './triggers.ts';

/** The longest interval. CloudWatch's periods are whole minutes, and a later alarm would be of little use. */
const MOST_MINUTES = 60;

/** The discovery with a canary, cached so that several stacks of an app share the bundles. */
const made = new WeakMap<Discovery, Discovery>();

/** Adds the canary to the workflows that were found. @throws Error whose message says what is allowed */
export function withCanary(found: Discovery, every: Duration | undefined): Discovery {
  if (every === undefined) return found;
  const minutes = every.toMinutes({ integral: false });
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > MOST_MINUTES)
    throw new Error(`canary is ${every.toHumanString()}; allowed: 1 to ${MOST_MINUTES} whole minutes`);
  const { name, timeoutMs } = CANARY;
  const both = made.get(found) ?? {
    ...found,
    workflows: [
      ...found.workflows,
      {
        name,
        file: programFile('lib/scheduler/canary-workflow'),
        exportName: 'canaryWorkflow',
        agents: [name],
      },
    ],
    agents: [...found.agents, { name, timeoutMs, file: programFile('lambdas/canary'), peers: [name] }],
  };
  made.set(found, both);
  return both;
}

/** Adds its schedule. Canaries that wait while the deployment is at rest are started afterwards. */
export function startCanary(triggers: Triggers, every: Duration | undefined): void {
  if (every === undefined) return;
  const { name } = CANARY;
  triggers.onSchedule(ScheduleExpression.rate(every), name, { name, input: {}, maxConcurrency: 2 });
}
