/**
 * Emphases: some worlds make coincidences of several unlikely events likely, without changing other worlds.
 *
 * Owns: the list of emphases, with their fault rates, process lifetimes and plans. Does not own: which worlds
 * have one (`traits.ts`).
 */

import type { AgentStep, Plan, PlanStep, RetryStage } from '../../lib/core/plan/plan.ts';
import type { Choice as Answer } from '../../lib/core/records/question.ts';
import type { FaultKind } from './faults.ts';
import type { Choice } from './plans.ts';

export interface Emphasis {
  /** The highest fault rates, which replace the drawn ones. */
  readonly rates: Partial<Readonly<Record<FaultKind, number>>>;
  readonly processMs: readonly number[];
  /** The share of slow answers that come just before the process's end. */
  readonly lastMoment: number;
  /** 'extreme': a wrong clock is wrong by the allowed maximum. @default any amount up to it */
  readonly clocks?: 'extreme';
  /** The possible numbers of a plan's steps. @default as `plans.ts` draws */
  readonly counts?: readonly number[];
  /** The most frequent answer of people, if it is offered. @default none */
  readonly answer?: Answer;
  /** The share of cancels without undo. @default as for all (`clients.ts`) */
  readonly leaves?: number;
  readonly step: (choice: Choice, step: AgentStep) => AgentStep;
}

/** Process lifetimes; they differ as after a change of the function's timeout. */
export const PROCESS_MS: readonly number[] = [90_000, 90_000, 45_000];
export const LAST_MOMENT = 0.4;

const few = (choice: Choice, low: number, high: number): RetryStage => ({
  kind: 'retry',
  attempts: choice.between(low, high),
  firstMs: 500,
  maxMs: 2_000,
});

/** Attempts that were given up act just before their processes end, while their effects are being undone. */
const LATE_EFFECTS: Emphasis = {
  rates: { slowService: 0.5, permanentFailure: 0.15, canceled: 0.3, skewedClock: 0.9 },
  processMs: [90_000, 90_000, 25_000, 20_000],
  lastMoment: 0.8,
  clocks: 'extreme',
  step: (choice, { pointOfNoReturn: _point, ...step }) => ({
    ...step,
    ...(step.effect === 'probed' && choice.chance(0.7)
      ? { effect: 'idempotent' as const, agent: 'agent-idempotent' }
      : {}),
    timeoutMs: choice.chance(0.8) ? 10_000 : step.timeoutMs,
    settleMs: 1_000,
    undo: few(choice, 20, 40),
    recovery: step.effect === 'unsafe' || choice.chance(0.2) ? step.recovery : [few(choice, 1, 1)],
  }),
};

/** Undos that fail more often than they may be retried. */
const STUBBORN_UNDOS: Emphasis = {
  rates: { transientUndoFailure: 0.8, permanentFailure: 0.15, canceled: 0.3 },
  processMs: PROCESS_MS,
  lastMoment: LAST_MOMENT,
  step: (choice, step) => (step.undo === 'none' ? step : { ...step, undo: few(choice, 1, 3) }),
};

/** Longer plans that are undone while a later step's outcome is unknown, or while the execution is paused. */
const WAYS_BACK: Emphasis = {
  rates: { slowService: 0.5, permanentFailure: 0.1, paused: 0.5, canceled: 0.6 },
  processMs: PROCESS_MS,
  lastMoment: LAST_MOMENT,
  counts: [3, 4],
  step: (choice, { pointOfNoReturn: _point, ...step }) => ({
    ...step,
    ...(step.effect === 'idempotent' && choice.chance(0.6)
      ? { effect: 'probed' as const, agent: 'agent-probed' }
      : {}),
    timeoutMs: choice.pick([10_000, 30_000]),
    undo: choice.chance(0.4) ? 'none' : few(choice, 20, 40),
  }),
};

export const EMPHASES: readonly Emphasis[] = [LATE_EFFECTS, STUBBORN_UNDOS, WAYS_BACK];

/** Changes the plan for the world's emphasis. */
export const emphasised = (plan: Plan, emphasis: Emphasis, choice: Choice): Plan => ({
  ...plan,
  steps: plan.steps.map((one): PlanStep => {
    if (one.kind === 'agent') return emphasis.step(choice, one);
    if (one.kind === 'map' && one.each.kind === 'agent')
      return { ...one, each: emphasis.step(choice, one.each) };
    return one.kind === 'child' ? { ...one, plan: emphasised(one.plan, emphasis, choice) } : one;
  }),
});
