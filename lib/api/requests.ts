/**
 * The shape of every request of a client, and the meaning of its parts.
 *
 * Owns: shapes, times, filters, pages, keys. Does not own: the limits of a body and the text of a refusal
 * (`read-request.ts`), the effects of the requests.
 */

import type { Context } from 'hono';
import * as z from 'zod/mini';
import { BULK_ACTIONS } from '../core/operators/bulk.ts';
import { STATUS_GROUPS, type Tag } from '../core/operators/list-filter.ts';
import { EARLIEST_TIME, parseDuration } from '../core/values/duration.ts';
import { MAX_TAG_CHARS } from '../core/plan/search.ts';
import { refuse } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { CHOICES } from '../core/records/question.ts';
import type { Json } from '../core/values/json.ts';
import { hasReplacement, REPLACED_IN_KEY } from '../core/values/text.ts';
import { EXECUTION_STATUSES, type ExecutionStatus } from '../core/moves.ts';
import type { ListRequest } from '../scheduler/lists.ts';

/** The longest `wait`, below the 30 s that an HTTP API waits for its function. */
export const MAX_WAIT_MS = 25_000;
export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 100;

export const MAX_TAGS = 20;
const unchanged = z.refine((text) => !hasReplacement(String(text)), REPLACED_IN_KEY);
const key = z.string().check(z.minLength(1), z.maxLength(200), unchanged);
const tagText = z.string().check(z.maxLength(MAX_TAG_CHARS));

const MAX_PRIORITY = 9;
/** Any JSON; its limits are those of the whole body. */
const json = z.unknown() as z.ZodMiniType as z.ZodMiniType<Json>;

function isCallbackUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  return isHttp && url.username === '' && url.password === '';
}

export const startBody = z.strictObject({
  input: json,
  idempotencyKey: z.optional(key),
  replaces: z.optional(z.string().check(z.regex(/^[a-z0-9-]{1,64}$/, 'it must be the id of an execution'))),
  callbackUrl: z.optional(
    z
      .string()
      .check(
        z.maxLength(2_000),
        z.refine(isCallbackUrl, 'it must be an https: or http: address without a user'),
      ),
  ),
  priority: z.optional(z.int().check(z.minimum(0), z.maximum(MAX_PRIORITY))),
  tags: z.optional(
    z
      .record(z.string().check(z.regex(/^[A-Za-z0-9_.:-]{1,64}$/)), tagText)
      .check(z.refine((tags) => Object.keys(tags).length <= MAX_TAGS, `at most ${MAX_TAGS} tags`)),
  ),
});

/** The body of a run. `parseWait` checks `wait`. */
export const runBody = z.strictObject({ ...startBody.shape, wait: z.optional(z.string()) });

export const commandBody = z.strictObject({
  reason: z.optional(z.string().check(z.maxLength(500))),
  commandId: z.optional(key),
});

export const cancelBody = z.strictObject({
  ...commandBody.shape,
  undo: z.optional(z.boolean()),
});

export const pauseBody = z.strictObject({
  ...commandBody.shape,
  /** A duration such as '2h': how long it may last before a person is asked. */
  within: z.optional(z.string().check(z.maxLength(60))),
});

/** The name of a step. */
const step = z.optional(z.string().check(z.regex(/^[a-z][a-z0-9-]{0,47}$/, 'it must be the name of a step')));

export const retryBody = z.strictObject({
  ...commandBody.shape,
  input: z.optional(json),
  step,
});

/** Pauses an agent: a repeated call changes nothing, so it needs no id. */
export const pauseAgentBody = z.strictObject({ reason: pauseBody.shape.reason });

/** Pauses a workflow; it, too, has no id. */
export const pauseWorkflowBody = z.strictObject({
  ...pauseAgentBody.shape,
  within: pauseBody.shape.within,
});

export const messageBody = z.strictObject({
  /** The plan knows the valid names. */
  name: z.string().check(z.minLength(1), z.maxLength(100)),
  body: z.optional(json),
  id: z.optional(key),
});

/** A message to the execution that was started with this key. */
export const keyedMessageBody = z.strictObject({
  ...messageBody.shape,
  key,
  /** The start of an execution if none has the key. */
  startWith: z.optional(z.omit(startBody, { idempotencyKey: true })),
});

