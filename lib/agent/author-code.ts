/**
 * Calls the author's code and turns what it returns or throws into a report.
 *
 * Owns: the meaning of a return and of a throw, the check of the input against the agent's schema. Does not
 * own: which answers are outputs (`answer.ts`), time (`attempt.ts`), the state, the part of an error that is
 * kept (`core/values/failure.ts`).
 *
 * S6 an attempt has failed only if that is certain: any error but `TransientError` and `PermanentError` is an
 * unknown outcome. After a wrong answer the work is done.
 */

import type { Agent, AttemptContext, AttemptLog, Implementation } from '../core/plan/agent.ts';
import type { Accepted, Verdict } from '../core/plan/answers.ts';
import { lengthMsOf, MAX_DURATION_MS } from '../core/values/duration.ts';
import { partsOf, uselessPartsOf } from '../core/plan/agent-parts.ts';
import type { Ports } from '../core/ports.ts';
import type { ClaimedAttempt, Report } from '../core/decisions/events.ts';
import {
  ACCEPTED_ANYWAY,
  CANNOT_TELL,
  type Failure,
  failureOf,
  MAX_FAILURE_CHARS,
  readable,
} from '../core/values/failure.ts';
import type { Json } from '../core/values/json.ts';
import type { Execution, Mode, NotBefore } from '../core/records/state.ts';
import { InterruptedError, markOf } from '../core/values/errors.ts';
import { BUG, bugOf, bugText, isBug } from '../core/values/bug.ts';
import { defined } from '../core/values/defined.ts';
import { cut, durationText } from '../core/values/text.ts';
import { check, type Place } from '../engine/schema.ts';
import { answerText, outputOf, progressToken } from './answer.ts';
import type { ProcessBreaker } from './breaker.ts';
import type { ProcessRate } from './process-rate.ts';
import type { SingleFlight } from './single-flight.ts';

/** Fields of every line that the author's code logs. */
export interface LogContext {
  readonly executionId: string;
  readonly step: string;
  readonly attempt: number;
  readonly mode: Mode;
}

export interface AttemptListener {
  readonly claimed: (attempt: ClaimedAttempt) => void;
  /** Called for the attempt that this process claimed last. */
  readonly leaseLost: () => void;
}

export interface Worker {
  readonly agent: Agent;
  readonly implementation: Implementation<unknown, unknown>;
  /**
   * The failure if the implementation lacks a part that the agent declares. Nothing is then executed, because
   * it could not be probed or undone.
   * @default nothing
   * @internal
   */
  readonly lacks?: Failure;
  /** The agent's breaker, as this process sees it. @default it calls regardless of the breaker @internal */
  readonly breaker?: ProcessBreaker;
  /**
   * Limits how many attempts may begin per second, over all processes.
   * @default as many as come
   * @internal
   */
  readonly rate?: ProcessRate;
  /**
   * Another reason, besides an open breaker, to defer the steps of an execution; asked before each claim.
   * @default nothing
   * @internal
   */
  readonly deferredBy?: (ports: Ports, execution: Execution) => Promise<NotBefore | undefined>;
  /**
   * Makes a process for the author's code ready before a message is claimed.
   * @default - the author's code runs in this process
   * @internal
   */
  readonly enter?: () => Promise<(() => void) | undefined>;
  /**
   * Joins evaluations of one execution that several messages of this process ask for at the same time.
   * @default each has its own
   * @internal
   */
  readonly singleFlight?: SingleFlight;
  /**
   * Where the author's code logs.
   * @default nowhere
   * @internal
   */
  readonly logOf?: (context: LogContext) => AttemptLog;
  /**
   * Called for every attempt before its author's code begins, and when its lease is lost.
   * @default - none
   * @internal
   */
  listener?: AttemptListener;
  /**
   * The attempts whose author's code has not returned yet.
   * @default - not kept
   * @internal
   */
  readonly underWay?: Set<LogContext>;
  /**
   * A claim reads single records if the execution has more than this many for each one that it needs.
   * @default 12
   * @internal
   */
  readonly recordsARead?: number;
}

export interface Task {
  readonly mode: Mode;
  readonly ctx: AttemptContext;
  /** The step's input, resolved. */
  readonly input: Json | undefined;
  /** The step's output, when an undo begins from `done`. */
  readonly output: Json | undefined;
  /** Why there is no input: nothing is executed. */
  readonly refused?: Failure;
  /** Where values are checked, and put if they are too large for a record. */
  readonly place?: Place;
}

