/**
 * The client with types of inputs and outputs by workflow.
 *
 * Owns: these types, and repeating a call without an answer under the same key. Does not own: the calls
 * (`client.ts`), the caller's identity (`authorization.ts`).
 */

import type { ExecutionView, Json, Started } from './answers.ts';
import type { RunOptions, SchedulerFunction, StartOptions, WaitForEndOptions } from './call-options.ts';
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

/** Only in the type: the output of the execution. */
declare const ANSWERS: unique symbol;
/** The part of an `ExecutionId` that only the compiler sees: the type of the output. */
export interface Answering<O> {
  readonly [ANSWERS]?: O;
}
/**
 * An execution's id: a text that carries, for the compiler alone, the type of its workflow's output, so that
 * `get` and `waitForEnd` answer with it. Any text is an `ExecutionId` of an output of unknown form.
 */
export type ExecutionId<O = Json> = string & Answering<O>;

/** An execution with the output of its workflow. */
export type Execution<O = Json> = Omit<ExecutionView, 'output'> & { readonly output?: O };

/** Open incidents, approvals and callbacks, and how people answer them: `client.questions`. */
export interface Questions {
  /** Lists all open questions, the earliest deadline first. */
  readonly list: AnyClient['incidents'];
  /** Answers an incident with one of its `choices`, which are those that are safe now. */
  readonly resolve: AnyClient['resolve'];
  /** Approves an open approval of an execution. */
  readonly approve: AnyClient['approve'];
  /** Rejects an open approval; the step fails with `rejected`. */
  readonly reject: AnyClient['reject'];
}

/** How an external system answers a callback, by its token: `client.callbacks`. */
export interface Callbacks {
  /** Completes the callback with the step's output. The same answer again gets the same reply. */
  readonly complete: AnyClient['completeCallback'];
  /** Fails the callback, and so the step. */
  readonly fail: AnyClient['failCallback'];
  /** Sends a heartbeat: the external system is still at work. */
  readonly heartbeat: AnyClient['heartbeatCallback'];
}

/**
 * One command for many executions: `client.bulk`. `create` and `collect` find them, and nothing happens to
 * them before `confirm` (or `answer`, for an approval).
 */
export interface Bulks {
  /** Creates the command and begins to collect the executions. Nothing acts before it is confirmed. */
  readonly create: AnyClient['makeBulk'];
  /** Reads its progress. */
  readonly get: AnyClient['bulk'];
  /** Continues collecting for some seconds; call it again while the status is 'collecting'. */
  readonly collect: AnyClient['collectBulk'];
  /** Confirms the command: from now on it acts, in the caller's name. */
  readonly confirm: AnyClient['confirmBulk'];
  /** Confirms a command that approves or rejects. */
  readonly answer: AnyClient['answerBulk'];
}

/** The workflows of a deployment, and how operators pause their starts: `client.workflows`. */
export interface DeployedWorkflows {
  /** Lists all workflows, with their steps and pauses, without forms. */
  readonly list: AnyClient['workflows'];
  /** Reads one workflow, with its steps as a graph and its forms. */
  readonly get: AnyClient['workflow'];
  /** Pauses starts: each new execution starts paused. */
  readonly pause: AnyClient['pauseWorkflow'];
  /** Ends that pause: new executions begin at once. Executions that started paused stay so. */
  readonly resume: AnyClient['resumeWorkflow'];
}

/** The agents of a deployment, and how operators pause them: `client.agents`. */
export interface DeployedAgents {
  /**
   * Lists agents with their queues, breakers and latest failures; `needed`: how many open executions have
   * each in their plan.
   */
  readonly list: AnyClient['agents'];
  /** Pauses an agent: nothing new is sent to it. */
  readonly pause: AnyClient['pauseAgent'];
  /** Ends that pause: the agent's steps are sent again. */
  readonly resume: AnyClient['resumeAgent'];
  /** Calls the agent although its breaker is open: one trial begins, and an answer closes the breaker. */
  readonly tryNow: AnyClient['tryAgentNow'];
}

interface Groups {
  readonly questions: Questions;
  readonly callbacks: Callbacks;
  readonly bulk: Bulks;
  readonly workflows: DeployedWorkflows;
  readonly agents: DeployedAgents;
}

type Flat =
  | 'url'
  | 'why'
  | 'list'
  | 'cancel'
  | 'pause'
  | 'resume'
  | 'retry'
  | 'send'
  | 'erase'
  | 'health'
  | 'overview';

/**
 * The calls of a deployment's API, typed by its workflows. Those about questions, callbacks, bulk actions,
 * workflows and agents are in groups. All reject with `ApiError`. A call without an answer is repeated for
 * `retryForMs` under the same key, so that it acts once; only `questions.resolve` is not.
 */
