/**
 * The steps that no agent performs directly: wait, callback, approval, child, map.
 *
 * Owns: their options, defaults and handles. Does not own: agents' steps (`workflow.ts`), a step that takes a
 * message (`receive.ts`), the refusals (`check-waiting.ts`).
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type Duration, parseDuration } from '../../core/values/duration.ts';
import { misfitOf, misfitText } from '../../core/values/issues.ts';
import { refuse } from '../../core/values/errors.ts';
import { isJsonObject, jsonProblem } from '../../core/values/json.ts';
import type {
  AgentStep,
  CallbackStep,
  ChildStage,
  ChildStep,
  MapStep,
  Plan,
  WaitStep,
} from '../../core/plan/plan.ts';
import { planStage } from './recovery-options.ts';
import { problem, refusal } from '../checks/refusal.ts';
import { evaluateExpression, type Expr } from '../../core/plan/refs.ts';
import {
  type Condition,
  DeclaredStep,
  type Input,
  type MayBeAbsent,
  type MaybeRef,
  type MayNotFail,
  type MayNotSucceed,
  type Ref,
  ref,
  toExpr,
} from '../references.ts';
import { sourcesIn } from '../../core/plan/refs-in.ts';

/** A step that was declared: `output` may be used in the input and the condition of later steps. */
export interface StepHandle<O> {
  /** The name that the step was declared with. */
  readonly name: string;
  /** The step's output, as a reference. A step that reads it waits for this step. */
  readonly output: Ref<O>;
}

/** A step that may fail (`mayFail`) or be skipped (`when`). */
export interface UncertainHandle<O> {
  /** The name that the step was declared with. */
  readonly name: string;
  /** The step's output, if it succeeded: read it with `orElse(…)` or `required(…)`. */
  readonly output: MaybeRef<O, MayNotSucceed>;
  /** The failure, once the step has failed and `mayFail` lets the execution go on. */
  readonly failure: MaybeRef<{ readonly code: string; readonly message: string }, MayNotFail>;
}

/** Options that decide whether a step may end without an output, with the types that the author gave them. */
export interface Uncertain<T extends boolean, W extends Condition | undefined> {
  readonly mayFail?: T;
  readonly when?: W;
}

/** The output of a step, as its options type it. */
export type HandleOf<O, T, W> = [T, W] extends [false, undefined] ? StepHandle<O> : UncertainHandle<O>;

/**
 * The token with which the external party answers: `POST /callbacks/{token}/complete`, `/fail`, `/heartbeat`.
 */
interface WithToken {
  /** The token. It may be passed on before the step's turn. */
  readonly token: Ref<string>;
}

/** The result of `w.callback`: `token` goes to the external system, which answers with `output`. */
export type CallbackHandle<O> = StepHandle<O> & WithToken;
/** A callback that may fail or be skipped, if its options say so. */
export type CallbackHandleOf<O, T, W> = HandleOf<O, T, W> & WithToken;

/** The options of every step. */
export interface AnyStepOptions {
  /** Steps that must be done first although this step reads nothing from them. */
  readonly after?: readonly ({ readonly name: string } | string)[];
  /**
   * The step is skipped unless this condition is true: `gt(w.input.amount, 100)`, or a reference to a
   * boolean. References have no value yet, so `===` and `if` cannot read them.
   */
  readonly when?: Condition;
  /**
   * The time limit of the step, from its turn on: it covers all its attempts, waits and retries, but not
   * pauses. When the time has passed, the step begins no new work, its running attempt is aborted, its child
   * executions are stopped, and it fails with `within`. Resolving an unknown outcome (`lateEffectWithin`,
   * `probe`, `undo`, a question to a person) comes after that.
   * @default no limit except the workflow's
   */
  readonly within?: Duration;
}

