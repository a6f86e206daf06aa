/**
 * A worker as a whole process: environment → queue → worker, until a signal.
 *
 * Owns: the variables of the environment, the signals, the exit code. Does not own: the worker itself.
 */

import { agentQueues } from '../aws/agent-queues.ts';
import { ENV } from '../aws/names.ts';
import { sqsInbox } from '../aws/sqs-inbox.ts';
import { clock } from '../aws/clock.ts';
import { callingPortsOf, telemetryOf } from '../aws/ports.ts';
import type { Ports } from '../core/ports.ts';
import type { PlanCache } from '../engine/plans.ts';
import { recordDeath } from '../engine/death.ts';
import { ForkedProcess, type ProcessSettings } from './attempt-process.ts';
import { taskProtection } from './task-protection.ts';
import { Worker } from './worker.ts';

/** ECS gives two minutes at most between its SIGTERM and its SIGKILL. */
const STOP_WITHIN_MS = 110_000;

export interface RunSettings extends ProcessSettings {
  readonly concurrency?: number;
  readonly stopWithinMs?: number;
}

/**
 * Works until it is asked to stop.
 * @throws Error that names the missing variable
 */
export async function runWorker(settings: RunSettings): Promise<void> {
  const first = new ForkedProcess(settings);
  const { agent, timeoutMs } = await first.ready;
  const url = agentQueues(process.env).get(agent);
  if (url === undefined) {
    await first.kill();
    throw new Error(
      `${ENV.agents} does not name the agent '${agent}'; it is a list of names with commas between them, and ${ENV.queues} what their queues' addresses begin with: both as grantWork('${agent}', …) returns them`,
    );
  }
  const telemetry = telemetryOf({ role: 'worker', agent });
  const { logger, meter } = telemetry;
  // Made only to record a death: as long as its attempts are healthy, a worker calls only its queue.
  let ports: Ports | undefined;
  const plans: PlanCache = new Map();
  const log = (what: string, fields: object = {}): void => logger.info(what, { ...fields });
  const worker = new Worker(
    {
      inbox: sqsInbox(url),
      startProcess: () => new ForkedProcess(settings),
      clock,
      protection: taskProtection({ agentUri: process.env['ECS_AGENT_URI'], timeoutMs, now: clock.now, log }),
      recordDeath: async (attempt, stopping) => {
        await recordDeath((ports ??= callingPortsOf(telemetry)), plans, attempt, stopping);
        meter.flush();
      },
      log,
      concurrency: settings.concurrency ?? wholeNumber(ENV.workerConcurrency, 1),
      stopWithinMs: settings.stopWithinMs ?? wholeNumber(ENV.stopWithinMs, STOP_WITHIN_MS),
    },
    first,
  );
  const stop = (): void => worker.stop();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  // If a parent started it with a channel, as `steadfast dev` does, it ends with that parent.
  process.once('disconnect', stop);
  logger.info('worker-started');
  await worker.run();
  logger.info('worker-stopped');
  if (process.connected) process.disconnect();
}

/** @throws Error naming the variable */
function wholeNumber(name: string, fallback: number): number {
  const text = process.env[name];
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new Error(`${name} is ${JSON.stringify(text)}; allowed: a whole number`);
}
