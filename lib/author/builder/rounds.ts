/**
 * How authors write a step that is repeated: its options, its output, and the plan of a round.
 *
 * Owns: these. Does not own: the other options of a child step (`waiting-steps.ts`), what is refused
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
 * How rounds go on and end.
 * @template I what a round is given @template O what it answers
 */
export interface RepeatOptions<I, O> extends AnyStepOptions, MayFailOptions {
  /** Holds of the round that is the last: reads what it answered, and what it was given. */
  readonly until: (last: Ref<O>, given: Ref<I>) => Condition;
  /**
   * What the next round is given.
   * @default the same again
   */
  readonly next?: (last: Ref<O>, given: Ref<I>) => Input<I>;
  /**
   * Rounds, without tries that failed: 1 to 1,000. If one more is needed, it fails with `too-many-rounds`.
   */
  readonly maxRounds: number;
  /**
   * The pause after each round that does not end them: a wait at the end of the round's execution. A workflow
   * that is repeated has so much more time than its `within`.
   * @default none: the next round begins at once
   */
  readonly every?: Duration;
  /**
   * The stages that are tried after a round has failed: it again (`retry`), then a person. Each round begins
   * anew with the first.
   * @default none: a round's failure is the step's
   */
  readonly recovery?: readonly (RetryStage | AskPersonStage)[];
  /**
   * 'none': what the rounds did stays when this execution is undone. `mayFail` needs it.
   * @default 'required': they are undone, the latest first; of an agent without an undo 'none'
   */
  readonly undo?: 'none' | 'required';
}

/** The output of a step that is repeated. If it may fail, and does, it is of the rounds that succeeded. */
export interface Repeated<O> {
  /** How many rounds there were. */
  readonly rounds: number;
  /** What the latest round answered. */
  readonly last: O;
  /**
   * What each answered, in order. Above 100 KB together they are left out, and reading them is
   * `list-too-large`.
   */
  readonly items: O[];
}

/** The workflow or the agent of a round. */
interface Performer {
  readonly plan: Plan;
  readonly undo: 'none' | 'required';
  readonly byAgent?: true;
  /** @throws SteadfastError where the rounds cannot have such a pause */
  readonly refuses: (until: Expr, pauseMs: number) => void;
}

/** @param withinMs of the workflow around it */
export function repeatStep(
  name: string,
  { plan, byAgent, undo, refuses }: Performer,
  first: unknown,
  options: RepeatOptions<never, never>,
  withinMs: number,
): ChildStep {
  const [last, given] = [ref<never>('last'), ref<never>('given')];
  // What the types do not take is kept, so that the plan's check refuses it.
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

/** A round that an agent performs is an execution of this one step, named as the workflow around it. */
export const planOfRound = (workflow: string, withinMs: number, step: AgentStep): Plan => ({
  v: 1,
  workflow,
  withinMs,
  steps: [{ ...step, input: { $ref: 'input', path: [] }, after: [] }],
  output: { $ref: `step:${step.name}`, path: [] },
});
