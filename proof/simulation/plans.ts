/**
 * Random plans: all shapes and limits that the simulator tries.
 *
 * Owns: the distribution. Plans are small, because a protocol breaks with few steps and many interleavings;
 * every feature of a plan has a fair share.
 */

import type { Effect } from '../../lib/core/plan/agent.ts';
import type {
  AgentStage,
  AgentStep,
  CallbackStep,
  ChildStep,
  AskPersonStage,
  MapStep,
  Plan,
  PlanStep,
  RetryStage,
  Stage,
} from '../../lib/core/plan/plan.ts';
import type { Expr } from '../../lib/core/plan/refs.ts';

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

const stage = (choice: Choice, low: number, high: number): RetryStage => ({
  kind: 'retry',
  attempts: choice.between(low, high),
  firstMs: 500,
  maxMs: choice.chance(0.05) ? 1_200_000 : choice.pick([2_000, 30_000]),
});

/**
 * How many steps a plan has: in most worlds few, which show as many interleavings in a fraction of the time.
 */
const FEW: readonly number[] = [1, 1, 1, 2, 2, 3];
const MANY: readonly number[] = [2, 3, 4, 5, 7];
const MANY_SHARE = 0.15;

/**
 * The share of points of no return among a child's steps. Few workflows have one, and what matters happens
 * mostly around it.
 */
const INNER_POINT_SHARE = 0.25;

/** The share of the workflows in which a child's point of no return has a step beside it. */
const BESIDE_POINT_SHARE = 0.06;
const HOUR_MS = 3_600_000;

/**
 * The time of a workflow with many steps: so short that it may end while faults strike or while a person is
 * slow to answer.
 */
const SHORT_MS = 900_000;
const MANY_IN_SHORT = 4;

/**
 * @param depth how many workflows are around it: each is an execution of its own, so the world is kept small
 * @param counts of steps, one of which is picked
 */
export function randomPlan(choice: Choice, workflow: string, depth = 0, counts?: readonly number[]): Plan {
  if (depth === 0 && choice.chance(BESIDE_POINT_SHARE)) return planBesidePoint(choice, workflow);
  const count = choice.pick(counts ?? (depth === 0 && choice.chance(MANY_SHARE) ? MANY : FEW));
  const steps: PlanStep[] = [];
  for (let at = 0; at < count; at += 1) steps.push(randomStep(choice, at, steps, workflow, depth));
  const withinMs = count >= MANY_IN_SHORT ? SHORT_MS : (6 - depth) * HOUR_MS;
  return { v: 1, workflow, withinMs, steps, output: { steps: count } };
}

const waitOf = (name: string, choice: Choice): PlanStep => ({
  kind: 'wait',
  name,
  after: [],
  forMs: choice.pick([10_000, 30_000, 120_000]),
});

/**
 * A child with a point of no return in its middle, beside steps that can be undone, before it and at the same
 * time: by chance alone few plans have all of this.
 */
function planBesidePoint(choice: Choice, workflow: string): Plan {
  const first = randomAgentStep(choice, 0, [], 0, false);
  const beside = randomAgentStep(choice, 2, choice.chance(0.5) ? [first] : [], 0, false);
  // The child waits before and after its point, so that much happens to its parent meanwhile.
  const inner: PlanStep[] = [];
  const add = (step: PlanStep): number =>
    inner.push({ ...step, after: inner.slice(-1).map(({ name }) => name) });
  add(randomAgentStep(choice, 0, [], 1, false));
  if (choice.chance(0.6)) add(waitOf('w0', choice));
  add(randomAgentStep(choice, 1, inner.slice(0, 1), 1, true));
  if (choice.chance(0.6)) add(waitOf('w1', choice));
  add(randomAgentStep(choice, 2, [], 1, false));
  const plan: Plan = { v: 1, workflow: `${workflow}-s1`, withinMs: 4 * HOUR_MS, steps: inner, output: {} };
  const child: ChildStep = {
    kind: 'child',
    name: 's1',
    after: choice.chance(0.7) ? [first.name] : [],
    plan,
    input: { order: 0, flag: choice.chance(0.5), items: [] },
    undo: 'none',
    pointOfNoReturn: true,
  };
  return { v: 1, workflow, withinMs: 6 * HOUR_MS, steps: [first, child, beside], output: { steps: 3 } };
}

