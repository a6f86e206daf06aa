/**
 * A client whose answers contain no line breaks, so that text of other parties cannot begin a line of its
 * own.
 *
 * Does not own: other characters that a terminal interprets. These are escaped when text is written
 * (`io.ts`), where the layout's line breaks and those of a failure's message can no longer be distinguished.
 */

import { ApiError, type Client } from '../lib/api/client.ts';

/** Payloads, which are printed as JSON and so are escaped anyway. */
const AS_JSON: ReadonlySet<string> = new Set(['input', 'output']);

/** The client with every text in its answers and errors in one line. */
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

/**
 * The text in one line. A schema's message is JSON of many lines, for which one space reads better than an
 * escaped line break with an indentation.
 */
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
