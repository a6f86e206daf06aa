/**
 * Derives the shape of a form from a JSON Schema: texts, numbers, yes/no, choices, objects and lists. All
 * other parts are edited as JSON.
 *
 * Does not own: the values in the fields (`draft.ts`), whether a value fits (the API says so).
 */

import type { Json } from '../../lib/api/answers.ts';

type JsonObject = { readonly [key: string]: Json };

interface About {
  readonly title?: string;
  readonly hint?: string;
}

export type Shape = About &
  (
    | { readonly kind: 'text' | 'boolean' | 'json' }
    | { readonly kind: 'number'; readonly isWhole: boolean }
    | { readonly kind: 'choice'; readonly options: readonly Json[] }
    | { readonly kind: 'object'; readonly fields: readonly FieldShape[] }
    | { readonly kind: 'list'; readonly item: Shape }
  );

export interface FieldShape {
  readonly name: string;
  readonly isRequired: boolean;
  readonly shape: Shape;
}

/** The depth to which a schema becomes fields. Deeper parts, as in recursive schemas, are edited as JSON. */
const MAX_DEPTH = 6;
/** The most options, and the most fields, that a form shows. A larger part is edited as JSON. */
const MAX_OPTIONS = 100;
const MAX_FIELDS = 60;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param schema if undefined, the form is one JSON field */
export function shapeOf(schema: Json | undefined): Shape {
  return isObject(schema) ? shaped(schema, schema, 0) : { kind: 'json' };
}

function shaped(schema: Json | undefined, root: JsonObject, depth: number): Shape {
  const known = isObject(schema) ? resolved(schema, root) : undefined;
  if (known === undefined || depth > MAX_DEPTH) return { kind: 'json' };
  return { ...aboutOf(known), ...kindOf(known, root, depth) };
}

/** Keywords whose rules a field of a form cannot express. */
const BEYOND = ['anyOf', 'oneOf', 'allOf', 'not', 'if', '$ref', 'patternProperties', 'prefixItems'];

function kindOf(schema: JsonObject, root: JsonObject, depth: number): Shape {
  const { type, const: only, enum: options } = schema;
  if (only !== undefined) return { kind: 'choice', options: [only] };
  if (Array.isArray(options))
    return options.length > 0 && options.length <= MAX_OPTIONS
      ? { kind: 'choice', options: options as readonly Json[] }
      : { kind: 'json' };
  if (BEYOND.some((key) => schema[key] !== undefined)) return { kind: 'json' };
  switch (type) {
    case 'string':
      return { kind: 'text' };
    case 'number':
      return { kind: 'number', isWhole: false };
    case 'integer':
      return { kind: 'number', isWhole: true };
    case 'boolean':
      return { kind: 'boolean' };
    case 'array':
      return isObject(schema['items'])
        ? { kind: 'list', item: shaped(schema['items'], root, depth + 1) }
        : { kind: 'json' };
    case 'object':
      return objectOf(schema, root, depth);
    default:
      return { kind: 'json' };
  }
}

/** The fields of an object. An object with arbitrary keys is edited as JSON. */
function objectOf({ properties, required }: JsonObject, root: JsonObject, depth: number): Shape {
  if (!isObject(properties)) return { kind: 'json' };
  const wanted = Array.isArray(required) ? required : [];
  const fields = Object.entries(properties).map(([name, schema]) => ({
    name,
    isRequired: wanted.includes(name),
    shape: shaped(schema, root, depth + 1),
  }));
  return fields.length > MAX_FIELDS ? { kind: 'json' } : { kind: 'object', fields };
}

/**
 * Follows one reference within the same document. If it leads to another reference, the part is edited as
 * JSON.
 */
function resolved(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  const { $ref, ...own } = schema;
  if (typeof $ref !== 'string') return schema;
  if (!$ref.startsWith('#/')) return undefined;
  let at: Json | undefined = root;
  for (const part of $ref.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return isObject(at) ? { ...at, ...own } : undefined;
}

const aboutOf = ({ title, description }: JsonObject): About => ({
  ...(typeof title === 'string' && title !== '' ? { title } : {}),
  ...(typeof description === 'string' && description !== '' ? { hint: description } : {}),
});
