/**
 * The trait of worlds with groups of steps that are retried as a whole: changes their plans.
 *
 * Owns: the share of such steps, and their recoveries. Does not own: which worlds have the trait
 * (`traits.ts`), the judgement (`oracle-groups.ts`). It draws from its own random stream, so other worlds are
 * unchanged.
 */

import type { AgentStep, ChildStage, ChildStep, MapStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Emphasis } from './emphasis.ts';
import type { Choice } from './plans.ts';

/** The fault rates in such worlds. */
export const GROUP_RATES: Emphasis['rates'] = {
  permanentFailure: 0.3,
  lostReply: 0.2,
  slowService: 0.2,
  canceled: 0.3,
  canceledChild: 0.5,
  paused: 0.4,
};

const GROUPED_SHARE = 0.65;
/** The share of lists of workflows; each has an execution for every item. */
const LISTED_SHARE = 0.07;
const HOUR_MS = 3_600_000;

export function withGroups(plan: Plan, choice: Choice, depth = 0): Plan {
  const steps = plan.steps.map((drawn): PlanStep => {
    const step: PlanStep =
      drawn.kind === 'child' ? { ...drawn, plan: withGroups(drawn.plan, choice, depth + 1) } : drawn;
    const isGrouped = step.kind === 'agent' && step.pointOfNoReturn !== true && depth < 2;
    if (isGrouped && choice.chance(LISTED_SHARE)) return listOf(step, plan, choice);
    const child = isGrouped && choice.chance(GROUPED_SHARE) ? groupOf(step, plan, choice) : step;
    return child.kind === 'child' && choice.chance(0.95) ? { ...child, recovery: recoveryOf(choice) } : child;
  });
  return { ...plan, steps };
}

/** Makes a workflow of the step and another one before it. */
function groupOf({ after, when, ...step }: AgentStep, around: Plan, choice: Choice): ChildStep {
  const order = { $ref: 'input', path: ['order'] };
  const inner = { ...step, after: [], input: { order, group: { $ref: 'input', path: ['group'] } } };
  const first: AgentStep = { ...inner, name: 's0' };
  const second: AgentStep = { ...inner, name: 's1', after: ['s0'], recovery: failingSoon(inner, choice) };
  return {
    kind: 'child',
    name: step.name,
    after,
    ...(when === undefined ? {} : { when }),
    plan: {
      v: 1,
      workflow: `${around.workflow}-${step.name}`,
      withinMs: choice.chance(0.2) ? 300_000 : HOUR_MS,
      steps: choice.chance(0.5) ? [first, second] : [{ ...second, after: [] }],
      output: { key: { $ref: 'step:s1', path: ['key'] } },
    },
    input: { order, group: 'first', items: [] },
    undo: 'required',
  };
}

/** Makes a list of the step and another one before it, for each item. */
function listOf(step: AgentStep, around: Plan, choice: Choice): MapStep {
  const { after, when, ...group } = groupOf(step, around, choice);
  const each: ChildStep = {
    ...group,
    name: 'item',
    after: [],
    input: { order: { $ref: 'index', path: [] }, group: { $ref: 'item', path: [] }, items: [] },
    ...(choice.chance(0.2) ? { undo: 'none' } : {}),
  };
  return {
    kind: 'map',
    name: step.name,
    after,
    ...(when === undefined ? {} : { when }),
    over: { $ref: 'input', path: ['items'] },
    each: choice.chance(0.3) ? { ...each, recovery: recoveryOf(choice) } : each,
    ...(choice.chance(0.4) ? { concurrency: choice.between(1, 3) } : {}),
    tolerate: choice.pick([{ items: 0 }, { items: 1 }, { items: 2 }, { percent: 40 }]),
  };
}

const failingSoon = ({ recovery, effect }: AgentStep, choice: Choice): AgentStep['recovery'] =>
  effect === 'unsafe' || choice.chance(0.3)
    ? recovery
    : [{ kind: 'retry', attempts: choice.between(0, 1), firstMs: 500, maxMs: 2_000 }];

function recoveryOf(choice: Choice): ChildStage[] {
  const tries = { attempts: choice.between(1, 2), firstMs: 500, maxMs: choice.pick([2_000, 60_000]) };
  const recovery: ChildStage[] = choice.chance(0.8) ? [{ kind: 'retry', ...tries }] : [];
  if (choice.chance(0.85))
    recovery.push({ ...tries, kind: 'withInput', input: { order: 0, group: 'other', items: [1] } });
  if (choice.chance(0.95) || recovery.length === 0)
    recovery.push({
      kind: 'askPerson',
      withinMs: choice.pick([300_000, HOUR_MS]),
      otherwise: choice.pick(['undo', 'keep'] as const),
    });
  return recovery;
}
