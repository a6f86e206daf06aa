/**
 * A declared workflow, as the code that starts and runs it gets it.
 *
 * Does not own: how an author declares one (`author/builder/workflow.ts`).
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Agent } from './agent.ts';
import type { Plan } from './plan.ts';

/** A declared workflow, the result of `workflow`. Its file exports it, and a deployment runs it. */
export interface Workflow<I = unknown, O = unknown> {
  readonly kind: 'steadfast:workflow';
  /** Its name in every call. */
  readonly name: string;
  /** The schema that every start must fit. */
  readonly input: StandardSchemaV1<unknown, I>;
  /** The workflow as data. */
  readonly plan: Plan;
  /** All agents of the workflow and of its children. */
  readonly agents: readonly Agent[];
  /** The workflows that its steps run. */
  readonly children: readonly Workflow[];
  /** By callback step: the schema of an answer. */
  readonly callbacks: Readonly<Record<string, StandardSchemaV1>>;
  /** By name: the schema of a message's body. Absent if no step takes one. */
  readonly messages?: Readonly<Record<string, StandardSchemaV1>>;
  /** Only in the type: the output of an execution. */
  readonly output?: O;
}

/** The parts of a workflow that runs no other and asks no one. */
export const ALONE: Pick<Workflow, 'children' | 'callbacks'> = { children: [], callbacks: {} };

/** The workflow of that name, which may also run only within others. */
export function workflowNamed(workflows: readonly Workflow[], name: string): Workflow | undefined {
  const own = workflows.find((one) => one.name === name);
  const inner = own === undefined ? workflows.flatMap(({ children }) => children) : [];
  return inner.length === 0 ? own : workflowNamed(inner, name);
}
