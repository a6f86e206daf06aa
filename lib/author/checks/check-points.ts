/**
 * Checks points of no return: a step declared as one must be so for everything that the workflow undoes.
 *
 * Owns: which steps can be one, and that no child hides one. Does not own: the effect of such a step on a
 * running execution (`step/point-of-no-return.ts`).
 *
 * S10 after a point of no return nothing is undone, at any level. If a parent did not know of one inside a
 * child, it would undo its own steps although the child's cannot be undone.
 */

import {
  type AgentStep,
  type ChildStep,
  isBefore,
  isRepeated,
  type Plan,
  type PlanStep,
  workflowIn,
} from '../../core/plan/plan.ts';
import { problem, type Problem } from './refusal.ts';

/** Returns the problem with a point of no return among steps that no agent performs. */
export function pointProblem(step: Exclude<PlanStep, AgentStep>, plan: Plan): Problem | undefined {
  if (step.kind === 'child') return childProblem(step, plan);
  const inner = step.kind === 'map' ? workflowIn(step) : undefined;
  const hidden = inner && pointIn(inner);
  if (hidden !== undefined) {
    const message = `its workflow '${inner?.workflow}' has a point of no return (${hidden}), and some items of a list would be past it and others would not: take the point out of '${inner?.workflow}', or write single children with 'pointOfNoReturn: true'`;
    return problem('bad-point-of-no-return', message);
  }
  const isPoint =
    step.pointOfNoReturn === true || (step.kind === 'map' && step.each.pointOfNoReturn === true);
  if (!isPoint) return undefined;
  const instead =
    step.kind === 'map'
      ? '; some items of a list would be past it and others would not, so use single steps'
      : '';
  const message = `only a step that an agent performs, or a child, can be a point of no return${instead}`;
  return problem('bad-point-of-no-return', message);
}

function childProblem(step: ChildStep, plan: Plan): Problem | undefined {
  if (step.pointOfNoReturn === true && !isRepeated(step))
    return undoProblem(step) ?? besideProblem(step, plan);
  const hidden = pointIn(step.plan);
  if (hidden === undefined) return undefined;
  if (isRepeated(step)) {
    const message = `its workflow '${step.plan.workflow}' has a point of no return (${hidden}), and some of its rounds would be past it and others would not: take the point out of '${step.plan.workflow}'`;
    return problem('bad-point-of-no-return', message);
  }
  const message = `its workflow '${step.plan.workflow}' has a point of no return (${hidden}), and nothing outside it may be undone after that: write 'pointOfNoReturn: true' here as well`;
  return problem('hidden-point-of-no-return', message);
}

/** Refuses a point of no return that declares an undo: it is never undone. */
export function undoProblem(step: AgentStep | ChildStep): Problem | undefined {
  const stages = step.kind === 'agent' ? step.recovery.filter((stage) => stage.kind === 'useAgent') : [];
  if (step.pointOfNoReturn !== true || [step, ...stages].every(({ undo }) => undo === 'none'))
    return undefined;
  const message = "it is a point of no return, which is never undone: leave its 'undo' out, or write 'none'";
  return problem('undo-after-no-return', message);
}

/**
 * Refuses two such children side by side: the first would have to undo itself before it is known whether the
 * other has acted.
 */
function besideProblem(step: ChildStep, plan: Plan): Problem | undefined {
  const beside = plan.steps.find(
    (other) =>
      other.kind === 'child' &&
      other.pointOfNoReturn === true &&
      other.name !== step.name &&
      !isBefore(plan, other.name, step.name) &&
      !isBefore(plan, step.name, other.name),
  );
  if (beside === undefined) return undefined;
  const message = `it is a point of no return and may be under way at the same time as '${beside.name}', which is one as well; when one is stopped, it is not yet known whether the other has been passed: let one come 'after' the other`;
  return problem('points-of-no-return-at-once', message);
}

/** Finds the first point of no return in the plan, and returns the path to it. */
function pointIn(plan: Plan): string | undefined {
  for (const step of plan.steps) {
    if (step.pointOfNoReturn === true) return `'${step.name}'`;
    const deeper = step.kind === 'child' ? pointIn(step.plan) : undefined;
    if (deeper !== undefined) return `'${step.name}' → ${deeper}`;
  }
  return undefined;
}
