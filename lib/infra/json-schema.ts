/**
 * How a schema becomes JSON Schema, where its library can say it: by Standard JSON
 * Schema (https://standardschema.dev/json-schema), or zod's own converter, for zod/mini
 * does not carry one with every schema.
 *
 * Owns: the conversion. Does not own: what is made of it (`forms.ts`,
 * `core/plan/schemas/reference-check.ts`). No function loads a converter: it is for synthesis, and for
 * authors' tests.
 */

import * as z from 'zod/mini';

interface Standard {
  readonly '~standard'?: {
    readonly vendor?: string;
    readonly jsonSchema?: Readonly<Record<Side, (options: { readonly target: string }) => unknown>>;
  };
}

/** What is given to it, or what it lets through. */
type Side = 'input' | 'output';

/** What the schema lets through; nothing where its library does not say. */
export function jsonSchemaOf(schema: unknown, side: Side = 'output'): unknown {
  try {
    const { vendor, jsonSchema } = (schema as Standard)['~standard'] ?? {};
    if (jsonSchema !== undefined) return jsonSchema[side]({ target: 'draft-2020-12' });
    if (vendor !== 'zod') return undefined;
    return z.toJSONSchema(schema as z.ZodMiniType, { io: side, unrepresentable: 'any' });
  } catch {
    // A schema that has no such form: nothing is known of it.
    return undefined;
  }
}
