/**
 * Owns: what a page in a browser of this machine may ask for, by what browsers say themselves: Host and Origin. Pure.
 * Owns not: what its script may read of an answer (cors.ts).
 *
 * A page of anywhere can send a form or a "simple" request here, and by a name server of its own it can call this machine by a
 * name of its own (DNS rebinding). Programs send no Origin.
 */
import type { IncomingHttpHeaders } from 'node:http';

const HERE = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Whether the request calls this machine by a name that no name server can give away. HTTP/1.0 has none, and no browser sends it. */
export const isCalledHere = ({ host }: IncomingHttpHeaders): boolean => host === undefined || HERE.test(host);

/** Whether no page asks, or one of this machine. */
export const isAskedHere = ({ origin }: IncomingHttpHeaders): boolean =>
  origin === undefined || HERE.test(origin.replace(/^https?:\/\//, ''));
