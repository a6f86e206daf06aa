/**
 * JSON Schemas for the API's requests and answers. An answer is described once, as a type with its comments
 * in lib/api (`*answers.ts`, `call-options.ts`) or lib/core; a request by the schema that checks it, and by
 * its type's comments.
 *
 * Owns: the conversion. Does not own: the types, the schemas of requests (`lib/api/requests.ts`).
 */

import { join } from 'node:path';
import { createGenerator } from 'ts-json-schema-generator';
import * as z from 'zod/mini';

export interface Schema {
  [keyword: string]: unknown;
  properties?: Readonly<Record<string, Schema>>;
}

const placeOf = (name: string): string => `#/components/schemas/${name}`;
export const refOf = (name: string): Schema => ({ $ref: placeOf(name) });

/** Removes the range of integers: JSON sets no limit. */
function withoutRange(schema: Schema): void {
  if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
  if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
}

export function requestSchema(schema: z.ZodMiniType): Schema {
  const override = ({ jsonSchema: made }: { jsonSchema: object }): void => withoutRange(made as Schema);
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { override, io: 'input' }) as Schema;
  return rest;
}

const ROOT = join(import.meta.dirname, '..');
/** The schemas of all types. */
const types = once(() => generator().createSchema());
const generator = once(() =>
  createGenerator({
    path: join(ROOT, 'lib', 'api', '{*answers,call-options}.ts'),
    tsconfig: join(ROOT, 'tsconfig.build.json'),
    expose: 'export',
    jsDoc: 'extended',
    skipTypeCheck: true,
    encodeRefs: false,
  }),
);

/** @returns a function that calls `make` at its first call and caches the result */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const descriptionOf = ({ description, default: usual }: Schema): { readonly description?: string } => {
  const text = [description, ...(usual === undefined ? [] : [`Default: ${String(usual)}`])].join(' ');
  return text === '' ? {} : { description: text.replaceAll(/\s*\n\s*/g, ' ') };
};

const DEFINITION = '#/definitions/';
/** Fields whose values are fractions; every other number is an integer. */
const FRACTIONS = ['progress', 'percent'];
/** Types for any JSON, which need no definition. */
const ANY = ['Json', 'JsonObject'];

/**
 * The schemas of these types, and of the named types in them. They allow other fields, because a release may
 * add some.
 * @throws Error if lib/api has no such type
 */
export function typeSchemas(names: readonly string[]): Readonly<Record<string, Schema>> {
  const made = names.map((name) => generator().createSchema(name).definitions ?? {});
  const all = Object.assign({}, ...made) as Readonly<Record<string, Schema>>;
  /** A type without a name of its own, such as `Omit<Entry, 'version'>`, is inlined. */
  const isNamed = (name: string): boolean => /^\w+$/.test(name) && !ANY.includes(name);
  const plain = (value: unknown, field = ''): unknown => {
    if (Array.isArray(value)) return value.map((one) => plain(one, field));
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, additionalProperties, default: _, ...rest } = value as Schema;
    const schema: Schema = { ...rest, ...descriptionOf(value as Schema) };
    if (typeof $ref === 'string') {
      const name = $ref.slice(DEFINITION.length);
      if (isNamed(name)) return { ...refOf(name), ...schema };
      return ANY.includes(name) ? schema : { ...(plain(all[name], field) as Schema), ...schema };
    }
    const texts = ((schema['anyOf'] ?? []) as readonly Schema[]).map((one) => one['enum'] ?? one['const']);
    if (texts.length > 0 && !texts.includes(undefined)) {
      delete schema['anyOf'];
      Object.assign(schema, { type: 'string', enum: texts.flat() });
    }
    if (schema['type'] === 'number' && !FRACTIONS.includes(field)) schema['type'] = 'integer';
    const fields = Object.entries(schema).map(([keyword, one]) => [
      keyword,
      keyword === 'properties'
        ? Object.fromEntries(Object.entries(Object(one)).map(([name, of]) => [name, plain(of, name)]))
        : keyword === 'enum' || keyword === 'const'
          ? one
          : plain(one, field),
    ]);
    return {
      ...Object.fromEntries(fields),
      ...(additionalProperties === undefined || additionalProperties === false
        ? {}
        : { additionalProperties: plain(additionalProperties, field) }),
    };
  };
  const kept = Object.entries(all).filter(([name]) => isNamed(name));
  return Object.fromEntries(kept.map(([name, schema]) => [name, plain(schema) as Schema]));
}

/** @param schema the schema of a request; the type with this name, if there is one, has its comments */
export function withComments(type: string, schema: Schema): Schema {
  const commented = types().definitions?.[type] as Schema | undefined;
  const fields = Object.entries(schema.properties ?? {}).map(([field, one]) => {
    const description = descriptionOf(commented?.properties?.[field] ?? {});
    return [field, { ...one, ...description }] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}
