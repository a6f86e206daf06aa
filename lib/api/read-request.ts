/**
 * Reads a request: its query or its body, within limits and of the shape that its route takes.
 *
 * Owns: limits before parsing, one clear message for each refusal. Does not own: the shapes, and what their
 * parts mean (`requests.ts`), what an author's schema says of a workflow's input (the scheduler asks it).
 */

import type { Context } from 'hono';
import * as z from 'zod/mini';
import type { Ports } from '../core/ports.ts';
import { refuse, type SteadfastError } from '../core/values/errors.ts';
import { misfitOf, misfitText } from '../core/values/issues.ts';
import { JSON_LIMITS, jsonProblem } from '../core/values/json.ts';
import { hasMoreKeys, hasMoreValues } from '../core/values/json-text.ts';
import { nearest } from '../core/values/nearest.ts';
import { cut } from '../core/values/text.ts';
import { refusedNumbers, roundedIn } from '../core/values/whole-numbers.ts';

/** The longest body of a request, in bytes of UTF-8, where values are as large as records. */
export const MAX_BODY_BYTES: number = 256 * 1024;
/**
 * The longest where large values have a place of their own. A function is given 6 MB, and the body is a text
 * in it, in which quotes and backslashes count twice: beyond that it is refused in front of the function.
 */
export const MAX_LARGE_BODY_BYTES: number = 4 * 1024 * 1024;

/**
 * Different keys in a body, of all its objects together. More, or more values (`JSON_LIMITS`), would stop the
 * loop for others while they are parsed, checked and copied. An output has no such caller, and may have more.
 */
export const MOST_BODY_KEYS = 12_000;

const MOST_BYTES = 'mostBodyBytes';
const mostBytesIn = (c: Context): number => (c.get(MOST_BYTES) as number | undefined) ?? MAX_BODY_BYTES;

/** Refuses a body that says it is too long, before it is read, and bounds one that does not say so. */
export function boundBody(c: Context, ports: Pick<Ports, 'largeValues'>): void {
  const bytes = ports.largeValues === undefined ? MAX_BODY_BYTES : MAX_LARGE_BODY_BYTES;
  c.set(MOST_BYTES, bytes);
  refuseLonger(Number(c.req.header('content-length') ?? 0), bytes);
}

/** @throws SteadfastError `too-large` */
function refuseLonger(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes)
    throw refuse('too-large', `the body has ${bytes} bytes; at most ${maxBytes} are allowed`);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The body's text, within its bound. Bytes that are no UTF-8 would become one and the same character, and two
 * keys one.
 * @throws SteadfastError `too-large`, `bad-json`
 */
async function bodyText(c: Context): Promise<string> {
  const bytes = await c.req.arrayBuffer();
  refuseLonger(bytes.byteLength, mostBytesIn(c));
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
): Promise<z.infer<Schema>> => await parseBody(await bodyText(c), schema);

/** From this length the work on a text is done in parts. */
const LONG_TEXT = 64 * 1024;

/** @throws SteadfastError `too-many-values`, before the text is parsed */
function refuseMore(text: string): void {
  const { nodes } = JSON_LIMITS;
  const refused = (most: number, what: string): SteadfastError =>
    refuse('too-many-values', `the body has more than ${most} ${what}; at most ${most} are allowed`);
  if (hasMoreValues(text, nodes)) throw refused(nodes, 'values (keys and elements, all levels together)');
  if (hasMoreKeys(text, MOST_BODY_KEYS)) throw refused(MOST_BODY_KEYS, 'different keys');
}

/**
 * The body as JSON of the wanted shape.
 * @throws SteadfastError `too-many-values`, `bad-json` (also text that is no Unicode), `unsafe-number`,
 * `bad-request`
 */
async function parseBody<Schema extends z.ZodMiniType>(
  text: string,
  schema: Schema,
): Promise<z.infer<Schema>> {
  refuseMore(text);
  // Others have their turn between two parts of the work: it keeps the loop from them for the longest part.
  const turn = async (): Promise<void> =>
    text.length > LONG_TEXT ? new Promise((over) => setImmediate(over)) : undefined;
  await turn();
  let value: unknown;
  try {
    value = text === '' ? {} : JSON.parse(text);
  } catch {
    throw refuse('bad-json', 'the body is not JSON');
  }
  await turn();
  const problem = jsonProblem(value);
  if (problem !== undefined) throw refuse('bad-json', `the body is not acceptable: ${cut(problem, 200)}`);
  await turn();
  const rounded = roundedIn(text);
  if (rounded.length > 0) throw refusedNumbers('the body', rounded);
  const sent = checked(value, schema, 'body');
  await turn();
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

/** How many unknown keys a refusal names, each in part: a body may have thousands. */
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
