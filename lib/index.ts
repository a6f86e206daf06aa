/**
 * What authors import: declare agents and workflows, and attach an agent's implementation.
 *
 * Nothing inside `lib` imports this file.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Duration } from './core/values/duration.ts';
import {
  type Agent,
  type AgentOptions,
  type AttemptContext,
  declareAgent,
  type Implementation,
} from './core/plan/agent.ts';
import type { Accepted, Verdict } from './core/plan/answers.ts';
import { type AgentHandler, agentHandler } from './agent/handler.ts';
import type {
  HttpAgentOptions,
  HttpWork,
  InvokeOptions,
  PublishOptions,
  Secret,
  SecretOptions,
} from './ready/declaration.ts';
import { declareInvoke, declarePublish } from './ready/aws-agents.ts';
import { declaredSecret, declareHttp } from './ready/http-agent.ts';
import { relay } from './remote/relay.ts';
import { checkedKind, type RemoteKind, type RemoteTarget } from './remote/target.ts';

export { accepted, cannotTell, done, notDone, running } from './core/plan/answers.ts';
export type {
  AcceptedWork,
  Agent,
  AgentOptions,
  AttemptContext,
  AttemptLog,
  Effect,
} from './core/plan/agent.ts';
export type { Accepted, Verdict } from './core/plan/answers.ts';
export type { Duration } from './core/values/duration.ts';
export { PermanentError, SteadfastError, TransientError } from './core/values/errors.ts';
export {
  and,
  concat,
  eq,
  exists,
  failed,
  gt,
  gte,
  isIn,
  length,
  lt,
  lte,
  matches,
  ne,
  not,
  or,
  orElse,
  required,
  skipped,
  succeeded,
} from './author/references.ts';
// Types that the functions return: a project that emits declarations must be able to name them.
export type { AskPersonStage, WithInputStage, RetryStage } from './core/plan/plan.ts';
export type {
  Condition,
  Input,
  MaybeRef,
  MaybeRefTo,
  MayBeAbsent,
  MayNotFail,
  MayNotSucceed,
  Ref,
  RefTo,
} from './author/references.ts';
export {
  onEvent,
  onMessage,
  onObjectCreated,
  onSchedule,
  onWebhook,
} from './author/triggers/trigger-declaration.ts';
export type {
  DeclaredTrigger,
  EventSource,
  EventTrigger,
  InputMapping,
  KeyFilter,
  MessageTrigger,
  ObjectSource,
  ObjectTrigger,
  ScheduleSource,
  ScheduleTrigger,
  SendingOptions,
  TriggerOptions,
  WebhookOptions,
  WebhookSource,
  WebhookTrigger,
} from './author/triggers/trigger-declaration.ts';
export { hmacSha256 } from './author/triggers/webhook.ts';
export type { HmacOptions } from './author/triggers/webhook.ts';
export type { SignedBy } from './core/values/signed-by.ts';
export type { Workflow } from './core/plan/workflow.ts';
export type { WhyEnded } from './author/builder/why-ended.ts';
export { askPerson, retry, useAgent, withInput, workflow } from './author/builder/workflow.ts';
export type {
  OnFailureOptions,
  OutputOf,
  Repeated,
  RepeatOptions,
  StepOptions,
  UseAgentStage,
  WorkflowBuilder,
  WorkflowOptions,
} from './author/builder/workflow.ts';
export type {
  Approval,
  ApprovalOptions,
  CallbackHandle,
  CallbackHandleOf,
  CallbackOptions,
  ChildOptions,
  HandleOf,
  ItemOptions,
  Mapped,
  MapLimits,
  StepHandle,
  MayFailOptions,
  UncertainHandle,
  WaitOptions,
} from './author/builder/waiting-steps.ts';
export { received } from './author/builder/received.ts';
export type { RoundReceives } from './author/builder/received.ts';
export type { Received, ReceiveOptions } from './author/builder/receive.ts';

export type { AgentHandler } from './agent/handler.ts';
export type {
  HttpAgentOptions,
  HttpAnswer,
  HttpCall,
  HttpMethod,
  HttpOutcome,
  HttpProbeOutcome,
  HttpRequest,
  Invocation,
  InvokeOptions,
  OutcomeRule,
  PublishOptions,
  Secret,
  SecretOptions,
} from './ready/declaration.ts';
export type { CommandTarget, LambdaTarget, RemoteKind, RemoteTarget, UrlTarget } from './remote/target.ts';

type Options = AgentOptions<unknown, unknown>;
type In<T extends Options> = StandardSchemaV1.InferOutput<T['input']>;
type Out<T extends Options> = StandardSchemaV1.InferOutput<T['output']>;
type Execute<T extends Options> = (
  ctx: AttemptContext,
  input: In<T>,
) => Promise<T extends { readonly acceptedWithin: Duration } ? Out<T> | Accepted : Out<T>>;
type Probe<T extends Options> = (ctx: AttemptContext, input: In<T>) => Promise<Verdict<Out<T>>>;
type Undo<T extends Options> = (
  ctx: AttemptContext,
  input: In<T>,
  output: Out<T> | undefined,
) => Promise<unknown>;

/**
 * The functions of an agent. `probe` is required for the effect 'probed', with `acceptedWithin`, and with
 * `probe: 'required'`; an 'unsafe' agent has none, because its service cannot be asked. `undo` is required
 * unless there is nothing to undo.
 */
