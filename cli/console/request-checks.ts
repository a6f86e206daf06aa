/**
 * Admits requests to the console only from its own page, in a browser of this machine.
 *
 * Owns: the checks of a request's head, in the form in which it came: nothing has been decoded, joined or
 * normalised yet. Does not own: who has opened the page (`login.ts`), which calls there are (`calls.ts`).
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
 * No percent sign, no backslash, no empty part: names and ids have none, and so
 * each path has one way to write it.
 */
const PATH = /^\/console(?:\/[\w.~-]+)*\/?$/;
const DOTS = /\/\.\.?(?:\/|$)/;
const MAX_TARGET = 8_192;

/** Its path and its query as they came; nothing for what is no path of the console. */
export function targetOf({ url = '' }: IncomingMessage): { path: string; query: string } | undefined {
  const [path = '', ...query] = url.split('?');
  if (url.length > MAX_TARGET || !PATH.test(path) || DOTS.test(path)) return undefined;
  return { path, query: query.join('?') };
}

/**
 * Accepts the names of this machine with the port that was asked. Any other name may come from a stranger's
 * name server (DNS rebinding).
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
 * The page's own requests have what was written into it; a page of elsewhere cannot read it,
 * and may not send such a header.
 */
export function tokenRefusal({ headers }: IncomingMessage, token: string): Refusal | undefined {
  const given = headers[TOKEN_HEADER];
  if (typeof given === 'string' && isSame(given, token)) return undefined;
  return { status: 403, code: 'forbidden', message: 'the page belongs to an earlier server: reload it' };
}

/**
 * A request that changes something comes from the same origin, and as JSON: a browser asks before it sends
 * that to another origin.
 */
export function writeRefusal({ headers }: IncomingMessage): Refusal | undefined {
  if (headers.origin !== `http://${headers.host}`)
    return { status: 403, code: 'wrong-origin', message: 'only the console’s own page may make changes' };
  if (/^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(headers['content-type'] ?? '')) return undefined;
  return { status: 415, code: 'wrong-content-type', message: 'changes must be sent as application/json' };
}
