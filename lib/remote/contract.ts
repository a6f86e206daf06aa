/**
 * The protocol between the relay and an agent in another language: one call as JSON, and its answer
 * (docs/AGENTS-ELSEWHERE.md).
 *
 * Owns: the call's fields, the allowed answers of each call, what each answer means for the work, the sizes.
 * Does not own: the transport (`command.ts`, `http.ts`), what follows from an outcome
 * (`agent/author-code.ts`).
 *
 * S6 Only a well-formed answer says "not done". An unreadable answer is an unknown outcome; so is an output
 * with a whole number that would be rounded, because an id would be that of other work. S17 No error here
 * quotes an output.
 */

import type { AttemptContext } from '../core/plan/agent.ts';
import { accepted, cannotTell, running, type Verdict } from '../core/plan/answers.ts';
import { MAX_DURATION_MS } from '../core/values/duration.ts';
import { defined } from '../core/values/defined.ts';
import { PermanentError, TransientError } from '../core/values/errors.ts';
import { roundedIn } from '../core/values/whole-numbers.ts';

export type CallKind = 'execute' | 'probe' | 'undo';

/** One call, in the form that the remote gets. */
export interface RemoteCall {
  /** The version of this contract: 1. */
  readonly version: 1;
  readonly call: CallKind;
  readonly agent: string;
  readonly executionId: string;
  readonly step: string;
  /** The attempt's number, from 1. */
  readonly attempt: number;
  readonly idempotencyKey: string;
  /** Epoch ms: after this time no effect may begin. */
  readonly deadlineAt: number;
  readonly input: unknown;
  /** Only for an undo, if there is an output. */
  readonly output?: unknown;
  /** Only for a probe or an undo of accepted work. */
  readonly accepted?: AttemptContext['accepted'];
}

/**
 * The longest answer, or line of an answer, in bytes. It is four times the limit of an output: JSON may write
 * a two-byte character as six bytes, and an output that is too long is refused by name later.
 */
export const MAX_ANSWER_BYTES: number = 1_024 * 1_024;

/** The allowed answers of each call. */
const ANSWERS = {
  execute: ['done', 'accepted', 'transient', 'permanent', 'running', 'cannotTell'],
  probe: ['done', 'notDone', 'running', 'cannotTell'],
  undo: ['done', 'transient', 'permanent', 'cannotTell'],
} as const satisfies Readonly<Record<CallKind, readonly string[]>>;

export interface Answer {
  readonly answer: 'done' | 'accepted' | 'notDone' | 'running' | 'cannotTell' | 'transient' | 'permanent';
  readonly output?: unknown;
  readonly message?: string;
  readonly retryAfterMs?: number;
  /** Only with `accepted`: the service's token for the work. */
  readonly token?: string;
  /** Only with `accepted`, and with a probe's `running` and `cannotTell`. */
  readonly askAfterMs?: number;
  readonly progress?: string | number;
}

/** The content of one line, or of a whole answer. */
export type Said = Answer | { readonly progress: string | number };

/** An unreadable answer, and so an unknown outcome. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
  readonly code: string;

  constructor(code: 'bad-answer' | 'answer-too-large' | 'no-answer' | 'unsafe-number', message: string) {
    super(message);
    this.code = code;
  }
}

/** @param now the time by this machine's clock */
export const callOf = (
  call: CallKind,
  agent: string,
  ctx: AttemptContext,
  now: number,
  of: { readonly input: unknown; readonly output?: unknown },
): RemoteCall => ({
  version: 1,
  call,
  agent,
  executionId: ctx.executionId,
  step: ctx.step,
  attempt: ctx.attempt,
  idempotencyKey: ctx.idempotencyKey,
  deadlineAt: Math.floor(now + ctx.timeLeftMs()),
  input: of.input,
  ...defined({ output: of.output, accepted: ctx.accepted }),
});

const bad = (what: string): AnswerError => new AnswerError('bad-answer', `the remote's answer ${what}`);

/** Parses and checks an answer. @throws AnswerError that names the mistake, and the allowed forms */
export function parseSaid(text: string, call: CallKind): Said {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bad('is not JSON; a command must write its log to stderr');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bad('is not a JSON object such as {"answer":"done","output":{}}');
  const said = value as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(said, 'answer')) {
    const answer = checkedAnswer(said, call);
    const isRead = answer.answer === 'done' && call !== 'undo';
    if (isRead && roundedIn(text).some(([part]) => part === 'output'))
      throw new AnswerError(
        'unsafe-number',
        "a whole number in the output of the remote's answer is beyond ±9007199254740991 and would be rounded to another one: the service must send it as text",
      );
    return answer;
  }
  if (!Object.hasOwn(said, 'progress')) throw bad("has neither 'answer' nor 'progress'");
  const { progress } = said;
  if (!isProgress(progress)) throw bad("has a 'progress' that is neither a number nor a text");
  return { progress };
}

