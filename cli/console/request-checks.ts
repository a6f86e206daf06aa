/**
 * Admits requests to the console only if they come from its own page in a browser on this machine.
 *
 * Owns: checking a request's head in its original form, before any decoding or normalisation. Does not own:
 * who opened the page (`login.ts`), which calls are allowed (`calls.ts`).
 */

import type { IncomingMessage } from 'node:http';
import { isSame } from './secrets.ts';

/** A refusal in the API's form. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export const TOKEN_HEADER = 'x-steadfast-console';

/**
 * A path without percent signs, backslashes and empty parts. Names and ids contain none, so each path has
 * only one spelling.
 */
const PATH = /^\/console(?:\/[\w.~-]+)*\/?$/;
const DOTS = /\/\.\.?(?:\/|$)/;
const MAX_TARGET = 8_192;

/** The path and the query, unchanged; undefined for a path outside the console. */
export function targetOf({ url = '' }: IncomingMessage): { path: string; query: string } | undefined {
  const [path = '', ...query] = url.split('?');
  if (url.length > MAX_TARGET || !PATH.test(path) || DOTS.test(path)) return undefined;
  return { path, query: query.join('?') };
}

/**
 * Accepts only this machine's names with the request's port. Another name may come from a foreign DNS server
 * (DNS rebinding).
 */
export function hostRefusal({ headers, socket }: IncomingMessage): Refusal | undefined {
  const names = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${socket.localPort}`);
  if (headers.host !== undefined && names.includes(headers.host)) return undefined;
  return {
    status: 403,
    code: 'wrong-host',
    message: `the console answers only under the names ${names.join(', ')}`,
  };
}

/**
 * Requires the token that the server wrote into its page. A page of another origin can neither read it nor
 * send such a header.
 */
export function tokenRefusal({ headers }: IncomingMessage, token: string): Refusal | undefined {
  const given = headers[TOKEN_HEADER];
  if (typeof given === 'string' && isSame(given, token)) return undefined;
  return { status: 403, code: 'forbidden', message: 'the page belongs to an earlier server: reload it' };
}

/**
 * Requires that each write is from the same origin and is JSON, because a browser makes a preflight before it
 * sends JSON to another origin.
 */
export function writeRefusal({ headers }: IncomingMessage): Refusal | undefined {
  if (headers.origin !== `http://${headers.host}`)
    return { status: 403, code: 'wrong-origin', message: 'only the console’s own page may make changes' };
  if (/^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(headers['content-type'] ?? '')) return undefined;
  return { status: 415, code: 'wrong-content-type', message: 'changes must be sent as application/json' };
}
