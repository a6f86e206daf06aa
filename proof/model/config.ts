/**
 * The configurations: plans, numbers of processes, and possible faults in each.
 *
 * Owns: the list of `npm run model`. Each search is complete; together they have more than a million states.
 * All steps have the same limits, so that H is one number: lease 9 s (over after one tick), pickup 10 s,
 * settle 10 s, a process lives two ticks.
 */

import type { Effect } from '../../lib/core/plan/agent.ts';
import { checkPlan } from '../../lib/author/checks/check.ts';
import { type Plan, type AgentStep, type PlanStep } from '../../lib/core/plan/plan.ts';
import type { GoalName } from './goals.ts';
import { SETTLE_TICKS, TICK } from './times.ts';

export interface ModelConfig {
  readonly name: string;
  readonly plan: Plan;
  /** The number of agents' processes, for all steps together. */
  readonly agents: number;
  readonly supervisors: number;
  /** The most bad or lost answers of outside services in an execution. */
  readonly failures: number;
  /** Whether any message may come at any time, not only sent ones: any order, loss, repetition, forgery. */
  readonly forge: boolean;
  readonly cancel: boolean;
  /** The most pauses by the operator; each is ended. */
  readonly pauses: number;
  /** The most retries of a failed execution. */
  readonly retries: number;
  /** The configuration of its child step's execution. */
  readonly child?: ModelConfig;
  readonly isChild: boolean;
  /** Whether any process may die at any point, any number of times. */
  readonly crash: boolean;
  /** Whether a worker may record a process's death, at any time after it. */
  readonly deaths: boolean;
  /** Whether messages are lost and delivered twice, any number of times. */
  readonly lossy: boolean;
  /** Whether a write of a claim or report may have a lost answer. */
  readonly ambiguous: boolean;
  readonly heartbeats: boolean;
  /** Whether the execution's deadline may pass. */
  readonly deadline: boolean;
  /** Whether supervisors evaluate at any time, not only at the wake time (an index that lags). */
  readonly eagerSweeps: boolean;
  /** Whether time passes. */
  readonly time: boolean;
  readonly giveUp: boolean;
  /** Properties that some state must have; otherwise they are not tested (`goals.ts`). */
  readonly goals: readonly GoalName[];
}

interface StepOptions {
  readonly effect?: Effect;
  readonly retries?: number;
  readonly retryMs?: number;
  readonly undo?: 'none';
  readonly when?: AgentStep['when'];
  readonly tolerate?: true;
  /** Whether its service may accept the work, and do it within one tick. */
  readonly accepts?: true;
}

function planStep(name: string, after: readonly string[], options: StepOptions): AgentStep {
  const { effect = 'idempotent', retries = 1, retryMs = TICK, undo, when, tolerate, accepts } = options;
  return {
    name,
    kind: 'agent',
    agent: 'agent',
    input: null,
    after,
    ...(when === undefined ? {} : { when }),
    ...(tolerate === undefined ? {} : { tolerate }),
    ...(accepts === undefined ? {} : { acceptsMs: TICK }),
    effect,
    timeoutMs: 6 * TICK,
    leaseMs: TICK - 1_000,
    pickupMs: TICK,
    settleMs: SETTLE_TICKS * TICK,
    recovery: retries === 0 ? [] : [{ kind: 'retry', attempts: retries, firstMs: retryMs, maxMs: retryMs }],
    undo: undo ?? { kind: 'retry', attempts: 1, firstMs: TICK, maxMs: TICK },
  };
}

/** All steps, on-failure steps last. */
export const stepsOf = ({ steps, onFailure = [] }: Plan): readonly PlanStep[] => [...steps, ...onFailure];

type Shape = Readonly<Record<string, readonly string[]>>;
const SHAPES = {
  one: { a: [] },
  chain2: { a: [], b: ['a'] },
  par2: { a: [], b: [] },
  join: { a: [], b: [], c: ['a', 'b'] },
  fork: { a: [], b: ['a'], c: ['a'] },
} as const satisfies Record<string, Shape>;

export function planOf(
  shape: keyof typeof SHAPES,
  options: StepOptions = {},
  special: Readonly<Record<string, StepOptions>> = {},
): Plan {
  const steps = Object.entries<readonly string[]>(SHAPES[shape]).map(([name, after]) =>
    planStep(name, after, { ...options, ...special[name] }),
  );
  const plan: Plan = { v: 1, workflow: shape, withinMs: 3_600_000, steps, output: null };
  checkPlan(plan);
  return plan;
}

/** Adds an on-failure step. */
function followedUp(plan: Plan, retries = 1): Plan {
  const onFailure = [planStep('f', [], { retries, undo: 'none' })];
  const followed: Plan = { ...plan, onFailure };
  checkPlan(followed);
  return followed;
}

