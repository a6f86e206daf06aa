/**
 * The check of a value against an author's schema.
 *
 * Owns: turning issues into one line of text, the size of an output, and counting a schema that throws as a
 * misfit: that is its author's mistake and shows nothing about what was done. Does not own: what follows a
 * misfit.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Ports } from '../core/ports.ts';
import { MAX_RECORD_VALUE_BYTES, MAX_VALUE_BYTES } from '../core/records/large-values.ts';
import { failureOf, MAX_FAILURE_CHARS } from '../core/values/failure.ts';
import { JSON_LIMITS, type JsonLimits, LARGE_JSON_LIMITS } from '../core/values/json.ts';
import { type Misfit, misfitOf, misfitText } from '../core/values/issues.ts';
import { cut } from '../core/values/text.ts';
import { issuesInParts, type Issues } from './check-in-parts.ts';
import { isLong } from './long-values.ts';

type Place = Pick<Ports, 'largeValues'>;

/** The longest JSON text of an input or an output. */
export const mostValueBytes = ({ largeValues }: Place): number =>
  largeValues === undefined ? MAX_RECORD_VALUE_BYTES : MAX_VALUE_BYTES;

/** The most parts of such a value, and its other limits. */
export const jsonLimitsOf = ({ largeValues }: Place): JsonLimits =>
  largeValues === undefined ? JSON_LIMITS : LARGE_JSON_LIMITS;

type Checked =
  | { readonly value: unknown }
  | {
      /** The issues in one line, with their paths. */
      readonly issues: string;
      readonly details: {
        readonly issues: readonly Misfit[];
        /** How many were found, if not all are in the list. */
        readonly issueCount?: number;
      };
      /** Set if the schema threw, so that the value is neither valid nor invalid. */
      readonly threw?: true;
    };

/** The most issues that are put into words: a long list of misfits has as many issues. */
const MAX_NAMED = 100;

/** The value as the schema makes it, or its issues. Never rejects. */
export async function check(schema: StandardSchemaV1, value: unknown): Promise<Checked> {
  let result: StandardSchemaV1.Result<unknown>;
  try {
    const early = isLong(value) ? await issuesInParts(schema, value, MAX_NAMED) : undefined;
    if (early !== undefined) return misfit(early, value);
    result = await schema['~standard'].validate(value);
  } catch (error) {
    const { code, message } = failureOf(error);
    const issues = cut(`the schema itself threw ${code}: ${message}`, MAX_FAILURE_CHARS);
    return { issues, details: { issues: [{ path: '', message: issues }] }, threw: true };
  }
  if (result.issues === undefined) return { value: result.value };
  return misfit({ first: result.issues.slice(0, MAX_NAMED), count: result.issues.length }, value);
}

function misfit({ first, count }: Issues, value: unknown): Checked {
  const issues = first.map((issue) => misfitOf(issue, value));
  return {
    issues: cut(issues.map(misfitText).join('; '), MAX_FAILURE_CHARS),
    details: { issues, ...(count > issues.length ? { issueCount: count } : {}) },
  };
}
