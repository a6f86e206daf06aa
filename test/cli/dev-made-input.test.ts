/** The input that `dev` invents for the start command that it prints, if the author gives none. */

import { madeInput } from '../../cli/dev/made-input.ts';
import type { Json } from '../../lib/api/answers.ts';

const object = (properties: Readonly<Record<string, Json>>): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

it.each<[Json | undefined, Json]>([
  [undefined, {}],
  [
    object({ name: { type: 'string' }, count: { type: 'integer' }, urgent: { type: 'boolean' } }),
    { name: 'example', count: 1, urgent: true },
  ],
  [
    object({ kind: { enum: ['a', 'b'] }, only: { const: 7 }, rate: { type: 'number', default: 0.5 } }),
    { kind: 'a', only: 7, rate: 0.5 },
  ],
  [{ type: 'object', properties: { note: { type: 'string' } } }, {}],
  [
    object({ lines: { type: 'array', items: object({ price: { type: 'number', exclusiveMinimum: 0 } }) } }),
    { lines: [{ price: 1 }] },
  ],
  [
    object({ id: { type: 'string', minLength: 9 }, to: { type: 'string', format: 'email' } }),
    { id: 'examplexx', to: 'ada@example.com' },
  ],
  [object({ either: { anyOf: [{ type: 'null' }, { type: 'string' }] } }), { either: null }],
  [
    { $ref: '#/$defs/order', $defs: { order: object({ page: { type: 'integer', minimum: 3 } }) } },
    { page: 3 },
  ],
])('is made from the schema %j', (schema, input) => {
  expect(madeInput(schema)).toEqual(input);
});

it('ends where a schema holds itself', () => {
  const schema = { $ref: '#/$defs/tree', $defs: { tree: object({ left: { $ref: '#/$defs/tree' } }) } };
  expect(JSON.stringify(madeInput(schema)).length).toBeLessThan(200);
});
