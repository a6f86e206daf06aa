/**
 * Builds a workflow as data from typed code, which runs once when the module loads and is never replayed.
 *
 * Owns: the builder and its defaults. Does not own: the type of a declared workflow
 * (`core/plan/workflow.ts`), recoveries (`recovery-options.ts`), steps without an agent (`waiting-steps.ts`),
 * the refusals of a plan (`check.ts`) or its meaning (`decide.ts`).
 */

import type { Agent } from '../../core/plan/agent.ts';
import type { Workflow } from '../../core/plan/workflow.ts';
import { MAX_DURATION_MS, parseDuration } from '../../core/values/duration.ts';
import { checkName } from '../../core/values/names.ts';
import { checkPlan, inOrder } from '../checks/check.ts';
import { inLane, LANE_STEP } from '../../core/plan/lane.ts';
import {
  expressionsOf,
  type Plan,
  type PlanStep,
  type AgentStep,
  type ChildStep,
  type LaneStep,
} from '../../core/plan/plan.ts';
import type { Expr } from '../../core/plan/refs.ts';
import {
  type Condition,
  type Input,
  type MaybeRefTo,
  notingReads,
  type OutputOf,
  type Ref,
  ref,
  type RefTo,
  toExpr,
} from '../references.ts';
import { stepsIn } from '../../core/plan/refs-in.ts';
import { fieldsRead, withLeft } from '../left-references.ts';
import { afterThoseRead, type WhyEnded } from './why-ended.ts';
import { built } from '../checks/refusal.ts';
import {
  type AnyStepOptions,
  type Approval,
  type ApprovalOptions,
  type CallbackHandleOf,
  type CallbackOptions,
  callbackStep,
  type ChildOptions,
  type ItemOptions,
  type MapLimits,
  type Mapped,
  mapStep,
  parseDurationOrNone,
  type HandleOf,
  handleOf,
  type Uncertain,
  type UncertainHandle,
  type WaitOptions,
  waitStep,
} from './waiting-steps.ts';
import {
  addAgent,
  agentStepOf,
  callbackOf,
  childOf,
  type Draft,
  emptyDraft,
  type ConcurrencyOptions,
  type OnFailureOptions,
  repeatOf,
  type StepOptions,
  type WorkflowOptions,
} from './draft.ts';
import { type Received, type ReceiveOptions, receiveOf } from './receive.ts';
import type { FirstMessage, Repeated, RepeatOptions } from './rounds.ts';
import { checking, checkWorkflowOptions } from './option-tables.ts';
import { agentsOn } from './recovery-options.ts';

export { askPerson, retry, useAgent, withInput } from './recovery-options.ts';
export type { UseAgentStage } from './recovery-options.ts';
export type { Repeated, RepeatOptions } from './rounds.ts';
export type { OutputOf } from '../references.ts';
export type { ConcurrencyOptions, OnFailureOptions, StepOptions, WorkflowOptions } from './draft.ts';

type When = Condition | undefined;

/**
 * The overloads of `map`. TypeScript reports a mistake against the last one, so the last is the one for
 * agents, which most lists use.
 */
interface MapBuilder {
  <Item, CI, CO, W extends When = undefined>(
    name: string,
    performer: Workflow<CI, CO>,
    list: Ref<readonly Item[]>,
    input: (item: Ref<Item>, index: Ref<number>) => NoInfer<Input<CI>>,
    options?: ItemOptions & MapLimits & { readonly when?: W },
  ): HandleOf<Mapped<CO>, false, W>;
  <Item, SI, SO, W extends When = undefined>(
    name: string,
    performer: Agent<SI, SO>,
    list: Ref<readonly Item[]>,
    input: (item: Ref<Item>, index: Ref<number>) => NoInfer<Input<SI>>,
    options?: Omit<StepOptions, 'mayFail'> & MapLimits & { readonly when?: W },
  ): HandleOf<Mapped<SO>, false, W>;
}