/** The option `mayFail`: the execution goes on although the step failed. */
export interface MayFailOptions {
  /**
   * The step may fail: once its effects are certain and undone, the execution continues, and `failed(step)`
   * is true. If the step has no `undo` and may have acted, a person is asked; without an answer the execution
   * continues and records the effects that may remain.
   * @default false: its failure fails the execution
   */
  readonly mayFail?: boolean;
}

/** The options of a wait: `for` a while, or `until` a time. */
export interface WaitOptions extends AnyStepOptions, MayFailOptions {
  /**
   * How long to wait once its predecessors are done: a duration, or a reference to one or to a number of
   * seconds; 0 or less does not wait. Give either `for` or `until`.
   */
  readonly for?: Duration | Ref<string> | Ref<number>;
  /** Epoch ms, or a date in ISO form with its zone. A time that has passed does not wait. */
  readonly until?: Input<string> | Input<number>;
}

/** The options of callbacks and approvals. */
export interface AnswerOptions extends AnyStepOptions, MayFailOptions {
  /** How long to wait for an answer; `otherwise` says what happens without one. */
  readonly within: Duration;
  /**
   * How often an event reminds people that there is no answer yet: '1m' or more, less than `within`.
   * @default never
   */
  readonly remindEvery?: Duration;
}

/** The options of `w.callback`: the form of the answer, and the time for it. */
export interface CallbackOptions<O> extends AnswerOptions {
  /** Any Standard Schema; an answer that does not fit is refused. */
  readonly output: StandardSchemaV1<unknown, O>;
  /**
   * Without an answer in time the step fails, because only the external party knows its output.
   * @default 'fail'
   */
  readonly otherwise?: 'fail';
  /**
   * The longest time between two heartbeats of the external party.
   * @default never: only the answer counts
   */
  readonly heartbeatEvery?: Duration;
}

/** The options of `w.approval`: who may answer, within which time, and what applies otherwise. */
export interface ApprovalOptions extends AnswerOptions {
  /**
   * 'another': four eyes. The answer must come from a person who has not started the execution (for a child:
   * its root), tried it again, resolved one of its incidents so that it goes on, or given another approval in
   * it.
   * @default anyone whom the API lets answer
   */
  readonly by?: 'another';
  /**
   * What happens without an answer in time. 'approve': the execution continues without an approver; not
   * allowed with `by`. 'reject': as if a person had rejected it. 'fail': the step fails with `no-answer`.
   * @default 'fail'
   */
  readonly otherwise?: 'approve' | 'reject' | 'fail';
  /**
   * The values that the approver sees, by name: `{ amount: w.input.amount, hotel: held.output.hotel }`. Read
   * and stored when the question is opened; shown in the inbox, in the events about it, on the page and in
   * the command line. No secrets.
   * @default only its workflow and its tags
   */
  readonly show?: Readonly<Record<string, Shown>>;
}

/** Absent values are left out. */
type Shown = Ref<unknown> | MaybeRef<unknown, MayBeAbsent> | string | number | boolean | null;

/** The output of an approval, which later steps may read: who answered, and how. */
export interface Approval {
  /**
   * Always true: a rejection fails the step. To continue after one: `mayFail: true`, and `when: failed(…)`.
   */
  readonly approved: true;
  /**
   * The person, as the API's authorizer names them: `arn:…`, `jwt:issuer subject`; absent if it gives no
   * name.
   */
  readonly by?: string;
  /** The person's comment, if there is one. */
  readonly comment?: string;
}

/** The options of a step that runs another workflow. */
export interface ChildOptions extends AnyStepOptions, MayFailOptions {
  /**
   * The stages that follow if the other workflow fails or runs out of time: the workflow again, as another
   * execution, also with another input (`retry`, `withInput`), then a person. A try begins only if the one
   * before has left no effects. If it has left some, or was canceled, a person is asked at once if the
   * recovery has `askPerson`.
   * @default none: its failure fails the step
   */
  readonly recovery?: readonly ChildStage[];
  /**
   * 'none': the other execution's effects remain when this one is undone.
   * @default 'required': it is undone in reverse order with the steps; 'none' for a point of no return
   */
  readonly undo?: 'none' | 'required';
  /**
   * Once the other execution has succeeded, or has failed and left effects, no step of this execution is
   * undone. Until it has ended, a failure or a cancel of this execution stops it first, and undoing waits for
   * its end. Required if the other workflow itself has a point of no return.
   */
  readonly pointOfNoReturn?: boolean;
}

