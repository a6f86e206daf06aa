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
  Rounds,
} from '../../core/plan/plan.ts';
import { type Duration, parseDuration } from '../../core/values/duration.ts';
import type { OrUndefined } from '../../core/values/defined.ts';
import { type Condition, type Input, type Ref, ref, toExpr } from '../references.ts';
import type { Expr } from '../../core/plan/refs.ts';
import { withPause } from './pause-between.ts';
import { isReceived, type RoundReceives } from './received.ts';
import { type AnyStepOptions, childStep, type MayFailOptions, parseDurationOrNone } from './waiting-steps.ts';

/**
 * The options of `w.repeat`.
 * @template I the input of a round @template O its answer
 */
export interface RepeatOptions<I, O> extends Omit<AnyStepOptions, 'within'>, MayFailOptions {
  /**
   * The time limit of all rounds together. If rounds begin with messages, it is required, and is how long
   * each round waits for its message, from the end of the round before. It may then also be a function of
   * that round's answer (`(last) => last.patience`), a duration or a number of seconds, so that one message
   * can move the deadline of the next.
   * @default no limit except the workflow's
   */
  readonly within?: Duration | ReadTime | ((last: Ref<O>, given: Ref<I>) => ReadTime);
  /**
   * Only if rounds begin with messages: what happens without one in time. 'continue': the round begins, and
   * its `message` is null. 'fail': the step fails with `no-message`.
   * @default 'fail'
   */
  readonly otherwise?:
    | 'fail'
    | (I extends { readonly message: infer M } ? (null extends M ? 'continue' : never) : never);
  /**
   * The condition that ends the rounds, on the round's answer and its input: `(last) => eq(last.state,
   * 'ready')`. `last` and `given` are references, so `===` cannot compare their values.
   */
  readonly until: (last: Ref<O>, given: Ref<I>) => Condition;
  /**
   * The input of the next round; with `received(…)` it begins with the next message to the execution.
   * @default the same input again
   */
  readonly next?: ((last: Ref<O>, given: Ref<I>) => Input<I>) | NextMessage<I, O>;
  /**
   * The maximum number of rounds, 1 to 1,000; tries of a failed round do not count. If one more is needed,
   * the step fails with `too-many-rounds`.
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

type ReadTime = Ref<string> | Ref<number>;

/** The message that begins the next round; the round's input must have a field `message`. */
type NextMessage<I, O> = I extends { readonly message: infer M }
  ?
      | RoundReceives<M, (last: Ref<O>, given: Ref<I>) => Input<Omit<I, 'message'>>>
      | ({ readonly last: O } extends Omit<I, 'message'> ? RoundReceives<M> : never)
  : never;

/** The message that begins the first round. */
export type FirstMessage<I> = I extends { readonly message: infer M }
  ?
      | RoundReceives<M, Input<Omit<I, 'message'>>>
      | ({ readonly last: null } extends Omit<I, 'message'> ? RoundReceives<M> : never)
  : never;

/** The output of `w.repeat`. If the step may fail and does, the output covers the rounds that succeeded. */
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

/** The workflow or the agent that performs each round. */
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
  const { until, next, maxRounds, every, recovery = [], within, otherwise, ...rest } = options;
  const ends = typeof until === 'function' ? toExpr(until(last, given)) : false;
  const pauseMs = every === undefined ? undefined : parseDuration(every, `every of step '${name}'`);
  if (pauseMs !== undefined) refuses(ends, pauseMs);
  const messages = messagesOf(name, first, { next, within, otherwise });
  const step = childStep(
    name,
    pauseMs === undefined ? plan : withPause(longer(plan, byAgent === true ? 0 : pauseMs), ends, pauseMs),
    isReceived(first) ? besideOf(first.beside ?? { last: null }) : toExpr(first),
    {
      undo,
      ...rest,
      ...(messages === undefined && within !== undefined ? { within: within as Duration } : {}),
      recovery: recovery as readonly ChildStage[],
    },
    withinMs,
  );
  return {
    ...step,
    rounds: {
      until: ends,
      ...nextOf(next, last, given),
      ...messages,
      atMost: maxRounds,
      ...(byAgent === true ? { byAgent } : {}),
    },
  };
}

type Messages = OrUndefined<Pick<RepeatOptions<never, never>, 'next' | 'within' | 'otherwise'>>;

/**
 * The names of the messages and the time limit of each wait; undefined if rounds do not begin with messages.
 */
function messagesOf(
  name: string,
  first: unknown,
  { next, within, otherwise }: Messages,
): Pick<Rounds, 'first' | 'message'> | undefined {
  if (!isReceived(first) && !isReceived(next)) return undefined;
  const read = typeof within === 'function' ? within(ref<never>('last'), ref<never>('given')) : within;
  const wait =
    read === undefined || typeof read === 'string'
      ? { withinMs: parseDurationOrNone(read, `within of step '${name}'`) }
      : { within: toExpr(read) };
  const by = { ...wait, ...(otherwise === undefined || otherwise === 'fail' ? {} : { otherwise }) };
  return {
    ...(isReceived(first) ? { first: { name: first.name, ...by } } : {}),
    ...(isReceived(next) ? { message: { name: next.name, ...by } } : {}),
  };
}

function nextOf(
  next: RepeatOptions<never, never>['next'],
  last: Ref<never>,
  given: Ref<never>,
): Pick<Rounds, 'next'> {
  if (next === undefined) return {};
  if (!isReceived(next)) return { next: toExpr((next as (...both: Ref<never>[]) => unknown)(last, given)) };
  const { beside } = next;
  return {
    next: besideOf(
      typeof beside === 'function'
        ? (beside as (...both: Ref<never>[]) => unknown)(last, given)
        : (beside ?? { last }),
    ),
  };
}

const besideOf = (beside: unknown): Expr => toExpr(beside);

const longer = (plan: Plan, byMs: number): Plan => ({ ...plan, withinMs: plan.withinMs + byMs });

/** The plan of a round by an agent: one step, under the name of the surrounding workflow. */
export const planOfRound = (workflow: string, withinMs: number, step: AgentStep): Plan => ({
  v: 1,
  workflow,
  withinMs,
  steps: [{ ...step, input: { $ref: 'input', path: [] }, after: [] }],
  output: { $ref: `step:${step.name}`, path: [] },
});
