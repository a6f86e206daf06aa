/**
 * Sends one request and returns its result: bounded in time and size, and only to checked addresses.
 *
 * Owns: the connection, redirects, which addresses a name may have. Does not own: what follows from an answer
 * (`outcomes.ts`), building the request (`request.ts`).
 *
 * H1 A connection goes only to a checked address: it gets the checked list, and does not resolve the name
 * again. H2 Before the connection, nothing was sent; after it, the whole request may have been (S6). So each
 * request has its own connection: a reused one may be closed already, which would leave a needless unknown
 * outcome. Reports contain no value of a request (S17).
 */

import { lookup } from 'node:dns/promises';
import { type IncomingHttpHeaders, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { AbortSignalLike } from '../core/plan/agent.ts';
import { isPublic, mayReach, type Reach } from './addresses.ts';
import type { HttpMethod } from './declaration.ts';

/** The limit for name resolution, the connection and its encryption. */
const CONNECT_WITHIN_MS = 10_000;
/** NAT gateways and other routers forget a connection without traffic (after 350 s). */
const KEEP_ALIVE_EVERY_MS = 60_000;
const MOST_REDIRECTS = 5;
const CUT = 'broken-connection';

export interface Outgoing {
  readonly method: HttpMethod;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignalLike;
  readonly maxBytes: number;
  readonly reach: Reach;
}

export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, or the code for why it is incomplete. */
  readonly body: Buffer | string;
  /** Set if a redirect by 302 or 303 led to it: it may be a page that knows nothing of what was asked. */
  readonly isElsewhere?: true;
}

/** The result of a request. With `not-sent`, no byte has left; with `no-answer`, all may have. */
export type Result =
  | Answered
  | { readonly kind: 'not-sent'; readonly code: string; readonly isForGood?: true }
  | { readonly kind: 'no-answer'; readonly code: string };

interface Address {
  readonly address: string;
  readonly family: number;
}

/** Name resolution, and which addresses are public; tests may replace both. */
export interface Net {
  readonly resolve: (host: string) => Promise<readonly Address[]>;
  readonly isPublic: (address: string) => boolean;
}
const NET: Net = { resolve: (host) => lookup(host, { all: true }), isPublic };

/** Never rejects. */
export async function send(first: Outgoing, net: Net = NET): Promise<Result> {
  let next = first;
  let wasSentOn = false;
  for (let hops = 0; ; hops += 1) {
    const found = await addressesOf(next, net);
    if ('kind' in found) return found;
    const result = await exchange(next, found.addresses);
    if (result.kind !== 'answered') return result;
    const to = hops < MOST_REDIRECTS ? redirectOf(next, result) : undefined;
    if (to === undefined) return wasSentOn ? { ...result, isElsewhere: true } : result;
    wasSentOn ||= [302, 303].includes(result.status);
    next = { ...next, url: to };
  }
}

/**
 * H1 If only public addresses may be reached, a name with any other address is refused as a whole, because
 * someone may have put it there. If a private network may be reached, a name may have addresses that are
 * unreachable from here.
 */
async function addressesOf(
  { url, reach, signal }: Outgoing,
  net: Net,
): Promise<{ readonly addresses: readonly Address[] } | Result> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const family = isIP(host);
  try {
    const all = family > 0 ? [{ address: host, family }] : await within(net.resolve(host), signal);
    if (all.length === 0) return { kind: 'not-sent', code: 'ENOTFOUND' };
    const addresses = all.filter(({ address }) => net.isPublic(address) || mayReach(address, reach));
    const isRefused = reach === 'public' ? addresses.length < all.length : addresses.length === 0;
    return isRefused ? { kind: 'not-sent', code: 'private-address', isForGood: true } : { addresses };
  } catch (error) {
    return { kind: 'not-sent', code: codeOf(error) };
  }
}

/**
 * Ends the wait for a name resolution. A resolution cannot be stopped, so with a slow name server it
 * continues without the request.
 */
async function within<Value>(found: Promise<Value>, signal: AbortSignalLike): Promise<Value> {
  let end = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    end = () => reject(Object.assign(new Error(), { code: 'AbortError' }));
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
  return Promise.race([found, ended]).finally(() => signal.removeEventListener('abort', end));
}

const pinned =
  (addresses: readonly Address[]): LookupFunction =>
  (_name, { all }, answer) => {
    const [first] = addresses;
    if (all === true) answer(null, [...addresses]);
    else answer(null, first?.address ?? '', first?.family ?? 0);
  };

/** Returns the target of a redirect that may be followed: to the same origin, with the request unchanged. */
function redirectOf({ method, url }: Outgoing, { status, headers }: Answered): URL | undefined {
  const { location = '' } = headers;
  const isSame = [307, 308].includes(status) || ([301, 302, 303].includes(status) && isReading(method));
  if (!isSame || location === '' || !URL.canParse(location, url.href)) return undefined;
  const to = new URL(location, url);
  return to.origin === url.origin && to.username === '' && to.password === '' ? to : undefined;
}

export const isReading = (method: HttpMethod): boolean => method === 'GET' || method === 'HEAD';

const codeOf = (error: unknown): string => {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'string' ? code : CUT;
};

function exchange(out: Outgoing, addresses: readonly Address[]): Promise<Result> {
  const { method, url, headers, body, signal } = out;
  const isTls = url.protocol === 'https:';
  return new Promise((resolve) => {
    let isConnected = false;
    let answer: IncomingMessage | undefined;
    const asked = (isTls ? tlsRequest : plainRequest)(url, {
      method,
      agent: false,
      lookup: pinned(addresses),
      headers: {
        ...headers,
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      },
    });
    const end = (result: Result): void => {
      signal.removeEventListener('abort', abort);
      resolve(result);
      asked.destroy();
    };
    const broken = (code: string): void => {
      if (answer !== undefined) return end(answered(answer, code === 'AbortError' ? code : CUT));
      end({ kind: isConnected ? 'no-answer' : 'not-sent', code });
    };
    const abort = (): void => broken('AbortError');
    signal.addEventListener('abort', abort);
    asked.on('socket', (socket) => {
      socket.setKeepAlive(true, KEEP_ALIVE_EVERY_MS);
      const timer = setTimeout(() => broken('ETIMEDOUT'), CONNECT_WITHIN_MS);
      socket.once('close', () => clearTimeout(timer));
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        isConnected = true;
        clearTimeout(timer);
      });
    });
    asked.on('error', (error) => broken(codeOf(error)));
    asked.on('close', () => broken(CUT));
    asked.on('response', (response) => {
      answer = response;
      readBody(response, out.maxBytes, (read) => end(answered(response, read)));
    });
    if (signal.aborted) abort();
    else asked.end(body);
  });
}

const answered = ({ statusCode = 0, headers }: IncomingMessage, body: Answered['body']): Answered => ({
  kind: 'answered',
  status: statusCode,
  headers,
  body,
});

function readBody(response: IncomingMessage, maxBytes: number, end: (read: Buffer | string) => void): void {
  const parts: Buffer[] = [];
  let bytes = 0;
  response.on('data', (part: Buffer) => {
    bytes += part.byteLength;
    parts.push(part);
    if (bytes > maxBytes) end('answer-too-large');
  });
  response.on('error', () => end(CUT));
  response.on('end', () => end(response.complete ? Buffer.concat(parts) : CUT));
}