export type ImplementationOf<T extends Options> = {
  /**
   * Performs the work. Throw `TransientError` or `PermanentError` only when it was certainly NOT done; any
   * other error means that the outcome is unknown.
   */
  readonly execute: Execute<T>;
} & (T extends {
  readonly effect: 'idempotent' | 'none';
  readonly probe?: never;
  readonly acceptedWithin?: never;
}
  ? {
      /** Asks the service whether the work under `ctx.idempotencyKey` was done. It must change nothing. */
      readonly probe?: Probe<T>;
    }
  : T extends { readonly probe: 'none' } | { readonly effect: 'unsafe' }
    ? { readonly probe?: never }
    : {
        /** Asks the service whether the work under `ctx.idempotencyKey` was done. It must change nothing. */
        readonly probe: Probe<T>;
      }) &
  (T extends { readonly undo: 'none' } | { readonly effect: 'none' }
    ? {
        /** Compensates the work. It may run again; `output` is absent if the outcome was unknown. */
        readonly undo?: Undo<T>;
      }
    : {
        /** Compensates the work. It may run again; `output` is absent if the outcome was unknown. */
        readonly undo: Undo<T>;
      });

/**
 * A declared agent, the result of `agent`: name it in a workflow's step, and give it its functions by
 * `.handler`.
 */
export interface DeclaredAgent<T extends Options> extends Agent<In<T>, Out<T>> {
  /**
   * The agent's Lambda function: `export const handler = chargeCard.handler({ execute, probe, undo })`. The
   * functions are called with `(ctx, input)`; `undo` also gets the output, if it is known.
   */
  readonly handler: (implementation: ImplementationOf<T>) => AgentHandler;
}

/** The type of a key that is not an option: TypeScript does not check an inferred object for excess keys. */
type NoOther<T> = {
  readonly [Key in Exclude<keyof T, keyof Options>]: {
    readonly 'an agent has no option of this name': never;
  };
};

/**
 * Declares an agent: its contract and its limits. Its functions are not options: give `execute`,
 * `probe` and `undo` to `.handler`, in a file of their own, so that a workflow does not load them.
 * @example
 * export const chargeCard = agent('charge-card', {
 *   input: z.object({ amount: z.number() }),
 *   output: z.object({ paymentId: z.string() }),
 *   effect: 'idempotent',
 * });
 * // agents/charge-card.ts
 * export const handler = chargeCard.handler({
 *   execute: async (ctx, { amount }) => ({ paymentId: await payments.charge(ctx.idempotencyKey, amount) }),
 *   undo: (ctx) => payments.refund(ctx.idempotencyKey),
 * });
 * @throws SteadfastError `bad-name`, `bad-duration`, `bad-agent`
 */
export function agent<const T extends Options>(name: string, options: T & NoOther<T>): DeclaredAgent<T> {
  const declared = declareAgent(name, options) as Agent<In<T>, Out<T>>;
  return {
    ...declared,
    handler: (implementation) =>
      agentHandler(declared as Agent, implementation as Parameters<typeof agentHandler>[1]),
  };
}

/** The handler of an agent whose work another program does. */
export interface RemoteAgentHandler extends AgentHandler {
  readonly remote: RemoteKind;
}

/**
 * The work of a declared agent, done by a program in another language (docs/AGENTS-ELSEWHERE.md):
 * `export const handler = remoteAgent(bookParcel, { url: 'https://parcels.example/agent' })`.
 * @throws SteadfastError `bad-agent`
 */
