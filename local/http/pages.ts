/**
 * Decides what a page in a browser on this machine may ask for, by what browsers themselves send: Host,
 * Origin, content type. Pure. Does not own: what a script may read of an answer (cors.ts).
 *
 * Any page on the web can send a form or a "simple" request here, and with a name server of its own it can
 * call this machine under its own name (DNS rebinding). Programs send no Origin.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

const HERE = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Whether the request names this machine by a name that no foreign name server can resolve. HTTP/1.0 sends no
 * Host, but no browser uses it.
 */
export const isCalledHere = ({ host }: IncomingHttpHeaders): boolean => host === undefined || HERE.test(host);

/** Whether the request comes from no page, or from a page of this machine. */
export const isAskedHere = ({ origin }: IncomingHttpHeaders): boolean =>
  origin === undefined || HERE.test(origin.replace(/^https?:\/\//, ''));

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i;

/**
 * Whether the request may change something. It may if it only reads, comes from no page or from the page on
 * this port, or comes from another port of this machine and is JSON: a browser asks first before it sends
 * JSON to another origin, while it sends forms and texts without asking.
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
