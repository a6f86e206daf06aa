/**
 * A typed client of the HTTP contract, over `fetch`.
 *
 * Owns: one method per call of `calls.ts`, and one error class for any unexpected answer. Does not own: the
 * meaning of answers to a person (`cli/`), the caller's identity for an API that requires one
 * (`authorization.ts`).
 */

import { refusedNumbers, roundedIn } from '../core/values/whole-numbers.ts';
import type {
  ExecutionView,
  IncidentPage,
  Json,
  ListPage,
  Reasons,
  CallbackOutcome,
  Erased,
  Started,
  StepView,
  Stopped,
} from './answers.ts';
import type {
  Addressee,
  KeyedMessageOptions,
  MessageOptions,
  RunOptions,
  RetryOptions,
  CancelOptions,
  CommandOptions,
  ListOptions,
  PauseAgentOptions,
  PauseOptions,
  PauseWorkflowOptions,
  SendOptions,
  StartOptions,
  WaitForEndOptions,
  ResolveOptions,
  FailOptions,
} from './call-options.ts';
import { isTransient } from './again.ts';
import { type Answer, answerOf } from './http-answer.ts';
import { ApiError, retryAfterOf } from './api-error.ts';
import { CALLS, type Route } from './calls.ts';
import { defined } from '../core/values/defined.ts';
import { callerText } from '../core/values/caller.ts';
import type { MessageAccepted } from './message-answers.ts';
import type { BulkOptions, BulkView } from './bulk-answers.ts';
import { endOf, erasedInFull, viewsUntilEnd } from './until-end.ts';
import type { AgentPauseView, AgentTriedNow, Agents } from './agent-answers.ts';
import type { Health, Overview, WorkflowPauseView, Workflows, WorkflowView } from './deployment-answers.ts';
import { APPROVE, GET, known, REJECT, SEND, WAIT } from './known-call-options.ts';
import { timeText } from '../core/values/text.ts';

export { ApiError, isTransient, viewsUntilEnd };

/**
 * Every method rejects with `ApiError`: with the API's own code, or with `no-answer`, `unavailable`,
 * `too-many-calls`, `forbidden`, `not-steadfast`, and for signed requests `no-credentials`.
 */
