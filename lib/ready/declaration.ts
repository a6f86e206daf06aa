/**
 * Agents whose whole work is declared: a request to execute, one to probe, one to undo, as data.
 *
 * Owns: what an author writes, and its form as data. Does not own: the check of what was written
 * (`http-agent.ts`), what an answer means (`outcomes.ts`), the request on the wire (`send.ts`). Of this room
 * only `http-agent.ts` knows the authors' references; outside of it `lib/index.ts` alone enters.
 */

import type { Condition, Input, MaybeRef, MayBeAbsent, MayNotSucceed, Ref } from '../author/ref-types.ts';
import type { AgentOptions, Effect } from '../core/plan/agent.ts';
import type { Expr } from '../core/plan/refs.ts';
import type { Json } from '../core/values/json.ts';
import type { SecretPlace } from '../core/values/signed-by.ts';

/** The methods that a request may have. */
export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The outcome of the work, according to an answer. */
export type HttpOutcome = 'done' | 'accepted' | 'transient' | 'permanent' | 'unknown';
/** What the answer to a probe says of the work. */
export type HttpProbeOutcome = 'done' | 'notDone' | 'running' | 'unknown';

/** A secret by its names, never its value. */
export interface Secret extends SecretPlace {
  readonly kind: 'steadfast:secret';
  readonly header: string;
  readonly prefix: string;
}

/** Where a secret lies on AWS, and how it is sent. */
export interface SecretOptions {
  /** The name of a parameter of Systems Manager: `/shop/payments-token`. */
  readonly parameter?: string;
  /** The name of a secret of Secrets Manager. */
  readonly secretsManager?: string;
  /** The key of it, where the secret of Secrets Manager is JSON. */
  readonly field?: string;
  /**
   * The header that is sent.
   * @default 'authorization'
   */
  readonly header?: string;
  /**
   * What stands before it in the header.
   * @default 'Bearer ' in `authorization`, else nothing
   */
  readonly prefix?: string;
}

/** An answer, where its outcome and its output are declared. */
export interface HttpAnswer {
  readonly status: Ref<number>;
  /** A value of the body by its path: `body('data', 0, 'id')`. Nothing checks its type. */
  readonly body: <T = string>(...path: readonly (string | number)[]) => Ref<T>;
  /** A header by its name in lower case. */
  readonly header: (name: string) => Ref<string>;
}

/** The first rule whose condition holds says what the answer means. */
export interface OutcomeRule<Outcome> {
  readonly when: Condition;
  readonly is: Outcome;
}

/** A request as data; where the call's values stand in it, references do. */
export interface HttpRequest<Outcome extends string, O> {
  /** A probe changes nothing: GET, HEAD or POST. */
  readonly method: HttpMethod;
  /** An address, a reference to one, or `{ env }`, the name of the environment variable that has it. */
  readonly url: Input<string> | { readonly env: string };
  /** Segments after the address; each is encoded, so that no value leads elsewhere. */
  readonly path?: readonly Input<string | number>[];
  /** After `?`, encoded; what is absent is left out. */
  readonly query?: Readonly<Record<string, unknown>>;
  /** By name; those of the connection are set by Steadfast. */
  readonly headers?: Readonly<Record<string, Input<string | number>>>;
  /** JSON; a form with the header `content-type: application/x-www-form-urlencoded`. */
  readonly body?: unknown;
  /**
   * What statuses mean: `{ 402: 'permanent' }`; or rules over status, headers and body. What none names means
   * what docs/HTTP-AGENTS.md says.
   */
  readonly outcomes?:
    | Readonly<Record<number, Outcome>>
    | ((answer: HttpAnswer) => readonly OutcomeRule<Outcome>[]);
  /** The step's output. @default - the body */
  readonly output?: (answer: HttpAnswer) => Input<O>;
  /** What the service calls work that it has accepted. */
  readonly token?: (answer: HttpAnswer) => Input<string>;
  /** How far accepted work is, as a probe finds it. */
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
  /** The request that asks whether the work was done; a probed agent needs one, and accepted work. */
  readonly probe?: Declared<Omit<HttpCall<NoInfer<I>, NoInfer<O>>, 'output'>, HttpProbeOutcome, NoInfer<O>>;
  /** The request that takes the work back, or 'none' where that cannot be; only of effect 'none' left out. */
  readonly undo?:
    | 'none'
    | Declared<HttpCall<NoInfer<I>, NoInfer<O>>, Exclude<HttpOutcome, 'accepted'>, never>;
  /** The header in which the service takes the idempotency key. */
  readonly idempotencyKey?: string;
  /** Sent with each request. */
  readonly auth?: Secret;
  /**
   * An answer with more bytes is not read.
   * @default 262_144
   */
  readonly maxAnswerBytes?: number;
  /**
   * Whether an address may be one of a private network or of this machine.
   * @default false
   */
  readonly allowPrivateAddresses?: boolean;
}

/** A text that stands in an environment variable of the agent's function. */
export interface FromEnvironment {
  readonly env: string;
}

/** One call of a Lambda function, which is waited for. */
export interface Invocation<Outcome extends string, O>
  extends Pick<HttpRequest<Outcome, O>, 'outcomes' | 'output' | 'token' | 'progress'> {
  /** Its name or ARN, or `{ env }`, the variable that has it. */
  readonly function: string | FromEnvironment;
  /** What it is given. @default - the step's input */
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
  /** The call that asks whether it was done. Its answer is the output, unless `outcomes` say otherwise. */
  readonly probe?: Invoking<Omit<HttpCall<NoInfer<I>, NoInfer<O>>, 'output'>, HttpProbeOutcome, NoInfer<O>>;
  /** The call that takes the work back, or 'none'. */
  readonly undo?:
    | 'none'
    | Invoking<HttpCall<NoInfer<I>, NoInfer<O>>, Exclude<HttpOutcome, 'accepted'>, never>;
}

/** The declaration of an agent that publishes a message. */
export interface PublishOptions<I>
  extends Pick<AgentOptions<I, unknown>, 'input' | 'timeout' | 'lease' | 'claimWithin' | 'lateEffectWithin'> {
  /**
   * 'idempotent' where receivers know a message by its attribute `idempotencyKey`, or bear it twice, and of
   * FIFO, which drops a repeated one for five minutes; 'unsafe' where nobody may get it twice.
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

/** A call of AWS, which is signed. */
export interface AwsCall {
  readonly service: 'lambda' | 'sqs' | 'sns' | 'events';
  /** The variables that it reads. */
  readonly env: readonly string[];
  /** The body of the call that has this message. */
  readonly shape?: (message: Json, idempotencyKey: string) => Json;
}

/** A request as data. */
export interface RequestData {
  readonly method: HttpMethod;
  readonly url: Expr | { readonly env: string };
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
