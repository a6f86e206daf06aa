/**
 * The check of a long value part by part, so that other work has its turn in between.
 *
 * Owns: finding the parts of a value that a schema of Zod checks independently. Does not own: the check of
 * the whole (`schema.ts`), what follows a misfit.
 *
 * A library puts each misfit into words, and of a union those of each variant: a list of 100,000 items that
 * fit none would block the event loop for more than half a second. If parts do not fit, the whole does not
 * fit either. If all of them fit, the whole is still to be checked, which is fast. Of another library, and
 * of a schema whose parts are checked asynchronously, nothing is known in advance.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { IssuesInParts } from '../core/values/issues.ts';
import { hasMoreParts } from '../core/values/json-size.ts';
import { isLong, turn } from './long-values.ts';

/** The parts of a schema's `_zod.def`, which Zod documents for libraries. */
interface Definition {
  readonly type?: string;
  readonly element?: StandardSchemaV1;
  readonly innerType?: StandardSchemaV1;
  readonly shape?: Readonly<Record<string, StandardSchemaV1>>;
}
const definitionOf = (schema: StandardSchemaV1): Definition =>
  (schema as { readonly _zod?: { readonly def?: Definition } })._zod?.def ?? {};

/** Schemas that leave the check of a present value to the schema within. */
const AROUND: readonly (string | undefined)[] = ['optional', 'nullable', 'default'];
/** A value of fewer parts is one part. */
const SMALL_PARTS = 500;
/** How many parts are checked between two turns. */
const PARTS_A_TURN = 500;

type Path = readonly PropertyKey[];
type Part = readonly [schema: StandardSchemaV1, value: unknown, path: Path];

/** The parts of a value, each small or indivisible. */
function* partsOf(schema: StandardSchemaV1, value: unknown, path: Path): Generator<Part> {
  const { type, element, innerType, shape } = definitionOf(schema);
  if (!hasMoreParts(value, SMALL_PARTS)) yield [schema, value, path];
  else if (innerType !== undefined && AROUND.includes(type)) yield* partsOf(innerType, value, path);
  else if (element !== undefined && Array.isArray(value))
    for (const [at, item] of value.entries()) yield* partsOf(element, item, [...path, at]);
  else if (shape !== undefined && !Array.isArray(value))
    for (const [key, field] of Object.entries(shape))
      yield* partsOf(field, (value as Record<string, unknown>)[key], [...path, key]);
  else yield [schema, value, path];
}

export const issuesInParts: IssuesInParts = async (schema, value, most) => {
  if (!isLong(value)) return undefined;
  const first: StandardSchemaV1.Issue[] = [];
  let [count, parts] = [0, 0];
  for (const [own, part, at] of partsOf(schema, value, [])) {
    // The schema as a whole is checked anyway.
    if (own === schema) return undefined;
    const result = own['~standard'].validate(part);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      return undefined;
    }
    for (const { message, path = [] } of result.issues ?? []) {
      count += 1;
      if (first.length < most) first.push({ message, path: [...at, ...path] });
    }
    parts += 1;
    if (parts % PARTS_A_TURN === 0) await turn();
  }
  return count === 0 ? undefined : { first, count };
};
