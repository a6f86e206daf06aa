/**
 * The trait of worlds with lanes: changes their plans, and gives their processes the lanes' store.
 *
 * Owns: the share of such workflows, and their lanes. Does not own: which worlds have the trait
 * (`traits.ts`), the judgement (`oracle-lanes.ts`). It draws from its own random stream, so other worlds are
 * unchanged.
 */

import { inLane, LANE_STEP } from '../../lib/core/plan/lane.ts';
import type { LaneStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Lanes } from '../../lib/core/ports.ts';
import type { Expr } from '../../lib/core/plan/refs.ts';
import { THROTTLED } from './call-failed.ts';
import type { Emphasis } from './emphasis.ts';
import type { Choice } from './plans.ts';
import type { Host, Process } from './process.ts';

/** The fault rates in such worlds. */
export const LANE_RATES: Emphasis['rates'] = {
  canceled: 0.2,
  paused: 0.25,
  lostReply: 0.1,
  retried: 0.8,
  permanentFailure: 0.2,
};

const LANE_SHARE = 0.8;
const BELOW_SHARE = 0.5;
const SHARED_SHARE = 0.3;
const MINUTE_MS = 60_000;
/** The number of different keys. */
export const ACCOUNTS = 3;

export function withLane(plan: Plan, choice: Choice): Plan {
  const below = { ...plan, steps: plan.steps.map((step) => withLaneBelow(step, choice)) };
  const isBelow = below.steps.some((step, at) => step !== plan.steps[at]);
  if (isBelow) return below;
  if (!choice.chance(LANE_SHARE) || plan.steps.some(hasLateSteps)) return plan;
  const isShared = choice.chance(SHARED_SHARE);
  const lane = laneOf(
    isShared ? 'shared' : plan.workflow,
    ['account'],
    isShared ? 1 : choice.between(1, 3),
    choice,
  );
  return { ...plan, steps: inLane(lane, plan.steps) };
}

/** Whether the step has on-failure steps in children, which would act outside the lane. */
const hasLateSteps = (step: PlanStep): boolean => {
  const inner = step.kind === 'map' ? step.each : step;
  return (
    inner.kind === 'child' && (inner.plan.onFailure !== undefined || inner.plan.steps.some(hasLateSteps))
  );
};

/** Gives a lane to a child that is not undone with its parent. */
function withLaneBelow(step: PlanStep, choice: Choice): PlanStep {
  if (step.kind !== 'child' || step.undo !== 'none' || step.rounds?.byAgent === true) return step;
  const { plan } = step;
  if (!choice.chance(BELOW_SHARE) || plan.steps.some(hasLateSteps)) return step;
  const lane = laneOf(plan.workflow, ['order'], 1, choice);
  return { ...step, plan: { ...plan, steps: inLane(lane, plan.steps) } };
}

const laneOf = (name: string, path: readonly string[], atMost: number, choice: Choice): LaneStep => ({
  kind: 'lane',
  name: LANE_STEP,
  after: [],
  lane: name,
  by: { $ref: 'input', path } as Expr,
  atMost,
  withinMs: choice.pick([2, 10, 60, 180]) * MINUTE_MS,
});

/** The share of the calls to lanes that fail, besides those to any store. */
const UNREACHED_SHARE = 0.03;

/** @param ask a call to the store, which takes time and may fail */
export function lanesOf(
  { external: { lanes }, faults, lanes: oracle, laning }: Host,
  process: Process,
  ask: <Answer>(execute: () => Promise<Answer>) => Promise<Answer>,
): Lanes {
  const seen = oracle.eyes(process);
  const reach = <Answer>(execute: () => Promise<Answer>): Promise<Answer> =>
    ask(() => {
      if (laning?.chance(UNREACHED_SHARE) === true && faults.strikes('unreached')) throw THROTTLED;
      return execute();
    });
  return {
    hash: lanes.hash,
    readLane: (lane) => reach(() => lanes.readLane(lane)),
    writeLane: (lane) =>
      reach(() => {
        oracle.judgeWrite(lane, seen);
        return lanes.writeLane(lane);
      }),
    queue: (lane, queued) =>
      reach(() => {
        oracle.queues(lane, queued);
        return lanes.queue(lane, queued);
      }),
    queued: (lane, limit, cursor) =>
      reach(() => {
        if (cursor === undefined) oracle.looks(lane, seen);
        return lanes.queued(lane, limit, cursor);
      }),
    unqueue: (lane, queued) => reach(() => lanes.unqueue(lane, queued)),
  };
}