export function remoteAgent<T extends Options>(
  declared: DeclaredAgent<T>,
  target: RemoteTarget,
): RemoteAgentHandler {
  const remote = checkedKind(declared.spec, target);
  return Object.assign(agentHandler(declared as Agent, relay(declared.spec, target)), { remote });
}

/** A declared agent without code and file of its own, the result of `httpAgent`: name it in a step. */
export interface HttpAgent<I, O> extends Agent<I, O> {
  readonly handler: AgentHandler;
  /** @internal */
  readonly secret?: Secret;
}

/**
 * Declares an agent whose whole work is HTTP requests: no code of its own, and the promises of any agent
 * (docs/HTTP-AGENTS.md).
 * @example
 * export const chargeCard = httpAgent('charge-card', {
 *   input: z.object({ amount: z.number() }),
 *   output: z.object({ paymentId: z.string() }),
 *   effect: 'idempotent',
 *   idempotencyKey: 'idempotency-key',
 *   auth: secret('PAYMENTS_TOKEN', { parameter: '/shop/payments-token' }),
 *   execute: ({ input }) => ({
 *     method: 'POST',
 *     url: 'https://payments.example/charges',
 *     body: { amount: input.amount },
 *     output: ({ body }) => ({ paymentId: body('id') }),
 *   }),
 *   undo: 'none',
 * });
 * @throws SteadfastError `bad-name`, `bad-duration`, `bad-agent`
 */
export function httpAgent<I, O>(name: string, options: HttpAgentOptions<I, O>): HttpAgent<I, O> {
  return readyAgent(declareHttp(name, options));
}

function readyAgent<I, O>({ declared, work }: ReturnType<typeof declareHttp<I, O>>): HttpAgent<I, O> {
  let made: AgentHandler | undefined;
  return {
    ...declared,
    ...(work.auth === undefined ? {} : { secret: work.auth }),
    // Made at the first use, because code that only declares the agent needs no logger for it.
    get handler() {
      return (made ??= agentHandler(declared as Agent, whenCalled(work)));
    },
  };
}

/** Functions that load their code at the first call, because a workflow only declares such agents. */
function whenCalled(work: HttpWork): Implementation<unknown, unknown> {
  type Part = (...given: readonly unknown[]) => Promise<never>;
  const part =
    (name: 'execute' | 'probe' | 'undo'): Part =>
    async (...given) => {
      const { httpWork } = await import('./ready/work.ts');
      return await (httpWork(work)[name] as Part)(...given);
    };
  return {
    execute: part('execute'),
    ...(work.probe === undefined ? {} : { probe: part('probe') }),
    ...(work.undo === undefined ? {} : { undo: part('undo') }),
  };
}

/**
 * Declares an agent that invokes a Lambda function and waits for it (docs/HTTP-AGENTS.md).
 * @example
 * export const resize = invoke('resize', {
 *   input: z.object({ image: z.string() }),
 *   output: z.object({ thumbnail: z.string() }),
 *   effect: 'idempotent',
 *   execute: ({ input, idempotencyKey }) => ({
 *     function: 'image-resizer',
 *     payload: { image: input.image, key: idempotencyKey },
 *   }),
 *   undo: 'none',
 * });
 * @throws SteadfastError `bad-name`, `bad-duration`, `bad-agent`
 */
export function invoke<I, O>(name: string, options: InvokeOptions<I, O>): HttpAgent<I, O> {
  return readyAgent(declareInvoke(name, options));
}

/**
 * Declares an agent that sends a message to a queue or a topic, or an event to a bus (docs/HTTP-AGENTS.md).
 * @example
 * export const announce = publish('announce', {
 *   input: z.object({ orderId: z.string() }),
 *   effect: 'idempotent',
 *   to: { bus: 'default', source: 'shop', detailType: 'Order Shipped' },
 * });
 * @throws SteadfastError `bad-name`, `bad-duration`, `bad-agent`
 */
export function publish<I>(name: string, options: PublishOptions<I>): HttpAgent<I, Record<string, never>> {
  return readyAgent(declarePublish(name, options));
}

/**
 * A secret that an `httpAgent` sends, by its names.
 * @example auth: secret('PAYMENTS_TOKEN', { parameter: '/shop/payments-token' })
 * @param env the environment variable that has it in `serve`, in `dev` and in tests
 * @throws SteadfastError `bad-secret`
 */
export const secret = (env: string, options?: SecretOptions): Secret => declaredSecret(env, options);
