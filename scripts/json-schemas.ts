/**
 * JSON Schemas of what the API takes and answers. An answer is described once, as a type with its comments in
 * lib/api (`*answers.ts`, `call-options.ts`) or lib/core; a request by the schema that checks it, and by its
 * type's comments.
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

/** A whole number is as large as JSON has it. */
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
/** All of them. */
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

/** @returns what `make` makes when it is first asked for */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const descriptionOf = ({ description, default: usual }: Schema): { readonly description?: string } => {
  const text = [description, ...(usual === undefined ? [] : [`Default: ${String(usual)}`])].join(' ');
  return text === '' ? {} : { description: text.replaceAll(/\s*\n\s*/g, ' ') };
};

const DEFINITION = '#/definitions/';
/** Their values are fractions; every other number is whole. */
const FRACTIONS = ['progress', 'percent'];
/** Any JSON, which needs no definition. */
const ANY = ['Json', 'JsonObject'];

/**
 * The schemas of these types, and of the named types that they are made of. They do not forbid other fields:
 * a release may add some.
 * @throws Error where lib/api has no such type
 */
export function typeSchemas(names: readonly string[]): Readonly<Record<string, Schema>> {
  const made = names.map((name) => generator().createSchema(name).definitions ?? {});
  const all = Object.assign({}, ...made) as Readonly<Record<string, Schema>>;
  /** A type without a name of its own, as `Omit<Entry, 'version'>`, stands where it is used. */
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

/** @param schema of a request; the type of this name, if there is one, has its comments */
export function withComments(type: string, schema: Schema): Schema {
  const commented = types().definitions?.[type] as Schema | undefined;
  const fields = Object.entries(schema.properties ?? {}).map(([field, one]) => {
    const description = descriptionOf(commented?.properties?.[field] ?? {});
    return [field, { ...one, ...description }] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}
