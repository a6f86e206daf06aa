/**
 * Errors that are certainly bugs of the code that threw them, and no evidence about the service that it
 * calls.
 *
 * Owns: which errors these are, and their text. Does not own: the consequences for the breaker
 * (`step/breaker.ts`: none), the advice to a person (`explain/words.ts`).
 *
 * Only errors of the language itself are certain: an undeclared name, a property of undefined, source that
 * does not parse. `fetch` throws a TypeError if no server answers, and parsers throw a SyntaxError because of
 * an answer: these count as the service's. A library's error has its own class, code, cause or fields. In
 * doubt an error counts as the service's. Classes are identified by name, because Jest and worker processes
 * have other class objects.
 */

import { cut } from './text.ts';
import type { Failure } from './failure.ts';

/** The code of a failure that is a bug. */
export const BUG = 'bug';

const NAMES: ReadonlySet<unknown> = new Set(['ReferenceError', 'TypeError', 'SyntaxError']);
/** The own fields of an error of the language. */
const OWN: ReadonlySet<string> = new Set(['stack', 'message']);
/** Node's own refusal of an argument. */
const BAD_ARGUMENT = /^ERR_INVALID_ARG/;
const OF_FETCH = /^(fetch failed|failed to fetch|load failed|network ?error|terminated)\b/i;
const OF_PARSING = /\bJSON\b|\bto a BigInt\b/;

/** True if the error is certainly a bug. Never throws. */
export function isBug(error: unknown): error is Error {
  try {
    if (Object.prototype.toString.call(error) !== '[object Error]') return false;
    const { name, message, code, constructor } = error as Error & { readonly code?: unknown };
    if (!NAMES.has(name) || constructor.name !== name || typeof message !== 'string') return false;
    if (typeof code === 'string' && BAD_ARGUMENT.test(code)) return true;
    if (!Object.getOwnPropertyNames(error).every((key) => OWN.has(key))) return false;
    return !OF_FETCH.test(message) && !(name === 'SyntaxError' && OF_PARSING.test(message));
  } catch {
    return false;
  }
}

/** 'TypeError: x is not a function (<file>:12)'. Never throws. */
export function bugText({ name, message, stack }: Error): string {
  const place = placeIn(stack);
  return `${name}: ${cut(message, MAX_CHARS)}${place === undefined ? '' : ` (${place})`}`;
}

export const bugOf = (agent: string, text: string): Failure => ({
  code: BUG,
  message: `a bug in agent '${agent}': ${text}`,
});

const MAX_CHARS = 600;
const FRAME = /^\s*at (?:.*\()?(?:file:\/\/)?([^()]+):(\d+):\d+\)?$/;

/** File and line of the first frame that is neither Node's nor a library's; no more of the stack (S17). */
function placeIn(stack: unknown): string | undefined {
  if (typeof stack !== 'string') return undefined;
  for (const line of stack.split('\n')) {
    const [, file, at] = FRAME.exec(line) ?? [];
    if (file === undefined || file.startsWith('node:') || file.includes('node_modules')) continue;
    return `${file.split(/[/\\]/).slice(-2).join('/').slice(-MAX_PLACE_CHARS)}:${at}`;
  }
  return undefined;
}

const MAX_PLACE_CHARS = 120;
