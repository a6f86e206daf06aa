/** How a JSON Schema becomes form fields, and the value of a filled form. */

import * as z from 'zod/mini';
import { draftOf, fits, valueOf } from '../../console/forms/draft.ts';
import { shapeOf } from '../../console/forms/schema.ts';
import type { Json } from '../../lib/api/answers.ts';
import { jsonSchemaOf } from '../../lib/infra/json-schema.ts';

const order = z.object({
  id: z.string().check(z.minLength(1)),
  total: z.int(),
  rate: z.optional(z.number()),
  express: z.optional(z.boolean()),
  size: z.enum(['small', 'large']),
  to: z.object({ street: z.string(), floor: z.optional(z.int()) }),
  from: z.optional(z.object({ street: z.string() })),
  items: z.array(z.object({ sku: z.string(), quantity: z.int() })),
  either: z.optional(z.union([z.string(), z.number()])),
  labels: z.optional(z.record(z.string(), z.string())),
});
const shape = shapeOf(jsonSchemaOf(order, 'input') as Json);
const example: Json = {
  id: 'o-1',
  total: 4200,
  express: true,
  size: 'large',
  to: { street: 'Main 1' },
  items: [{ sku: 'tea', quantity: 2 }],
  either: 7,
};

it('texts, numbers, yes or no, choices, objects and lists are fields; anything else is JSON', () => {
  const kinds =
    shape.kind === 'object' ? shape.fields.map((one) => [one.name, one.shape.kind, one.isRequired]) : [];
  expect(kinds).toEqual([
    ['id', 'text', true],
    ['total', 'number', true],
    ['rate', 'number', false],
    ['express', 'boolean', false],
    ['size', 'choice', true],
    ['to', 'object', true],
    ['from', 'object', false],
    ['items', 'list', true],
    ['either', 'json', false],
    ['labels', 'json', false],
  ]);
});

it('a value fills its fields, and comes out of them unchanged', () => {
  expect(fits(shape, example)).toBe(true);
  expect(valueOf(shape, draftOf(shape, example))).toEqual({ value: example, problems: new Map() });
});

it('what is left empty is left out, or missed at its place', () => {
  const { value, problems } = valueOf(shape, draftOf(shape, undefined));
  expect(value).toEqual({ id: '', to: { street: '' }, items: [] });
  expect([...problems]).toEqual([
    ['total', 'this is required'],
    ['size', 'this is required'],
  ]);
});

it('what has no field is sent on as it is', () => {
  const more = { ...example, beside: [1, { a: null }] };
  expect(valueOf(shape, draftOf(shape, more)).value).toEqual(more);
});

it.each([
  ['a text for a number', { total: 'much' }],
  ['an option that there is not', { size: 'huge' }],
  ['an object for a list', { items: {} }],
])('%s is not put into fields', (_, other) => {
  expect(fits(shape, { ...example, ...other } as Json)).toBe(false);
});

it('a number that would be rounded, no number, and no JSON are said at their places', () => {
  const draft = draftOf(shape, example);
  const typed = { kind: 'typed' } as const;
  if (draft.kind !== 'fields') throw new Error('no fields');
  const fields = {
    ...draft.fields,
    total: { ...typed, text: '12345678901234567890' },
    rate: { ...typed, text: 'ten' },
    labels: { ...typed, text: '{' },
  };
  const { problems } = valueOf(shape, { ...draft, fields });
  expect(problems.get('total')).toContain('would be rounded');
  expect([problems.get('rate'), problems.get('labels')]).toEqual([
    'a number is required',
    'this is not valid JSON',
  ]);
});

it.each<[string, Json | undefined]>([
  ['no schema', undefined],
  ['a schema that holds itself', { $ref: '#', type: 'object' }],
  ['a reference that leads nowhere', { $ref: '#/$defs/gone' }],
  ['a reference to the prototype', { $ref: '#/constructor/name' }],
  ['a reference to elsewhere', { $ref: 'https://example.com/schema' }],
  ['true', true],
])('of %s the form is a field of JSON', (_, schema) => {
  expect(shapeOf(schema).kind).toBe('json');
});

it('a reference to a part of its own document is followed, and one that comes to itself ends as JSON', () => {
  const $defs = {
    tree: { type: 'object', properties: { leaf: { type: 'string' }, tree: { $ref: '#/$defs/tree' } } },
  };
  let at = shapeOf({ $ref: '#/$defs/tree', $defs });
  let depth = 0;
  while (at.kind === 'object') {
    at = at.fields[1]?.shape ?? { kind: 'json' };
    depth += 1;
  }
  expect([at.kind, depth]).toEqual(['json', 7]);
});