/** An empty body: only the caller is recorded. */
export const emptyBody = z.strictObject({});

export const completeBody = z.strictObject({ output: z.optional(json) });

export const failBody = z.strictObject({
  code: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_.-]{1,100}$/))),
  message: z.optional(z.string().check(z.maxLength(1_000))),
});

export const answerBody = z.strictObject({
  choice: z.enum(CHOICES),
  reason: z.optional(z.string().check(z.maxLength(500))),
  input: z.optional(json),
  output: z.optional(json),
  nothingHappened: z.optional(z.boolean()),
});

/** `parseLimit` checks the number. */
const limit = z.optional(z.string().check(z.maxLength(20)));
/**
 * The cursor. For a list of many workflows it contains several ids; the limit is below what an HTTP API
 * accepts as request line and headers (10,240 bytes).
 */
const cursor = z.optional(z.string().check(z.maxLength(6_000)));

export const pageQuery = z.strictObject({
  cursor,
  limit,
});

/** The query of one execution. `parseWait` checks `wait`. */
export const showQuery = z.strictObject({
  wait: z.optional(z.string()),
  step: z.optional(z.string()),
});

export const agentsQuery = z.strictObject({ needed: z.optional(z.literal('true')) });

const TIME_WANTED = 'it must be a time in ms since 1970, not before 2001 (or 0): are these seconds?';

/**
 * Whether a number is a time; 0 means from the beginning. Seconds mistaken for milliseconds would select, and
 * act on, executions that the caller does not mean.
 */
const isTime = (at: number): boolean => at === 0 || at >= EARLIEST_TIME;

/** A time in epoch ms. */
const time = z.optional(
  z.string().check(
    z.regex(/^\d{1,15}$/, 'it must be a time in ms since 1970'),
    z.refine((text) => isTime(Number(text)), TIME_WANTED),
  ),
);

/** The filters of a list in a query. */
const filterQuery = {
  workflow: z.optional(z.string().check(z.maxLength(48))),
  status: z.optional(z.enum([...EXECUTION_STATUSES, 'open', 'bad'])),
  atRisk: z.optional(z.literal('true')),
  key: z.optional(key),
  tag: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_.-]{1,64}:[^]{1,200}$/, 'it must be name:value'))),
  code: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
  plan: z.optional(z.string().check(z.minLength(1), z.maxLength(300))),
  since: time,
  until: time,
};

export const listQuery = z.strictObject({ ...filterQuery, cursor, limit });

/** A time in a body. */
const bodyTime = z.optional(
  z.int().check(z.minimum(0), z.maximum(999_999_999_999_999), z.refine(isTime, TIME_WANTED)),
);
const bulkFilter = z.strictObject({
  ...filterQuery,
  atRisk: z.optional(z.literal(true)),
  since: bodyTime,
  until: bodyTime,
});

export const bulkBody = z.strictObject({
  action: z.enum(BULK_ACTIONS),
  filter: z.optional(bulkFilter),
  ids: z.optional(z.array(z.string().check(z.maxLength(1_200))).check(z.minLength(1))),
  idempotencyKey: z.optional(key),
  reason: commandBody.shape.reason,
  undo: cancelBody.shape.undo,
  within: pauseBody.shape.within,
  choice: z.optional(answerBody.shape.choice),
  input: answerBody.shape.input,
  output: answerBody.shape.output,
  nothingHappened: answerBody.shape.nothingHappened,
  step,
  comment: z.optional(z.string().check(z.maxLength(500))),
});

/** @throws SteadfastError `bad-request` if the text is not a duration; too long a wait is shortened */
export function parseWait(text: string | undefined, of: 'query' | 'body'): number | undefined {
  return text === undefined ? undefined : Math.min(parseDuration(text, `the ${of}'s wait`), MAX_WAIT_MS);
}

/** Longest pause before a person is asked. */
export const MAX_PAUSE_MS = 30 * 86_400_000;

/** @throws SteadfastError `bad-duration`, `bad-request` */
export function parsePause(text: string): number {
  const ms = parseDuration(text, "the pause's within");
  if (ms <= MAX_PAUSE_MS) return ms;
  throw refuse('bad-request', `within is ${text}; it can be at most 30d, and then a person is asked`);
}

