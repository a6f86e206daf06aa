/**
 * A workflow as clients see it: its plan without the inputs of its steps.
 *
 * Does not own: executions (`views.ts`). The command line draws workflows that are not deployed with it.
 */

import { isOnFailure } from '../core/plan/on-failure.ts';
import { isTolerated } from '../core/plan/outcomes.ts';
import type { AgentStep, Plan, PlanStep, Stage } from '../core/plan/plan.ts';
import { defined } from '../core/values/defined.ts';
import type { RecoveryView, WorkflowStepView, WorkflowView } from './deployment-answers.ts';

/** @param planHash the address of the plan */
export const workflowView = (plan: Plan, planHash: string): WorkflowView => ({
  workflow: plan.workflow,
  plan: planHash,
  withinMs: plan.withinMs,
  ...defined({ search: plan.search, announceEnds: plan.announceEnds }),
  steps: workflowSteps(plan),
});

/** The on-failure steps come last. */
export const workflowSteps = (plan: Plan): readonly WorkflowStepView[] =>
  [...plan.steps, ...(plan.onFailure ?? [])].map((step) => ({
    name: step.name,
    kind: step.kind,
    ...(isOnFailure(plan, step.name) ? { onFailure: true as const } : {}),
    after: step.after,
    ...(step.pointOfNoReturn === true ? { pointOfNoReturn: true as const } : {}),
    ...(isTolerated(step) ? { tolerate: true as const } : {}),
    ...defined({ withinMs: step.withinMs }),
    ...specialOf(step),
  }));

/** The fields that only one kind of step has. */
function specialOf(step: PlanStep): Omit<WorkflowStepView, 'name' | 'kind' | 'after'> {
  switch (step.kind) {
    case 'agent':
      return performedBy(step);
    case 'wait':
      return defined({ forMs: step.forMs, for: step.for, until: step.until });
    case 'callback':
    case 'approval':
      return defined({
        by: step.by,
        heartbeatMs: step.heartbeatMs,
        otherwise: step.otherwise,
        remindMs: step.remindMs,
      });
    case 'receive':
      return { message: step.message, ...defined({ otherwise: step.otherwise }) };
    case 'lane':
      return { lane: step.lane, atMost: step.atMost };
    case 'child':
      return {
        ...(step.rounds?.byAgent === true ? byAgent(step.plan) : { workflow: step.plan.workflow }),
        undo: step.undo,
        ...recoveryOf(step.recovery),
        ...(step.rounds === undefined
          ? {}
          : {
              rounds: {
                atMost: step.rounds.atMost,
                until: step.rounds.until,
                ...defined({ first: step.rounds.first, message: step.rounds.message }),
              },
            }),
      };
    case 'map':
      return {
        ...(step.each.kind === 'agent'
          ? performedBy(step.each)
          : {
              workflow: step.each.plan.workflow,
              undo: step.each.undo,
              ...recoveryOf(step.each.recovery),
            }),
        over: step.over,
        ...(step.concurrency === undefined ? {} : { concurrency: step.concurrency }),
        tolerate: step.tolerate,
      };
  }
}

/** The agent of a round. */
const byAgent = ({ steps: [step] }: Plan): Pick<WorkflowStepView, 'agent' | 'effect'> =>
  step?.kind === 'agent' ? { agent: step.agent, effect: step.effect } : {};

const performedBy = ({
  agent,
  effect,
  undo,
  recovery,
}: AgentStep): Pick<WorkflowStepView, 'agent' | 'effect' | 'undo' | 'recovery'> => ({
  agent,
  effect,
  undo: undo === 'none' ? 'none' : 'required',
  ...recoveryOf(recovery),
});

const recoveryOf = (stages: readonly Stage[] = []): Pick<WorkflowStepView, 'recovery'> =>
  stages.length === 0 ? {} : { recovery: stages.map(stageView) };

const stageView = (stage: Stage): RecoveryView => {
  if (stage.kind === 'askPerson')
    return { kind: stage.kind, withinMs: stage.withinMs, otherwise: stage.otherwise };
  const { kind, attempts } = stage;
  return { kind, attempts, ...(kind === 'useAgent' ? { agent: stage.agent } : {}) };
};