/** A plan with a child step, and optionally a step after it. */
function familyPlan(child: Plan, then?: StepOptions): Plan {
  const kid = { kind: 'child', name: 'kid', after: [], plan: child, input: null, undo: 'required' } as const;
  const steps = then === undefined ? [kid] : [kid, planStep('b', ['kid'], then)];
  const plan: Plan = { v: 1, workflow: 'family', withinMs: 7_200_000, steps, output: null };
  checkPlan(plan);
  return plan;
}

/** @param changes of the parent. @param below of the child */
function familyOf(
  name: string,
  then: StepOptions | undefined,
  changes: Partial<ModelConfig>,
  below: Partial<ModelConfig>,
): ModelConfig {
  const plan = planOf('one', ONCE);
  const child = configOf(`${name}-child`, plan, { ...FORGED, agents: 1, isChild: true, ...below });
  return configOf(name, familyPlan(plan, then), {
    ...FORGED,
    agents: then === undefined ? 0 : 1,
    ...changes,
    child,
  });
}

const QUIET: Omit<ModelConfig, 'name' | 'plan'> = {
  agents: 2,
  supervisors: 1,
  failures: 0,
  forge: false,
  cancel: false,
  pauses: 0,
  retries: 0,
  isChild: false,
  crash: false,
  deaths: false,
  lossy: false,
  ambiguous: false,
  heartbeats: false,
  deadline: false,
  eagerSweeps: false,
  time: true,
  giveUp: false,
  goals: [],
};

export const configOf = (name: string, plan: Plan, changes: Partial<ModelConfig>): ModelConfig => ({
  ...QUIET,
  name,
  plan,
  ...changes,
});

const ONCE: StepOptions = { retries: 0 };
const PROBED: StepOptions = { effect: 'probed' };
const LONG: StepOptions = { retryMs: 2_400_000 };
const SKIPPED: StepOptions = { when: { $eq: [{ $ref: 'input', path: ['flag'] }, false] } };
/** A step whose service accepts the work and is probed later. */
const ACCEPTED: StepOptions = { ...ONCE, effect: 'probed', accepts: true };
const TOLERATED: StepOptions = { tolerate: true };
/** Replaces the first step if that has failed. */
const FALLBACK: StepOptions = { when: { $eq: [{ $ref: 'outcome:a', path: [] }, 'failed'] } };
const FORGED: Partial<ModelConfig> = { forge: true, crash: true };
const LIVE: Partial<ModelConfig> = { crash: true, lossy: true };
/** Without supervisors, faults and time: the agents alone must complete the execution (C1). */
const ALONE: Partial<ModelConfig> = { supervisors: 0, time: false };

const PAUSED: Partial<ModelConfig> = { ...FORGED, pauses: 1, goals: ['paused', 'begun', 'resumed'] };

const WORKED: Partial<ModelConfig> = { ...FORGED, agents: 1, goals: ['accepted', 'accepted-done'] };
const STOPPED: Partial<ModelConfig> = {
  ...WORKED,
  cancel: true,
  goals: ['accepted', 'accepted-done', 'accepted-stopped'],
};

const FOLLOWED: Partial<ModelConfig> = { ...FORGED, failures: 1, goals: ['following-up', 'followed-up'] };

const CHILD_FAILS: Partial<ModelConfig> = { failures: 1 };
const FAMILIES: readonly ModelConfig[] = [
  familyOf('child', undefined, { goals: ['child-done'] }, CHILD_FAILS),
  familyOf('child-stopped', undefined, { cancel: true, goals: ['stopped', 'place-taken', 'recalled'] }, {}),
  familyOf('child-recalled', ONCE, { failures: 1, goals: ['child-done', 'recalled'] }, {}),
  familyOf('child-retried', undefined, { retries: 1, goals: ['goes-on', 'child-done'] }, CHILD_FAILS),
];

/** Configurations that tests also run. */
export const SMALL: readonly ModelConfig[] = [
  configOf('chain2-unaided', planOf('chain2'), ALONE),
  configOf('par2-unaided', planOf('par2'), ALONE),
  configOf('join-unaided', planOf('join'), ALONE),
  configOf('fork-unaided', planOf('fork'), ALONE),
  configOf('one-live', planOf('one'), { crash: true, agents: 1 }),
  configOf('chain2-once', planOf('chain2', ONCE), { ...FORGED, failures: 1 }),
  configOf('one-paused', planOf('one', ONCE), { ...PAUSED, agents: 1 }),
];

