/**
 * Accepts the beginning or the end of an execution's id, as a page prints it and a person types it. Ids begin
 * with the time, so those of one minute begin alike.
 *
 * Owns: which executions are searched. Does not own: the calls (`client.ts`). An id that the API knows is
 * never searched: only a refusal begins a search, which is limited and says what it has read.
 */

import { ApiError, type Client } from './client.ts';
import type { ExecutionSummary } from './answers.ts';
import type { ListOptions } from './call-options.ts';

/** The fewest digits; fewer would fit too many ids. */
const FEWEST_DIGITS = 4;
const PAGE = 100;
/** The length of each of three lists, which takes nine calls at most. */
export const MOST_OF_A_LIST = 300;
/**
 * The lists in which a person finds an id: the latest executions, the open ones, and those that ended without
 * success.
 */
const LISTS: readonly ListOptions[] = [{}, { status: 'open' }, { status: 'bad' }];
const MOST_NAMED = 5;

/** A beginning or an end of an id, and after a dot the number of a part of that execution. */
const SHORT = /^([0-9a-f][0-9a-f-]*)(\..*)?$/;

type Search = Pick<Client, 'list'>;

/** A client that accepts the beginning or the end of an id, in small or capital letters. */
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

/** @throws ApiError `ambiguous-id`; or the refusal itself if no id that was read fits */
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

/** Searches only executions that were started from outside, because a child's id begins with its parent's. */
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
