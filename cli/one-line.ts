/**
 * Wraps a client so that no text in its answers contains line breaks: foreign text cannot begin a new line of
 * output.
 *
 * Does not own: other control characters. They are escaped when text is written (`io.ts`); by then, the
 * layout's own line breaks could not be distinguished from foreign ones.
 */

import { ApiError, type Client } from '../lib/api/client.ts';

/** Payloads, which need no change because they are printed as JSON. */
const AS_JSON: ReadonlySet<string> = new Set(['input', 'output']);

/** Wraps the client: every text in its answers and errors becomes one line. */
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
 * The text in one line. Line breaks become one space, which reads better in a schema's message, as that is
 * indented JSON.
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