export interface Client<W extends KnownWorkflows = Readonly<Record<string, Workflow>>>
  extends Pick<AnyClient, Flat>,
    Groups {
  /**
   * Starts an execution and answers at once. Without an `idempotencyKey` it uses one of its own, so that a
   * repeated call starts nothing twice.
   */
  readonly start: <Name extends keyof W & string>(
    workflow: Name,
    options: Omit<StartOptions, 'input'> & { readonly input: InputOf<W[Name]> },
  ) => Promise<Started & { readonly executionId: ExecutionId<OutputOf<W[Name]>> }>;
  /**
   * Starts an execution as `start` does, and answers at its end, or after `wait` (25 s). `endedAt` is absent
   * if it has not ended by then. The caller needs the right to read the executions that it starts.
   */
  readonly run: <Name extends keyof W & string>(
    workflow: Name,
    options: Omit<RunOptions, 'input'> & { readonly input: InputOf<W[Name]> },
  ) => Promise<Execution<OutputOf<W[Name]>>>;
  /**
   * Reads an execution. With `wait` ('20s', at most 25 s), the answer comes when it has ended or the time has
   * passed.
   */
  readonly get: <O = Json>(
    executionId: ExecutionId<O>,
    options?: { readonly wait?: string; readonly step?: string },
  ) => Promise<Execution<O>>;
  /**
   * Polls until the execution has ended, whatever its end; it does not reject if the execution failed. Its
   * workflow's `within` guarantees an end. It survives a restart, a deployment and a busy gateway, until
   * `signal` or `timeoutMs` ends it.
   */
  readonly waitForEnd: <O = Json>(
    executionId: ExecutionId<O>,
    options?: WaitForEndOptions,
  ) => Promise<Execution<O>>;
}

/** The place of the API: an address, or a function. */
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

/**
 * The options of `createClient`: where the API is (`url`, or `lambda` with `api: 'none'`), what proves who
 * calls (`authorization`), and for how long a call without an answer is repeated (`retryForMs`).
 */
export type ClientOptions = HowToCall & Where;

interface HowToCall {
  /** `bearer(token)` or `awsSignature({ region, credentials })`. @default none, for a laptop's API */
  readonly authorization?: Authorization;
  /** The name under which a laptop's API records the calls; a deployed one refuses it. */
  readonly as?: string;
  /**
   * How long a call without an answer is repeated, under the same key, in ms: through a restart or a
   * deployment. `waitForEnd` has a limit of its own.
   * @default 60_000
   */
  readonly retryForMs?: number;
  /** Sends the requests. @default the platform's fetch */
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
  // The platform's `fetch` is bound, as browsers require, and looked up at each call.
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
  /**
   * Makes a call under a key of its own, unless one is given, so that it acts once, however often it is
   * repeated.
   */
  const keyed =
    <O extends object, R>(key: string, call: (of: string, given: O) => Promise<R>) =>
    (of: string, given: O): Promise<R> =>
      again(call)(of, { ...given, [key]: (given as Record<string, unknown>)?.[key] ?? crypto.randomUUID() });
  const [START, COMMAND] = ['idempotencyKey', 'commandId'] as const;
  const calls = Object.fromEntries(
    Object.entries(client).map(([name, call]) => [name, again(call as unknown as AnyCall)]),
  ) as unknown as AnyClient;
  const flat = {
    why: calls.why,
    list: calls.list,
    erase: calls.erase,
    health: calls.health,
    overview: calls.overview,
    url: client.url,
    waitForEnd: client.waitForEnd,
    get: calls.get,
    start: keyed(START, client.start),
    run: keyed(START, client.run),
    cancel: keyed(COMMAND, client.cancel),
    pause: keyed(COMMAND, client.pause),
    resume: keyed(COMMAND, client.resume),
    retry: keyed(COMMAND, client.retry),
    send: ((to, name, body, how) =>
      again(client.send)(to, name, body, {
        ...how,
        id: how?.id ?? crypto.randomUUID(),
      })) as AnyClient['send'],
  };
  const create: Bulks['create'] = (given: BulkOptions) =>
    again(client.makeBulk)({ ...given, [START]: given[START] ?? crypto.randomUUID() });
  // `resolve` is not repeated: a second one would be refused, without saying who resolved the incident.
  const groups = groupsOf(calls, { resolve: client.resolve, create });
  return { ...flat, ...groups } as unknown as Client<W>;
}

type AnyCall = (...args: readonly unknown[]) => Promise<unknown>;

/** The groups of calls. All are repeated if there is no answer, except the two that are passed. */
const groupsOf = (
  calls: AnyClient,
  { resolve, create }: { readonly resolve: Questions['resolve']; readonly create: Bulks['create'] },
): Groups => ({
  questions: {
    list: calls.incidents,
    resolve,
    approve: calls.approve,
    reject: calls.reject,
  },
  callbacks: {
    complete: calls.completeCallback,
    fail: calls.failCallback,
    heartbeat: calls.heartbeatCallback,
  },
  bulk: {
    create,
    get: calls.bulk,
    collect: calls.collectBulk,
    confirm: calls.confirmBulk,
    answer: calls.answerBulk,
  },
  workflows: {
    list: calls.workflows,
    get: calls.workflow,
    pause: calls.pauseWorkflow,
    resume: calls.resumeWorkflow,
  },
  agents: {
    list: calls.agents,
    pause: calls.pauseAgent,
    resume: calls.resumeAgent,
    tryNow: calls.tryAgentNow,
  },
});
