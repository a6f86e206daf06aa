/**
 * Agents whose whole work is declared as data: a request for execute, one for probe, one for undo.
 *
 * Owns: the declaration by an author, and its form as data. Does not own: the check of a declaration
 * (`http-agent.ts`), the meaning of an answer (`outcomes.ts`), the request on the wire (`send.ts`). In this
 * room only `http-agent.ts` knows the authors' references; from outside, only `lib/index.ts` imports from it.
 */

import type { Condition, Input, MaybeRef, MayBeAbsent, MayNotSucceed, Ref } from '../author/ref-types.ts';
import type { AgentOptions, Effect } from '../core/plan/agent.ts';
import type { Expr } from '../core/plan/refs.ts';
import type { Json } from '../core/values/json.ts';
import type { SecretPlace } from '../core/values/signed-by.ts';
import type { FromEnvironment } from '../remote/target.ts';

/** The methods that a request may have. */
export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The outcome of the work that an answer shows. `done`: with the output; `accepted`: the service will do it,
 * and is asked until it has; `transient`: certainly not done, may be tried again; `permanent`: certainly not
 * done, and no try would help; `unknown`: it may have been done; `effect` says how that is found out.
 */
export type HttpOutcome = 'done' | 'accepted' | 'transient' | 'permanent' | 'unknown';
/**
 * The state of the work that the answer to a probe shows. `done`: with the output; `notDone`: the service
 * knows of none; `running`: it is still working, and is asked again; `unknown`: the answer says nothing.
 */
export type HttpProbeOutcome = 'done' | 'notDone' | 'running' | 'unknown';

/** A secret, identified by its names, without its value. */
export interface Secret extends SecretPlace {
  readonly kind: 'steadfast:secret';
  readonly header: string;
  readonly prefix: string;
}

/** The place of a secret on AWS, and how it is sent. */
export interface SecretOptions {
  /** The name of a parameter of Systems Manager: `/shop/payments-token`. */
  readonly parameter?: string;
  /** The name of a secret of Secrets Manager. */
  readonly secretsManager?: string;
  /** The key in the secret, if the secret of Secrets Manager is JSON. */
  readonly field?: string;
  /**
   * The header that carries the secret.
   * @default 'authorization'
   */
  readonly header?: string;
  /**
   * The text before the secret in the header.
   * @default 'Bearer ' in `authorization`, else none
   */
  readonly prefix?: string;
}

/** An answer, as the declaration of its outcome and output sees it. */
export interface HttpAnswer {
  readonly status: Ref<number>;
  /** The value at a path in the body: `body('data', 0, 'id')`. Its type is not checked. */
  readonly body: <T = string>(...path: readonly (string | number)[]) => Ref<T>;
  /** A header by its lower-case name. */
  readonly header: (name: string) => Ref<string>;
}

/** A rule for the outcome. The first rule whose condition is true decides. */
export interface OutcomeRule<Outcome> {
  readonly when: Condition;
  readonly is: Outcome;
}

/** A request as data; references stand for the values of a call. */
export interface HttpRequest<Outcome extends string, O> {
  /** A probe changes nothing: GET, HEAD or POST. */
  readonly method: HttpMethod;
  /** An address, a reference to one, or `{ env }`, the name of the environment variable with the address. */
  readonly url: Input<string> | { readonly env: string };
  /** Path segments after the address; each is encoded, so that no value changes the target. */
  readonly path?: readonly Input<string | number>[];
  /** The query, encoded; absent values are left out. */
  readonly query?: Readonly<Record<string, unknown>>;
  /** Headers by name; Steadfast sets those of the connection. */
  readonly headers?: Readonly<Record<string, Input<string | number>>>;
  /** The body: JSON, or a form if the header is `content-type: application/x-www-form-urlencoded`. */
  readonly body?: unknown;
  /**
   * The meaning of statuses: `{ 402: 'permanent' }`; or rules over status, headers and body.
   * docs/HTTP-AGENTS.md gives the meaning of any other answer.
   */
  readonly outcomes?:
    | Readonly<Record<number, Outcome>>
    | ((answer: HttpAnswer) => readonly OutcomeRule<Outcome>[]);
  /** The step's output. @default - the body */
  readonly output?: (answer: HttpAnswer) => Input<O>;
  /** The service's token for accepted work. */
  readonly token?: (answer: HttpAnswer) => Input<string>;
  /** The progress of accepted work, as a probe reports it. */
  readonly progress?: (answer: HttpAnswer) => Input<string | number>;
}

/** The values that a request may read. */
export interface HttpCall<I, O> {
  readonly input: Ref<I>;
  readonly idempotencyKey: Ref<string>;
  /** The token of accepted work; absent after a crash. */
  readonly token: MaybeRef<string, MayBeAbsent>;
  /** The step's output; absent if the outcome was unknown. */
  readonly output: MaybeRef<O, MayNotSucceed>;
}

type Declared<From, Outcome extends string, O> =
  | HttpRequest<Outcome, O>
  | ((call: From) => HttpRequest<Outcome, O>);

