/**
 * Workflows whose steps go on in another way after a crash, with agents that cannot be probed: changes a plan
 * for a world that has this trait.
 *
 * Owns: the share of such steps, and their stages. Does not own: which worlds have the trait (`traits.ts`),
 * what is judged (`oracle-stages.ts`). It draws from its own random stream, so other worlds are unchanged.
 */

import type { AgentStep, Plan, PlanStep, Stage } from '../../lib/core/plan/plan.ts';
import type { Emphasis } from './emphasis.ts';
import type { Choice } from './plans.ts';

/** The frequent faults where steps go on in another way. */
export const STAGE_RATES: Emphasis['rates'] = {
  lostReply: 0.5,
  slowService: 0.25,
  wedgedAgent: 0.1,
  transientUndoFailure: 0.2,
};

const SHARE = 0.8;
const NONE_SHARE = 0.5;

export function withStages(plan: Plan, choice: Choice): Plan {
  const steps = plan.steps.map((step): PlanStep => {
    if (step.kind === 'child') return { ...step, plan: withStages(step.plan, choice) };
    if (step.kind === 'map' && step.each.kind === 'agent')
      return { ...step, each: changing(step.each, choice) };
    return step.kind === 'agent' ? changing(step, choice) : step;
  });
  return { ...plan, steps };
}

/** Some have no lasting effect, the others are undone first; a few can be neither left nor undone. */
function changing(step: AgentStep, choice: Choice): AgentStep {
  if (step.pointOfNoReturn === true || step.effect === 'unsafe' || !choice.chance(SHARE)) return step;
  const tries = { attempts: choice.between(0, 1), firstMs: 500, maxMs: 2_000 };
  const { withNone, undo } = agentOf(step, choice);
  const stages: Stage[] = [{ kind: 'retry', ...tries }];
  for (let at = choice.between(1, 2); at > 0; at -= 1) {
    if (choice.chance(0.5)) stages.push({ kind: 'withInput', input: { other: at }, ...tries, attempts: 1 });
    else {
      const other = agentOf(step, choice);
      const { leaseMs, pickupMs, settleMs } = step;
      stages.push({
        kind: 'useAgent',
        ...other.withNone,
        undo: other.undo,
        timeoutMs: 20_000,
        leaseMs,
        pickupMs,
        settleMs,
        ...tries,
        attempts: 1,
      });
    }
  }
  const person = step.recovery.filter(({ kind }) => kind === 'askPerson');
  return { ...step, ...withNone, undo, recovery: [...stages, ...person] };
}

function agentOf(
  step: AgentStep,
  choice: Choice,
): { readonly withNone: Pick<AgentStep, 'agent' | 'effect'>; readonly undo: AgentStep['undo'] } {
  if (choice.chance(NONE_SHARE)) return { withNone: { agent: 'agent-none', effect: 'none' }, undo: 'none' };
  const undo = step.undo === 'none' && choice.chance(0.8) ? UNDO : step.undo;
  return { withNone: { agent: 'agent-idempotent', effect: 'idempotent' }, undo };
}

const UNDO = { kind: 'retry', attempts: 30, firstMs: 500, maxMs: 2_000 } as const;
