/**
 * Connects the scheduler and the agents of this process.
 *
 * Owns: each agent's worker and its place at the queue. Does not own: the work (`agents.ts`), the order in
 * which a server starts and stops them (`server.ts`).
 */

import type { Worker } from '../lib/agent/author-code.ts';
import { ProcessBreaker } from '../lib/agent/breaker.ts';
import { ProcessRate } from '../lib/agent/process-rate.ts';
import { SingleFlight } from '../lib/agent/single-flight.ts';
import { attemptLog } from '../lib/aws/telemetry.ts';
import type { Implementation } from '../lib/core/plan/agent.ts';
import type { Workflow } from '../lib/core/plan/workflow.ts';
import { perSecondOf } from '../lib/core/values/rate.ts';
import type { PlanCache } from '../lib/engine/plans.ts';
import { actOnPage } from '../lib/scheduler/bulk-page.ts';
import { bulkAgent, deferredByPause, type PageInput } from '../lib/scheduler/bulk-workflow.ts';
import { IDS } from '../lib/scheduler/ids.ts';
import { createScheduler, type Scheduler } from '../lib/scheduler/start.ts';
import { deliveryTo } from './agents.ts';
import type { BlockedSteps } from './blocked.ts';
import type { MessageQueue } from './message-queue.ts';
import type { Planned } from './schedules.ts';
import { type ServerPorts, type Telemetries, withTelemetry } from './ports.ts';

/** Each page has a hundred commands. */
export const MOST_BULK_PAGES = 10;

export interface Roles {
  readonly ports: ServerPorts;
  readonly plans: PlanCache;
  readonly telemetries: Telemetries;
  readonly queue: MessageQueue;
  readonly blocked: BlockedSteps;
  /** Ends this process at the deadline. @returns the function that cancels this when the attempt has ended */
  readonly until?: (agent: string, deadlineAt: number) => () => void;
  readonly planned: Planned;
}

export const schedulerOf = (
  { ports, telemetries }: Roles,
  workflows: readonly Workflow[],
  notifies: boolean,
): Scheduler => ({
  ...createScheduler(withTelemetry(ports, telemetries.of({ role: 'scheduler' })), workflows, IDS),
  notifies,
});

export interface HostedAgent {
  readonly worker: Worker;
  /** Runs the agent's code instead of the worker, if it has a separate process. */
  readonly apart?: Pick<Worker, 'implementation' | 'enter'>;
  /** The most attempts at the same time. */
  readonly limit: number;
  /** How many attempts may begin, such as '50/s'. */
  readonly rate?: string;
}

/** Starts processing the agent's messages. */
export function host(roles: Roles, { worker: given, apart, limit, rate }: HostedAgent): void {
  const { ports, telemetries, queue, blocked, plans } = roles;
  const { name } = given.agent.spec;
  const telemetry = telemetries.of({ role: 'agent', agent: name });
  const worker: Worker = {
    ...given,
    ...(apart ?? { implementation: blocked.measured(name, given.implementation) }),
    breaker: new ProcessBreaker(name),
    ...(rate === undefined ? {} : { rate: new ProcessRate(name, perSecondOf(rate)) }),
    singleFlight: new SingleFlight(),
    logOf: (context) => attemptLog(telemetry.logger, { ...context }),
  };
  const ends = apart === undefined ? roles.until : undefined;
  const until = ends && ((deadlineAt: number): (() => void) => ends(name, deadlineAt));
  const own = withTelemetry(ports, telemetry);
  queue.serve(name, limit, deliveryTo({ ports: own, worker, telemetry, plans, until }));
}

/** The built-in agent of every deployment: it executes bulk actions as the scheduler would. */
export function hostBulk(roles: Roles, scheduler: Scheduler): void {
  const implementation: Implementation<unknown, unknown> = {
    execute: (ctx, input) => actOnPage(scheduler, input as PageInput, ctx),
  };
  const worker = { agent: bulkAgent as never, implementation, deferredBy: deferredByPause };
  host(roles, { worker, limit: MOST_BULK_PAGES });
}
