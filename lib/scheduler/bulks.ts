/**
 * Bulk actions: one command for many executions, made, collected, confirmed.
 *
 * Owns: which executions a bulk action applies to, that none of them gets the command before the
 * confirmation, repeated calls, and the codes of its refusals. Does not own: the records
 * (`core/operators/bulk.ts`), the work on a page (`bulk-page.ts`), the filters (`lists.ts`).
 *
 * Its executions are stored page by page while they are counted, so that it acts on exactly those that were
 * shown. Each call collects for a bounded time, and collecting ends before any command is given. The
 * confirmation is one write, then a start under an id derived from the bulk action's. So a repeated
 * confirmation finds the same execution, which no longer needs the caller that started it.
 */

import {
  type Bulk,
  BULK_KEPT_MS,
  BULK_PAGE,
  type BulkCommand,
  type BulkPage,
  type BulkResult,
  CONFIRM_WITHIN_MS,
  isAnswer,
  mayApply,
  MOST_EXAMPLES,
  MOST_IDS,
  MOST_PAGES,
  possibleStatuses,
  sumOf,
} from '../core/operators/bulk.ts';
import type { ListFilter } from '../core/operators/list-filter.ts';
import { BULK } from '../core/plan/built-in.ts';
import type { Bulks } from '../core/ports.ts';
import type { Caller } from '../core/values/caller.ts';
import { refuse, type SteadfastError } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { canonicalJson, type Json } from '../core/values/json.ts';
import { isExecutionId } from '../core/values/names.ts';
import type { Execution } from '../core/records/state.ts';
import { cut, timeText } from '../core/values/text.ts';
import { bulkWorkflow } from './bulk-workflow.ts';
import { list, listed, type ListRequest, withPlans } from './lists.ts';
import { idOfKey, type Registered, type Scheduler, startOf, workflowOf } from './start.ts';

/** How long one call collects, and the most pages it collects: they are written together. */
const COLLECT_MS = 5_000;
const PAGES_OF_A_CALL = 50;

export interface BulkRequest {
  readonly command: BulkCommand;
  /** Give either `filter` or `ids`. */
  readonly filter?: Omit<ListRequest, 'limit' | 'cursor'>;
  readonly ids?: readonly string[];
  readonly idempotencyKey?: string;
  readonly by?: Caller;
}

/**
 * Makes a bulk action and begins to collect its executions, without any command to them; the same key returns
 * the same bulk action.
 * @throws SteadfastError `no-bulk-actions`, `bad-request`, `unknown-workflow`, `key-reused`, `too-large`
 */
export async function makeBulk(scheduler: Scheduler, request: BulkRequest): Promise<Bulk> {
  const { ports, hash } = scheduler;
  const bulks = bulksOf(scheduler);
  const { command, filter: asked, ids, idempotencyKey: key, by } = request;
  const id = key === undefined ? scheduler.newId() : hash(`bulk\n${key}`);
  const inputHash = hash(canonicalJson(defined({ command, filter: asked, ids }) as unknown as Json));
  const known = await bulks.read(id);
  if (known !== undefined) return sameBulk(known, inputHash);
  const createdAt = ports.clock.now();
  const bulk: Bulk = {
    id,
    version: 1,
    writeId: ports.random.id(),
    inputHash,
    command,
    createdAt,
    ...defined({ createdBy: by }),
    isCollected: false,
    count: 0,
    leftOut: 0,
    pages: 0,
    examples: [],
    goneAt: createdAt + BULK_KEPT_MS,
  };
  if (ids !== undefined) return made(bulks, withIds(bulk, [...new Set(ids)]));
  if (asked?.key !== undefined)
    return made(bulks, collected(bulk, await startedWith(scheduler, command, asked)));
  const filter = frozen(scheduler, command, asked ?? {}, createdAt);
  // An invalid combination is refused before anything is stored.
  await listed(scheduler, filter, 1, undefined);
  const first = await made(bulks, { bulk: { ...bulk, filter }, pages: [] });
  return first.isCollected ? first : collectBulk(scheduler, id);
}

/** @throws SteadfastError `key-reused` */
function sameBulk(known: Bulk, inputHash: string): Bulk {
  if (known.inputHash === inputHash) return known;
  throw refuse(
    'key-reused',
    `this idempotency key has made bulk action ${known.id} with another body; use a new key for a new one`,
  );
}

interface Written {
  readonly bulk: Bulk;
  readonly pages: readonly BulkPage[];
}

async function made(bulks: Bulks, { bulk, pages }: Written): Promise<Bulk> {
  if ((await bulks.write({ bulk, pages })) === 'written') return bulk;
  const known = await bulks.read(bulk.id);
  return known === undefined ? bulk : sameBulk(known, bulk.inputHash);
}

