/**
 * The client with inputs and outputs by workflow.
 *
 * Owns: their types, and that a call without an answer is made again under the same key. Does not own: the
 * calls (`client.ts`), who calls (`authorization.ts`).
 */

import type { ExecutionView, Json, Started } from './answers.ts';
import type { RunOptions, SchedulerFunction, StartOptions, WaitOptions } from './call-options.ts';
import type { Authorization } from './authorization.ts';
import type { BulkOptions } from './bulk-answers.ts';
import { ApiError, type Client as AnyClient, createClient as anyClient } from './client.ts';
import { repeated } from './again.ts';
import { throughLambda } from './through-lambda.ts';
import type { Workflow } from '../core/plan/workflow.ts';
import { type KeysOf, optionProblem } from '../core/values/options.ts';

/**
 * The workflows of a deployment by name: `{ 'order-fulfilment': typeof orderFulfilment }`, of `import type`.
 */
export type KnownWorkflows = object;

type InputOf<W> = W extends Workflow<infer I, infer _> ? I : Json;
type OutputOf<W> = W extends Workflow<infer _, infer O> ? O : Json;

/** Only in the type: what the execution answers. */
declare const ANSWERS: unique symbol;
export interface Answering<O> {
  readonly [ANSWERS]?: O;
}
export type ExecutionId<O = Json> = string & Answering<O>;

/** With the output of its workflow. */
export type Execution<O = Json> = Omit<ExecutionView, 'output'> & { readonly output?: O };

type Rest<T, Keys extends keyof T> = { readonly [Key in Exclude<keyof T, Keys>]: T[Key] };

export interface Client<W extends KnownWorkflows = Readonly<Record<string, Workflow>>>
  extends Rest<AnyClient, 'start' | 'run' | 'get' | 'waitForEnd'> {
  /** Starts an execution; without an `idempotencyKey` under one of its own, so that it is started once. */
  readonly start: <Name extends keyof W & string>(
    workflow: Name,
    options: Omit<StartOptions, 'input'> & { readonly input: InputOf<W[Name]> },
  ) => Promise<Started & { readonly executionId: ExecutionId<OutputOf<W[Name]>> }>;
  /**
   * Starts an execution as `start` does, and answers at its end, or when `wait` is over (25 s): `endedAt`
   * says which. One call, for callers who may read what they start.
   */
  readonly run: <Name extends keyof W & string>(
    workflow: Name,
    options: Omit<RunOptions, 'input'> & { readonly input: InputOf<W[Name]> },
  ) => Promise<Execution<OutputOf<W[Name]>>>;
  /** With `wait` ('20s', at most 25 s), the answer comes when the execution has ended or the time is over. */
  readonly get: <O = Json>(
    executionId: ExecutionId<O>,
    options?: { readonly wait?: string; readonly step?: string },
  ) => Promise<Execution<O>>;
  /**
   * Asks until the execution has ended. It will: its workflow says within what time. It outlasts a restart, a
   * deployment and a busy gateway, until `signal` or `timeoutMs` ends it.
   */
  readonly waitForEnd: <O = Json>(
    executionId: ExecutionId<O>,
    options?: WaitOptions,
  ) => Promise<Execution<O>>;
}

/** Where the API is: behind an address, or a function. */
type Where =
  | {
      /** For example `http://127.0.0.1:4510`, or the output `ApiUrl` of the stack. */
      readonly url: string;
      readonly lambda?: never;
    }
  | {
      readonly url?: never;
      /** The scheduler's function, for a deployment with `api: 'none'`. */
      readonly lambda: SchedulerFunction;
    };

export type ClientOptions = HowToCall & Where;

interface HowToCall {
  /** `bearer(token)` or `awsSignature({ region, credentials })`. @default a laptop's API asks for none */
  readonly authorization?: Authorization;
  /** The name under which a laptop's API records the calls; a deployed one refuses it. */
  readonly as?: string;
  /**
   * How long a call that got no answer is made again, under the same key: it outlasts a restart or a
   * deployment. Waits have a deadline of their own (`waitForEnd`). @default 60_000
   */
  readonly retryForMs?: number;
  /** @default the platform's fetch */
  readonly fetch?: typeof fetch;
}

const OPTIONS = {
  url: true,
  lambda: true,
  authorization: true,
  as: true,
  retryForMs: true,
  fetch: true,
} as const satisfies KeysOf<ClientOptions>;

/**
 * A client of a deployment's API. Every method rejects with `ApiError`: with the API's own code, or with
 * `no-answer`, `unavailable`, `too-many-calls`, `forbidden`, `not-steadfast`, and without credentials with
 * `no-credentials`.
 * @example
 * const client = createClient<{ order: typeof order }>({ url: 'http://127.0.0.1:4510' });
 * export const started = await client.start('order', { input: { orderId: 'o-1' }, idempotencyKey: 'o-1' });
 * @throws ApiError `bad-url`, `bad-option`
 */
export function createClient<W extends KnownWorkflows = Readonly<Record<string, Workflow>>>(
  options: ClientOptions,
): Client<W> {
  const stranger = optionProblem(options, OPTIONS);
  if (stranger !== undefined) throw new ApiError('bad-option', `createClient: ${stranger}`);
  const { lambda, authorization, retryForMs = 60_000 } = options;
  // The platform's is bound, as browsers want it, and looked up at each call.
  const [url, send]: readonly [string, typeof fetch] =
    lambda === undefined ? [options.url, (...asked) => fetch(...asked)] : throughLambda(lambda);
  const plain = options.fetch ?? send;
  const client = anyClient({
    ...options,
    url,
    fetch: authorization?.(plain) ?? plain,
  });
  const again = <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) => {
    return (...args: A): Promise<R> => repeated(() => call(...args), retryForMs);
  };
  /** Under a key of its own, unless one is given: it acts once, however often it is made. */
  const keyed =
    <O extends object, R>(key: string, call: (of: string, given: O) => Promise<R>) =>
    (of: string, given: O): Promise<R> =>
      again(call)(of, { [key]: crypto.randomUUID(), ...given });
  const [START, COMMAND] = ['idempotencyKey', 'commandId'] as const;
  return {
    ...Object.fromEntries(
      Object.entries(client).map(([name, call]) => [name, again(call as unknown as AnyCall)]),
    ),
    url: client.url,
    // Resolved twice it would be refused, and not say by whom it was resolved.
    resolve: client.resolve,
    waitForEnd: client.waitForEnd,
    start: keyed(START, client.start),
    run: keyed(START, client.run),
    cancel: keyed(COMMAND, client.cancel),
    pause: keyed(COMMAND, client.pause),
    resume: keyed(COMMAND, client.resume),
    retry: keyed(COMMAND, client.retry),
    makeBulk: (given: BulkOptions) => again(client.makeBulk)({ [START]: crypto.randomUUID(), ...given }),
  } as unknown as Client<W>;
}

type AnyCall = (...args: readonly unknown[]) => Promise<unknown>;
