/**
 * A schema library's findings about a value, in a person's words.
 *
 * Owns: the words. Does not own: the check (`engine/schema.ts`), what follows a misfit.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';

/** The places at which a value does not fit its schema. */
export interface Misfit {
  /** For example 'items.0.sku'; '' for the value itself. */
  readonly path: string;
  readonly message: string;
}

/** Misfits that were found before the whole value was checked. */
export interface EarlyIssues {
  /** The first ones, with their paths in the whole value. */
  readonly first: readonly StandardSchemaV1.Issue[];
  readonly count: number;
}

/**
 * Checks a long value part by part, so that all other calls have their turn meanwhile.
 * @param most how many misfits are returned; all are counted
 * @returns undefined if there are none, or if the parts show nothing
 */
export type IssuesInParts = (
  schema: StandardSchemaV1,
  value: unknown,
  most: number,
) => Promise<EarlyIssues | undefined>;

/** A library's own words, which it uses if the schema's author gave no message. */
const ITS_OWN = /^(Invalid input\b|Required$|Invalid key: Expected)/;
const IS_MISSING = 'is missing';

/**
 * Replaces the library's words for a missing value ("expected nonoptional").
 * @param value that was checked
 */
export function misfitOf({ path = [], message }: StandardSchemaV1.Issue, value: unknown): Misfit {
  const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
  let at = value;
  for (const key of keys) at = (Object(at) as Record<PropertyKey, unknown>)[key];
  const isMissing = at === undefined && ITS_OWN.test(message);
  return { path: keys.map(String).join('.'), message: isMissing ? IS_MISSING : message };
}

/** A misfit in one line. */
export const misfitText = ({ path, message }: Misfit): string =>
  message === IS_MISSING ? `${path || 'the value'} ${message}` : `${path || '(the value)'}: ${message}`;
