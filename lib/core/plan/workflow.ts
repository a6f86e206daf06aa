/**
 * A declared workflow, as the code that starts and runs it gets it.
 *
 * Does not own: how an author declares one (`author/builder/workflow.ts`).
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Agent } from './agent.ts';
import type { Plan } from './plan.ts';

/** What `workflow` declares; exported by its file, and run by whoever deploys it. */
export interface Workflow<I = unknown, O = unknown> {
  readonly kind: 'steadfast:workflow';
  /** Its name in every call. */
  readonly name: string;
  /** The schema that every start must fit. */
  readonly input: StandardSchemaV1<unknown, I>;
  /** What the function declared, as data. */
  readonly plan: Plan;
  /** Its own and its children's. */
  readonly agents: readonly Agent[];
  /** The workflows that its steps run. */
  readonly children: readonly Workflow[];
  /** By callback step: what an answer must fit. */
  readonly callbacks: Readonly<Record<string, StandardSchemaV1>>;
  /** By name: what the body of a message must fit. Absent where no step takes one. */
  readonly messages?: Readonly<Record<string, StandardSchemaV1>>;
  /** Only in the type: the output of an execution. */
  readonly output?: O;
}

/** The parts of a workflow that runs no other one and asks nobody. */
export const ALONE: Pick<Workflow, 'children' | 'callbacks'> = { children: [], callbacks: {} };

/** The workflow of that name; one that only runs within others is found with them. */
export function workflowNamed(workflows: readonly Workflow[], name: string): Workflow | undefined {
  const own = workflows.find((one) => one.name === name);
  const inner = own === undefined ? workflows.flatMap(({ children }) => children) : [];
  return inner.length === 0 ? own : workflowNamed(inner, name);
}
