/**
 * The check of a value against an author's schema.
 *
 * Owns: the issues as one line of text, the size of an output. Does not own: what follows from a misfit.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import { MAX_FAILURE_CHARS } from '../core/records/failure.ts';
import { cut } from '../core/records/text.ts';

/** The longest JSON text of an output. Larger results belong in a store of the author's, with a reference as output. */
export const MAX_OUTPUT_BYTES: number = 256 * 1024;

/** Where a value does not fit its schema. */
interface Misfit {
  /** 'items.0.sku' */
  readonly path: string;
  readonly message: string;
}

/** The value as the schema makes it, or its issues in one line with their paths. */
export async function check(
  schema: StandardSchemaV1,
  value: unknown,
): Promise<{ value: unknown } | { issues: string; list: readonly Misfit[] }> {
  const result = await schema['~standard'].validate(value);
  if (result.issues === undefined) return { value: result.value };
  const list = result.issues.map((issue) => ({ path: pathOf(issue), message: issue.message }));
  const lines = list.map(({ path, message }) => `${path || '(the value)'}: ${message}`);
  return { issues: cut(lines.join('; '), MAX_FAILURE_CHARS), list };
}

const pathOf = (issue: StandardSchemaV1.Issue): string =>
  (issue.path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
