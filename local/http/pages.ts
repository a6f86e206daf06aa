/**
 * Owns: what a page in a browser of this machine may ask for, by what browsers say themselves: Host, Origin,
 * and what is sent. Pure. Owns not: what its script may read of an answer (cors.ts).
 *
 * A page of anywhere can send a form or a "simple" request here, and by a name server of its own it can call
 * this machine by a name of its own (DNS rebinding). Programs send no Origin.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

const HERE = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Whether the request calls this machine by a name that no name server can give away. HTTP/1.0 has
 * none, and no browser sends it.
 */
export const isCalledHere = ({ host }: IncomingHttpHeaders): boolean => host === undefined || HERE.test(host);

/** Whether no page asks, or one of this machine. */
export const isAskedHere = ({ origin }: IncomingHttpHeaders): boolean =>
  origin === undefined || HERE.test(origin.replace(/^https?:\/\//, ''));

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i;

/**
 * Whether the request only reads, or no page asks, or the page that the same port serves, or one
 * of another port of this machine that sends JSON: a browser asks before it sends that, and a
 * form or a text it sends unasked.
 */
export const mayWriteHere = ({
  method = 'GET',
  headers,
}: Pick<IncomingMessage, 'method' | 'headers'>): boolean => {
  const { origin, host } = headers;
  if (READS.has(method) || origin === undefined) return true;
  if (!isAskedHere(headers)) return false;
  return origin === `http://${host}` || JSON_TYPE.test(headers['content-type'] ?? '');
};
