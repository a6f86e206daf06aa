/**
 * The two public surfaces the demo reads: Steadfast's HTTP API and the outside world's ledger.
 *
 * Owns: the requests, and the part of their answers that the demo reads. Does not own: the expectations.
 */

import * as z from 'zod/mini';
import type { Rule, RuleInput } from '../../world/behaviour.ts';
import type { OrderEntry as Entry } from '../world.ts';
import type { Order } from '../workflow.ts';

const Attempt = z.object({
  number: z.number(),
  mode: z.enum(['execute', 'probe', 'undo']),
  claimedAt: z.number(),
  endedAt: z.number(),
  outcome: z.string(),
  failure: z.optional(z.object({ code: z.string(), message: z.string() })),
});
export type Attempt = z.infer<typeof Attempt>;

const Step = z.object({ name: z.string(), status: z.string(), attempts: z.array(Attempt) });
export type Step = z.infer<typeof Step>;

const Execution = z.object({
  executionId: z.string(),
  status: z.string(),
  startedAt: z.number(),
  endedAt: z.optional(z.number()),
  steps: z.array(Step),
});
export type Execution = z.infer<typeof Execution>;

const ENDS: ReadonlySet<string> = new Set(['succeeded', 'compensated', 'failed', 'canceled']);
export const hasEnded = (execution: Execution): boolean => ENDS.has(execution.status);

export interface Api {
  /** @returns the execution's id */
  readonly start: (order: Order) => Promise<string>;
  readonly execution: (executionId: string) => Promise<Execution>;
}

export function apiAt(apiUrl: string): Api {
  return {
    start: async (order) => {
      const started = await request(apiUrl, 'POST', '/workflows/order-fulfilment/executions', {
        input: order,
        idempotencyKey: order.orderId,
      });
      return z.parse(z.object({ executionId: z.string() }), started).executionId;
    },
    execution: async (executionId) =>
      z.parse(Execution, await request(apiUrl, 'GET', `/executions/${executionId}`)),
  };
}

export interface ExternalWorld {
  readonly behave: (rule: RuleInput) => Promise<void>;
  readonly rules: () => Promise<readonly Rule[]>;
  readonly ledger: () => Promise<readonly Entry[]>;
}

/** Does not validate the answers, because the world is part of this example. */
export function externalWorldAt(worldUrl: string): ExternalWorld {
  return {
    behave: async (rule) => {
      await request(worldUrl, 'POST', '/behave', rule);
    },
    rules: async () => ((await request(worldUrl, 'GET', '/behave')) as { rules: Rule[] }).rules,
    ledger: async () => ((await request(worldUrl, 'GET', '/ledger')) as { entries: Entry[] }).entries,
  };
}

/**
 * The most tries of a request: a busy machine may answer with a temporary error, and all requests here are
 * safe to repeat.
 */
const TRIES = 10;

async function request(base: string, method: string, path: string, body?: unknown): Promise<unknown> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(`${base.replace(/\/$/, '')}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text) as unknown;
    if (response.status < 500 || tries === TRIES)
      throw new Error(`${method} ${path} was answered ${response.status}: ${text.slice(0, 300)}`);
  }
}
