/** Whether an answer is one that the contract describes for its route. */

import * as z from 'zod/mini';
import { CALLS, type Route } from '../../lib/api/calls.ts';
import { ERRORS_OF_ALL, ROUTES } from '../../lib/api/contract/routes.ts';
import { type ErrorCode, STATUS } from '../../lib/api/statuses.ts';

const patterns = (Object.keys(CALLS) as Route[]).map((route) => ({
  route,
  pattern: new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** @param path with its query */
export const routeOf = (method: string, path: string): Route | undefined => {
  const { pathname } = new URL(`http://api${path}`);
  return patterns.find(({ pattern }) => pattern.test(`${method} ${pathname}`))?.route;
};

const error = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), details: z.optional(z.unknown()) }),
});

/** Errors may have any code of the route's; anything else has the shape that belongs to the status. */
export function expectDescribed(method: string, path: string, status: number, body: unknown): void {
  const route = routeOf(method, path);
  const { answers, errors } = route === undefined ? { answers: {}, errors: [] } : ROUTES[route];
  const schema = (answers as Readonly<Record<number, z.ZodMiniType>>)[status];
  const found = z.safeParse(error, body);
  if (found.success) {
    const { code } = found.data.error;
    const codes: readonly string[] = route === undefined ? ['unknown-route'] : [...errors, ...ERRORS_OF_ALL];
    expect([route, codes]).toEqual([route, expect.arrayContaining([code])]);
    expect([code, status]).toEqual([code, STATUS[code as ErrorCode]]);
    return;
  }
  expect([route, status, schema === undefined]).toEqual([route, status, false]);
  const issues = z.safeParse(schema as z.ZodMiniType, body).error?.issues ?? [];
  expect([route, issues]).toEqual([route, []]);
}