/** The options that apply to each item of a list of workflows. */
export type ItemOptions = Pick<ChildOptions, 'after' | 'recovery' | 'undo' | 'within'>;

/** How many items of a list run at the same time, and how many may fail. */
export interface MapLimits {
  /**
   * How many items may run at the same time.
   * @default no limit except the agent's own
   */
  readonly concurrency?: number;
  /**
   * How many items may fail: a number, or a percentage such as `'5%'` (rounded down). Their output is then
   * null.
   * @default 0: the first item that fails for good fails the step
   */
  readonly mayFail?: number | `${number}%`;
}

/** The output of `w.map`, or of a list of workflows: what each item gave, in order. */
export interface Mapped<O> {
  /** How many items there were. */
  readonly total: number;
  /** How many of them failed, as `mayFail` allows. */
  readonly failed: number;
  /**
   * The outputs in the order of the list, null for a failed item. Above 32 MiB in total (100 KB with
   * `largeValues: false`) reading them fails with `list-too-large`.
   */
  readonly items: (O | null)[];
}

const afterOf = (options: AnyStepOptions): string[] =>
  (options.after ?? []).map((before) => (typeof before === 'string' ? before : before.name));

/** @throws SteadfastError `not-a-value` */
function conditionOf(name: string, when: Condition): Expr {
  const made = toExpr(when);
  if (!holdsConstant(made)) return made;
  const message = `when of step '${name}' is decided while the workflow is built, for every execution alike: compare with eq, ne, lt, gt, isIn, matches or exists, never with === or !`;
  throw refuse('not-a-value', message);
}

/** Whether a condition, or a part of it, is a constant instead of an expression. */
function holdsConstant(when: Expr): boolean {
  if (!isJsonObject(when)) return true;
  const joined = when['$and'] ?? when['$or'] ?? (Object.hasOwn(when, '$not') ? [when['$not'] as Expr] : []);
  return Array.isArray(joined) && (joined as Expr[]).some(holdsConstant);
}

export const baseOf = (
  name: string,
  options: AnyStepOptions & { readonly mayFail?: unknown },
): Pick<WaitStep, 'name' | 'after' | 'when' | 'withinMs' | 'tolerate'> => ({
  name,
  after: afterOf(options),
  ...(options.when === undefined ? {} : { when: conditionOf(name, options.when) }),
  ...(options.within === undefined
    ? {}
    : { withinMs: parseDuration(options.within, `within of step '${name}'`) }),
  // A value that is neither true nor false stays, so that `checkPlan` refuses it.
  ...(options.mayFail === undefined || options.mayFail === false
    ? {}
    : { tolerate: options.mayFail as true }),
});

function lengthOf(name: string, given: WaitOptions['for']): Pick<WaitStep, 'for' | 'forMs'> {
  if (given === undefined) return {};
  return typeof given === 'object'
    ? { for: toExpr(given) }
    : { forMs: parseDuration(given, `for of step '${name}'`) };
}

export const waitStep = (name: string, options: WaitOptions): WaitStep => ({
  kind: 'wait',
  ...baseOf(name, options),
  ...lengthOf(name, options.for),
  ...(options.until === undefined ? {} : { until: toExpr(options.until) }),
});

