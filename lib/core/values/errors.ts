/**
 * The errors that authors throw and that Steadfast throws.
 *
 * Owns: what an agent's author can say about a failure, and our only error class with a string code. Does not
 * own: what follows a failure (`step/recovery.ts`).
 *
 * Any other error that an agent throws leaves the outcome `unknown`, and nothing is repeated before that is
 * resolved (S6).
 *
 * Each class has a mark that its subclasses inherit, whatever their names. So errors of another copy of this
 * file (CommonJS beside ES modules, a second version) and of another realm (Jest) are recognised, too.
 */

const MARK: unique symbol = Symbol.for('steadfast.error');

/**
 * The meaning of an error for the work, or that it is one of Steadfast's own. An unmarked error leaves the
 * outcome unknown, too; one that is marked so may have a `retryAfter` in seconds.
 */
export type ErrorMark = 'transient' | 'permanent' | 'still-acting' | 'unknown' | 'refusal';

/** @returns undefined for any other thrown value */
export const markOf = (error: unknown): ErrorMark | undefined =>
  (Object(error) as { readonly [MARK]?: ErrorMark })[MARK];

/** Restores the mark of an error that came from another process as data. */
export const marked = (error: Error, mark: ErrorMark | undefined): Error =>
  mark === undefined ? error : Object.defineProperty(error, MARK, { value: mark });

/**
 * For an agent to throw: the work was NOT done, and may be tried again (a 503, a refused connection, a full
 * queue), as the step's recovery says.
 * @example throw new TransientError('the card service answered 503');
 */
export class TransientError extends Error {
  override name: string = 'TransientError';
  /**
   * The pause that the service asked for, a duration ('5s') or seconds. It replaces the recovery's backoff if
   * it is longer.
   */
  readonly retryAfter: string | number | undefined;

  constructor(message: string, options: { retryAfter?: string | number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.retryAfter = options.retryAfter;
  }
}

/**
 * For an agent to throw: the work was NOT done, and trying again cannot help (a declined card, an unknown
 * article). Retries are left out; `useAgent`, `withInput` and `askPerson` of the step's recovery follow, and
 * then the undo.
 * @example throw new PermanentError('the card is declined');
 */
export class PermanentError extends Error {
  override name: string = 'PermanentError';
}

/**
 * The outcome is unknown, and the work may go on although this code has returned: it is done elsewhere,
 * behind a connection that broke. Until the attempt's `processDeadline` a probe's `notDone` is not
 * believed, and no undo is repeated.
 */
export class StillActingError extends Error {
  override name: string = 'StillActingError';
  readonly code: string;

  constructor(code: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** The code of an attempt whose process has ended by no fault of its own: not a failure of its agent. */
export const INTERRUPTED = 'interrupted';

/**
 * The process of an attempt ended through no fault of its own. Thrown to our own code, never to an author's.
 */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  readonly code = INTERRUPTED;
  /** True if its author's code may have acted. */
  readonly hasBegun: boolean;

  constructor(message: string, hasBegun: boolean) {
    super(message);
    this.hasBegun = hasBegun;
  }
}

/** Stands for an answer that cannot leave its process: the work is done, and its output is lost. */
export class Unsendable {
  /** Why it cannot leave. */
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/**
 * An error of Steadfast itself: `code` for programs, `message` for people (what was wrong, what is allowed).
 */
export class SteadfastError extends Error {
  override name: string = 'SteadfastError';
  /** For programs: `not-found`, `workflow-refused`, … */
  readonly code: string;
  /** More facts about it, if there are any. */
  readonly details: unknown;

  constructor(code: string, message: string, details?: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

for (const [made, mark] of [
  [TransientError, 'transient'],
  [PermanentError, 'permanent'],
  [StillActingError, 'still-acting'],
  [SteadfastError, 'refusal'],
] as const)
  marked(made.prototype, mark);

export const isSteadfastError = (error: unknown): error is SteadfastError => markOf(error) === 'refusal';

/** An error of any realm: under Jest Node's errors are not instances of the test's `Error`. */
export const isError = (value: unknown): value is Error =>
  value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';

/** The part of any error that a log may contain: its message may quote a payload (S17). */
export function errorName(error: unknown): string {
  try {
    return isError(error) ? String(error.name) : 'error';
  } catch {
    // An author's code may throw what cannot be read.
    return 'error';
  }
}

export function refuse(code: string, message: string, details?: unknown): SteadfastError {
  return new SteadfastError(code, message, details);
}

/**
 * The part of an error that a log may contain: all of our own errors, only the name of any other, because its
 * message may quote a payload (S17).
 */
export function sayable(error: unknown): string {
  try {
    if (isSteadfastError(error)) return `${error.code}: ${error.message}`;
  } catch {
    // The same.
  }
  return errorName(error);
}
