/**
 * The step with rounds: its options, its output, and the plan of a round.
 *
 * Does not own: the other options of a child step (`waiting-steps.ts`), the refusals
 * (`checks/check-rounds.ts`).
 */

import type {
  AgentStep,
  ChildStage,
  ChildStep,
  AskPersonStage,
  Plan,
  RetryStage,
} from '../../core/plan/plan.ts';
import { type Duration, parseDuration } from '../../core/values/duration.ts';
import { type Condition, type Input, type Ref, ref, toExpr } from '../references.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { withPause } from './pause-between.ts';
import { type AnyStepOptions, childStep, type MayFailOptions } from './waiting-steps.ts';

/**
 * The options of `w.repeat`.
 * @template I the input of a round @template O its answer
 */
export interface RepeatOptions<I, O> extends AnyStepOptions, MayFailOptions {
  /** The condition that ends the rounds, on the round's answer and its input. */
  readonly until: (last: Ref<O>, given: Ref<I>) => Condition;
  /**
   * The input of the next round.
   * @default the same input again
   */
  readonly next?: (last: Ref<O>, given: Ref<I>) => Input<I>;
  /**
   * The most rounds, 1 to 1,000; tries of a failed round do not count. If one more is needed, the step fails
   * with `too-many-rounds`.
   */
  readonly maxRounds: number;
  /**
   * The pause after each round except the last: a wait at the end of the round's execution. A workflow that
   * is repeated gets this time in addition to its `within`.
   * @default none: the next round begins at once
   */
  readonly every?: Duration;
  /**
   * The stages that follow a failed round: the round again (`retry`), then a person. Each round begins with
   * the first stage.
   * @default none: a failed round fails the step
   */
  readonly recovery?: readonly (RetryStage | AskPersonStage)[];
  /**
   * 'none': the effects of the rounds stay when this execution is undone. `mayFail` needs it.
   * @default 'required': rounds are undone, the latest first; 'none' for an agent without an undo
   */
  readonly undo?: 'none' | 'required';
}

/** The output of `w.repeat`. If the step may fail and does, it covers the rounds that succeeded. */
export interface Repeated<O> {
  /** The number of rounds. */
  readonly rounds: number;
  /** The answer of the latest round. */
  readonly last: O;
  /**
   * The answers in order. Above 32 MiB in total (100 KB with `largeValues: false`) reading them fails with
   * `list-too-large`.
   */
  readonly items: O[];
}

/** The workflow or the agent of a round. */
interface Performer {
  readonly plan: Plan;
  readonly undo: 'none' | 'required';
  readonly byAgent?: true;
  /** @throws SteadfastError if its rounds cannot have such a pause */
  readonly refuses: (until: Expr, pauseMs: number) => void;
}

/** @param withinMs the time limit of the surrounding workflow */
export function repeatStep(
  name: string,
  { plan, byAgent, undo, refuses }: Performer,
  first: unknown,
  options: RepeatOptions<never, never>,
  withinMs: number,
): ChildStep {
  const [last, given] = [ref<never>('last'), ref<never>('given')];
  // Values that the types exclude are kept, so that the plan's check refuses them.
  const { until, next, maxRounds, every, recovery = [], ...rest } = options;
  const ends = typeof until === 'function' ? toExpr(until(last, given)) : false;
  const pauseMs = every === undefined ? undefined : parseDuration(every, `every of step '${name}'`);
  if (pauseMs !== undefined) refuses(ends, pauseMs);
  const step = childStep(
    name,
    pauseMs === undefined ? plan : withPause(longer(plan, byAgent === true ? 0 : pauseMs), ends, pauseMs),
    toExpr(first),
    { undo, ...rest, recovery: recovery as readonly ChildStage[] },
    withinMs,
  );
  return {
    ...step,
    rounds: {
      until: ends,
      ...(next === undefined ? {} : { next: toExpr(next(last, given)) }),
      atMost: maxRounds,
      ...(byAgent === true ? { byAgent } : {}),
    },
  };
}

const longer = (plan: Plan, byMs: number): Plan => ({ ...plan, withinMs: plan.withinMs + byMs });

/** The plan of a round by an agent: one step, under the name of the surrounding workflow. */
export const planOfRound = (workflow: string, withinMs: number, step: AgentStep): Plan => ({
  v: 1,
  workflow,
  withinMs,
  steps: [{ ...step, input: { $ref: 'input', path: [] }, after: [] }],
  output: { $ref: `step:${step.name}`, path: [] },
});