/** @throws SteadfastError `too-large`, `bad-request` */
function withIds(bulk: Bulk, ids: readonly string[]): Written {
  if (ids.length > MOST_IDS)
    throw refuse(
      'too-large',
      `there are ${ids.length} ids; ${MOST_IDS} are allowed, and a filter finds more`,
    );
  const wrong = ids.find((id) => !isExecutionId(id));
  if (wrong !== undefined)
    throw refuse('bad-request', `'${cut(wrong, 70)}' in ids is not the id of an execution`);
  return collected(bulk, { ids, leftOut: 0 });
}

/** Finds the execution started with the key; if there is none, there is nothing to act on. */
async function startedWith(
  scheduler: Scheduler,
  command: BulkCommand,
  asked: BulkRequest['filter'],
): Promise<Found> {
  const { items } = await list(scheduler, { ...asked, limit: 1 });
  const ids = items.filter(({ status }) => mayApply(command, status)).map(({ id }) => id);
  return { ids, leftOut: items.length - ids.length };
}

/** Fixes the filter's times, so that it does not include later executions. */
function frozen(
  scheduler: Scheduler,
  command: BulkCommand,
  filter: NonNullable<BulkRequest['filter']>,
  now: number,
): ListFilter {
  const { atRisk, key: _key, ...asked } = withPlans(scheduler, filter);
  const { workflow, statuses, tag, code, plan, plansNot, until = Number.POSITIVE_INFINITY } = asked;
  if (workflow !== undefined) workflowOf(scheduler, workflow);
  // Any of these criteria selects another index; statuses that cannot be acted on are then left out later.
  const isOpenToAny = [statuses, tag, code, plan, plansNot, atRisk].every((one) => one === undefined);
  return {
    ...asked,
    ...(isOpenToAny ? { statuses: possibleStatuses(command) } : {}),
    ...(atRisk === true ? { atRiskAt: now } : {}),
    until: Math.min(until, now + 1),
  };
}

/**
 * Continues collecting, for some seconds.
 * @throws SteadfastError `unknown-bulk`, `too-large`
 */
export async function collectBulk(scheduler: Scheduler, id: string): Promise<Bulk> {
  const bulks = bulksOf(scheduler);
  for (;;) {
    const bulk = await bulkOf(scheduler, id);
    if (bulk.isCollected) return bulk;
    const next = collected(bulk, await found(scheduler, bulk), scheduler.ports.random.id());
    if (next.bulk.pages > MOST_PAGES)
      throw refuse(
        'too-large',
        `more than ${MOST_PAGES * BULK_PAGE} executions match; narrow the filter, by since and until for example`,
      );
    if ((await bulks.write(next)) === 'written') return next.bulk;
  }
}

interface Found {
  readonly ids: readonly string[];
  readonly leftOut: number;
  /** Absent if there are no more. */
  readonly cursor?: string;
}

async function found(scheduler: Scheduler, { filter = {}, command, cursor: from }: Bulk): Promise<Found> {
  const { clock } = scheduler.ports;
  const untilAt = clock.now() + COLLECT_MS;
  const ids = new Set<string>();
  let leftOut = 0;
  let cursor = from;
  do {
    const page = await listed(scheduler, filter, BULK_PAGE, cursor);
    for (const execution of page.items) {
      if (mayApply(command, execution.status)) ids.add(execution.id);
      else leftOut += 1;
    }
    cursor = page.cursor;
  } while (cursor !== undefined && ids.size < (PAGES_OF_A_CALL - 1) * BULK_PAGE && clock.now() < untilAt);
  return { ids: [...ids], leftOut, ...defined({ cursor }) };
}

/** @param writeId of the next version; absent for the first version */
function collected(bulk: Bulk, { ids, leftOut, cursor }: Found, writeId?: string): Written {
  const { cursor: _before, ...before } = bulk;
  const { goneAt } = bulk;
  const pages = Array.from({ length: Math.ceil(ids.length / BULK_PAGE) }, (_, at) => ({
    bulk: bulk.id,
    page: bulk.pages + at,
    version: 1,
    writeId: writeId ?? bulk.writeId,
    ids: ids.slice(at * BULK_PAGE, (at + 1) * BULK_PAGE),
    goneAt,
  }));
  const next = {
    ...before,
    ...(writeId === undefined ? {} : { version: bulk.version + 1, writeId }),
    ...defined({ cursor }),
    isCollected: cursor === undefined,
    count: bulk.count + ids.length,
    leftOut: bulk.leftOut + leftOut,
    pages: bulk.pages + pages.length,
    examples: [...bulk.examples, ...ids].slice(0, MOST_EXAMPLES),
  };
  return { bulk: next, pages };
}

/**
 * Confirms a bulk action, so that it acts from now on in the confirming person's name. A repeated call
 * changes nothing.
 * @param as 'answer' if it answers approvals, for which a caller needs a separate right
 * @throws SteadfastError `unknown-bulk`, `not-collected`, `empty-bulk`, `bulk-expired`, `bad-request`
 */