/** Performs a task, and reports its outcome. Never rejects. */
export async function perform(worker: Worker, task: Task): Promise<Report> {
  try {
    if (task.refused !== undefined)
      return {
        kind: 'failed',
        codeReturned: true,
        permanent: true,
        inputRefused: true,
        failure: task.refused,
      };
    const input = await check(worker.agent.input, task.input, task.place ?? {});
    // Even if a later version of the agent refuses an input, one that was accepted must be probed and undone.
    if ('issues' in input && task.mode === 'execute') return refusedInput(input.issues);
    const value = 'issues' in input ? task.input : input.value;
    switch (task.mode) {
      case 'execute':
        return await execute(worker, task, value);
      case 'probe':
        return await probe(worker, task, value);
      case 'undo':
        return await undo(worker, task, value);
    }
  } catch (error) {
    return thrown(error, task.mode, worker.agent.spec.name);
  }
}

async function execute(worker: Worker, task: Task, input: unknown): Promise<Report> {
  const { lacks } = worker;
  if (lacks !== undefined) return { kind: 'failed', codeReturned: true, permanent: true, failure: lacks };
  const answer = await worker.implementation.execute(task.ctx, input);
  const accepted = acceptanceIn(worker.agent, answer);
  if (accepted !== undefined) return accepted;
  const result = await outputOf(worker.agent, answer, task.place);
  if ('output' in result) return { kind: 'done', codeReturned: true, output: result.output };
  return { kind: 'wrong-answer', codeReturned: true, failure: result.failure, answer: answerText(answer) };
}

/**
 * The report if the answer accepts work; undefined for an output, and for an answer that throws when it is
 * read, because that is done work, too (S6).
 */
function acceptanceIn(agent: Agent, answer: unknown): Report | undefined {
  try {
    return isAccepted(answer) ? acceptedAnswer(agent, answer) : undefined;
  } catch {
    // `outputOf` reads the answer as well, and reports what was thrown.
    return undefined;
  }
}

const isAccepted = (answer: unknown): answer is Accepted =>
  typeof answer === 'object' &&
  answer !== null &&
  'kind' in answer &&
  answer.kind === ('steadfast:accepted' satisfies Accepted['kind']);

const MAX_TOKEN_CHARS = 1_000;

/** Reports accepted work. A wish or a token of a wrong type is ignored. */
function acceptedAnswer({ spec }: Agent, answer: Accepted): Report {
  const { acceptsMs: withinMs } = spec;
  const { token, askAfter } = answer;
  const wrong = (code: string, why: string): Report => {
    const message = `${ACCEPTED_ANYWAY}${why}`;
    return {
      kind: 'wrong-answer',
      codeReturned: true,
      failure: { code, message },
      answer: answerText(answer),
    };
  };
  if (withinMs === undefined)
    return wrong(
      'no-accepted-within',
      `agent '${spec.name}' is declared without 'acceptedWithin', the time that accepted work may take`,
    );
  if (token !== undefined && (typeof token !== 'string' || token.length > MAX_TOKEN_CHARS))
    return wrong('bad-token', `a token is a text of up to ${MAX_TOKEN_CHARS} characters`);
  return { kind: 'accepted', codeReturned: true, withinMs, ...defined({ token }), ...askAfterOf(askAfter) };
}

const askAfterOf = (wish: Accepted['askAfter']): { readonly askAfterMs?: number } =>
  defined({ askAfterMs: lengthMsOf(wish) });

async function probe(worker: Worker, task: Task, input: unknown): Promise<Report> {
  if (worker.implementation.probe === undefined) {
    const failure = { code: 'no-probe', message: `agent '${worker.agent.spec.name}' has no probe` };
    return { kind: 'found', codeReturned: true, verdict: 'cannot-tell', failure };
  }
  const answer: Verdict<unknown> = await worker.implementation.probe(task.ctx, input);
  if (answer.verdict === 'cannot-tell') return found(answer.reason, answer.askAfter);
  if (answer.verdict === 'running') return runningOf(answer);
  if (answer.verdict === 'not-done') return { kind: 'found', codeReturned: true, verdict: 'not-done' };
  if (answer.verdict !== 'done') return found(NO_VERDICT);
  const result = await outputOf(worker.agent, answer.output, task.place);
  if ('output' in result)
    return { kind: 'found', codeReturned: true, verdict: 'done', output: result.output };
  const { failure } = result;
  return { kind: 'wrong-answer', codeReturned: true, failure, answer: answerText(answer.output) };
}

const NO_VERDICT = 'its answer is not a verdict; allowed: done(), notDone(), running() and cannotTell()';

const runningOf = ({ progress, askAfter }: Verdict<unknown> & { readonly verdict: 'running' }): Report => ({
  kind: 'found',
  codeReturned: true,
  verdict: 'running',
  ...defined({ progress: progress === undefined ? undefined : progressToken(progress) }),
  ...askAfterOf(askAfter),
});

