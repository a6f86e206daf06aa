/**
 * The canary: an execution of two steps that ends only if every part of the deployment works.
 *
 * Owns: the plan. Does not own: when it is started, and the meaning of its absence (`infra/canary.ts`).
 *
 * A supervisor ends the wait between its steps; everything else runs as in any execution. It calls nothing
 * outside, so its end depends on the deployment alone.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type Agent, declareAgent } from '../core/plan/agent.ts';
import { ALONE, type Workflow } from '../core/plan/workflow.ts';
import { CANARY } from '../core/plan/built-in.ts';
import { type AgentStep, limitsOf } from '../core/plan/plan.ts';

type Nothing = Readonly<Record<string, never>>;

/** Ignores fields that a later release adds. */
const nothing: StandardSchemaV1<Nothing> = {
  '~standard': { version: 1, vendor: 'steadfast', validate: () => ({ value: {} }) },
};

export const canaryAgent: Agent<Nothing, Nothing> = declareAgent(CANARY.name, {
  input: nothing,
  output: nothing,
  effect: 'idempotent',
  undo: 'none',
  timeout: `${CANARY.timeoutMs}ms`,
});

const step = (name: string, after: readonly string[]): AgentStep => ({
  kind: 'agent',
  name,
  after,
  agent: CANARY.name,
  input: {},
  ...limitsOf(canaryAgent.spec),
  recovery: [{ kind: 'retry', attempts: 3, firstMs: 1_000, maxMs: 30_000 }],
  undo: 'none',
});

export const canaryWorkflow: Workflow = {
  kind: 'steadfast:workflow',
  name: CANARY.name,
  input: nothing,
  plan: {
    v: 1,
    workflow: CANARY.name,
    withinMs: 600_000,
    steps: [
      step('out', []),
      { kind: 'wait', name: 'wait', after: ['out'], forMs: 5_000 },
      step('back', ['wait']),
    ],
    output: {},
  },
  agents: [canaryAgent as Agent],
  ...ALONE,
};