/** The options of a pause. @throws as `parsePause` */
export const pauseOf = <Rest extends object>({
  within,
  ...asked
}: Rest & { readonly within?: string }): Omit<Rest, 'within'> & { readonly withinMs?: number } => ({
  ...asked,
  ...(within === undefined ? {} : { withinMs: parsePause(within) }),
});

/** @throws SteadfastError `bad-request` */
export function parseLimit(text: string | undefined): number {
  const wanted = text ?? String(DEFAULT_LIMIT);
  const count = /^\d+$/.test(wanted) ? Number(wanted) : Number.NaN;
  if (count >= 1 && count <= MAX_LIMIT) return count;
  throw refuse(
    'bad-request',
    `limit is ${JSON.stringify(wanted)}; allowed: 1 to ${MAX_LIMIT}, and the answer's cursor asks for more`,
  );
}

/** @throws SteadfastError `bad-request` */
export const listRequestOf = ({
  limit: wanted,
  cursor: from,
  ...asked
}: z.infer<typeof listQuery>): ListRequest => ({
  ...filterOf(asked),
  ...defined({ cursor: from }),
  limit: parseLimit(wanted),
});

type ListQuery = Omit<z.infer<typeof listQuery>, 'atRisk' | 'since' | 'until' | 'cursor' | 'limit'> & {
  readonly atRisk?: unknown;
  readonly since?: string | number | undefined;
  readonly until?: string | number | undefined;
};

export const filterOf = ({
  status,
  atRisk,
  tag,
  since,
  until,
  ...asked
}: ListQuery): Omit<ListRequest, 'limit' | 'cursor'> => ({
  ...defined(asked),
  ...(status === undefined ? {} : { statuses: statusesOf(status) }),
  ...(atRisk === undefined ? {} : { atRisk: true }),
  ...(tag === undefined ? {} : { tag: tagOf(tag) }),
  ...(since === undefined ? {} : { since: Number(since) }),
  ...(until === undefined ? {} : { until: Number(until) }),
});

const tagOf = (text: string): Tag => {
  const colon = text.indexOf(':');
  return { name: text.slice(0, colon), value: text.slice(colon + 1) };
};

const statusesOf = (status: ExecutionStatus | 'open' | 'bad'): readonly ExecutionStatus[] =>
  status === 'open' || status === 'bad' ? STATUS_GROUPS[status] : [status];

const KEY_HEADER = 'idempotency-key';
/**
 * A key for a header: ASCII only, because proxies read other characters differently, and without a comma, by
 * which they join repeated headers.
 */
const HEADER_KEY = /^[!-+\--~]([ -+\--~]*[!-+\--~])?$/;

/**
 * The idempotency key: in the body, in the header, or the same in both.
 * @throws SteadfastError `bad-request`
 */
export function keyOf(c: Context, inBody: string | undefined): string | undefined {
  // Read from the gateway's own event, because a `Request` would change characters that are not ASCII.
  const { event } = (c.env ?? {}) as { event?: { headers?: Readonly<Record<string, string | undefined>> } };
  const sent = event?.headers?.[KEY_HEADER] ?? c.req.header(KEY_HEADER);
  if (sent === undefined) return inBody;
  const text = unquoted(sent);
  if (text.length > 200 || !HEADER_KEY.test(text))
    throw refuse(
      'bad-request',
      'the header is not acceptable: give Idempotency-Key once, with 1 to 200 ASCII characters and no comma; put any other key into the body',
    );
  if (inBody === undefined || inBody === text) return text;
  throw refuse(
    'bad-request',
    "the header Idempotency-Key and the body's idempotencyKey differ: give one of them",
  );
}

/**
 * The key without quotes: the header's draft has them, as a string of a structured field; most clients do
 * not.
 */
const unquoted = (sent: string): string => {
  const [, inner] = /^"((?:[^"\\]|\\["\\])+)"$/.exec(sent) ?? [];
  return inner === undefined ? sent : inner.replaceAll(/\\(.)/g, '$1');
};

/** The value, or `null` if there is none. */
export const asJson = (value: Json | undefined): Json => value ?? null;
