/**
 * Decides which requests a page in a browser on this machine may make, by the headers that browsers set:
 * Host, Origin, content type. Pure. Does not own: which answers a script may read (cors.ts).
 *
 * Any page on the web can send a form or a "simple" request here, and by a DNS server of its own it can make
 * its own host name point to this machine (DNS rebinding). Programs send no Origin.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

const HERE = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Whether the Host is a name of this machine that no foreign DNS server can define. HTTP/1.0 has no Host, but
 * no browser uses it.
 */
export const isCalledHere = ({ host }: IncomingHttpHeaders): boolean => host === undefined || HERE.test(host);

/** Whether the request comes from a program, or from a page of this machine. */
export const isAskedHere = ({ origin }: IncomingHttpHeaders): boolean =>
  origin === undefined || HERE.test(origin.replace(/^https?:\/\//, ''));

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i;

/**
 * Whether the request is a read, or may write. A program and a page on this port may. A page on another port
 * of this machine must send JSON: a browser makes a preflight before it sends JSON to another origin, but not
 * before a form or a text.
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
