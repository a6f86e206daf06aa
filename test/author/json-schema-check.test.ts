/** A check by JSON Schema never refuses a value that the original schema accepts. */

import * as fc from 'fast-check';
import * as z from 'zod/mini';
import { certainOf, standardOf } from '../../lib/author/schemas/json-schema-check.ts';
import { jsonSchemaOf } from '../../lib/infra/json-schema.ts';

const certainIn = (schema: z.ZodMiniType) => certainOf(jsonSchemaOf(schema, 'input'), schema);
const tree = z.object({
  name: z.string(),
  get below() {
    return z.optional(z.array(tree));
  },
});
const SCHEMAS = [
  z.union([z.string(), z.object({ a: z.number() }), z.null()]),
  z.object({ a: z.optional(z.number()), b: z._default(z.boolean(), true) }),
  z.strictObject({ a: z.int(), b: z.nullable(z.string().check(z.minLength(2), z.maxLength(4))) }),
  z.array(z.union([z.literal(1), z.literal('x'), z.boolean()])),
  z.record(z.string(), z.number().check(z.gt(0), z.lte(3))),
  z.coerce.number(),
  z.tuple([z.string(), z.number()]),
  z.intersection(z.object({ a: z.number() }), z.object({ b: z.string() })),
  tree,
  z.object({ a: z.coerce.number(), b: z.pipe(z.string(), z.transform(Number)) }),
  z.object({ a: z.string().check(z.trim(), z.maxLength(1)), b: z.optional(z.int().check(z.lte(0))) }),
  z.object({ name: z.enum(['x', 'abc']), a: z.optional(z.object({ b: z.literal(1) })) }),
];
const leaf = fc.oneof(fc.constantFrom(null, true, 1, 0, 2.5, 'x', 'abc', '😀😀', ''), fc.integer());
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'name', 'below'), tie('any'), { maxKeys: 3 }),
  ),
})).any;

test('whatever the value', () => {
  let refused = 0;
  fc.assert(
    fc.property(fc.constantFrom(...SCHEMAS), value, (schema, given) => {
      const { issues } = standardOf(certainIn(schema))['~standard'].validate(given) as {
        issues?: unknown;
      };
      if (issues === undefined) return;
      refused += 1;
      expect(z.safeParse(schema, given).success).toBe(false);
    }),
    { numRuns: 5_000 },
  );
  // Otherwise the check would have been of nothing.
  expect(refused).toBeGreaterThan(1_000);
});

test('what is known later is taken', () => {
  const schema = z.object({ a: z.number(), b: z.array(z.string()) });
  expect(
    standardOf(certainIn(schema))['~standard'].validate({ a: Symbol('later'), b: [Symbol('later')] }),
  ).toEqual({
    value: { a: expect.anything(), b: [expect.anything()] },
  });
});
