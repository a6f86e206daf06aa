/**
 * Runs agents in this process: passes each message to its agent's code, as the agent's Lambda function does.
 *
 * Owns: the deadline by which an attempt has certainly ended. Does not own: what happens to a message
 * (`lib/agent/message.ts`), how many messages are processed at the same time (`message-queue.ts`).
 */

import type { Worker } from '../lib/agent/author-code.ts';
import { handleMessage } from '../lib/agent/message.ts';
import { correlated } from '../lib/aws/telemetry.ts';
import type { Ports } from '../lib/core/ports.ts';
import { sayable } from '../lib/core/values/errors.ts';
import type { PlanCache } from '../lib/engine/plans.ts';
import type { Telemetry } from '../lib/aws/ports.ts';
import type { Deliver } from './message-queue.ts';

/** Time for the abort, the report and its repetitions, beyond the author's own limit. */
export const SPARE_MS = 11_000;

export interface AgentParts {
  readonly ports: Ports;
  readonly worker: Worker;
  readonly telemetry: Telemetry;
  readonly plans: PlanCache;
  /** Ends this process at the deadline. @returns the function that cancels this when the attempt has ended */
  readonly until?: ((deadlineAt: number) => () => void) | undefined;
}

export function deliveryTo({ ports, worker, telemetry, plans, until }: AgentParts): Deliver {
  const { name, timeoutMs } = worker.agent.spec;
  return async (message) => {
    const leave = await worker.enter?.();
    if (leave === undefined && worker.enter !== undefined) return 'give-back';
    const processDeadlineAt = ports.clock.now() + timeoutMs + SPARE_MS;
    const over = until?.(processDeadlineAt);
    try {
      return await handleMessage(ports, plans, worker, message, () => processDeadlineAt);
    } catch (error) {
      const { execution: executionId, step, attempt } = message;
      const about = { executionId, step, attempt, agent: name, error: sayable(error) };
      telemetry.logger.warn('message-given-back', correlated(about));
      return 'give-back';
    } finally {
      over?.();
      leave?.();
    }
  };
}
