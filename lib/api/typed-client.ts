/**
 * The client with inputs and outputs by workflow.
 *
 * Owns: their types, and that a call without an answer is made again under the same key. Does not own: the
 * calls (`client.ts`), who calls (`authorization.ts`).
 */

import type { ExecutionView, Json, Started } from './answers.ts';
import type { CommandOptions, RunOptions, StartOptions, WaitOptions } from './call-options.ts';
import type { Authorization } from './authorization.ts';
import type { BulkOptions } from './bulk-answers.ts';
import { ApiError, type Client as AnyClient, createClient as anyClient } from './client.ts';
import { repeated } from './again.ts';
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
  extends Rest<AnyClient, 'start' | 'run' | 'get' | 'untilEnd'> {
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
  /** With `waitMs` (at most 25 s), the answer comes when the execution has ended or the time is over. */
  readonly get: <O = Json>(
    executionId: ExecutionId<O>,
    options?: { readonly waitMs?: number; readonly step?: string },
  ) => Promise<Execution<O>>;
  /**
   * Asks until the execution has ended. It will: its workflow says within what time. It outlasts a restart, a
   * deployment and a busy gateway, until `signal` or `timeoutMs` ends it.
   */
  readonly untilEnd: <O = Json>(executionId: ExecutionId<O>, options?: WaitOptions) => Promise<Execution<O>>;
}

export interface ClientOptions {
  /** For example `http://127.0.0.1:4510`, or the output `ApiUrl` of the stack. */
  readonly url: string;
  /** `bearer(token)` or `awsSignature({ region, credentials })`. @default a laptop's API asks for none */
  readonly authorization?: Authorization;
  /** The name under which a laptop's API records the calls; a deployed one refuses it. */
  readonly as?: string;
  /**
   * How long a call that got no answer is made again, under the same key: it outlasts a restart or a
   * deployment. Waits have a deadline of their own (`untilEnd`). @default 60_000
   */
  readonly retryForMs?: number;
  /** @default the platform's fetch */
  readonly fetch?: typeof fetch;
}

const OPTIONS = {
  url: true,
  authorization: true,
  as: true,
  retryForMs: true,
  fetch: true,
} as const satisfies KeysOf<ClientOptions>;

/**
 * A client of a deployment's HTTP API. Every method rejects with `ApiError`: with the API's own code, or with
 * `no-answer`, `unavailable`, `too-many-calls`, `forbidden`, `not-steadfast`, and without credentials with
 * `no-credentials`.
 * @throws ApiError `bad-url`, `bad-option`
 */
export function createClient<W extends KnownWorkflows = Readonly<Record<string, Workflow>>>(
  options: ClientOptions,
): Client<W> {
  const stranger = optionProblem(options, OPTIONS);
  if (stranger !== undefined) throw new ApiError('bad-option', `createClient: ${stranger}`);
  const { url, as, authorization, retryForMs = 60_000 } = options;
  // Bound, as browsers want it, and looked up at each call.
  const plain: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
  const client = anyClient({
    url,
    fetch: authorization === undefined ? plain : authorization(plain),
    ...(as === undefined ? {} : { as }),
  });
  const again = <A extends readonly unknown[], R>(call: (...args: A) => Promise<R>) => {
    return (...args: A): Promise<R> => repeated(() => call(...args), retryForMs);
  };
  const command =
    <O extends CommandOptions, R>(call: (id: string, given?: O) => Promise<R>) =>
    (id: string, given?: O): Promise<R> =>
      again(call)(id, { commandId: crypto.randomUUID(), ...given } as O);
  const { url: base, resolve, untilEnd, ...calls } = client;
  return {
    ...Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, again(call as AnyCall)])),
    url: base,
    // Resolved twice it would be refused, and not say by whom it was resolved.
    resolve,
    start: (workflow: string, given: StartOptions) =>
      again(client.start)(workflow, { idempotencyKey: crypto.randomUUID(), ...given }),
    run: (workflow: string, given: RunOptions) =>
      again(client.run)(workflow, { idempotencyKey: crypto.randomUUID(), ...given }),
    untilEnd,
    cancel: command(client.cancel),
    pause: command(client.pause),
    resume: command(client.resume),
    retry: command(client.retry),
    makeBulk: (given: BulkOptions) =>
      again(client.makeBulk)({ idempotencyKey: crypto.randomUUID(), ...given }),
  } as unknown as Client<W>;
}

type AnyCall = (...args: readonly unknown[]) => Promise<unknown>;
