/**
 * The headers that an HTTP API adds for pages of other origins, by its `CorsConfiguration`. Pure. Does not
 * own: which route a request takes (routes.ts).
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { CorsSpec } from '../template/routing-model.ts';

/** Whether a request is a browser's preflight. A preflight never has a signature or a token. */
export const isPreflight = (method: string, headers: IncomingHttpHeaders): boolean =>
  method === 'OPTIONS' &&
  headers.origin !== undefined &&
  headers['access-control-request-method'] !== undefined;

export const allowsOrigin = ({ allowOrigins }: CorsSpec, origin: string | undefined): origin is string =>
  origin !== undefined && allowOrigins.some((allowed) => matches(allowed, origin));

/** The headers for a call by a page of `origin`; none if that origin is not allowed. */
export function corsHeaders(
  cors: CorsSpec,
  origin: string | undefined,
  preflight: boolean,
): Record<string, string> {
  if (!allowsOrigin(cors, origin)) return {};
  const { allowOrigins, allowMethods, allowHeaders, exposeHeaders, allowCredentials, maxAgeSeconds } = cors;
  const list = (name: string, values: readonly string[]): Record<string, string> =>
    values.length === 0 ? {} : { [name]: values.join(',') };
  return {
    'access-control-allow-origin': allowOrigins.includes('*') ? '*' : origin,
    ...(allowCredentials ? { 'access-control-allow-credentials': 'true' } : {}),
    ...list('access-control-expose-headers', exposeHeaders),
    ...(preflight ? list('access-control-allow-methods', allowMethods) : {}),
    ...(preflight ? list('access-control-allow-headers', allowHeaders) : {}),
    ...(preflight && maxAgeSeconds !== undefined ? { 'access-control-max-age': String(maxAgeSeconds) } : {}),
  };
}

/** Whether an entry allows an origin: `*`, `https://*`, `http://*`, or the origin itself. */
const matches = (allowed: string, origin: string): boolean =>
  allowed.endsWith('*') ? origin.startsWith(allowed.slice(0, -1)) : allowed === origin;

/** Removes the CORS headers of a function, because API Gateway replaces them. */
export const withoutCors = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('access-control-')));
