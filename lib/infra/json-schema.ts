/**
 * Converts a schema to JSON Schema if its library can: by Standard JSON Schema
 * (https://standardschema.dev/json-schema), or by zod's own converter, because zod/mini does not attach one
 * to every schema.
 *
 * Does not own: the uses (`forms.ts`, `author/schemas/reference-check.ts`). No function loads a converter: it
 * is for synthesis, and for authors' tests.
 */

import * as z from 'zod/mini';

interface Standard {
  readonly '~standard'?: {
    readonly vendor?: string;
    readonly jsonSchema?: Readonly<Record<Side, (options: { readonly target: string }) => unknown>>;
  };
}

/** The side of a schema: the value that it accepts, or the value that it returns. */
export type Side = 'input' | 'output';

/** The JSON Schema of one side; undefined if the library cannot give it. */
export function jsonSchemaOf(schema: unknown, side: Side = 'output'): unknown {
  try {
    const { vendor, jsonSchema } = (schema as Standard)['~standard'] ?? {};
    if (jsonSchema !== undefined) return jsonSchema[side]({ target: 'draft-2020-12' });
    if (vendor !== 'zod') return undefined;
    return z.toJSONSchema(schema as z.ZodMiniType, { io: side, unrepresentable: 'any' });
  } catch {
    // The schema has no such form, so it stays unknown.
    return undefined;
  }
}

/** Types that JSON does not have, by zod's names, and what to write instead. */
const NO_JSON: Readonly<Record<string, string>> = {
  date: 'a Date: write z.iso.datetime(), and make the Date of it in the agent',
  bigint: 'a bigint: write a text of its digits',
  map: 'a Map: write z.record(…)',
  set: 'a Set: write z.array(…)',
  symbol: 'a symbol: write a text',
  function: 'a function: write what it returns',
};
const MARK = 'x-steadfast-no-json';

/**
 * The place at which no JSON fits a schema of zod's, in words; undefined if some JSON may fit.
 * @param side the value that it accepts, or that it returns
 */
export function noJsonIn(schema: unknown, side: Side): string | undefined {
  if ((schema as Standard | undefined)?.['~standard']?.vendor !== 'zod') return undefined;
  try {
    const root: Readonly<Record<string, unknown>> = z.toJSONSchema(schema as z.ZodMiniType, {
      io: side,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => {
        const { type, coerce } = zodSchema._zod.def as { readonly type: string; readonly coerce?: boolean };
        const isNone = Object.hasOwn(NO_JSON, type) && !(side === 'input' && coerce === true);
        if (isNone) (jsonSchema as Record<string, unknown>)[MARK] = type;
      },
    });
    return noJsonAt(root, root, '', 0);
  } catch {
    return undefined;
  }
}

/** Schemas may contain themselves. */
const DEEPEST = 12;

function noJsonAt(given: unknown, root: unknown, place: string, depth: number): string | undefined {
  const node = Object(given) as Readonly<Record<string, unknown>>;
  if (typeof node[MARK] === 'string') return `${place || 'the value'} is ${NO_JSON[node[MARK]]}`;
  if (depth > DEEPEST) return undefined;
  const at = (inner: unknown, key = ''): string | undefined =>
    noJsonAt(inner, root, key === '' ? place : place === '' ? key : `${place}.${key}`, depth + 1);
  if (typeof node['$ref'] === 'string') {
    let target = root;
    for (const part of node['$ref'].split('/').slice(1))
      target = (Object(target) as Record<string, unknown>)[part];
    return at(target);
  }
  const branches = node['anyOf'] ?? node['oneOf'];
  if (Array.isArray(branches)) {
    const found = branches.map((one) => at(one));
    return found.every((one) => one !== undefined) ? found[0] : undefined;
  }
  const {
    properties,
    required = [],
    items,
    minItems = 0,
  } = node as {
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
    readonly items?: unknown;
    readonly minItems?: number;
  };
  const fields = required.map((key) => at(properties?.[key], key));
  return fields.find((one) => one !== undefined) ?? (minItems > 0 ? at(items, '[0]') : undefined);
}