/** Most steps are agents'; every other kind has its share. */
function randomStep(
  choice: Choice,
  at: number,
  before: readonly PlanStep[],
  workflow: string,
  depth: number,
): PlanStep {
  const step = randomAgentStep(choice, at, before, depth);
  const base = {
    name: step.name,
    after: step.after,
    ...(step.when === undefined ? {} : { when: step.when }),
  };
  const drawn = choice.random();
  if (drawn < 0.05) return { ...base, kind: 'wait', forMs: choice.pick([1_000, 20_000, 1_200_000]) };
  if (drawn < 0.11) {
    const heartbeats = choice.chance(0.3) ? { heartbeatMs: 120_000 } : {};
    const kind = choice.pick(['callback', 'approval'] as const);
    const withinMs = choice.pick([300_000, 3_600_000]);
    return { ...base, kind, withinMs, ...heartbeats, ...answerOf(choice, kind, 'heartbeatMs' in heartbeats) };
  }
  if (drawn < 0.17 && depth < 2) {
    const plan = randomPlan(choice, `${workflow}-${step.name}`, depth + 1);
    const undo = choice.chance(0.1) ? 'none' : 'required';
    const child = {
      ...base,
      kind: 'child',
      plan,
      input: { order: 0, flag: choice.chance(0.5), items: [1, 2] },
      undo,
    } as const;
    return hasPoint(plan) || choice.chance(0.1) ? asPoint(child, before) : child;
  }
  if (drawn < 0.21 && depth < 2) {
    return {
      ...base,
      kind: 'map',
      over: { $ref: 'input', path: ['items'] },
      each: itemOf(step),
      ...(choice.chance(0.4) ? { concurrency: choice.between(1, 3) } : {}),
      tolerate: choice.pick([{ items: 0 }, { items: 1 }, { items: 5 }, { percent: 40 }]),
    };
  }
  return step;
}

/**
 * The default without an answer, and the interval of reminders; authors cannot write an approval with
 * heartbeats.
 */
function answerOf(
  choice: Choice,
  kind: CallbackStep['kind'],
  hasHeartbeats: boolean,
): Pick<CallbackStep, 'otherwise' | 'remindMs'> {
  const mayHold = kind === 'approval' && !hasHeartbeats;
  return {
    ...(mayHold && choice.chance(0.6) ? { otherwise: choice.pick(['approve', 'reject'] as const) } : {}),
    ...(choice.chance(0.5) ? { remindMs: choice.pick([60_000, 150_000]) } : {}),
  };
}

/** An item of a list is never a point of no return. */
export function itemOf({ pointOfNoReturn: _point, when: _when, ...step }: AgentStep): AgentStep {
  return { ...step, after: [], input: { n: { $ref: 'item', path: [] }, at: { $ref: 'index', path: [] } } };
}

/** The share of plans that get a list at their end in a world with wrong answers. */
const LISTED_SHARE = 0.3;

/** Adds a list whose items' agent sometimes answers wrongly. */
export function withAskingList(plan: Plan, choice: Choice): Plan {
  if (!choice.chance(LISTED_SHARE)) return plan;
  const last = plan.steps.at(-1);
  // No step follows the list, because a list's output has no field `key`.
  if (last?.kind !== 'agent' || last.pointOfNoReturn === true) return plan;
  const list: MapStep = {
    kind: 'map',
    name: last.name,
    after: last.after,
    over: { $ref: 'input', path: ['items'] },
    each: itemOf(last),
    tolerate: choice.pick([{ items: 0 }, { items: 5 }]),
  };
  return { ...plan, steps: [...plan.steps.slice(0, -1), list] };
}

