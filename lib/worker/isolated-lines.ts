/**
 * The log lines that a process for authors' code sends.
 *
 * Owns: the form of a line and of a thrown value, how many lines of an agent are sent in a second, and
 * counting the dropped ones: each line takes time of the process that writes it, which serves everybody. Does
 * not own: sending (`isolated-calls.ts`).
 */

import { inspect } from 'node:util';
import { serialize } from 'node:v8';
import type { AttemptLog } from '../core/plan/agent.ts';
import { BUG, bugText, isBug } from '../core/values/bug.ts';
import { defined } from '../core/values/defined.ts';
import { isError, markOf } from '../core/values/errors.ts';
import { failureOf, readable } from '../core/values/failure.ts';
import { readBack, type Said } from './isolated-words.ts';

const WINDOW_MS = 1_000;
/** The most lines of a window, of all calls of an agent in this process together. */
const MOST_LINES = 1_000;
/** A window takes no further line once it has this many bytes. */
const MOST_LINE_BYTES = 4_194_304;

class LineLimit {
  readonly #now: () => number;
  #endsAt = 0;
  #lines = 0;
  #bytes = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** True if a line may be sent now. */
  hasRoom(): boolean {
    const now = this.#now();
    if (now >= this.#endsAt) [this.#endsAt, this.#lines, this.#bytes] = [now + WINDOW_MS, 0, 0];
    return this.#lines < MOST_LINES && this.#bytes < MOST_LINE_BYTES;
  }

  /** @throws Error if the line cannot be sent */
  count(line: unknown): void {
    this.#bytes += serialize(line).length;
    this.#lines += 1;
  }
}

/** By agent, so that one that fills its log costs no other its lines. */
const limits = new Map<string, LineLimit>();

function limitOf(agent: string): LineLimit {
  const limit = limits.get(agent) ?? new LineLimit(() => performance.now());
  limits.set(agent, limit);
  return limit;
}

/** The most characters of such a text that are sent; its receiver keeps fewer. */
const MOST_WORD = 4_096;
/** Cuts a name, code or token. */
export const short = (text: string): string => text.slice(0, MOST_WORD);

/** Describes what was thrown: an error of Node's or of another realm, or any other value. */
export function thrownBy(thrown: unknown): Extract<Said, { kind: 'thrown' }> {
  const error = readable(thrown);
  // Sends neither class nor cause, because this process evaluates them: only the resulting fields are sent.
  if (isBug(error)) return { kind: 'thrown', name: short(error.name), message: bugText(error), code: BUG };
  const { name, code, retryAfter } = Object(error) as Record<string, unknown>;
  return {
    kind: 'thrown',
    ...defined({ mark: markOf(error) }),
    name: typeof name === 'string' ? short(name) : '',
    message: failureOf(error).message,
    ...(typeof code === 'string' ? { code: short(code) } : {}),
    ...(typeof retryAfter === 'number' ? { retryAfter } : {}),
    ...(typeof retryAfter === 'string' ? { retryAfter: short(retryAfter) } : {}),
  };
}

/** A line and its fields have at most this many characters each; longer fields are shown as text. */
const MOST_LOGGED = 262_144;
/** Fields that cannot be sent as they are become text of at most this length. */
const MAX_SHOWN = 4_096;
const shown = (value: unknown): string => inspect(value, { customInspect: false }).slice(0, MAX_SHOWN);

/** The lines of one call. */
export class Lines {
  readonly #limit: LineLimit;
  readonly #say: (said: Said, onFailed?: (error: unknown) => void) => void;
  #dropped = 0;

  constructor(agent: string, say: (said: Said, onFailed?: (error: unknown) => void) => void) {
    this.#limit = limitOf(agent);
    this.#say = say;
  }

  /** A line never fails the code that logs it, and is sent before that code goes on. */
  log(
    level: keyof AttemptLog,
    message: string,
    fields: Readonly<Record<string, unknown>> | Error = {},
  ): void {
    if (!this.#limit.hasRoom()) {
      this.#dropped += 1;
      return;
    }
    this.end();
    const line = {
      kind: 'log',
      level,
      message: typeof message === 'string' ? message.slice(0, MOST_LOGGED) : shown(message),
    } as const;
    const asText = (): void => this.#say({ ...line, fields: { shown: shown(fields) } });
    try {
      const given = readable(fields) as typeof fields;
      const whole = { ...line, fields: isError(given) ? thrownBy(given) : readBack(given, MOST_LOGGED) };
      this.#limit.count(whole);
      this.#say(whole, asText);
    } catch {
      this.#limit.count(line);
      asText();
    }
  }

  /** Says how many lines were dropped, if there is room again. */
  flush(): void {
    if (this.#dropped > 0 && this.#limit.hasRoom()) this.end();
  }

  /** Says how many lines were dropped. */
  end(): void {
    const dropped = this.#dropped;
    if (dropped === 0) return;
    this.#dropped = 0;
    const fields = {
      dropped,
      allowed: `${MOST_LINES} lines and 4 MB a second, of all attempts of its agent`,
    };
    this.#say({ kind: 'log', level: 'warn', message: 'log-lines-dropped', fields });
  }
}