function checkedAnswer(said: Readonly<Record<string, unknown>>, call: CallKind): Answer {
  const known = ANSWERS[call].find((each) => each === said['answer']);
  if (known === undefined) throw bad(`is not one of those to ${call}: ${ANSWERS[call].join(', ')}`);
  const { message, token, progress } = said;
  for (const [name, text] of Object.entries({ message, token }))
    if (text !== undefined && typeof text !== 'string') throw bad(`has a '${name}' that is not a text`);
  if (progress !== undefined && !isProgress(progress))
    throw bad("has a 'progress' that is neither a number nor a text");
  return {
    answer: known,
    output: said['output'],
    ...(typeof message === 'string' ? { message } : {}),
    ...(typeof token === 'string' ? { token } : {}),
    ...(isProgress(progress) ? { progress } : {}),
    ...wishOf(said, 'retryAfterMs'),
    ...wishOf(said, 'askAfterMs'),
  };
}

const isProgress = (progress: unknown): progress is string | number =>
  typeof progress === 'string' || typeof progress === 'number';

function wishOf<Name extends 'retryAfterMs' | 'askAfterMs'>(
  said: Readonly<Record<string, unknown>>,
  name: Name,
): { readonly [Key in Name]?: number } {
  const wish = said[name];
  if (wish === undefined) return {};
  if (typeof wish === 'number' && wish >= 0 && wish <= MAX_DURATION_MS)
    return { [name]: wish } as { readonly [Key in Name]: number };
  throw bad(`has a '${name}' that is not a number of milliseconds from 0 to ${MAX_DURATION_MS}`);
}

/** Reads an answer piece by piece; refuses one that is too long before parsing it. */
export class AnswerReader {
  readonly #call: CallKind;
  readonly #progress: ((token: string | number) => void) | undefined;
  #kept: Buffer[] = [];
  #bytes = 0;

  /**
   * @param progress called with each progress token; if absent, the whole input is one answer, even if it has
   * several lines
   */
  constructor(call: CallKind, progress?: (token: string | number) => void) {
    this.#call = call;
    this.#progress = progress;
  }

  /** Adds a piece; returns the answer once it is complete. @throws AnswerError */
  push(chunk: Buffer): Answer | undefined {
    let rest = chunk;
    while (this.#progress !== undefined) {
      const end = rest.indexOf(0x0a);
      if (end < 0) break;
      this.#keep(rest.subarray(0, end));
      const said = this.#take();
      if (said !== undefined) return said;
      rest = rest.subarray(end + 1);
    }
    this.#keep(rest);
    return undefined;
  }

  /** Returns an answer that lacks a final line break. @throws AnswerError */
  end(): Answer {
    const said = this.#take();
    if (said !== undefined) return said;
    throw new AnswerError('no-answer', 'the remote ended without an answer');
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.byteLength;
    if (this.#bytes > MAX_ANSWER_BYTES)
      throw new AnswerError(
        'answer-too-large',
        `the remote's answer has more than ${MAX_ANSWER_BYTES} bytes in a line: store what is large elsewhere and return a reference`,
      );
    if (piece.byteLength > 0) this.#kept.push(piece);
  }

  #take(): Answer | undefined {
    const text = Buffer.concat(this.#kept).toString('utf8').trim();
    this.#kept = [];
    this.#bytes = 0;
    if (text === '') return undefined;
    const said = parseSaid(text, this.#call);
    if ('answer' in said) return said;
    this.#progress?.(said.progress);
    return undefined;
  }
}

const secondsOf = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1_000);

/** Converts the answer of a probe. */
export function verdictOf({ answer, output, message, progress, askAfterMs }: Answer): Verdict<unknown> {
  switch (answer) {
    case 'done':
      return { verdict: 'done', output };
    case 'notDone':
      return { verdict: 'not-done' };
    case 'running':
      return running(defined({ progress, askAfter: secondsOf(askAfterMs) }));
    default:
      return cannotTell(message, defined({ askAfter: secondsOf(askAfterMs) }));
  }
}

/**
 * Returns the output of an execute or an undo that is done.
 * @param goesOn makes the error for work that is still running
 * @throws TransientError, PermanentError: certainly not done; any other error: unknown
 */
export function outputOf(
  { answer, output, message, retryAfterMs, token, askAfterMs }: Answer,
  goesOn: (message: string) => Error,
): unknown {
  switch (answer) {
    case 'done':
      return output;
    case 'accepted':
      return accepted(defined({ token, askAfter: secondsOf(askAfterMs) }));
    case 'transient':
      throw new TransientError(
        message ?? 'the remote says: not done, try again',
        defined({ retryAfter: secondsOf(retryAfterMs) }),
      );
    case 'permanent':
      throw new PermanentError(message ?? 'the remote says: not done, trying again cannot help');
    case 'running':
      throw goesOn(message ?? 'the remote says: taken on, and still running');
    default:
      throw new Error(message ?? 'the remote says: it cannot tell');
  }
}