export interface Client {
  /** The address of the API. */
  readonly url: string;
  readonly start: (workflow: string, options: StartOptions) => Promise<Started>;
  /**
   * Starts an execution, and answers at its end, or when `wait` has passed. A caller who may run it may read
   * it.
   */
  readonly run: (workflow: string, options: RunOptions) => Promise<ExecutionView>;
  /**
   * With `wait` ('20s', at most 25 s), the answer comes when the execution has ended or the time has passed.
   * Parts that would make the answer too large are left out, and named in `omitted`; with `step`, the answer
   * has only that step, in full.
   */
  readonly get: (
    executionId: string,
    options?: { readonly wait?: string; readonly step?: string },
  ) => Promise<ExecutionView>;
  /**
   * Polls until the execution has ended, which its workflow's `within` guarantees. It survives a restart, a
   * deployment and a busy gateway, until `signal` or `timeoutMs` ends it.
   */
  readonly waitForEnd: (executionId: string, options?: WaitForEndOptions) => Promise<ExecutionView>;
  /** What happened, the evidence, and what happens next and when. */
  readonly why: (executionId: string) => Promise<Reasons>;
  /** Lists executions by any filter that an index serves; a combination without an index is refused. */
  readonly list: (options?: ListOptions) => Promise<ListPage>;
  /** Ends an execution: nothing new starts, and completed effects are undone unless `undo` is false. */
  readonly cancel: (executionId: string, options?: CancelOptions) => Promise<Stopped>;
  /** Pauses an execution: nothing new starts; work that has begun continues to its end. */
  readonly pause: (executionId: string, options?: PauseOptions) => Promise<Started>;
  /** Ends a pause. */
  readonly resume: (executionId: string, options?: CommandOptions) => Promise<Started>;
  /**
   * Makes a failed execution continue where it failed, optionally with another input; resolves all incidents
   * of a waiting one with 'retry'.
   */
  readonly retry: (executionId: string, options?: RetryOptions) => Promise<Started>;
  /**
   * Sends a message to an execution, for a step that receives it now or later. It is stored, and an id counts
   * once.
   */
  readonly send: (
    to: Addressee,
    name: string,
    body?: Json,
    options?: SendOptions,
  ) => Promise<MessageAccepted>;
  /** Sends a message as its route takes it: by the id of the execution, or by the key of its start. */
  readonly sendById: (executionId: string, message: MessageOptions) => Promise<MessageAccepted>;
  readonly sendByKey: (workflow: string, message: KeyedMessageOptions) => Promise<MessageAccepted>;
  /**
   * Removes an ended execution, the executions that its steps ran and all values: repeats the call until
   * nothing is left.
   */
  readonly erase: (executionId: string) => Promise<Erased>;
  /** The open incidents, approvals and callbacks of all workflows, the earliest deadline first. */
  readonly incidents: (options?: {
    readonly limit?: number;
    readonly cursor?: string;
  }) => Promise<IncidentPage>;
  readonly resolve: (executionId: string, incident: number, answer: ResolveOptions) => Promise<Stopped>;
  /**
   * Creates one command for many executions, and begins to collect them. Nothing acts before it is confirmed.
   */
  readonly makeBulk: (options: BulkOptions) => Promise<BulkView>;
  /** The progress of a bulk action. */
  readonly bulk: (bulkId: string) => Promise<BulkView>;
  /** Continues collecting for some seconds; call it again while the status is 'collecting'. */
  readonly collectBulk: (bulkId: string) => Promise<BulkView>;
  /** Confirms a bulk action: from now on it acts in the caller's name. */
  readonly confirmBulk: (bulkId: string) => Promise<BulkView>;
  /** Confirms a bulk action that approves or rejects. */
  readonly answerBulk: (bulkId: string) => Promise<BulkView>;
  /**
   * Approves what an execution waits for, after finding the step's token. Also rejects with `unknown-step`,
   * `not-an-approval` (`details`: its kind, and the token if it is an open callback) and `not-open`.
   */
  readonly approve: (
    executionId: string,
    step: string,
    options?: { readonly comment?: string },
  ) => Promise<CallbackOutcome>;
  /** Rejects it as a person, and the step fails. */
  readonly reject: (
    executionId: string,
    step: string,
    options?: { readonly reason?: string },
  ) => Promise<CallbackOutcome>;
  /** Answers the callback with this token. The same answer again gets the same reply. */
  readonly completeCallback: (token: string, output?: Json) => Promise<CallbackOutcome>;
  readonly failCallback: (token: string, options?: FailOptions) => Promise<CallbackOutcome>;
  /** A heartbeat of the external party: it is still at work. */
  readonly heartbeatCallback: (token: string) => Promise<CallbackOutcome>;
  readonly workflows: () => Promise<readonly WorkflowView[]>;
  readonly workflow: (workflow: string) => Promise<WorkflowView>;
  /** Pauses starts: each new execution starts paused. */
  readonly pauseWorkflow: (workflow: string, options?: PauseWorkflowOptions) => Promise<WorkflowPauseView>;
  readonly resumeWorkflow: (workflow: string) => Promise<WorkflowPauseView>;
  /** Agents with their queues, breakers and latest failures; `needed`: how many open executions have each. */
  readonly agents: (options?: { readonly needed?: true }) => Promise<Agents>;
  /** Pauses an agent: nothing new is sent to it. */
  readonly pauseAgent: (agent: string, options?: PauseAgentOptions) => Promise<AgentPauseView>;
  readonly resumeAgent: (agent: string) => Promise<AgentPauseView>;
  /** Calls an agent although its breaker is open: one trial begins, and an answer closes the breaker. */
  readonly tryAgentNow: (agent: string) => Promise<AgentTriedNow>;
  /** Whether the deployment works: queues, breakers, supervisors, the audit. */
  readonly health: () => Promise<Health>;
  /** How many executions are open, at risk, waiting or ended without success: counts of the last seconds. */
  readonly overview: () => Promise<Overview>;
}

/** A call by its name, and its answer. */
export type CallName = Exclude<keyof Client, 'url'>;
export type AnswerOf<Name extends CallName> = Awaited<ReturnType<Client[Name]>>;

export interface ClientOptions {
  /** For example `http://127.0.0.1:4510`. */
  readonly url: string;
  /** The name under which a laptop's API records the calls; a deployed one refuses it. */
  readonly as?: string;
  /** Sends the requests, for example signed. @default the platform's fetch */
  readonly fetch?: typeof fetch;
}

/**
 * A laptop's gateway takes the caller's name from this header; a deployed one passes it on, and the API
 * refuses it.
 */
export const AS_HEADER = 'x-local-user';
/** The characters that IAM allows in a user's name. */
export const AS_NAME: RegExp = /^[A-Za-z0-9+=,.@_-]{1,64}$/;

const ANSWER_WITHIN_MS = 30_000;

/** A route without a method here does not compile. */
type Made = {
  readonly [Name in Exclude<(typeof CALLS)[Route]['name'], 'workflows' | 'openapi'>]: Client[Name];
} & { readonly workflows: () => Promise<Workflows> };

/** A method for each route: it takes the values in the path, then the query or the body. */
function madeOf(options: ClientOptions, base: string): Made {
  const call =
    (route: string, has: string) =>
    async (...given: readonly unknown[]): Promise<unknown> => {
      const [method = '', pattern = ''] = route.split(' ');
      const named = given.values();
      const path = pattern.replaceAll(/\{\w+\}/g, () => encodeURIComponent(String(named.next().value)));
      const more = Object(named.next().value) as Query;
      const isRead = method === 'GET';
      const sent = send(
        options,
        base,
        method,
        isRead ? path + queryOf(more) : path,
        isRead ? undefined : more,
      );
      return answerOf(base, has, await sent);
    };
  const methods = Object.entries(CALLS).map(([route, { name, has }]) => [name, call(route, has)] as const);
  return Object.fromEntries(methods) as unknown as Made;
}