export async function confirmBulk(
  scheduler: Scheduler,
  id: string,
  as: 'confirm' | 'answer',
  by: Caller | undefined,
): Promise<Bulk> {
  const bulks = bulksOf(scheduler);
  for (;;) {
    const bulk = await bulkOf(scheduler, id);
    refuseWrongWay(bulk, as);
    if (bulk.confirmedAt !== undefined) return begun(scheduler, bulk);
    const now = scheduler.ports.clock.now();
    const problem = problemOf(bulk, now);
    if (problem !== undefined) throw problem;
    const confirmed = {
      ...bulk,
      version: bulk.version + 1,
      writeId: scheduler.ports.random.id(),
      confirmedAt: now,
      ...defined({ confirmedBy: by }),
    };
    if ((await bulks.write({ bulk: confirmed })) === 'written') return begun(scheduler, confirmed);
  }
}

function refuseWrongWay({ id, command }: Bulk, as: 'confirm' | 'answer'): void {
  const needed = isAnswer(command) ? 'answer' : 'confirm';
  if (needed === as) return;
  throw refuse('bad-request', `'${command.action}' is confirmed by POST /bulk/${id}/${needed}`);
}

function problemOf({ id, isCollected, count, createdAt }: Bulk, now: number): SteadfastError | undefined {
  if (!isCollected)
    return refuse(
      'not-collected',
      `${count} executions are found so far, and there may be more: POST /bulk/${id}/collect until it is collected`,
    );
  if (count === 0) return refuse('empty-bulk', 'it selects no execution: there is nothing to confirm');
  if (now - createdAt > CONFIRM_WITHIN_MS)
    return refuse(
      'bulk-expired',
      `its executions were selected at ${timeText(createdAt)}, over a day ago; make a new one`,
    );
  return undefined;
}

/**
 * Writes the confirmation, then starts: if the process dies between the two, the confirmation is repeated.
 */
async function begun(scheduler: Scheduler, bulk: Bulk): Promise<Bulk> {
  const pages = Array.from({ length: bulk.pages }, (_, page) => page);
  await startOf(scheduler, registered(scheduler), {
    input: { bulk: bulk.id, pages },
    idempotencyKey: bulk.id,
    ...defined({ by: bulk.confirmedBy }),
  });
  return bulk;
}

const registered = ({ hash }: Scheduler): Registered => ({
  workflow: bulkWorkflow,
  planHash: hash(canonicalJson(bulkWorkflow.plan as unknown as Json)),
});

export interface ShownBulk {
  readonly bulk: Bulk;
  /** Before the confirmation: the first executions it will act on. */
  readonly examples: readonly Execution[];
  /** After the confirmation: the execution that carries it out, once it has begun. */
  readonly execution?: Execution;
  readonly executionId: string;
  readonly pagesDone: number;
  readonly result: BulkResult;
}

/** @throws SteadfastError `unknown-bulk` */
export const showBulk = async (scheduler: Scheduler, id: string): Promise<ShownBulk> =>
  shownBulk(scheduler, await bulkOf(scheduler, id));

export async function shownBulk(scheduler: Scheduler, bulk: Bulk): Promise<ShownBulk> {
  const { store } = scheduler.ports;
  const executionId = idOfKey(scheduler, BULK.name, bulk.id);
  if (bulk.confirmedAt === undefined) {
    const read = await Promise.all(bulk.examples.map((example) => store.readExecution(example)));
    const examples = read.filter((one) => one !== undefined);
    return { bulk, examples, executionId, pagesDone: 0, result: sumOf([]) };
  }
  const [execution, results] = await Promise.all([
    store.readExecution(executionId),
    bulksOf(scheduler).readResults(bulk.id),
  ]);
  const result = sumOf(results, MOST_EXAMPLES);
  return { bulk, examples: [], ...defined({ execution }), executionId, pagesDone: results.length, result };
}

/** @throws SteadfastError `unknown-bulk` */
async function bulkOf(scheduler: Scheduler, id: string): Promise<Bulk> {
  const bulk = isExecutionId(id) ? await bulksOf(scheduler).read(id) : undefined;
  if (bulk !== undefined) return bulk;
  throw refuse('unknown-bulk', `there is no bulk action '${cut(id, 70)}', or it is more than 30 days old`);
}

/** @throws SteadfastError `no-bulk-actions` */
function bulksOf({ ports: { bulks, queue } }: Scheduler): Bulks {
  if (bulks !== undefined && queue.reaches?.(BULK.name) !== false) return bulks;
  throw refuse(
    'no-bulk-actions',
    'this deployment has no agent for bulk actions (bulkActions: false); leave that out and deploy, or act on the executions one by one',
  );
}
