/**
 * The trait of worlds with on-failure steps: changes their plans, and derives the plan by which the oracles
 * judge an execution that is following up.
 *
 * Owns: the share of such workflows and steps, and that plan, independently of the product's code. Does not
 * own: which worlds have the trait (`traits.ts`), the judgement (`oracle-on-failure.ts`). It draws from its
 * own random stream, so other worlds are unchanged.
 */

import type { AgentStep, AskPersonStage, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Json } from '../../lib/core/values/json.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import { effectKeyOf } from '../../lib/core/step/effect-key.ts';
import type { Emphasis } from './emphasis.ts';
import type { Choice } from './plans.ts';

/** The fault rates in such worlds. */
export const ON_FAILURE_RATES: Emphasis['rates'] = {
  permanentFailure: 0.35,
  lostReply: 0.4,
  canceled: 0.3,
  retried: 0.9,
  lostMessage: 0.1,
};

const SHARE = 0.8;
/** The share of workflows with such a child beside a step that may fail. */
const WITHIN_SHARE = 0.8;
/** The share of those without undo, so that parent and child end as failed and can be retried. */
const KEPT_SHARE = 0.7;
const HOUR_MS = 3_600_000;

/** Adds on-failure steps to the plan and most of its children, or wraps such a plan in a parent. */
export function withOnFailure(plan: Plan, choice: Choice): Plan {
  const own = followedUp(plan, choice);
  return choice.chance(WITHIN_SHARE) ? around(own, choice) : own;
}

/**
 * Wraps the plan in a parent, so that ends of the child meet retries and ends of the parent while they are
 * followed up.
 */
function around(plan: Plan, choice: Choice): Plan {
  const isPoint = plan.steps.some(({ pointOfNoReturn }) => pointOfNoReturn === true);
  const child: PlanStep = {
    kind: 'child',
    name: 'inner',
    after: [],
    plan: { ...(choice.chance(KEPT_SHARE) ? withoutUndo(plan) : plan), workflow: `${plan.workflow}-inner` },
    input: { order: 0, flag: choice.chance(0.5), items: [1, 2] },
    undo: isPoint ? 'none' : 'required',
    ...(isPoint ? { pointOfNoReturn: true as const } : {}),
  };
  const beside = randomStep(choice, 0, [], [child]);
  const input = { order: { $ref: 'input', path: ['order'] } };
  const { when: _, ...step } = { ...beside, name: 'beside', input };
  const steps = choice.chance(0.25) ? [child, step] : [child];
  return { v: 1, workflow: plan.workflow, withinMs: plan.withinMs + HOUR_MS, steps, output: {} };
}

const withoutUndo = (plan: Plan): Plan => ({
  ...plan,
  steps: plan.steps.map((step) => (step.kind === 'agent' ? { ...step, undo: 'none' } : step)),
});

function followedUp(plan: Plan, choice: Choice): Plan {
  const steps = plan.steps.map(
    (step): PlanStep => (step.kind === 'child' ? { ...step, plan: followedUp(step.plan, choice) } : step),
  );
  if (!choice.chance(SHARE)) return { ...plan, steps };
  const onFailure: AgentStep[] = [];
  const count = choice.pick([1, 2, 3, 3]);
  for (let at = 0; at < count; at += 1) onFailure.push(randomStep(choice, at, onFailure, plan.steps));
  return { ...plan, steps, onFailure };
}

const orNothing = (value: Json): Json => ({ $orElse: [value, 'nothing'] });

function randomStep(
  choice: Choice,
  at: number,
  before: readonly AgentStep[],
  steps: readonly PlanStep[],
): AgentStep {
  const previous = before.at(-1)?.name;
  const after = previous !== undefined && choice.chance(0.8) ? [previous] : [];
  const effect = choice.chance(0.5) ? 'unsafe' : choice.pick(['idempotent', 'probed'] as const);
  const human: AskPersonStage = {
    kind: 'askPerson',
    withinMs: choice.pick([300_000, HOUR_MS]),
    otherwise: 'undo',
  };
  const once = { kind: 'retry', attempts: choice.between(0, 3), firstMs: 500, maxMs: 2_000 } as const;
  const read = choice.pick(steps).name;
  return {
    kind: 'agent',
    name: `f${at}`,
    agent: `agent-${effect}`,
    input: {
      order: { $ref: 'input', path: ['order'] },
      why: { $ref: 'failure', path: ['code'] },
      step: orNothing({ $ref: 'failure', path: ['step'] }),
      from: orNothing({ $ref: `step:${read}`, path: ['key'] }),
      ...(after[0] === undefined ? {} : { told: orNothing({ $ref: `step:${after[0]}`, path: ['key'] }) }),
    },
    after,
    ...(choice.chance(0.2)
      ? { when: { $eq: [{ $ref: 'failure', path: ['kind'] }, choice.pick(['failure', 'cancel'])] } }
      : {}),
    effect,
    timeoutMs: choice.pick([10_000, 30_000]),
    leaseMs: choice.pick([5_000, 10_000]),
    pickupMs: choice.pick([5_000, 10_000]),
    settleMs: choice.pick([1_000, 5_000]),
    recovery: effect === 'unsafe' ? [human] : [once, ...(choice.chance(0.3) ? [human] : [])],
    undo: 'none',
  };
}

const seen = new WeakMap<Plan, Plan>();
const following = new WeakSet<Plan>();

/**
 * The plan by which an execution is judged: while it is following up, only its on-failure steps, each of
 * which may fail.
 */
export function planSeen(plan: Plan, { status }: Pick<Execution, 'status'>): Plan {
  if (status !== 'following-up') return plan;
  let made = seen.get(plan);
  if (made === undefined) {
    const steps = (plan.onFailure ?? []).map((step) => ({ ...step, tolerate: true as const }));
    made = { v: 1, workflow: plan.workflow, withinMs: HOUR_MS, steps, output: {} };
    seen.set(plan, made);
    following.add(made);
  }
  return made;
}

export const isFollowing = (plan: Plan): boolean => following.has(plan);

/** The records for judging: of an on-failure step's earlier run, only claims and histories remain. */
export function recordsSeen(plan: Plan, state: Snapshot): Snapshot {
  const { execution, steps } = state;
  if (execution.status !== 'following-up') return state;
  const anew = (plan.onFailure ?? []).flatMap(({ name }): Step[] => {
    const record = steps[name];
    if (record === undefined || record.epoch >= execution.epoch) return [];
    const { keyInput: _i, keySpent: _s, givenInput: _g, failure: _f, output: _o, ...rest } = record;
    // Removes the token too, because a late report about the earlier end does not count now.
    const { retryAt: _r, deferred: _d, afterFailure: _a, token: _t, mode: _m, ...kept } = rest;
    const fresh = { key: 1, keyVariant: 0, stage: 0, stageAttempt: 0, probes: 0, mayHaveActed: false };
    const attempts = record.attempts.map((attempt) => ({ epoch: record.epoch, ...attempt }));
    return [{ ...kept, ...fresh, attempts, status: 'ready', epoch: execution.epoch }];
  });
  if (anew.length === 0) return state;
  return { ...state, steps: { ...steps, ...Object.fromEntries(anew.map((step) => [step.name, step])) } };
}

/** The first effect key of a step. @param plan as the oracles see it */
export const keySeen = (plan: Plan, execution: Execution, name: string): string =>
  isFollowing(plan) ? effectKeyOf(execution, name, 1, execution.epoch) : effectKeyOf(execution, name);