/**
 * The argument of `build`, with which it declares the steps. `build` runs once, when the workflow is
 * declared: a step's output is a reference there, not a value, so write choices with `when` and not with
 * `if`.
 */
export interface WorkflowBuilder<I> {
  /** The input of the execution, as a reference: `w.input.orderId`. */
  readonly input: Ref<I>;
  /**
   * Declares a step that an agent performs (an activity, a task). It begins once every step whose output it
   * reads, or that `after` names, is done; other steps run side by side with it. If the execution cannot
   * succeed, the agent's `undo` undoes its effect.
   * @example
   * const paid = w.step('pay', chargeCard, { amount: w.input.amount });
   * w.step('ship', shipParcel, { payment: paid.output.paymentId }, { within: '2h' });
   */
  readonly step: <SI, SO, T extends boolean = false, W extends When = undefined>(
    name: string,
    agent: Agent<SI, SO>,
    input: NoInfer<Input<SI>>,
    options?: StepOptions & Uncertain<T, W>,
  ) => HandleOf<SO, T, W>;
  /**
   * Waits for a while or until a time, without using compute (a timer, `sleep`).
   * @example
   * const day = w.wait('a-day', { for: '24h' });
   * w.step('remind', sendMail, { to: w.input.email }, { after: [day] });
   */
  readonly wait: <T extends boolean = false, W extends When = undefined>(
    name: string,
    options: WaitOptions & Uncertain<T, W>,
  ) => HandleOf<null, T, W>;
  /**
   * Waits for an external system's answer through the API: give it `token`, and it calls
   * `POST /callbacks/{token}/complete`.
   * @example
   * const signed = w.callback('signed', { output: z.object({ by: z.string() }), within: '3d' });
   * w.step('ask', sendContract, { replyTo: signed.token });
   */
  readonly callback: <O, T extends boolean = false, W extends When = undefined>(
    name: string,
    options: CallbackOptions<O> & Uncertain<T, W>,
  ) => CallbackHandleOf<O, T, W>;
  /**
   * Waits for a person, who approves or rejects on the console, by the command line or the API; a rejection
   * fails the step with `rejected`.
   * @example
   * const approved = w.approval('release', { within: '2d', show: { amount: w.input.amount } });
   * w.step('pay-out', payOut, { amount: w.input.amount }, { after: [approved] });
   */
  readonly approval: <T extends boolean = false, W extends When = undefined>(
    name: string,
    options: ApprovalOptions & Uncertain<T, W>,
  ) => CallbackHandleOf<Approval, T, W>;
  /**
   * Takes the next message (a signal) of its name that is sent to the execution (`client.send`), even if it
   * was sent before the step's turn. The output is the body. Each message is taken once, in the order of
   * acceptance.
   * @example
   * const paid = w.receive('paid', { message: z.object({ payment: z.string() }), within: '2d' });
   * w.step('ship', shipParcel, { payment: paid.output.payment });
   */
  readonly receive: <
    O,
    E extends 'fail' | 'continue' = 'fail',
    T extends boolean = false,
    W extends When = undefined,
  >(
    name: string,
    options: ReceiveOptions<O, E> & Uncertain<T, W>,
  ) => HandleOf<Received<O, E>, T, W>;
  /**
   * Runs another workflow as an execution of its own, which is undone with this one.
   * @example
   * w.child('trip', bookTrip, { city: w.input.city });
   */
  readonly child: <CI, CO, T extends boolean = false, W extends When = undefined>(
    name: string,
    other: Workflow<CI, CO>,
    input: NoInfer<Input<CI>>,
    options?: ChildOptions & Uncertain<T, W>,
  ) => HandleOf<CO, T, W>;
  /**
   * Declares an on-failure step. It runs once the execution has ended without success (by a failure, a cancel
   * or the deadline), the undo steps are done and no question is open. It does not run if a parent ends the
   * execution. It may read `failure`, the input, and outputs that may exist (`orElse`). If it fails, the
   * execution's end stays the same, and the failure is listed.
   * @example
   * w.onFailure('apologise', sendMail, { to: w.input.email, subject: w.failure.code });
   */
  readonly onFailure: <SI, SO>(
    name: string,
    agent: Agent<SI, SO>,
    input: NoInfer<Input<SI>>,
    options?: OnFailureOptions,
  ) => Pick<UncertainHandle<SO>, 'name' | 'output'>;
  /** Why the execution ended; only for on-failure steps. */
  readonly failure: WhyEnded;
  /**
   * Has an agent perform every item of a list, or runs a workflow for each. Its output has `total`, `failed`
   * and `items`, the outputs in the order of the list.
   * @example
   * w.map('thumbnails', makeThumbnail, w.input.files, (file) => ({ key: file.key }), { concurrency: 10 });
   */
  readonly map: MapBuilder;
  /**
   * A loop (`while`): runs an agent or a workflow in rounds, one after another, until `until` is true for the
   * latest answer; at least one round runs. It suits pages, and polling a status. If a service accepts a job
   * and works on it for long, prefer the agent's own `probe` (`acceptedWithin`).
   * @example
   * w.repeat('wait', readReport, { day: w.input.orderId }, {
   *   until: (last) => eq(last.state, 'ready'),
   *   every: '30s',
   *   maxRounds: 200,
   * });
   */
  readonly repeat: <RI, RO, T extends boolean = false, W extends When = undefined>(
    name: string,
    performer: Agent<RI, RO> | Workflow<RI, RO>,
    first: NoInfer<Input<RI> | FirstMessage<RI>>,
    options: NoInfer<RepeatOptions<RI, RO>> & Uncertain<T, W>,
  ) => HandleOf<Repeated<RO>, T, W>;
}

