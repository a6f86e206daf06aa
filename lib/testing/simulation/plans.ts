/**
 * Random plans: all shapes and limits that the simulator tries.
 *
 * Owns: the distribution. Small plans, because what breaks a protocol needs few steps and many interleavings; every
 * feature of a plan has a fair share.
 */

import type { Effect } from '../../core/agent.ts';
import type { AgentRung, AgentStep, HumanRung, Plan, PlanStep, RetryRung, Rung } from '../../core/plan.ts';

export interface Choice {
  /** In [0, 1). */
  readonly random: () => number;
  readonly chance: (probability: number) => boolean;
  /** A whole number, both ends included. */
  readonly between: (low: number, high: number) => number;
  readonly pick: <Value>(values: readonly Value[]) => Value;
}

export function choiceOf(random: () => number): Choice {
  const between = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
  return {
    random,
    chance: (probability) => random() < probability,
    between,
    pick: (values) => values[between(0, values.length - 1)] as (typeof values)[number],
  };
}

const rung = (choice: Choice, low: number, high: number): RetryRung => ({
  kind: 'retry',
  attempts: choice.between(low, high),
  firstMs: 500,
  maxMs: choice.chance(0.05) ? 1_200_000 : choice.pick([2_000, 30_000]),
});

/** Steps of a plan: in most worlds few, which show as many interleavings in a fraction of the time. */
const FEW: readonly number[] = [1, 1, 1, 2, 2, 3];
const MANY: readonly number[] = [2, 3, 4, 5, 7];
const MANY_SHARE = 0.1;

/** Some have so little time that it is over while faults strike, or waits and people take theirs. */
const SHORT_MS = 900_000;
const MANY_IN_SHORT = 4;

/** @param depth workflows around it: each is an execution of its own, so the world is kept small */
export function randomPlan(choice: Choice, workflow: string, depth = 0): Plan {
  const count = choice.pick(depth === 0 && choice.chance(MANY_SHARE) ? MANY : FEW);
  const steps: PlanStep[] = [];
  for (let at = 0; at < count; at += 1) steps.push(randomStep(choice, at, steps, workflow, depth));
  const withinMs = count >= MANY_IN_SHORT ? SHORT_MS : (6 - depth) * 3_600_000;
  return { v: 1, workflow, withinMs, steps, output: { steps: count } };
}

/** Most steps are agents'; every other kind has its share. */
function randomStep(
  choice: Choice,
  at: number,
  before: readonly PlanStep[],
  workflow: string,
  depth: number,
): PlanStep {
  const step = randomAgentStep(choice, at, before);
  const base = {
    name: step.name,
    after: step.after,
    ...(step.when === undefined ? {} : { when: step.when }),
  };
  const drawn = choice.random();
  if (drawn < 0.05) return { ...base, kind: 'wait', forMs: choice.pick([1_000, 20_000, 1_200_000]) };
  if (drawn < 0.11) {
    const beats = choice.chance(0.3) ? { beatMs: 120_000 } : {};
    const kind = choice.pick(['callback', 'approval'] as const);
    return { ...base, kind, withinMs: choice.pick([300_000, 3_600_000]), ...beats };
  }
  if (drawn < 0.17 && depth < 2) {
    const plan = randomPlan(choice, `${workflow}-${step.name}`, depth + 1);
    const undo = choice.chance(0.1) ? 'none' : 'required';
    return {
      ...base,
      kind: 'child',
      plan,
      input: { order: 0, flag: choice.chance(0.5), items: [1, 2] },
      undo,
    };
  }
  if (drawn < 0.21 && depth < 2) {
    return {
      ...base,
      kind: 'map',
      over: { $ref: 'input', path: ['items'] },
      each: { ...step, after: [], input: { n: { $ref: 'item', path: [] }, at: { $ref: 'index', path: [] } } },
      ...(choice.chance(0.4) ? { concurrency: choice.between(1, 3) } : {}),
      tolerate: choice.pick([{ items: 0 }, { items: 1 }, { items: 5 }, { percent: 40 }]),
    };
  }
  return step;
}

const human = (choice: Choice): HumanRung => ({
  kind: 'human',
  withinMs: choice.pick([300_000, 3_600_000]),
  otherwise: choice.pick(['undo', 'fail'] as const),
});

/** Every order of rungs that authors may write. */
function randomLadder(choice: Choice, effect: Effect): Rung[] {
  if (effect === 'unsafe') return [human(choice)];
  const ladder: Rung[] = choice.chance(0.15) ? [] : [rung(choice, 1, 5)];
  if (choice.chance(0.2)) ladder.push({ ...rung(choice, 1, 2), kind: 'withInput', input: { other: true } });
  if (choice.chance(0.2)) ladder.push(otherAgent(choice, choice.pick(['idempotent', 'probed'] as const)));
  if (choice.chance(0.2)) ladder.push(rung(choice, 1, 2));
  if (choice.chance(0.3)) ladder.push(human(choice));
  return ladder;
}

const otherAgent = (choice: Choice, effect: Effect): AgentRung => ({
  ...rung(choice, 1, 2),
  kind: 'useAgent',
  agent: `agent-other-${effect}`,
  effect,
  undo: rung(choice, 20, 40),
  timeoutMs: 20_000,
  leaseMs: choice.pick([5_000, 20_000]),
  pickupMs: choice.pick([5_000, 20_000]),
  settleMs: 2_000,
});

function randomAgentStep(choice: Choice, at: number, before: readonly PlanStep[]): AgentStep {
  const name = `s${at}`;
  const previous = before.at(-1)?.name;
  const chain = choice.chance(0.4) && previous !== undefined;
  const after = chain ? [previous] : before.filter(() => choice.chance(0.4)).map((step) => step.name);
  const effect = choice.chance(0.08) ? 'unsafe' : choice.pick(['idempotent', 'probed'] as const);
  const step: AgentStep = {
    name,
    kind: 'step',
    agent: `agent-${effect}`,
    input: {
      order: { $ref: 'input', path: ['order'] },
      ...(after[0] === undefined ? {} : { from: { $ref: `step:${after[0]}`, path: ['key'] } }),
    },
    after,
    ...(choice.chance(0.12)
      ? { when: { $eq: [{ $ref: 'input', path: ['flag'] }, choice.chance(0.5)] } }
      : {}),
    effect,
    timeoutMs: choice.pick([10_000, 30_000, 60_000]),
    leaseMs: choice.pick([5_000, 10_000, 30_000]),
    pickupMs: choice.pick([5_000, 10_000, 30_000]),
    settleMs: choice.pick([1_000, 5_000]),
    ...(choice.chance(0.2) ? { maxNoProgressMs: choice.pick([3_000, 8_000]) } : {}),
    ladder: randomLadder(choice, effect),
    undo: choice.chance(0.15) ? 'none' : rung(choice, 20, 40),
  };
  return choice.chance(0.08) ? withNoReturn(step) : step;
}

/** Such a step has no undo, on whichever rung it is. */
const withNoReturn = (step: AgentStep): AgentStep => ({
  ...step,
  pointOfNoReturn: true,
  undo: 'none',
  ladder: step.ladder.map((one) => (one.kind === 'useAgent' ? { ...one, undo: 'none' } : one)),
});
