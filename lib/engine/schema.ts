/**
 * The check of a value against an author's schema.
 *
 * Owns: the issues as one line of text, the size of an output, and that a schema which throws is
 * a misfit like any other: its author's mistake, which says nothing of what was done. Does not
 * own: what follows from a misfit.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { failureOf, MAX_FAILURE_CHARS } from '../core/values/failure.ts';
import { type Misfit, misfitOf, misfitText } from '../core/values/issues.ts';
import { cut } from '../core/values/text.ts';

/**
 * The longest JSON text of an output. Larger results belong in a store of the
 * author's, with a reference as output.
 */
export const MAX_OUTPUT_BYTES: number = 256 * 1024;

type Checked =
  | { readonly value: unknown }
  | {
      /** In one line, with their paths. */
      readonly issues: string;
      readonly list: readonly Misfit[];
      /** The schema said nothing of the value. */
      readonly threw?: true;
    };

/** The value as the schema makes it, or its issues. Never rejects. */
export async function check(schema: StandardSchemaV1, value: unknown): Promise<Checked> {
  let result: StandardSchemaV1.Result<unknown>;
  try {
    result = await schema['~standard'].validate(value);
  } catch (error) {
    const { code, message } = failureOf(error);
    const issues = cut(`the schema itself threw ${code}: ${message}`, MAX_FAILURE_CHARS);
    return { issues, list: [{ path: '', message: issues }], threw: true };
  }
  if (result.issues === undefined) return { value: result.value };
  const list = result.issues.map((issue) => misfitOf(issue, value));
  const lines = list.map(misfitText);
  return { issues: cut(lines.join('; '), MAX_FAILURE_CHARS), list };
}