/** @throws ApiError `bad-url` */
export function createClient(options: ClientOptions): Client {
  const url = baseOf(options.url);
  const made = madeOf(options, url);
  return {
    ...made,
    url,
    get: async (id, how) => made.get(id, known('get', how, GET)),
    waitForEnd: async (id, wait) => endOf(made.get, id, known('waitForEnd', wait, WAIT)),
    erase: (id) => erasedInFull(made.erase, id),
    send: async (to, name, body, how) => {
      const message = { name, ...defined({ body, ...known('send', how, SEND) }) };
      return 'executionId' in to
        ? made.sendById(to.executionId, message)
        : made.sendByKey(to.workflow, { ...message, key: to.key, ...defined({ startWith: to.startWith }) });
    },
    approve: async (id, step, how) => {
      const { comment } = known('approve', how, APPROVE);
      return made.completeCallback(approvalToken(await made.get(id), step), {
        output: comment === undefined ? {} : { comment },
      });
    },
    reject: async (id, step, how) => {
      const { reason = 'a person has rejected it' } = known('reject', how, REJECT);
      return made.failCallback(approvalToken(await made.get(id), step), {
        code: 'rejected',
        message: reason,
      });
    },
    completeCallback: (token, output) => made.completeCallback(token, output === undefined ? {} : { output }),
    workflows: async () => (await made.workflows()).items,
  };
}

/** @throws ApiError `unknown-step`, `not-an-approval`, `not-open` */
function approvalToken(view: ExecutionView, name: string): string {
  const { executionId: id, steps } = view;
  const step = steps.find((one) => one.name === name);
  if (step?.kind === 'approval' && step.token !== undefined) return step.token;
  if (step?.kind === 'approval')
    throw new ApiError('not-open', `'${name}' cannot be answered now: ${whyNotOpen(view, step)}`);
  const names = steps.filter(({ kind }) => kind === 'approval').map((one) => one.name);
  const approvals = `Its approvals are: ${names.join(', ') || 'none'}`;
  if (step === undefined)
    throw new ApiError('unknown-step', `execution ${id} has no step '${name}'. ${approvals}`);
  const { kind, token } = step;
  throw new ApiError('not-an-approval', `'${name}' of execution ${id} is of kind ${kind}. ${approvals}`, {
    details: { kind, ...(token === undefined ? {} : { token }) },
  });
}

function whyNotOpen({ status, endedAt }: ExecutionView, step: StepView): string {
  if (step.status === 'pending') return `it comes after ${step.after.join(', ')}`;
  if (step.by === undefined && (endedAt !== undefined || step.status === 'ready'))
    return `the execution is ${status}`;
  const since = step.changedAt === undefined ? '' : ` since ${timeText(step.changedAt)}`;
  const who = step.by === undefined ? '' : `, answered by ${callerText(step.by)}`;
  return `it is ${step.status}${since}${who}`;
}

/**
 * Parses JSON from a person or a file, to be sent on.
 * @throws ApiError `unsafe-number`: it has an integer that would be rounded on the way
 * @throws SyntaxError if it is not JSON
 */
export function exactJson(text: string, what = 'the text'): Json {
  const value = JSON.parse(text) as Json;
  const rounded = roundedIn(text);
  if (rounded.length === 0) return value;
  const { code, message, details } = refusedNumbers(what, rounded);
  throw new ApiError(code, message, { details });
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !['http:', 'https:'].includes(parsed.protocol)) {
    throw new ApiError('bad-url', `'${url}' is not the URL of an API, such as http://127.0.0.1:4510`);
  }
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '');
}

type Query = Readonly<Record<string, string | number | true | undefined>>;

function queryOf(query: Query): string {
  const given = Object.entries(query).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

async function send(
  { fetch: fetcher = fetch, as }: ClientOptions,
  base: string,
  method: string,
  path: string,
  body: unknown,
): Promise<Answer> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new DOMException('', 'TimeoutError')), ANSWER_WITHIN_MS);
  try {
    const response = await fetcher(`${base}${path}`, {
      method,
      signal: over.signal,
      headers: {
        ...(as === undefined ? {} : { [AS_HEADER]: as }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const retryAfterMs = retryAfterOf(
      response.headers.get('retry-after'),
      Date.parse(response.headers.get('date') ?? '') || Date.now(),
    );
    return { status: response.status, text: await response.text(), retryAfterMs };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(
      'no-answer',
      isTimeout(error)
        ? `${base} took the call and has not answered within ${ANSWER_WITHIN_MS / 1_000} s: see whether its process is frozen or overloaded, and its log`
        : `no Steadfast API at ${base} (${reasonOf(error)}); start one with: npx steadfast dev`,
    );
  } finally {
    clearTimeout(timer);
  }
}

const isTimeout = (error: unknown): boolean => (Object(error) as { name?: string }).name === 'TimeoutError';

function reasonOf(error: unknown): string {
  const { message, cause } = Object(error) as {
    message?: string;
    cause?: { code?: string };
  };
  if (cause?.code === 'ECONNREFUSED') return 'the connection was refused';
  return cause?.code ?? message ?? 'no connection';
}
