/**
 * Answers of an API as text for people takes them: what another party wrote begins no line of its own.
 *
 * Owns: that this holds for whatever a command prints of an answer. Does not own: all else that a terminal
 * would obey, which is escaped where it is written (`io.ts`); there a line's end of the layout and one that a
 * failure's message brings cannot be distinguished.
 */

import { ApiError, type Client } from '../lib/api/client.ts';

/** Payloads are printed as JSON, which escapes them itself. */
const AS_JSON: ReadonlySet<string> = new Set(['input', 'output']);

/** The same client, in whose answers and refusals no text has a second line. */
export function inOneLine(client: Client): Client {
  const calls = Object.entries(client).map(([name, call]: [string, unknown]) => [
    name,
    typeof call === 'function' ? flattened(call as Call) : call,
  ]);
  return Object.fromEntries(calls) as Client;
}

type Call = (...args: readonly unknown[]) => Promise<unknown>;

const flattened =
  (call: Call): Call =>
  async (...args) => {
    try {
      return flat(await call(...args));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { code, message, status, details } = error;
      throw new ApiError(line(code), line(message), {
        ...(status === undefined ? {} : { status }),
        details: flat(details),
      });
    }
  };

/** A schema's message is JSON of many lines: one space reads better than an escape with an indentation. */
const line = (text: string): string =>
  text.includes('\n')
    ? text
        .split('\n')
        .map((part) => part.trim())
        .join(' ')
    : text;

function flat(value: unknown): unknown {
  if (typeof value === 'string') return line(value);
  if (Array.isArray(value)) return value.map(flat);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    line(key),
    AS_JSON.has(key) ? item : flat(item),
  ]);
  return Object.fromEntries(entries);
}
