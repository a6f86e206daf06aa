/**
 * The stored form of an error: a code, and a message that includes its causes.
 *
 * Owns: the text, its limits, and what must never be in it. Does not own: what follows from a failure
 * (`step/recovery.ts`).
 *
 * S17 contains no stack, and only an error's name, code and message: a cause that is not an error may be a
 * payload. Causes are included, because the message of `fetch` is only "fetch failed".
 */

import { type ErrorMark, isError, marked, markOf } from './errors.ts';
import { misfitText } from './issues.ts';
import { cut } from './text.ts';

/** A failure as it is stored and shown: cut to size and free of stacks before it gets here (S17). */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** The code of a probe that cannot tell if the work was done. */
export const CANNOT_TELL = 'cannot-tell';

/**
 * How a failure's message begins if the agent did its work, or its service accepted it, and answered wrongly.
 */
export const DONE_ANYWAY = 'the work is done, and its answer cannot be used: ';
export const ACCEPTED_ANYWAY = 'the service has accepted the work, and that cannot be used: ';

/** How a failure's message begins, before the time, if its question got no answer. */
export const UNANSWERED = 'a person was asked, and nobody answered by ';

export const isAnsweredWrongly = ({ message }: Failure): boolean =>
  message.startsWith(DONE_ANYWAY) || message.startsWith(ACCEPTED_ANYWAY);

export const MAX_FAILURE_CHARS = 1_000;
const MAX_CODE_CHARS = 100;
/** The most characters of each error in a chain. */
const MAX_LINK_CHARS = 300;
/** How many levels of causes are followed. */
const MAX_DEPTH = 5;
/** An AggregateError with more members names only the first ones. */
const MAX_MEMBERS = 3;

/** An error of any realm or library. */
interface ErrorLike {
  readonly message: string;
  readonly name?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

const isErrorLike = (value: unknown): value is ErrorLike =>
  typeof value === 'object' &&
  value !== null &&
  'message' in value &&
  typeof (value as ErrorLike).message === 'string';

/** The stored form of anything that was thrown. Never throws. */
export function failureOf(error: unknown): Failure {
  try {
    const known: ErrorLike = isErrorLike(error) ? error : { message: String(error) };
    const code =
      codeOf(known) ?? (typeof known.name === 'string' && known.name !== '' ? known.name : 'Error');
    const own = cut(inWords(known.message), MAX_FAILURE_CHARS);
    const message = withRest(own, causesOf(known, new Set([error]), MAX_DEPTH));
    return { code: cut(code, MAX_CODE_CHARS), message: cut(message, MAX_FAILURE_CHARS) };
  } catch {
    // It cannot even be converted to text.
    return { code: 'Error', message: 'what was thrown cannot be shown' };
  }
}

/**
 * The thrown value itself, or an error in its place if reading one of its fields throws: a getter, a revoked
 * proxy. Never throws.
 */
export function readable(thrown: unknown): unknown {
  const read = (name: string): unknown => (Object(thrown) as Record<string, unknown>)[name];
  try {
    for (const name of ['name', 'message', 'code', 'stack', 'retryAfter']) read(name);
    markOf(thrown);
    isError(thrown);
    return thrown;
  } catch {
    const { code, message } = failureOf(thrown);
    return marked(Object.assign(new Error(message), { name: code }), markIn(thrown));
  }
}

function markIn(thrown: unknown): ErrorMark | undefined {
  try {
    return markOf(thrown);
  } catch {
    return undefined;
  }
}

/** A schema's misfits in one line, if the message is JSON as Zod writes it. */
function inWords(message: string): string {
  if (!message.startsWith('[')) return message;
  try {
    const issues = (JSON.parse(message) as readonly { path: readonly unknown[]; message: string }[]).map(
      ({ path, message: said }) => misfitText({ path: path.map(String).join('.'), message: said }),
    );
    return issues.length === 0 ? message : issues.join('; ');
  } catch {
    return message;
  }
}

const codeOf = ({ code }: ErrorLike): string | undefined =>
  typeof code === 'string' && code !== '' ? code : undefined;

/** The causes of an error in one line; '' if there are none. */
function causesOf(error: ErrorLike, seen: Set<unknown>, depth: number): string {
  if (depth === 0) return '';
  try {
    const { errors, cause } = error;
    const members = Array.isArray(errors) ? (errors as readonly unknown[]) : [];
    const shown = members.slice(0, MAX_MEMBERS).map((member) => linkOf(member, seen, depth));
    const more = members.length > MAX_MEMBERS ? [`and ${members.length - MAX_MEMBERS} more`] : [];
    const together = [...shown.filter((text) => text !== ''), ...more].join('; ');
    return withRest(together, linkOf(cause, seen, depth));
  } catch {
    return '';
  }
}

/** An error of the chain and what follows it: its code, or else its name, its message, its causes. */
function linkOf(error: unknown, seen: Set<unknown>, depth: number): string {
  if (!isErrorLike(error) || seen.has(error)) return '';
  seen.add(error);
  const { message, name } = error;
  const label = codeOf(error) ?? (typeof name === 'string' && name !== 'Error' ? name : '');
  const said = message.includes(label) ? message : `${label} ${message}`.trim();
  return withRest(cut(said, MAX_LINK_CHARS), causesOf(error, seen, depth - 1));
}

/** Wrappers often repeat the wrapped error's text: it is written only once. */
function withRest(own: string, rest: string): string {
  if (rest === '' || own.includes(rest)) return own;
  return rest.includes(own) ? rest : `${own}: ${rest}`;
}
