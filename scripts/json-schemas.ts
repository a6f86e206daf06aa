/**
 * JSON Schemas of what the API takes and answers, with the comments of the types of
 * the same names as descriptions.
 *
 * Owns: the conversion. Does not own: the schemas
 * (`lib/api/contract/execution-answers.ts`, `lib/api/requests.ts`).
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { SHAPES } from '../lib/api/contract/shape.ts';

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

/** A request's schema; for an answer a reference to it by name. */
export function jsonSchema(schema: z.ZodMiniType): Schema {
  const answer = SHAPES.get(schema);
  if (answer !== undefined) return refOf(answer.id);
  const override = ({ jsonSchema: made }: { jsonSchema: object }): void => withoutRange(made as Schema);
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { override, io: 'input' }) as Schema;
  return rest;
}

/** By name. They do not forbid other fields: a release may add some. */
export function answerSchemas(): Readonly<Record<string, Schema>> {
  const override = ({ jsonSchema: made }: { jsonSchema: object }): void => {
    const schema = made as Schema;
    withoutRange(schema);
    if (schema['additionalProperties'] === false) delete schema['additionalProperties'];
  };
  const { schemas } = z.toJSONSchema(SHAPES, { uri: placeOf, override });
  const bare = Object.entries(schemas).map(([name, made]) => {
    const { $schema: _, $id: __, ...schema } = made as Schema;
    return [name, schema];
  });
  return withComments(Object.fromEntries(bare) as Record<string, Schema>);
}

/** @param schemas by the name of their type */
export function withComments(schemas: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  const types = typesOf(sources());
  const described = Object.entries(schemas).map(([type, schema]) => {
    const { properties } = schema;
    if (properties === undefined) return [type, schema];
    const fields = Object.entries(properties).map(([field, one]) => {
      const description = commentOf(types, type, field);
      return [field, description === undefined ? one : { ...one, description }];
    });
    return [type, { ...schema, properties: Object.fromEntries(fields) as Schema }];
  });
  return Object.fromEntries(described) as Record<string, Schema>;
}

const ROOT = join(import.meta.dirname, '..');
const RECORDS = ['lib/core/values', 'lib/core/records', 'lib/core/decisions'];

function sources(): readonly string[] {
  const records = RECORDS.flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((file) => `${folder}/${file}`),
  );
  const files = [
    'lib/api/answers.ts',
    'lib/api/bulk-answers.ts',
    'lib/api/deployment-answers.ts',
    'lib/core/explain/words.ts',
    'lib/core/explain/why.ts',
    ...records,
  ];
  return files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
}

/** What is before the braces of a declaration, and what is in them. */
type Types = ReadonlyMap<string, { readonly head: string; readonly body: string }>;

function typesOf(texts: readonly string[]): Types {
  const declaration = /^export (?:interface|type) (\w+)([^{;]*)(?:;|\{\n([\s\S]*?)^\})/gm;
  const found = texts.flatMap((text) => [...text.matchAll(declaration)]);
  return new Map(found.map(([, name = '', head = '', body = '']) => [name, { head, body }]));
}

/** A field's comment in the type, or in one that the type is made of. */
function commentOf(types: Types, type: string, field: string): string | undefined {
  const { head = '', body = '' } = types.get(type) ?? {};
  const [, own] = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n  readonly ${field}\\??:`).exec(body) ?? [];
  if (own !== undefined) return plain(own);
  const parts = (head.match(/\w+/g) ?? []).filter((part) => part !== type && types.has(part));
  return parts.map((part) => commentOf(types, part, field)).find((comment) => comment !== undefined);
}

const plain = (comment: string): string =>
  comment
    .replaceAll(/\s*\n\s*\*?\s*/g, ' ')
    .replace(/ ?@default /, ' Default: ')
    .trim();
