/** For tests of refusals: a valid agent and plan to change, and a function that returns the refusal. */

import * as z from 'zod/mini';
import { type AgentOptions, declareAgent } from '../../lib/core/plan/agent.ts';
import { SteadfastError } from '../../lib/core/values/errors.ts';
import type { Plan, AgentStep } from '../../lib/core/plan/plan.ts';
import { retry } from '../../lib/author/builder/workflow.ts';

export const any = z.record(z.string(), z.any());
export type Anything = Record<string, unknown>;
export const base = { input: any, output: any, effect: 'idempotent', timeout: '1m' } as const;
export const agent = declareAgent<Anything, Anything>('worker', base as AgentOptions<Anything, Anything>);

export const refusalOf = (build: () => unknown): SteadfastError => {
  try {
    build();
  } catch (error) {
    if (error instanceof SteadfastError) return error;
    throw error;
  }
  throw new Error('it was accepted');
};

export const planStep: AgentStep = {
  name: 'it',
  kind: 'agent',
  agent: 'worker',
  input: {},
  after: [],
  effect: 'idempotent',
  timeoutMs: 60_000,
  leaseMs: 30_000,
  pickupMs: 30_000,
  settleMs: 5_000,
  recovery: [retry(3)],
  undo: 'none',
};
export const planWith = (step: Partial<AgentStep>, plan: Partial<Plan> = {}): Plan => ({
  v: 1,
  workflow: 'flow',
  withinMs: 60_000,
  steps: [{ ...planStep, ...step }],
  output: {},
  ...plan,
});
/** Fills missing columns with null. */
export const rows = <T>(
  table: readonly [string, T, string, string?][],
): [string, T, string, string | null][] =>
  table.map(([name, given, reason, step]) => [name, given, reason, step ?? null]);
