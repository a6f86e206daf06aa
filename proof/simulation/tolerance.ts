/**
 * Workflows in which steps may fail and others ask how they ended: a plan as it is in a world that has this trait.
 *
 * Owns: the share of such steps and conditions. Does not own: which worlds have the trait (`traits.ts`), what is judged
 * (`oracle-tolerate.ts`). It throws dice of its own, so that every other world stays as it was.
 */

import type { AgentStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import { isJsonObject, type Json } from '../../lib/core/records/json.ts';
import type { Emphasis } from './emphasis.ts';
import type { Choice } from './plans.ts';

/** What goes wrong often where failures are tolerated. */
export const TOLERANCE_RATES: Emphasis['rates'] = {
  permanentFailure: 0.3,
  transientFailure: 0.4,
  lostReply: 0.25,
  slowService: 0.25,
  canceled: 0.3,
  lostMessage: 0.1,
};

const TOLERATED_SHARE = 0.6;
/** Of the steps behind one that may fail. */
const ASKING_SHARE = 0.5;

/** The plan with steps that may fail, and conditions on how they ended; what may be missing has something instead. */
export function withTolerance(plan: Plan, choice: Choice): Plan {
  const missing = new Set<string>();
  const steps = plan.steps.map((drawn): PlanStep => {
    const inside: PlanStep =
      drawn.kind === 'child' ? { ...drawn, plan: withTolerance(drawn.plan, choice) } : drawn;
    const mayFail = inside.pointOfNoReturn !== true && inside.kind !== 'map';
    const step = mayFail && choice.chance(TOLERATED_SHARE) ? { ...inside, tolerate: true as const } : inside;
    const asked = step.after.filter((name) => missing.has(name));
    const asks = asked.length > 0 && choice.chance(ASKING_SHARE);
    const outcome = choice.pick(['failed', 'failed', 'succeeded']);
    const when = asks ? { $eq: [{ $ref: `outcome:${choice.pick(asked)}`, path: [] }, outcome] } : step.when;
    const asking = when === undefined ? step : { ...step, when };
    if ('tolerate' in asking && asking.kind !== 'map') missing.add(asking.name);
    return asking.kind === 'agent' ? failing({ ...asking, input: guarded(asking.input) }, choice) : asking;
  });
  return { ...plan, steps };
}

/** Most that may fail are tried but once or twice, and some cannot be undone. */
function failing(step: AgentStep, choice: Choice): AgentStep {
  if (step.tolerate !== true || step.effect === 'unsafe' || choice.chance(0.25)) return step;
  const once = { kind: 'retry', attempts: choice.between(0, 1), firstMs: 500, maxMs: 2_000 } as const;
  const person = step.recovery.filter(({ kind }) => kind === 'human');
  return { ...step, recovery: [once, ...person], ...(choice.chance(0.5) ? { undo: 'none' as const } : {}) };
}

/** What is read of another step may be missing. */
const guarded = (input: Json): Json =>
  isJsonObject(input) && input['from'] !== undefined
    ? { ...input, from: { $orElse: [input['from'], 'nothing'] } }
    : input;
