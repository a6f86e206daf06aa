/**
 * Workflows with options that few steps have: changes a plan for a world that has this trait, and gives each
 * start the instant that its waits read.
 *
 * Owns: the share of waits until an instant, of messages that are received under a condition or may fail to
 * come, and of other agents that must advance or accept work. Does not own: which worlds have the trait
 * (`traits.ts`), what is judged (`oracle-waits.ts`, `oracle-conditions.ts`, `oracle-attempts.ts`,
 * `oracle-accepted.ts`). It draws from its own random stream, so other worlds are unchanged.
 */

import type {
  AgentStage,
  AgentStep,
  ChildStep,
  Plan,
  PlanStep,
  ReceiveStep,
  Stage,
} from '../../lib/core/plan/plan.ts';
import type { Expr } from '../../lib/core/plan/refs.ts';
import { isJsonObject, type Json } from '../../lib/core/values/json.ts';
import { ACCEPTING, TIMES_MS } from './acceptance.ts';
import type { Choice } from './plans.ts';

/** The share of the waits that are until an instant, and of the workflows that get another such wait. */
const UNTIL_SHARE = 0.6;
const DATED_SHARE = 0.45;
const CONDITION_SHARE = 0.3;
const TOLERATED_SHARE = 0.4;
/** The shares of the steps that get another agent, of those that must advance, and that accept work. */
const OTHER_SHARE = 0.5;
const ADVANCING_SHARE = 0.5;
const ACCEPTING_SHARE = 0.7;

/** The field of an input that has the instant. */
const AT = 'at';
const INSTANT: Expr = { $ref: 'input', path: [AT] };
/** From the start of the world on: some instants have passed when the wait begins. */
const FROM_START_MS = [-60_000, 45_000, 90_000, 240_000, 600_000, 1_800_000] as const;
/** The share of the inputs that name no instant. */
const WRONG_SHARE = 0.06;

/** An instant as an input may have it: as a number, or in ISO form. */
export function drawnInstant(choice: Choice, startAt: number): Json {
  const at = startAt + choice.pick(FROM_START_MS);
  if (choice.chance(WRONG_SHARE)) return 'soon';
  return choice.chance(0.5) ? at : new Date(at).toISOString();
}

export function withRareOptions(plan: Plan, choice: Choice): Plan {
  const whole = changedIn(plan, choice, true);
  return choice.chance(DATED_SHARE) ? withDatedWait(whole, choice) : whole;
}

/** @param isDated whether its input has the instant */
const changedIn = (plan: Plan, choice: Choice, isDated: boolean): Plan => ({
  ...plan,
  steps: plan.steps.map((step) => changed(step, choice, isDated)),
});

function changed(step: PlanStep, choice: Choice, isDated: boolean): PlanStep {
  if (step.kind === 'child') return childOf(step, choice, isDated);
  if (step.kind === 'receive') return receiving(step, choice);
  if (step.kind === 'agent') return withOthers(step, choice);
  if (step.kind === 'map') {
    const { each } = step;
    return {
      ...step,
      each: each.kind === 'agent' ? withOthers(each, choice) : childOf(each, choice, false),
    };
  }
  if (step.kind !== 'wait' || !isDated || !choice.chance(UNTIL_SHARE)) return step;
  const { forMs: _, ...rest } = step;
  return { ...rest, until: INSTANT };
}

/** Rounds make their inputs themselves. */
function childOf(step: ChildStep, choice: Choice, isDated: boolean): ChildStep {
  const { input, rounds } = step;
  const isPlain = isJsonObject(input) && Object.keys(input).every((key) => !key.startsWith('$'));
  if (!isDated || rounds !== undefined || !isPlain)
    return { ...step, plan: changedIn(step.plan, choice, false) };
  return { ...step, input: { ...input, [AT]: INSTANT }, plan: changedIn(step.plan, choice, true) };
}

/** A wait before one of the steps. */
function withDatedWait(plan: Plan, choice: Choice): Plan {
  const before = choice.between(0, plan.steps.length - 1);
  const steps = plan.steps.flatMap((step, at): PlanStep[] => {
    if (at !== before) return [step];
    const wait: PlanStep = {
      kind: 'wait',
      name: 'dated',
      after: step.after,
      until: INSTANT,
      ...(choice.chance(0.3) ? { withinMs: choice.pick([60_000, 300_000]) } : {}),
      ...(choice.chance(0.3) ? { tolerate: true as const } : {}),
    };
    return [wait, { ...step, after: [...step.after, wait.name] }];
  });
  return { ...plan, steps };
}

/** Most receives that may fail get no default and a short time, so that many fail. */
function receiving(step: ReceiveStep, choice: Choice): ReceiveStep {
  const wanted = choice.chance(0.5);
  const when: Expr = { $eq: [{ $ref: 'input', path: ['flag'] }, wanted] };
  const asking = choice.chance(CONDITION_SHARE) ? { ...step, when } : step;
  if (!choice.chance(TOLERATED_SHARE)) return asking;
  const { otherwise: _, ...failing } = asking;
  return choice.chance(0.8)
    ? { ...failing, tolerate: true, withinMs: choice.pick([30_000, 60_000]) }
    : { ...asking, tolerate: true };
}

function withOthers(step: AgentStep, choice: Choice): AgentStep {
  const stages = step.recovery.some(({ kind }) => kind === 'useAgent')
    ? step.recovery
    : withOther(step, choice);
  return {
    ...step,
    recovery: stages.map((stage) => (stage.kind === 'useAgent' ? other(stage, choice) : stage)),
  };
}

/** Gives some steps a second agent, which is called soon after the first one fails. */
function withOther(step: AgentStep, choice: Choice): readonly Stage[] {
  const { recovery, effect, undo, leaseMs, pickupMs, settleMs } = step;
  if (effect === 'unsafe' || effect === 'none' || !choice.chance(OTHER_SHARE)) return recovery;
  const tries = { attempts: choice.between(0, 1), firstMs: 500, maxMs: 2_000 };
  const person = recovery.filter(({ kind }) => kind === 'askPerson');
  const limits = { effect, undo, timeoutMs: 20_000, leaseMs, pickupMs, settleMs };
  const stage = {
    kind: 'useAgent',
    agent: `agent-other-${effect}`,
    ...tries,
    attempts: 2,
    ...limits,
  } as const;
  return [{ kind: 'retry', ...tries }, stage, ...person];
}

function other(stage: AgentStage, choice: Choice): AgentStage {
  if (choice.chance(ADVANCING_SHARE))
    return { ...stage, maxNoProgressMs: choice.pick([2_000, 3_000, 8_000]) };
  if (!choice.chance(ACCEPTING_SHARE)) return stage;
  return {
    ...stage,
    agent: `${ACCEPTING}${stage.effect}`,
    acceptsMs: choice.pick(TIMES_MS),
    ...(choice.chance(0.25) ? { maxNoProgressMs: choice.pick([45_000, 120_000]) } : {}),
  };
}
