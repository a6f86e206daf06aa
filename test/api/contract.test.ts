/** The documented contract matches the API: routes, codes and examples. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Route } from '../../lib/api/calls.ts';
import { ERRORS } from '../../scripts/contract/errors.ts';
import { EXAMPLES } from '../../scripts/contract/examples.ts';
import { DESCRIBED } from '../../scripts/contract/routes.ts';
import { ROUTES } from '../../lib/api/routes.ts';
import { STATUS } from '../../lib/api/statuses.ts';
import { client } from './app.ts';
import { expectDescribed, routeOf } from './described.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const described = Object.entries(DESCRIBED);

interface Openapi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: object }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}
const text = readFileSync(join(ROOT, 'docs', 'openapi.json'), 'utf8');
const openapi = JSON.parse(text) as Openapi;

it('is served as it is written', async () => {
  const { status, body } = await client().get('/openapi.json');
  expect([status, body]).toEqual([200, openapi]);
});

it('refers to no schema that it does not have', () => {
  const { schemas } = openapi.components;
  const named = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name);
  expect([...new Set(named)].toSorted()).toEqual(Object.keys(schemas).toSorted());
});

describe.each(described)('%s', (route, { body, answers }) => {
  const { takes } = ROUTES[route as Route];
  const example = EXAMPLES[route as Route];
  it('describes a body exactly where it takes one', () => {
    const hasFields = !route.startsWith('GET ') && Object.keys(takes?.shape ?? {}).length > 0;
    expect(body !== undefined).toBe(hasFields);
  });

  it('has an example that fits', () => {
    const [method = ''] = route.split(' ');
    const [status = ''] = Object.keys(answers);
    expect(routeOf(method, example.path)).toBe(route);
    expectDescribed(method, example.path, Number(status), example.answer);
    expect(body === undefined).toBe(example.body === undefined);
    const given = Object.fromEntries(new URL(`http://api${example.path}`).searchParams);
    const sent = method === 'GET' ? given : (example.body ?? {});
    expect(z.safeParse(takes ?? z.strictObject({}), sent).error).toBeUndefined();
  });
});

/** Codes that no answer contains: those of the client, and those of refused trigger messages. */
const IN_NO_ANSWER: ReadonlySet<string> = new Set(['client.ts', 'authorization.ts', 'trigger.ts']);
const codesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.ts') && !IN_NO_ANSWER.has(file))
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8'))
    .flatMap((code) => [...code.matchAll(/\b(?:refuse\(|SteadfastError\(|code:)\s*'([a-z-]+)'/g)])
    .map(([, code = '']) => code);

it('has a status, a meaning and a next step for every code that the API and the scheduler refuse with', () => {
  const thrown = new Set([...codesIn('lib/api'), ...codesIn('lib/scheduler')]);
  expect(thrown.size).toBeGreaterThan(20);
  expect([...thrown].filter((code) => !Object.hasOwn(STATUS, code))).toEqual([]);
  expect(Object.keys(ERRORS)).toEqual(Object.keys(STATUS));
});

it('lists every code with a route, but for that of no route', () => {
  const listed = new Set<string>(described.flatMap(([, { errors }]) => errors));
  const rest = Object.keys(STATUS).filter((code) => !listed.has(code));
  expect(rest).toEqual(['unknown-route', 'too-large', 'internal', 'at-rest', 'not-kept', 'table-form']);
});

describe('an answer that is not described', () => {
  const shown = EXAMPLES['GET /executions/{id}'];
  it.each<[string, string, number, unknown]>([
    ['a field too many', '/executions/e1', 200, { ...(shown.answer as object), writeId: 'w1' }],
    ['a field too few', '/executions/e1', 200, { executionId: 'e1' }],
    ['another status', '/executions/e1', 202, shown.answer],
    ['a code of another route', '/executions/e1', 409, { error: { code: 'key-reused', message: 'no' } }],
    [
      'a code with another status',
      '/executions/e1',
      400,
      { error: { code: 'unknown-execution', message: 'no' } },
    ],
    ['an answer of no route', '/nothing', 200, {}],
  ])('is found: %s', (_, path, status, body) => {
    expect(() => expectDescribed('GET', path, status, body)).toThrow();
  });
});

it('knows the route of a path by its method', () => {
  const found: (Route | undefined)[] = [
    routeOf('POST', '/executions/e1/cancel'),
    routeOf('GET', '/executions/e1/cancel'),
  ];
  expect(found).toEqual(['POST /executions/{id}/cancel', undefined]);
});
