/**
 * The plans of children: a child step contains its workflow's plan, and a map step's plan is made from the
 * step that it maps.
 *
 * Owns: naming and finding such a plan (`planAt`), the plan of a part of a list and its items' names, the
 * agents of a plan and its children. Does not own: which children there are, and their inputs
 * (`waiting/child.ts`).
 *
 * A child's plan is derived from its parent's, so it is neither stored nor hashed: `<hash>.<step>` names it.
 * Executions keep their plans, and children theirs, even after later deployments.
 */

import type { AgentStep, ChildStep, MapStep, Plan, PlanStep, Stage } from './plan.ts';

/** The hash of the stored plan that this one is derived from. */
export const storedHash = (planId: string): string => planId.slice(0, `${planId}.`.indexOf('.'));

export const childPlanId = (planId: string, step: ChildStep): string => `${planId}.${step.name}`;

/** The share of a list that one part has. */
interface Part {
  /** How many items it has. */
  readonly size: number;
  /** How many items of the whole list may fail. */
  readonly tolerated: number;
  /** How many items the parts before it have. */
  readonly before: number;
}

export const partPlanId = (planId: string, step: MapStep, { size, tolerated, before }: Part): string =>
  `${planId}.${step.name}.${size}x${tolerated}x${before}`;

const PART = /^(\d{1,4})x(\d{1,5})x(\d{1,5})$/;

function partAt(name: string | undefined): Part | undefined {
  const [, size, tolerated, before] = PART.exec(name ?? '') ?? [];
  if (size === undefined) return undefined;
  return { size: Number(size), tolerated: Number(tolerated), before: Number(before) };
}

/** Finds the plan with this id in the stored plan; undefined if there is none. */
export function planAt(stored: Plan, planId: string): Plan | undefined {
  const way = planId.split('.').slice(1);
  let plan: Plan | undefined = stored;
  for (let at = 0; at < way.length && plan !== undefined; at += 1) {
    const step: PlanStep | undefined = plan.steps.find(({ name }) => name === way[at]);
    if (step?.kind === 'child') plan = step.plan;
    else if (step?.kind === 'map') {
      at += 1;
      const part = partAt(way[at]);
      plan = part && partPlan(plan, step, part);
    } else plan = undefined;
  }
  return plan;
}

/**
 * The name of an item's step: the list's step and the item's index in the whole list. People read it
 * everywhere, and no author's step can have it.
 */
const itemName = (step: MapStep, before: number, at: number): string => `${step.name}[${before + at}]`;

/**
 * The plan of a part of a list: one step per item. `concurrency` splits the items into chains: item n waits
 * for item n - concurrency. So no counter is needed, and the report that ends an item also leads to the next
 * one of its chain.
 */
function partPlan(parent: Plan, step: MapStep, { size, tolerated, before }: Part): Plan {
  const lanes = step.concurrency ?? size;
  const nameAt = (at: number): string => itemName(step, before, at);
  const steps = Array.from({ length: size }, (_, at): AgentStep | ChildStep => ({
    ...step.each,
    ...(tolerated > 0 ? { tolerate: true as const } : {}),
    name: nameAt(at),
    input: { $ref: 'input', path: ['items', String(at)] },
    after: at < lanes ? [] : [nameAt(at - lanes)],
    ...recoveryOfItem(step.each.recovery, at),
  }));
  return {
    v: 1,
    workflow: parent.workflow,
    withinMs: parent.withinMs,
    steps,
    output: steps.map(({ name }) => ({ $ref: `step:${name}`, path: [] })),
    tolerated,
  };
}

/** Adapts the stages of a list's recovery, declared for an agent or a child, to one of its items. */
const recoveryOfItem = (
  recovery: readonly Stage[] | undefined,
  at: number,
): { readonly recovery: never } | object =>
  recovery === undefined ? {} : { recovery: recovery.map((stage, place) => stageOfItem(stage, at, place)) };

const stageOfItem = (stage: Stage, at: number, place: number): Stage =>
  stage.kind === 'withInput'
    ? { ...stage, input: { $ref: 'input', path: ['others', String(at), String(place)] } }
    : stage;

/**
 * Every agent that an execution of the plan, or one of its children, may need, including those of later
 * stages.
 */
export function agentsNamed(plan: Plan): ReadonlySet<string> {
  const names = [...plan.steps, ...(plan.onFailure ?? [])].flatMap((step) => {
    const performed = step.kind === 'map' ? step.each : step;
    if (performed.kind === 'child') return [...agentsNamed(performed.plan)];
    if (performed.kind !== 'agent') return [];
    const others = performed.recovery.flatMap((stage) => (stage.kind === 'useAgent' ? [stage.agent] : []));
    return [performed.agent, ...others];
  });
  return new Set(names);
}