/** The declaration of an agent whose work is requests. */
export interface HttpAgentOptions<I, O>
  extends Omit<AgentOptions<I, O>, 'runsIn' | 'isolate' | 'progressWithin' | 'undo' | 'probe'> {
  /** The request that does the work. */
  readonly execute: Declared<
    Pick<HttpCall<NoInfer<I>, NoInfer<O>>, 'input' | 'idempotencyKey'>,
    HttpOutcome,
    NoInfer<O>
  >;
  /** The request that finds out if the work was done; required for a probed agent, and for accepted work. */
  readonly probe?: Declared<Omit<HttpCall<NoInfer<I>, NoInfer<O>>, 'output'>, HttpProbeOutcome, NoInfer<O>>;
  /**
   * The request that undoes the work, or 'none' if that is impossible; may be omitted only with effect
   * 'none'.
   */
  readonly undo?:
    | 'none'
    | Declared<HttpCall<NoInfer<I>, NoInfer<O>>, Exclude<HttpOutcome, 'accepted'>, never>;
  /**
   * The header that carries the idempotency key. An undo has a key of its own in it, because it is another
   * request; a probe by POST has none.
   */
  readonly idempotencyKey?: string;
  /** A secret that is sent with each request. */
  readonly auth?: Secret;
  /**
   * The largest answer that is read, in bytes.
   * @default 262_144
   */
  readonly maxAnswerBytes?: number;
  /**
   * True to allow an address in a private network or on this machine.
   * @default false
   */
  readonly allowPrivateAddresses?: boolean;
}

/** One call of a Lambda function; the agent waits for its answer. */
export interface Invocation<Outcome extends string, O>
  extends Pick<HttpRequest<Outcome, O>, 'outcomes' | 'output' | 'token' | 'progress'> {
  /** The function's name or ARN, or `{ env }`, the environment variable with it. */
  readonly function: string | FromEnvironment;
  /** The function's input. @default - the step's input */
  readonly payload?: unknown;
}

type Invoking<From, Outcome extends string, O> =
  | Invocation<Outcome, O>
  | ((call: From) => Invocation<Outcome, O>);

/** The declaration of an agent that invokes a function. */
export interface InvokeOptions<I, O>
  extends Omit<
    HttpAgentOptions<I, O>,
    'execute' | 'probe' | 'undo' | 'idempotencyKey' | 'auth' | 'allowPrivateAddresses'
  > {
  /** The call that does the work. A function that ends with an error leaves the outcome unknown. */
  readonly execute: Invoking<
    Pick<HttpCall<NoInfer<I>, NoInfer<O>>, 'input' | 'idempotencyKey'>,
    HttpOutcome,
    NoInfer<O>
  >;
  /**
   * The call that finds out if the work was done. Its answer is the output, unless `outcomes` decides
   * otherwise.
   */
  readonly probe?: Invoking<Omit<HttpCall<NoInfer<I>, NoInfer<O>>, 'output'>, HttpProbeOutcome, NoInfer<O>>;
  /** The call that undoes the work, or 'none'. */
  readonly undo?:
    | 'none'
    | Invoking<HttpCall<NoInfer<I>, NoInfer<O>>, Exclude<HttpOutcome, 'accepted'>, never>;
}

/** The declaration of an agent that publishes a message. */
export interface PublishOptions<I>
  extends Pick<AgentOptions<I, unknown>, 'input' | 'timeout' | 'lease' | 'claimWithin' | 'lateEffectWithin'> {
  /**
   * 'idempotent' if receivers recognise a message by its attribute `idempotencyKey` or tolerate a repeat, and
   * for FIFO, which drops a repeat for five minutes; 'unsafe' if no receiver may get a message twice.
   */
  readonly effect: 'idempotent' | 'unsafe';
  /** A queue by its URL, a topic by its ARN, a bus by its name or ARN; each also as `{ env }`. */
  readonly to:
    | { readonly queue: string | FromEnvironment; readonly group?: string }
    | { readonly topic: string | FromEnvironment; readonly group?: string }
    | { readonly bus: string | FromEnvironment; readonly source: string; readonly detailType: string };
  /** The message, or the event's detail. @default - the step's input */
  readonly message?: unknown;
}

/** An AWS call that is signed. */
export interface AwsCall {
  readonly service: 'lambda' | 'sqs' | 'sns' | 'events';
  /** The environment variables that the call reads. */
  readonly env: readonly string[];
  /**
   * The body of the call with this message.
   * @param once the idempotency key, or its hash if it is longer than an id of a FIFO queue or topic may be
   */
  readonly shape?: (message: Json, idempotencyKey: string, once: string) => Json;
}

/** A request as data. */
export interface RequestData {
  readonly method: HttpMethod;
  readonly url: Expr | FromEnvironment;
  readonly isUrlFromEnv: boolean;
  readonly path: readonly Expr[];
  readonly query: Readonly<Record<string, Expr>>;
  readonly headers: Readonly<Record<string, Expr>>;
  readonly body?: Expr;
  readonly rules: readonly { readonly when: Expr; readonly is: string }[];
  readonly output?: Expr;
  readonly token?: Expr;
  readonly progress?: Expr;
}

/** The work of an agent as data. */
export interface HttpWork {
  readonly execute: RequestData;
  readonly probe?: RequestData;
  readonly undo?: RequestData;
  readonly effect: Effect;
  readonly acceptsWork: boolean;
  readonly keyHeader?: string;
  readonly auth?: Secret;
  readonly aws?: AwsCall;
  readonly maxAnswerBytes: number;
  readonly allowsPrivate: boolean;
}