const hasPoint = ({ steps }: Plan): boolean => steps.some(({ pointOfNoReturn }) => pointOfNoReturn === true);

/** A child that contains a point of no return is one itself, and comes after the other points. */
const asPoint = (child: ChildStep, before: readonly PlanStep[]): ChildStep => ({
  ...child,
  undo: 'none',
  pointOfNoReturn: true,
  after: [
    ...new Set([
      ...child.after,
      ...before
        .filter(({ kind, pointOfNoReturn }) => kind === 'child' && pointOfNoReturn === true)
        .map(({ name }) => name),
    ]),
  ],
});

const human = (choice: Choice): AskPersonStage => ({
  kind: 'askPerson',
  withinMs: choice.pick([300_000, 3_600_000]),
  otherwise: choice.pick(['undo', 'keep'] as const),
});

/** Most undos are tried until they work; some have so few tries that a person is asked. */
const randomUndo = (choice: Choice): RetryStage =>
  choice.chance(0.3) ? stage(choice, 1, 3) : stage(choice, 20, 40);

/** Any order of stages that authors may write. */
function randomRecovery(choice: Choice, effect: Effect): Stage[] {
  if (effect === 'unsafe') return [human(choice)];
  const recovery: Stage[] = choice.chance(0.15) ? [] : [stage(choice, 1, 5)];
  if (choice.chance(0.2))
    recovery.push({ ...stage(choice, 1, 2), kind: 'withInput', input: { other: true } });
  if (choice.chance(0.2)) recovery.push(otherAgent(choice, choice.pick(['idempotent', 'probed'] as const)));
  if (choice.chance(0.2)) recovery.push(stage(choice, 1, 2));
  if (choice.chance(0.3)) recovery.push(human(choice));
  return recovery;
}

const otherAgent = (choice: Choice, effect: Effect): AgentStage => ({
  ...stage(choice, 1, 2),
  kind: 'useAgent',
  agent: `agent-other-${effect}`,
  effect,
  undo: randomUndo(choice),
  timeoutMs: 20_000,
  leaseMs: choice.pick([5_000, 20_000]),
  pickupMs: choice.pick([5_000, 20_000]),
  settleMs: 2_000,
});

/** Allows for a missing output, because the step may have been skipped. */
function keyOf(name: string, before: readonly PlanStep[]): Expr {
  const key = { $ref: `step:${name}`, path: ['key'] };
  return before.find((step) => step.name === name)?.when === undefined ? key : { $orElse: [key, 'nothing'] };
}

function randomAgentStep(
  choice: Choice,
  at: number,
  before: readonly PlanStep[],
  depth: number,
  isPoint?: boolean,
): AgentStep {
  const name = `s${at}`;
  const previous = before.at(-1)?.name;
  const chain = choice.chance(0.4) && previous !== undefined;
  const after = chain ? [previous] : before.filter(() => choice.chance(0.5)).map((step) => step.name);
  const effect = choice.chance(0.08) ? 'unsafe' : choice.pick(['idempotent', 'probed'] as const);
  const step: AgentStep = {
    name,
    kind: 'agent',
    agent: `agent-${effect}`,
    input: {
      order: { $ref: 'input', path: ['order'] },
      ...(after[0] === undefined ? {} : { from: keyOf(after[0], before) }),
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
    recovery: randomRecovery(choice, effect),
    undo: choice.chance(0.15) ? 'none' : randomUndo(choice),
  };
  return (isPoint ?? choice.chance(depth === 0 ? 0.08 : INNER_POINT_SHARE)) ? withNoReturn(step) : step;
}

/** Makes the step a point of no return, which has no undo on any stage. */
const withNoReturn = (step: AgentStep): AgentStep => ({
  ...step,
  pointOfNoReturn: true,
  undo: 'none',
  recovery: step.recovery.map((one) => (one.kind === 'useAgent' ? { ...one, undo: 'none' } : one)),
});
