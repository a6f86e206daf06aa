/**
 * Reads a request: its query or its body, within limits and in the shape that its route takes.
 *
 * Owns: limits before parsing, and one clear message for each refusal. Does not own: the shapes and the
 * meaning of their parts (`requests.ts`), an author's schema of a workflow's input (the scheduler applies
 * it).
 */

import type { Context } from 'hono';
import * as z from 'zod/mini';
import type { Ports } from '../core/ports.ts';
import { refuse, type SteadfastError } from '../core/values/errors.ts';
import { misfitOf, misfitText } from '../core/values/issues.ts';
import { JSON_LIMITS, type JsonLimits, jsonProblem } from '../core/values/json.ts';
import { hasMoreKeys, hasMoreValues } from '../core/values/json-text.ts';
import { nearest } from '../core/values/nearest.ts';
import { cut } from '../core/values/text.ts';
import { refusedNumbers, roundedIn } from '../core/values/whole-numbers.ts';
import { turn } from '../engine/long-values.ts';
import { refuseLonger } from '../engine/schema.ts';

/** The longest body of a request, in bytes of UTF-8, if large values are not stored apart. */
export const MAX_BODY_BYTES: number = 256 * 1024;
/**
 * The longest body if large values are stored apart. A function takes 6 MB, and the body is a text in it, in
 * which quotes and backslashes count twice; a larger one is refused before the function.
 */
export const MAX_LARGE_BODY_BYTES: number = 4 * 1024 * 1024;

/**
 * The most different keys in a body, over all its objects. More keys, or more values, would block the event
 * loop while they are parsed, checked and copied. Outputs do not come from callers, and may have more.
 */
export const MOST_BODY_KEYS = 12_000;
/** The most values in a body, on all levels together, if large values are stored apart. */
export const MOST_LARGE_BODY_VALUES = 100_000;

interface Bounds {
  readonly bytes: number;
  readonly json: JsonLimits;
}
const BOUNDS = 'bodyBounds';
const boundsIn = (c: Context): Bounds =>
  (c.get(BOUNDS) as Bounds | undefined) ?? { bytes: MAX_BODY_BYTES, json: JSON_LIMITS };

/**
 * Refuses a body whose length header is too large before it is read, and limits one without such a header.
 */
export function boundBody(c: Context, ports: Pick<Ports, 'largeValues'>): void {
  const isLarge = ports.largeValues !== undefined;
  const bytes = isLarge ? MAX_LARGE_BODY_BYTES : MAX_BODY_BYTES;
  const nodes = isLarge ? MOST_LARGE_BODY_VALUES : JSON_LIMITS.nodes;
  c.set(BOUNDS, { bytes, json: { ...JSON_LIMITS, nodes } } satisfies Bounds);
  refuseLonger('body', Number(c.req.header('content-length') ?? 0), bytes);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The body's text, within its limit. Bytes that are not UTF-8 would all become the same character, and
 * different keys the same.
 * @throws SteadfastError `too-large`, `bad-json`
 */
async function bodyText(c: Context): Promise<string> {
  const bytes = await c.req.arrayBuffer();
  refuseLonger('body', bytes.byteLength, boundsIn(c).bytes);
  try {
    return UTF8.decode(bytes);
  } catch {
    throw refuse('bad-json', 'the body is not UTF-8');
  }
}

/** The query of a GET. @throws as `checked` */
export const queryOf = (c: Context, schema: z.ZodMiniObject): object =>
  checked(c.req.query(), schema, 'query');

/** The body of any other call. @throws as `bodyText` and `parseBody` */
export const bodyOf = async <Schema extends z.ZodMiniType>(
  c: Context,
  schema: Schema,
): Promise<z.infer<Schema>> => await parseBody(await bodyText(c), schema, boundsIn(c).json);

/** The length from which a text is processed in parts. */
const LONG_TEXT = 64 * 1024;

/** @throws SteadfastError `too-many-values`, before the text is parsed */
function refuseMore(text: string, { nodes }: JsonLimits): void {
  const refused = (most: number, what: string): SteadfastError =>
    refuse('too-many-values', `the body has more than ${most} ${what}; at most ${most} are allowed`);
  if (hasMoreValues(text, nodes)) throw refused(nodes, 'values (keys and elements, all levels together)');
  if (hasMoreKeys(text, MOST_BODY_KEYS)) throw refused(MOST_BODY_KEYS, 'different keys');
}

/**
 * The body as JSON of the expected shape.
 * @throws SteadfastError `too-many-values`, `bad-json` (also for text that is not Unicode), `unsafe-number`,
 * `bad-request`
 */
async function parseBody<Schema extends z.ZodMiniType>(
  text: string,
  schema: Schema,
  limits: JsonLimits,
): Promise<z.infer<Schema>> {
  refuseMore(text, limits);
  // Lets other requests run between two parts of the work, so that they wait at most for the longest part.
  const rest = text.length > LONG_TEXT ? turn : undefined;
  await rest?.();
  let value: unknown;
  try {
    value = text === '' ? {} : JSON.parse(text);
  } catch {
    throw refuse('bad-json', 'the body is not JSON');
  }
  await rest?.();
  const problem = jsonProblem(value, limits);
  if (problem !== undefined) throw refuse('bad-json', `the body is not acceptable: ${cut(problem, 200)}`);
  await rest?.();
  const rounded = roundedIn(text);
  if (rounded.length > 0) throw refusedNumbers('the body', rounded);
  const sent = checked(value, schema, 'body');
  await rest?.();
  return sent;
}

/** @throws SteadfastError `bad-request` with each issue and its path */
function checked<Schema extends z.ZodMiniType>(
  value: unknown,
  schema: Schema,
  what: string,
): z.infer<Schema> {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) =>
    issue.code === 'unrecognized_keys'
      ? {
          path: issue.path.map(String).join('.'),
          message: unknownText(issue.keys, issue.path.length === 0 ? namesIn(schema) : []),
        }
      : misfitOf(issue, value),
  );
  const lines = issues.map((issue) => (issue.path === '' ? issue.message : misfitText(issue)));
  throw refuse('bad-request', `the ${what} is not acceptable: ${lines.join('; ')}`, { issues });
}

/** The most unknown keys that a refusal names, each shortened: a body may have thousands. */
const MAX_NAMED = 10;
const MAX_NAME_CHARS = 60;

const namesIn = (schema: z.ZodMiniType): readonly string[] =>
  Object.keys((schema as Partial<z.ZodMiniObject>).shape ?? {});

const meantText = (name: string, names: readonly string[]): string => {
  const like = nearest(name, names);
  return like === undefined ? '' : ` (did you mean '${like}'?)`;
};

const unknownText = (keys: readonly string[], names: readonly string[]): string =>
  `unknown: ${keys
    .slice(0, MAX_NAMED)
    .map((one) => cut(one, MAX_NAME_CHARS))
    .map((one) => `${one}${meantText(one, names)}`)
    .join(
      ', ',
    )}${keys.length > MAX_NAMED ? ` and ${keys.length - MAX_NAMED} more` : ''}${keys.includes('by') ? " (leave it out: the API's authorizer names the caller)" : ''}`;