/**
 * The types that an author's function may return. References are listed apart, because their types are not
 * records.
 */
type Answer =
  | Readonly<Record<string, unknown>>
  | RefTo<unknown>
  | MaybeRefTo<unknown, string>
  | undefined
  | void;

/**
 * Declares a workflow. `build` is called once, here; what it returns is the execution's output.
 * @example
 * export const order = workflow('order', { input: Order, within: '1d' }, (w) => {
 *   const paid = w.step('pay', chargeCard, { amount: w.input.amount });
 *   return { paymentId: paid.output.paymentId };
 * });
 * @throws SteadfastError `workflow-refused` with the step's name and the reason, `bad-name`, `bad-duration`
 */
export function workflow<I, R extends Answer>(
  name: string,
  options: WorkflowOptions<I>,
  build: (w: WorkflowBuilder<I>) => R,
): Workflow<I, OutputOf<R>> {
  checkName(name, 'workflow');
  checkWorkflowOptions(name, options);
  const withinMs = parseDurationOrNone(options.within, `within of '${name}'`);
  const draft = emptyDraft(name, withinMs);
  const reads = fieldsRead();
  const output = built(draft, () => notingReads(reads.note, () => build(builderOf<I>(draft))));
  const { pauseWithin, tags = [], fairBy, announceEnds = true } = options;
  const lane = options.concurrency && laneStep(name, options.concurrency);
  const { ordered, rest } = inOrder(draft.steps);
  const plan: Plan = {
    v: 1,
    workflow: name,
    withinMs,
    ...(pauseWithin === undefined
      ? {}
      : { pauseWithinMs: parseDuration(pauseWithin, `pauseWithin of '${name}'`) }),
    // Steps of a cycle stay at the end, for `checkPlan` to name.
    steps: inLane(lane, [...ordered, ...rest]),
    output: toExpr(output ?? {}),
    ...(draft.onFailure.length === 0 ? {} : { onFailure: draft.onFailure }),
    ...(tags.length === 0 ? {} : { search: tags }),
    ...(fairBy === undefined ? {} : { fairBy: toExpr(fairBy(ref<I>('input')) ?? null) }),
    ...(announceEnds ? {} : { announceEnds }),
  };
  checkPlan(plan);
  const declared = {
    kind: 'steadfast:workflow' as const,
    name,
    input: options.input,
    plan,
    agents: [...draft.agents.values()],
    children: draft.children,
    callbacks: draft.callbacks,
    ...(Object.keys(draft.messages).length === 0 ? {} : { messages: draft.messages }),
  };
  return withLeft(declared, reads);
}

