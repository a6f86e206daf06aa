/**
 * Invents an input from a workflow's schema, so that a printed command works without changes.
 *
 * Owns: the value for each kind of schema. The API may still refuse it, because patterns, for example, are
 * ignored.
 */

import type { Json } from '../../lib/api/answers.ts';

type Schema = Readonly<Record<string, Json>>;

/** The depth at which a schema counts as recursive. */
const MAX_DEPTH = 8;

const isSchema = (value: Json | undefined): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param schema JSON Schema; if undefined, the input is an empty object */
export const madeInput = (schema: Json | undefined): Json =>
  isSchema(schema) ? made(schema, schema, 0) : {};

function made(schema: Schema, root: Schema, depth: number): Json {
  const { $ref, anyOf, oneOf, allOf } = schema;
  for (const known of ['const', 'default']) if (schema[known] !== undefined) return schema[known];
  for (const known of ['enum', 'examples', 'example']) {
    const values = schema[known];
    if (Array.isArray(values) && values[0] !== undefined) return values[0];
  }
  const [first] = [anyOf, oneOf, allOf].flatMap((of) => (Array.isArray(of) ? of : []));
  const other = typeof $ref === 'string' ? referred($ref, root) : first;
  if (isSchema(other) && depth < MAX_DEPTH) return made(other, root, depth + 1);
  return ofType(schema, root, depth);
}

function ofType(schema: Schema, root: Schema, depth: number): Json {
  const { type, properties, required, items, minItems } = schema;
  const within = (part: Json | undefined): Json =>
    isSchema(part) && depth < MAX_DEPTH ? made(part, root, depth + 1) : {};
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Number(minItems ?? 1) }, () => within(items));
    default: {
      const fields = isSchema(properties) ? properties : {};
      const names = Array.isArray(required) ? required.map(String) : [];
      return Object.fromEntries(names.map((name) => [name, within(fields[name])]));
    }
  }
}

const referred = (ref: string, root: Schema): Json | undefined =>
  ref
    .split('/')
    .slice(1)
    .reduce<Json | undefined>((at, part) => (isSchema(at) ? at[part] : undefined), root);

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T09:30:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com',
  uuid: '0f343b09-3112-4a20-b133-d67c2b018a3b',
};

function textOf({ format, minLength = 0, maxLength = Number.MAX_SAFE_INTEGER }: Schema): string {
  const known = FORMATS[String(format)] ?? 'example';
  return known.padEnd(Number(minLength), 'x').slice(0, Number(maxLength));
}

function numberOf({ minimum, exclusiveMinimum, maximum = 1, multipleOf = 1 }: Schema): number {
  const step = Number(multipleOf);
  if (exclusiveMinimum !== undefined) return (Math.floor(Number(exclusiveMinimum) / step) + 1) * step;
  return minimum === undefined ? Math.min(step, Number(maximum)) : Math.ceil(Number(minimum) / step) * step;
}
