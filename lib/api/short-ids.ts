/**
 * Short ids: the beginning or the end of an execution's id in its place, as a page prints it and a person
 * types it. Ids that are in the order of time begin alike for a minute.
 *
 * Owns: among which executions one is looked for. Does not own: the calls (`client.ts`). An id that the API
 * knows is never looked for: only its refusal begins a search, which is bounded and says what it has read.
 */

import { ApiError, type Client } from './client.ts';
import type { ExecutionSummary } from './answers.ts';
import type { ListOptions } from './call-options.ts';

/** Fewer digits than these fit too many ids. */
const FEWEST_DIGITS = 4;
const PAGE = 100;
/** Three lists of this length: nine calls at most. */
export const MOST_OF_A_LIST = 300;
/** Where a person finds an id: among the latest executions, the open ones, and those that ended badly. */
const LISTS: readonly ListOptions[] = [{}, { status: 'open' }, { status: 'bad' }];
const MOST_NAMED = 5;

/** A beginning or an end, and behind a dot what numbers a part of that execution. */
const SHORT = /^([0-9a-f][0-9a-f-]*)(\..*)?$/;

type Search = Pick<Client, 'list'>;

/**
 * The same client, to which executions can be named by the beginning or the end of
 * their ids, in small or capital letters.
 */
export function withShortIds(client: Client): Client {
  const known = new Map<string, string>();
  const named = async <R>(id: string, call: (id: string) => Promise<R>): Promise<R> => {
    try {
      return await call(known.get(id) ?? id);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      const whole = await wholeId(client, id, error);
      known.set(id, whole);
      return call(whole);
    }
  };
  const of =
    <Rest extends readonly unknown[], R>(call: (id: string, ...rest: Rest) => Promise<R>) =>
    (id: string, ...rest: Rest): Promise<R> =>
      named(id, (whole) => call(whole, ...rest));
  return {
    ...client,
    start: (workflow, options) =>
      options.replaces === undefined
        ? client.start(workflow, options)
        : named(options.replaces, (replaces) => client.start(workflow, { ...options, replaces })),
    get: of(client.get),
    waitForEnd: of(client.waitForEnd),
    why: of(client.why),
    cancel: of(client.cancel),
    pause: of(client.pause),
    resume: of(client.resume),
    retry: of(client.retry),
    erase: of(client.erase),
    send: (to, ...message) =>
      'executionId' in to
        ? named(to.executionId, (executionId) => client.send({ executionId }, ...message))
        : client.send(to, ...message),
    sendById: of(client.sendById),
    resolve: of(client.resolve),
    approve: of(client.approve),
    reject: of(client.reject),
  };
}

const isUnknown = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'unknown-execution';

/** @throws ApiError `ambiguous-id`; the refusal itself if no id that was read begins or ends so */
async function wholeId(api: Search, text: string, refusal: ApiError): Promise<string> {
  const [, head = '', rest = ''] = SHORT.exec(text.toLowerCase()) ?? [];
  if (head.replaceAll('-', '').length < FEWEST_DIGITS) throw refusal;
  const found = await withPart(api, head);
  const [one, ...others] = found;
  if (one === undefined)
    throw new ApiError(
      refusal.code,
      `${refusal.message}, and none of the latest ${MOST_OF_A_LIST}, the open ones or those that ended without success (${MOST_OF_A_LIST} of each) begins or ends with it: give the whole id`,
      refusal.status === undefined ? {} : { status: refusal.status },
    );
  if (others.length === 0) return `${one.executionId}${rest}`;
  const named = found
    .slice(0, MOST_NAMED)
    .map((each) => `${each.executionId} (${each.workflow}, ${each.status})`);
  const more = found.length > MOST_NAMED ? `, and ${found.length - MOST_NAMED} more` : '';
  throw new ApiError(
    'ambiguous-id',
    `'${text}' begins or ends the ids of ${found.length} executions: ${named.join(', ')}${more}. Give more of it`,
    { details: { executionIds: found.map(({ executionId }) => executionId) } },
  );
}

const isPartOf = (id: string, part: string): boolean => id.startsWith(part) || id.endsWith(part);

/** Only executions that were started from outside: a child's id begins with its parent's. */
async function withPart(api: Search, part: string): Promise<readonly ExecutionSummary[]> {
  const found = new Map<string, ExecutionSummary>();
  const read = async (filter: ListOptions): Promise<void> => {
    let left = MOST_OF_A_LIST;
    let cursor: string | undefined;
    do {
      const page = await api.list({ ...filter, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
      for (const item of page.items)
        if (item.parent === undefined && isPartOf(item.executionId, part)) found.set(item.executionId, item);
      left -= PAGE;
      ({ cursor } = page);
    } while (cursor !== undefined && left > 0);
  };
  await Promise.all(LISTS.map(read));
  return [...found.values()];
}
