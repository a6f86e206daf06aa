/**
 * Checks values against JSON Schema where the schema itself is out of reach: a stack knows the workflows of
 * its deployment only as data.
 *
 * Owns: which part of a JSON Schema is certain, and the check of values against that part. Does not own:
 * which part of a value is certain, and the messages (`input-check.ts`).
 *
 * JSON Schema does not show that a schema converts a value of another kind, or trims a text. So a `type` is
 * trusted only if the schema itself, called when it is loaded, refuses values of all other types; lengths and
 * patterns are not trusted.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { issuesOf } from './input-check.ts';
import type { JsonSchemaOf } from './known-schema.ts';
import type { InputShape } from './reference-check.ts';

type Path = readonly string[];

/** One value of each kind. */
const EXAMPLES: readonly unknown[] = ['1', 1, true, [], {}];
const SCALARS: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean']);
/** The levels of fields that are tested. */
const MAX_DEPTH = 5;

/** Returns the part of the JSON Schema that the schema itself confirms. */
export function certainOf(document: unknown, schema: StandardSchemaV1): JsonObject {
  const isSure = (type: string, path: Path): boolean =>
    EXAMPLES.every(
      (example) =>
        fits(example, type) ||
        issuesOf(schema, within(example, path)).some(({ path: at = [] }) => pathText(at) === path.join('\n')),
    );
  const certain = (node: Json | undefined, path: Path): JsonObject => {
    const { type, properties, required = [] } = isJsonObject(node) ? node : {};
    if (typeof type !== 'string' || path.length > MAX_DEPTH || !isSure(type, path)) return {};
    if (SCALARS.has(type)) {
      const kept = Object.entries(node as JsonObject).filter(([key]) => KEPT.has(key));
      return Object.fromEntries(kept) as JsonObject;
    }
    const fields = Object.entries(type === 'object' && isJsonObject(properties) ? properties : {});
    return {
      type,
      required,
      properties: Object.fromEntries(fields.map(([key, of]) => [key, certain(of, [...path, key])])),
    };
  };
  return certain(document as Json, []);
}

/** Returns the shape of an input; undefined if its schema does not describe it. */
export function shapeOf(input: unknown, jsonSchemaOf: JsonSchemaOf): InputShape | undefined {
  const schema = jsonSchemaOf(input as StandardSchemaV1);
  if (schema === undefined) return undefined;
  const taken = jsonSchemaOf(input as StandardSchemaV1, 'input');
  const required = listIn((Object(taken) as JsonObject)['required']) as readonly string[];
  return { schema, required, certain: certainOf(taken, input as StandardSchemaV1) };
}

const within = (value: unknown, path: Path): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

const pathText = (path: NonNullable<StandardSchemaV1.Issue['path']>): string =>
  path.map((part) => String(typeof part === 'object' ? part.key : part)).join('\n');

/** Makes a schema that refuses what is certainly not allowed. @param certain the result of `certainOf` */
export const standardOf = (certain: unknown): StandardSchemaV1 => ({
  '~standard': {
    version: 1,
    vendor: 'json-schema',
    validate: (value) => {
      const issues = problemsOf(value, certain as Json, []);
      return issues.length === 0 ? { value } : { issues };
    },
  },
});

/** @param value may contain symbols in place of values that are known later */
function problemsOf(value: unknown, schema: Json | undefined, path: Path): readonly StandardSchemaV1.Issue[] {
  if (!isJsonObject(schema) || typeof value === 'symbol') return [];
  const message = ownProblem(value, schema);
  if (message !== undefined) return [{ path, message }];
  if (kindOf(value) !== 'object') return [];
  const { properties, required } = schema;
  const fields = value as Readonly<Record<string, unknown>>;
  const inFields = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([key, of]) =>
    fields[key] === undefined ? [] : problemsOf(fields[key], of, [...path, key]),
  );
  const missing = listIn(required).filter((key) => fields[key as string] === undefined);
  return [...inFields, ...missing.map((key) => ({ path: [...path, key as string], message: 'Required' }))];
}

const listIn = (list: Json | undefined): readonly Json[] => (Array.isArray(list) ? (list as Json[]) : []);

/** Returns what is wrong with the value itself, apart from its fields. */
function ownProblem(
  value: unknown,
  { type, enum: among, const: only, ...bounds }: JsonObject,
): string | undefined {
  if (typeof type === 'string' && !fits(value, type))
    return `Invalid input: expected ${type}, received ${kindOf(value)}`;
  const allowed = only === undefined ? listIn(among) : [only];
  if (allowed.length > 0 && !allowed.some((one) => one === value))
    return `Invalid option: expected ${allowed.map((one) => canonicalJson(one)).join(' or ')}`;
  const [keyword] =
    typeof value === 'number'
      ? BOUNDS.filter(([name, allows]) => {
          const bound = bounds[name];
          return typeof bound === 'number' && !allows(value, bound);
        })
      : [];
  return keyword === undefined ? undefined : `Invalid input: ${keyword[0]} is ${String(bounds[keyword[0]])}`;
}

const fits = (value: unknown, type: string): boolean =>
  type === 'integer' ? Number.isInteger(value) : type === kindOf(value);

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

const BOUNDS: readonly (readonly [keyword: string, allows: (value: number, bound: number) => boolean])[] = [
  ['minimum', (value, bound) => value >= bound],
  ['exclusiveMinimum', (value, bound) => value > bound],
  ['maximum', (value, bound) => value <= bound],
  ['exclusiveMaximum', (value, bound) => value < bound],
];
const KEPT: ReadonlySet<string> = new Set(['type', 'enum', 'const', ...BOUNDS.map(([keyword]) => keyword)]);
