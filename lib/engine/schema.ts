/**
 * The check of a value against an author's schema.
 *
 * Owns: turning issues into one line of text, the refusals of a value, the size of an output, and counting
 * as a misfit a schema that throws or never settles: that is its author's mistake and shows nothing about
 * what was done. Does not own: what follows a misfit in an attempt.
 */

import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Ports } from '../core/ports.ts';
import { MAX_RECORD_VALUE_BYTES, MAX_VALUE_BYTES } from '../core/records/large-values.ts';
import { refuse } from '../core/values/errors.ts';
import { failureOf, MAX_FAILURE_CHARS } from '../core/values/failure.ts';
import { asJson, type Json, JSON_LIMITS, type JsonLimits, LARGE_JSON_LIMITS } from '../core/values/json.ts';
import { type EarlyIssues, type Misfit, misfitOf, misfitText } from '../core/values/issues.ts';
import { cut } from '../core/values/text.ts';

/** Where a value is checked and stored. */
export type Place = Pick<Ports, 'largeValues' | 'issuesInParts'>;

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

/** How long an asynchronous check may take: one that waits for what never comes ends nothing. */
const SETTLES_WITHIN_MS = 10_000;
/** Taken when this file is loaded: a test may replace the timers later. */
const { setTimeout: later, clearTimeout: cancel } = globalThis;

/** @throws Error if it does not settle */
async function settled<Result>(work: Promise<Result>, withinMs: number): Promise<Result> {
  let timer: ReturnType<typeof later> | undefined;
  const tooLate = new Promise<never>((_, late) => {
    const error = new Error(`an asynchronous check of it does not end within ${withinMs / 1_000} s`);
    timer = later(late, withinMs, error);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    cancel(timer);
  }
}

/** The most issues that are put into words: a long list of misfits has as many issues. */
const MAX_NAMED = 100;

/**
 * The value as the schema makes it, or its issues. Never rejects.
 * @param withinMs how long an asynchronous check may take
 */
export async function check(
  schema: StandardSchemaV1,
  value: unknown,
  { issuesInParts }: Place,
  withinMs: number = SETTLES_WITHIN_MS,
): Promise<Checked> {
  try {
    const early = await issuesInParts?.(schema, value, MAX_NAMED);
    if (early !== undefined) return misfit(early, value);
    const checked = schema['~standard'].validate(value);
    const result = 'then' in checked ? await settled(checked, withinMs) : checked;
    if (result.issues === undefined) return { value: result.value };
    return misfit({ first: result.issues.slice(0, MAX_NAMED), count: result.issues.length }, value);
  } catch (error) {
    const { code, message } = failureOf(error);
    const issues = cut(`the schema itself threw ${code}: ${message}`, MAX_FAILURE_CHARS);
    return { issues, details: { issues: [{ path: '', message: issues }] }, threw: true };
  }
}

function misfit({ first, count }: EarlyIssues, value: unknown): Checked {
  const issues = first.map((issue) => misfitOf(issue, value));
  return {
    issues: cut(issues.map(misfitText).join('; '), MAX_FAILURE_CHARS),
    details: { issues, ...(count > issues.length ? { issueCount: count } : {}) },
  };
}

/**
 * The value as the schema makes it.
 * @param what 'input does not fit workflow x'
 * @throws SteadfastError with this code, and the issues as details
 */
export async function fitting(
  place: Place,
  schema: StandardSchemaV1,
  given: unknown,
  code: string,
  what: string,
): Promise<unknown> {
  const checked = await check(schema, given, place);
  if ('value' in checked) return checked.value;
  throw refuse(code, `the ${what}: ${checked.issues}`, checked.details);
}

/**
 * The result of a schema, as JSON.
 * @throws SteadfastError with this code
 */
export function madeJson(
  value: unknown,
  place: Place,
  code: string,
  what = 'the output of its schema',
): Json {
  let problem: string;
  try {
    const made = asJson(value, jsonLimitsOf(place));
    if ('json' in made) return made.json;
    ({ problem } = made);
  } catch (error) {
    // A getter, or a proxy, may throw.
    problem = failureOf(error).message;
  }
  throw refuse(code, `${what} is not acceptable: ${cut(problem, 200)}`);
}

/** @throws SteadfastError `too-large` */
export function refuseLonger(what: string, bytes: number, most: number): void {
  if (bytes > most) throw refuse('too-large', `the ${what} has ${bytes} bytes; at most ${most} are allowed`);
}