/** The longest first, so that all processors are busy to the end. */
export const CONFIGS: readonly ModelConfig[] = [
  configOf('chain2-forged', planOf('chain2'), { ...FORGED, failures: 1, cancel: true }),
  configOf('chain2-paused', planOf('chain2', ONCE), { ...PAUSED, agents: 1, failures: 1 }),
  configOf('one-paused-twice', planOf('one'), { ...PAUSED, pauses: 2, failures: 1 }),
  configOf('one-paused-canceled', planOf('one', PROBED), { ...PAUSED, failures: 1, agents: 1, cancel: true }),
  configOf('one-paused-tolerated', planOf('one', { ...ONCE, ...TOLERATED }), {
    ...PAUSED,
    failures: 1,
    goals: ['paused', 'paused-undo', 'resumed'],
  }),
  configOf('chain2-paused-fallback', planOf('chain2', ONCE, { a: TOLERATED, b: FALLBACK }), {
    ...PAUSED,
    agents: 1,
    failures: 1,
    goals: ['paused', 'paused-undo', 'resumed'],
  }),
  configOf('one-paused-live', planOf('one', ONCE), { ...PAUSED, forge: false, agents: 1 }),
  configOf('one-live-cancel', planOf('one'), { ...LIVE, agents: 1, ambiguous: true, cancel: true }),
  configOf('chain2-probed', planOf('chain2', PROBED), { ...FORGED, cancel: true }),
  configOf('par2-forged', planOf('par2', ONCE), FORGED),
  configOf('fork-forged', planOf('fork', ONCE), { ...FORGED, agents: 1, failures: 1 }),
  configOf('join-forged', planOf('join', ONCE), { ...FORGED, agents: 1 }),
  configOf('join-failing', planOf('join', ONCE), { ...FORGED, agents: 1, failures: 1 }),
  configOf('chain2-fallback', planOf('chain2', ONCE, { a: TOLERATED, b: FALLBACK }), {
    ...FORGED,
    failures: 1,
    cancel: true,
  }),
  configOf('join-tolerated', planOf('join', ONCE, { a: TOLERATED }), { ...FORGED, agents: 1, failures: 1 }),
  configOf('one-tolerated-live', planOf('one', { ...ONCE, ...TOLERATED }), {
    ...LIVE,
    agents: 1,
    failures: 1,
  }),
  configOf('join-skip', planOf('join', ONCE, { b: SKIPPED }), { ...FORGED, failures: 1 }),
  configOf('one-live-probed', planOf('one', PROBED), { ...LIVE, agents: 1 }),
  configOf('one-live-lossy', planOf('one'), { ...LIVE, agents: 1 }),
  configOf('one-live-two', planOf('one'), { crash: true }),
  configOf('chain2-undo-none', planOf('chain2', {}, { a: { undo: 'none' } }), { ...FORGED, failures: 1 }),
  configOf('one-probed', planOf('one', PROBED), { ...FORGED, failures: 1, cancel: true }),
  configOf('chain2-two-supervisors', planOf('chain2', ONCE), { ...FORGED, supervisors: 2, cancel: true }),
  configOf('chain2-live', planOf('chain2', ONCE), { crash: true, agents: 1 }),
  configOf('one-idempotent', planOf('one'), { ...FORGED, failures: 1, cancel: true, heartbeats: true }),
  configOf('one-killed', planOf('one'), { ...FORGED, deaths: true, failures: 1, cancel: true }),
  configOf('one-killed-probed', planOf('one', PROBED), { ...FORGED, deaths: true, cancel: true }),
  configOf('one-two-failures', planOf('one'), { ...FORGED, failures: 2 }),
  configOf('one-probed-two-failures', planOf('one', PROBED), { ...FORGED, failures: 2 }),
  configOf('one-give-up', planOf('one', PROBED), { ...FORGED, agents: 1, failures: 1, giveUp: true }),
  configOf('chain2-long-retry', planOf('chain2', LONG), FORGED),
  configOf('chain2-deadline', planOf('chain2', ONCE), { ...FORGED, deadline: true, eagerSweeps: true }),
  configOf('one-accepted', planOf('one', ACCEPTED), STOPPED),
  configOf('one-accepted-failing', planOf('one', ACCEPTED), { ...WORKED, failures: 1 }),
  configOf('one-accepted-paused', planOf('one', ACCEPTED), { ...WORKED, pauses: 1 }),
  configOf('chain2-accepted', planOf('chain2', ONCE, { b: ACCEPTED }), STOPPED),
  configOf('one-followed', followedUp(planOf('one')), { ...FOLLOWED, cancel: true }),
  configOf('chain2-followed', followedUp(planOf('chain2', ONCE)), { ...FOLLOWED, agents: 1 }),
  configOf('one-followed-again', followedUp(planOf('one', ONCE), 0), {
    ...FOLLOWED,
    agents: 1,
    failures: 2,
    retries: 1,
    goals: ['followed-up', 'followed-again'],
  }),
  ...FAMILIES,
  ...SMALL,
];

/** Used only for an ablation, because it has too many states with the rule. */
export const RACED: ModelConfig = familyOf(
  'child-raced',
  undefined,
  { cancel: true, supervisors: 2, crash: false, goals: ['stopped', 'place-taken'] },
  { crash: false },
);
