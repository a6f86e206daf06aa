/**
 * Workflows in which steps may fail and others depend on their ends: changes a plan for a world that has this
 * trait.
 *
 * Owns: the share of such steps and conditions. Does not own: which worlds have the trait (`traits.ts`), what
 * is judged (`oracle-tolerate.ts`). It draws from its own random stream, so other worlds are unchanged.
 */

import type { AgentStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import { isJsonObject, type Json } from '../../lib/core/values/json.ts';
import { type Emphasis, LAST_MOMENT, PROCESS_MS } from './emphasis.ts';
import { type Choice, itemOf } from './plans.ts';

/** The frequent faults where failures are tolerated. */
export const TOLERANCE_RATES: Emphasis['rates'] = {
  permanentFailure: 0.3,
  transientFailure: 0.4,
  lostReply: 0.25,
  slowService: 0.25,
  canceled: 0.3,
  lostMessage: 0.1,
};

/** A world about failures that may have acted: they wait to be undone, wait for a person, or meet a stop. */
export const TOLERANT: Emphasis = {
  rates: {
    permanentFailure: 0.3,
    transientFailure: 0.2,
    lostReply: 0.8,
    slowService: 0.1,
    permanentUndoFailure: 0.8,
    canceled: 0.6,
  },
  processMs: PROCESS_MS,
  lastMoment: LAST_MOMENT,
  counts: [2, 2, 3],
  answer: 'continue',
  leaves: 0.8,
  step: (choice, { pointOfNoReturn: _point, ...step }) => ({
    ...step,
    ...(step.effect === 'probed' && choice.chance(0.7)
      ? { effect: 'idempotent' as const, agent: 'agent-idempotent' }
      : {}),
    timeoutMs: 10_000,
    settleMs: 1_000,
  }),
};

const TOLERATED_SHARE = 0.6;
/** The share of conditions among the steps behind one that may fail. */
const ASKING_SHARE = 0.75;

/** Adds steps that may fail, and conditions on their ends; a value that may be missing gets a replacement. */
export function withTolerance(plan: Plan, choice: Choice, isAbout = false): Plan {
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
    if (asking.kind !== 'agent') return asking;
    const reading = { ...asking, input: guarded(asking.input) };
    const other = asking.tolerate === true ? failing(reading, choice) : reading;
    return isAbout ? asOther(other, choice, plan.workflow) : other;
  });
  return { ...plan, steps };
}

/** Most that may fail are tried only once or twice, and some cannot be undone. */
function failing(step: AgentStep, choice: Choice): AgentStep {
  if (step.effect === 'unsafe' || choice.chance(0.25)) return step;
  const once = { kind: 'retry', attempts: choice.between(0, 1), firstMs: 500, maxMs: 2_000 } as const;
  const person = step.recovery.filter(({ kind }) => kind === 'askPerson');
  return { ...step, recovery: [once, ...person], ...(choice.chance(0.5) ? { undo: 'none' as const } : {}) };
}

/**
 * In a world about this: the share of steps that may fail that become an execution of their own; the others
 * become lists.
 */
const CHILD_SHARE = 0.4;
const LIST_SHARE = 0.7;

function asOther(step: AgentStep, choice: Choice, workflow: string): PlanStep {
  if (!choice.chance(step.tolerate === true ? CHILD_SHARE : LIST_SHARE)) return step;
  const { name, after, when, tolerate, ...rest } = step;
  const base = { name, after, ...(when === undefined ? {} : { when }) };
  if (tolerate === undefined) {
    const over = { $ref: 'input', path: ['items'] };
    return { ...base, kind: 'map', over, each: failing(itemOf(step), choice), tolerate: { items: 5 } };
  }
  const inner = failing({ ...rest, name: 's0', after: [], input: { order: 0 } }, choice);
  return {
    ...base,
    kind: 'child',
    plan: { v: 1, workflow: `${workflow}-${name}`, withinMs: 3_600_000, steps: [inner], output: {} },
    input: { order: 0, flag: true, items: [1, 2] },
    undo: inner.undo === 'none' ? 'none' : 'required',
    tolerate,
  };
}

/** A value that is read from another step may be missing. */
const guarded = (input: Json): Json =>
  isJsonObject(input) && input['from'] !== undefined
    ? { ...input, from: { $orElse: [input['from'], 'nothing'] } }
    : input;
