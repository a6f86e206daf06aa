/** Checks that the contract describes an answer for its route. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as z from 'zod/mini';
import { CALLS, type Route } from '../../lib/api/calls.ts';
import { type ErrorCode, STATUS } from '../../lib/api/statuses.ts';
import { ERRORS_OF_ALL, ERRORS_OF_WRITES, DESCRIBED } from '../../scripts/contract/routes.ts';

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

type Schema = Readonly<Record<string, unknown>>;
const document = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'openapi.json'), 'utf8');
/** The published schemas, without the further fields that they allow for later releases. */
const { components } = JSON.parse(document, (key, value: Schema) =>
  Object(value)['properties'] === undefined || key === 'Openapi'
    ? value
    : { additionalProperties: false, ...value },
) as { readonly components: object };
const ajv = new Ajv2020({ strict: false }).addSchema({ $id: 'api', components });

/** Checks an error against the codes of the route, and any other answer against the schema of its status. */
export function expectDescribed(method: string, path: string, status: number, body: unknown): void {
  const route = routeOf(method, path);
  const { answers, errors } = route === undefined ? { answers: {}, errors: [] } : DESCRIBED[route];
  const type = (answers as Readonly<Record<number, string>>)[status];
  const found = z.safeParse(error, body);
  if (found.success) {
    const { code } = found.data.error;
    const ofAll = method === 'GET' ? ERRORS_OF_ALL : [...ERRORS_OF_ALL, ...ERRORS_OF_WRITES];
    const codes: readonly string[] = route === undefined ? ['unknown-route'] : [...errors, ...ofAll];
    expect([route, codes]).toEqual([route, expect.arrayContaining([code])]);
    expect([code, status]).toEqual([code, STATUS[code as ErrorCode]]);
    return;
  }
  expect([route, status, type === undefined]).toEqual([route, status, false]);
  const isDescribed = ajv.validate(`api#/components/schemas/${type ?? ''}`, body);
  expect([route, isDescribed, ajv.errors]).toEqual([route, true, null]);
}
