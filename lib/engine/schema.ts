/**
 * The check of a value against an author's schema.
 *
 * Owns: the issues as one line of text, the size of an output. Does not own: what follows from a misfit.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { MAX_FAILURE_CHARS } from '../core/records/failure.ts';
import { type Misfit, misfitOf, misfitText } from '../core/records/issues.ts';
import { cut } from '../core/records/text.ts';

/** The longest JSON text of an output. Larger results belong in a store of the author's, with a reference as output. */
export const MAX_OUTPUT_BYTES: number = 256 * 1024;

/** The value as the schema makes it, or its issues in one line with their paths. */
export async function check(
  schema: StandardSchemaV1,
  value: unknown,
): Promise<{ value: unknown } | { issues: string; list: readonly Misfit[] }> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return { value: result.value };
  const list = result.issues.map((issue) => misfitOf(issue, value));
  const lines = list.map(misfitText);
  return { issues: cut(lines.join('; '), MAX_FAILURE_CHARS), list };
}
