/** The check of long values part by part: it finds what the check of the whole finds. */

import * as z from 'zod/mini';
import { issuesInParts } from '../../lib/engine/check-in-parts.ts';
import { check as checkIn } from '../../lib/engine/schema.ts';

const check = (asked: z.ZodMiniType, value: unknown, withinMs?: number) =>
  checkIn(asked, value, { issuesInParts }, withinMs);

const items = (most: number, odd: (at: number) => boolean): unknown[] =>
  Array.from({ length: most }, (_, at) => (odd(at) ? { sku: at } : { sku: 'a', lines: [at] }));

const schema = z.object({
  name: z.string(),
  orders: z.optional(z.array(z.object({ sku: z.string(), lines: z.optional(z.array(z.number())) }))),
  by: z.optional(z.array(z.nullable(z.array(z.union([z.number(), z.boolean()]))))),
});

it.each<[string, unknown]>([
  ['one of a list', { name: 'x', orders: items(3_000, (at) => at === 2_999) }],
  ['all of a list', { name: 'x', orders: items(3_000, () => true) }],
  ['a field beside it', { orders: items(3_000, () => false) }],
  [
    'some of a long list within a list',
    { name: 'x', orders: [{ sku: 'a', lines: Array(4_000).fill('no') }] },
  ],
  ['unions in lists of a list', { name: 'x', by: [null, Array(3_000).fill('no')] }],
])('finds the misfits of %s with their places, as the whole schema does', async (_, value) => {
  const issues = schema['~standard'].validate(value);
  if (issues instanceof Promise || issues.issues === undefined) throw new Error('it fits');
  const found = await check(schema, value);
  const details = 'details' in found ? found.details : { issues: [] };
  expect(details.issueCount ?? details.issues.length).toBe(issues.issues.length);
  expect(details.issues.map(({ path }) => path)).toEqual(
    issues.issues.slice(0, 100).map(({ path }) => path?.map(String).join('.')),
  );
});

it('takes a value that fits as the whole schema makes it', async () => {
  const made = z.object({
    list: z.array(
      z.pipe(
        z.string(),
        z.transform((text) => text.length),
      ),
    ),
  });
  expect(await check(made, { list: Array(3_000).fill('abc') })).toEqual({
    value: { list: Array(3_000).fill(3) },
  });
});

it('leaves to the whole schema what its parts check asynchronously', async () => {
  const item = z.string().check(z.refine(async (text) => text === 'good'));
  const list = z.object({ list: z.array(item) });
  expect(await check(list, { list: Array(3_000).fill('good') })).toHaveProperty('value');
  expect(await check(list, { list: Array(3_000).fill('bad') })).toMatchObject({
    details: { issueCount: 3_000 },
  });
});

it('counts a schema whose check never ends as one that throws', async () => {
  const endless = z.string().check(z.refine(() => new Promise<boolean>(() => undefined)));
  const issues = 'the schema itself threw Error: an asynchronous check of it does not end within 0.02 s';
  expect(await check(endless, 'x', 20)).toMatchObject({ issues, threw: true });
});