const laneStep = <I>(
  workflowName: string,
  { key, limit, waitWithin, group }: ConcurrencyOptions<I>,
): LaneStep => ({
  kind: 'lane',
  name: LANE_STEP,
  after: [],
  lane: group ?? workflowName,
  by: toExpr(key(ref<I>('input')) ?? null),
  atMost: limit,
  withinMs: parseDurationOrNone(waitWithin, `waitWithin of '${workflowName}'`),
});

function builderOf<I>(draft: Draft): WorkflowBuilder<I> {
  const { workflow: name } = draft;
  const uses = (stepName: string, agents: readonly Agent[], { recovery = [] }: StepOptions = {}): void => {
    for (const used of [...agents, ...agentsOn(recovery)]) addAgent(draft, stepName, used);
  };
  const added = (step: PlanStep): never => {
    draft.steps.push({ ...step, after: predecessors(step.after, expressionsOf(step)) });
    return handleOf(step.name);
  };
  return checking(name, {
    input: ref<I>('input'),
    step: (stepName, agent, input, options = {}) => {
      const step = agentStepOf(draft, stepName, agent as Agent, input, options);
      uses(stepName, [agent as Agent], options);
      return added(step);
    },
    wait: (stepName, options) => added(waitStep(stepName, options)),
    callback: (stepName, options) => added(callbackOf(draft, stepName, options)),
    approval: (stepName, options) => added(callbackStep(stepName, 'approval', options)),
    receive: (stepName, options) => added(receiveOf(draft, stepName, options)),
    child: (stepName, other, input, options = {}) =>
      added(childOf(draft, stepName, other as Workflow, toExpr(input), options, uses)),
    onFailure: (stepName, agent, input, options: StepOptions = {}) => {
      const { undo = 'none' } = options;
      const late = { ...draft, withinMs: MAX_DURATION_MS };
      const step = agentStepOf(late, stepName, agent as Agent, input, { ...options, undo });
      uses(stepName, [agent as Agent], options);
      draft.onFailure.push(afterThoseRead(step, draft.onFailure));
      return handleOf(stepName);
    },
    failure: ref('failure') as unknown as WhyEnded,
    repeat: (
      stepName: string,
      performer: { readonly kind: string },
      first: unknown,
      options: RepeatOptions<never, never>,
    ) => added(repeatOf(draft, stepName, performer, first, options, uses)),
    map: (
      stepName: string,
      performer: { readonly kind: string },
      list: unknown,
      input: (item: never, index: never) => unknown,
      options: AnyStepOptions & MapLimits = {},
    ) => {
      const { after: _after, when: _when, within: _within, mayFail: _mayFail, ...rest } = options;
      const { concurrency: _concurrency, ...own } = rest;
      const given = input(ref<never>('item'), ref<never>('index'));
      let item: AgentStep | ChildStep;
      if (performer?.kind === 'steadfast:workflow') {
        item = childOf(draft, stepName, performer as Workflow, toExpr(given), own, uses);
      } else {
        item = agentStepOf(draft, stepName, performer as Agent, given, own);
        uses(stepName, [performer as Agent], own);
      }
      return added(mapStep(name, stepName, toExpr(list), { ...item, name: 'item' }, options));
    },
  } as WorkflowBuilder<I>);
}

const predecessors = (declared: readonly string[], expressions: readonly Expr[]): string[] => [
  ...new Set([...declared, ...expressions.flatMap(stepsIn)]),
];