/** Handles any reason that an author gives: types do not bind JavaScript. */
const found = (reason: unknown, askAfter?: Accepted['askAfter']): Report => ({
  kind: 'found',
  codeReturned: true,
  verdict: 'cannot-tell',
  ...(reason === undefined ? {} : { failure: failureOf({ code: CANNOT_TELL, message: textOf(reason) }) }),
  ...askAfterOf(askAfter),
});

const textOf = (reason: unknown): string => (typeof reason === 'string' ? reason : failureOf(reason).message);

async function undo(worker: Worker, task: Task, input: unknown): Promise<Report> {
  if (worker.implementation.undo === undefined) {
    const failure = { code: 'no-undo', message: `agent '${worker.agent.spec.name}' has no undo` };
    return { kind: 'failed', codeReturned: true, permanent: true, failure };
  }
  await worker.implementation.undo(task.ctx, input, task.output);
  return { kind: 'compensated', codeReturned: true };
}

/**
 * The failure if an implementation lacks a part that its agent declares. Types refuse this, but an author may
 * not check types.
 */
export function lackOf(
  { spec }: Agent,
  implementation: Implementation<unknown, unknown>,
): Failure | undefined {
  const part = partsOf(spec).find((name) => implementation[name] === undefined);
  const useless = uselessPartsOf(spec).find((name) => implementation[name] !== undefined);
  if (part === undefined && useless === undefined) return undefined;
  const [code, declared, has] =
    part === undefined
      ? [`useless-${useless}`, `without ${useless}`, 'one']
      : [`no-${part}`, `with ${part}`, 'none'];
  const message = `agent '${spec.name}' is declared ${declared}, and its handler has ${has}; nothing was executed`;
  return { code, message };
}

function refusedInput(issues: string): Report {
  const failure = { code: 'input-refused', message: `the agent does not accept the step's input: ${issues}` };
  return { kind: 'failed', codeReturned: true, permanent: true, inputRefused: true, failure };
}

/** Keeps the note even if the message must be cut. */
function withNote(message: string, retryAfter: unknown, retryAfterMs: number): string {
  const note =
    retryAfterMs <= MAX_DURATION_MS
      ? ` (its service asks to wait ${durationText(retryAfterMs)})`
      : ` (its retryAfter, ${String(retryAfter)}, is over a year and was ignored: give a duration, not a time)`;
  return `${cut(message, MAX_FAILURE_CHARS - note.length)}${note}`;
}

function failureBy(error: unknown, agent: string): Failure {
  if (isBug(error)) return bugOf(agent, bugText(error));
  const failure = failureOf(error);
  // An agent's own process has already found the error to be a bug.
  return failure.code === BUG ? bugOf(agent, failure.message) : failure;
}

/** An attempt that never began has certainly done nothing: it has failed. */
function thrownBy({ hasBegun }: InterruptedError, mode: Mode, failure: Failure): Report {
  if (mode === 'probe') return { kind: 'found', codeReturned: true, verdict: 'cannot-tell', failure };
  if (hasBegun) return { kind: 'unknown', codeReturned: true, failure };
  return { kind: 'failed', codeReturned: true, permanent: false, failure };
}

function thrown(unread: unknown, mode: Mode, agent: string): Report {
  const error = readable(unread);
  const failure = failureBy(error, agent);
  if (error instanceof InterruptedError) return { ...thrownBy(error, mode, failure), interrupted: true };
  const mark = markOf(error);
  // Others may mean anything by the field: a time, or milliseconds.
  const isOurs = mark === 'transient' || mark === 'unknown';
  const { retryAfterMs, ...noted } = isOurs ? withWish(failure, error) : { failure };
  if (mode === 'probe')
    return {
      kind: 'found',
      codeReturned: true,
      verdict: 'cannot-tell',
      ...noted,
      ...defined({ askAfterMs: retryAfterMs }),
    };
  if (mark === 'permanent') return { kind: 'failed', codeReturned: true, permanent: true, failure };
  const wish = { ...noted, ...defined({ retryAfterMs }) };
  if (mark === 'transient') return { kind: 'failed', codeReturned: true, permanent: false, ...wish };
  return { kind: 'unknown', codeReturned: mark !== 'still-acting', ...wish };
}

/** Reads the pause that a service asks for. An instant given as a duration is ignored. */
function withWish(
  failure: Failure,
  error: unknown,
): { readonly failure: Failure; readonly retryAfterMs?: number | undefined } {
  const { retryAfter } = error as { retryAfter?: string | number };
  const retryAfterMs =
    typeof retryAfter === 'number' ? Math.round(retryAfter * 1_000) : (lengthMsOf(retryAfter) ?? 0);
  if (!Number.isFinite(retryAfterMs) || retryAfterMs <= 0) return { failure };
  const noted = { ...failure, message: withNote(failure.message, retryAfter, retryAfterMs) };
  return { failure: noted, ...(retryAfterMs <= MAX_DURATION_MS ? { retryAfterMs } : {}) };
}
