/**
 * The canary: an execution of two steps that comes to its end only if every part of a deployment works.
 *
 * Owns: the plan. Does not own: when it is started and what its absence means (`infra/canary.ts`).
 *
 * The wait between its steps is over when a supervisor says so; all else is the way of any execution. It
 * calls nobody outside, so its end depends on nothing but the deployment.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type Agent, declareAgent } from '../core/plan/agent.ts';
import { retry, type Workflow, workflow } from '../core/plan/builder/workflow.ts';
import { CANARY } from '../core/plan/built-in.ts';

type Nothing = Readonly<Record<string, never>>;

/** What a later release adds is none of its business. */
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

const AGAIN = { recovery: [retry(3)] };

export const canaryWorkflow: Workflow = workflow(CANARY.name, { input: nothing, within: '10m' }, (w) => {
  const out = w.step('out', canaryAgent, {}, AGAIN);
  const wait = w.wait('wait', { for: '5s', after: [out] });
  w.step('back', canaryAgent, {}, { ...AGAIN, after: [wait] });
}) as Workflow;