export const callbackStep = (
  name: string,
  kind: CallbackStep['kind'],
  options: ApprovalOptions & { readonly heartbeatEvery?: Duration },
): CallbackStep => ({
  kind,
  ...baseOf(name, options),
  withinMs: parseDurationOrNone(options.within, `within of step '${name}'`),
  ...(options.otherwise === undefined || options.otherwise === 'fail'
    ? {}
    : { otherwise: options.otherwise }),
  ...(options.remindEvery === undefined
    ? {}
    : { remindMs: parseDuration(options.remindEvery, `remindEvery of step '${name}'`) }),
  ...(options.heartbeatEvery === undefined
    ? {}
    : { heartbeatMs: parseDuration(options.heartbeatEvery, `heartbeatEvery of step '${name}'`) }),
  ...(options.by === undefined ? {} : { by: options.by }),
  ...(options.show === undefined ? {} : { show: toExpr(options.show) }),
});

/** A missing duration gives NaN, so that the check of the plan refuses it and says why it is required. */
export const parseDurationOrNone = (text: Duration | undefined, what: string): number =>
  text === undefined ? Number.NaN : parseDuration(text, what);

/**
 * One object serves as every type of handle: the types and the plan's check decide which fields may be used,
 * and how.
 */
export const handleOf = (name: string): never =>
  new DeclaredStep({
    name,
    output: ref(`step:${name}`),
    failure: ref(`failure:${name}`),
    token: ref(`token:${name}`),
  }) as never;

/** @param withinMs the time limit of the surrounding workflow */
export const childStep = (
  name: string,
  plan: Plan,
  input: Expr,
  options: ChildOptions,
  withinMs: number,
): ChildStep => ({
  kind: 'child',
  ...baseOf(name, options),
  plan,
  input,
  ...(options.recovery === undefined || options.recovery.length === 0
    ? {}
    : { recovery: options.recovery.map((stage) => planStage(stage, undefined, withinMs) as ChildStage) }),
  undo: options.undo ?? (options.pointOfNoReturn === true ? 'none' : 'required'),
  ...(options.pointOfNoReturn === true ? { pointOfNoReturn: true as const } : {}),
});

/**
 * Checks a constant input of another workflow, so that a mistake is found when the workflow is built.
 * @throws SteadfastError `workflow-refused`
 */
export function checkConstantInput(
  workflowName: string,
  name: string,
  other: { readonly name: string; readonly input: StandardSchemaV1 },
  input: Expr,
): void {
  // A value that is not JSON is refused with the plan.
  if (sourcesIn(input).length > 0 || jsonProblem(input) !== undefined) return;
  const value = evaluateExpression(input, { input: null, output: () => undefined }) ?? null;
  const result = other.input['~standard'].validate(value);
  if ('then' in result || result.issues === undefined) return;
  const issues = result.issues.map((issue) => misfitText(misfitOf(issue, value))).join('; ');
  const message = `workflow '${other.name}' does not accept its input: ${issues.slice(0, 300)}`;
  throw refusal(workflowName, name, problem('bad-input', message));
}

/** @param each how to perform one item. @throws SteadfastError `workflow-refused` */
export function mapStep(
  workflowName: string,
  name: string,
  list: Expr,
  each: AgentStep | ChildStep,
  options: AnyStepOptions & MapLimits,
): MapStep {
  const { mayFail = 0, concurrency } = options;
  const percent = typeof mayFail === 'string' ? /^(\d{1,3}(?:\.\d+)?)%$/.exec(mayFail)?.[1] : undefined;
  if (typeof mayFail === 'string' && percent === undefined) {
    const message = `mayFail is '${mayFail}'; allowed: a number of items and '5%'`;
    throw refusal(workflowName, name, problem('bad-tolerance', message));
  }
  return {
    kind: 'map',
    ...baseOf(name, { ...options, mayFail: undefined }),
    over: list,
    each,
    ...(concurrency === undefined ? {} : { concurrency }),
    tolerate: percent === undefined ? { items: Number(mayFail) } : { percent: Number(percent) },
  };
}
