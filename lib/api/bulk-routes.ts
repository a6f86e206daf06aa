/**
 * The routes about bulk actions.
 *
 * Owns: their rows, and the answer about a bulk action. Does not own: the checks of a request
 * (`bulk-requests.ts`), the effects of the calls (`scheduler/bulks.ts`).
 */

import type { Bulk } from '../core/operators/bulk.ts';
import { defined } from '../core/values/defined.ts';
import { isTerminal } from '../core/records/state.ts';
import {
  collectBulk,
  confirmBulk,
  makeBulk,
  showBulk,
  type ShownBulk,
  shownBulk,
} from '../scheduler/bulks.ts';
import type { Scheduler } from '../scheduler/start.ts';
import type { BulkView, RefusedView } from './bulk-answers.ts';
import { bulkRequestOf } from './bulk-requests.ts';
import { callerOf } from './callers.ts';
import { bulkBody, emptyBody, keyOf } from './requests.ts';
import { type RouteRow, row, type RouteRows } from './route-row.ts';
import { executionSummary } from './views.ts';

const viewNow = async (scheduler: Scheduler, bulk: Bulk): Promise<BulkView> =>
  bulkView(await shownBulk(scheduler, bulk), scheduler.ports.clock.now());

const confirmed = (as: 'confirm' | 'answer'): RouteRow<BulkView> =>
  row(202, emptyBody, async ({ c, scheduler, named }) =>
    viewNow(scheduler, await confirmBulk(scheduler, named, as, callerOf(c).by)),
  );

export const BULK_ROUTES = {
  'POST /bulk': row(202, bulkBody, async ({ c, scheduler }, body) => {
    const request = bulkRequestOf(body);
    const key = defined({ idempotencyKey: keyOf(c, request.idempotencyKey) });
    const bulk = await makeBulk(scheduler, { ...request, ...key, ...callerOf(c) });
    c.header('Location', `/bulk/${bulk.id}`);
    return viewNow(scheduler, bulk);
  }),
  'GET /bulk/{id}': row(200, undefined, async ({ scheduler, named }) =>
    bulkView(await showBulk(scheduler, named), scheduler.ports.clock.now()),
  ),
  'POST /bulk/{id}/collect': row(202, emptyBody, async ({ scheduler, named }) =>
    viewNow(scheduler, await collectBulk(scheduler, named)),
  ),
  'POST /bulk/{id}/confirm': confirmed('confirm'),
  'POST /bulk/{id}/answer': confirmed('answer'),
} satisfies Partial<RouteRows>;

function bulkView(shown: ShownBulk, now: number): BulkView {
  const { bulk, examples, execution, executionId } = shown;
  const { id, command, count, leftOut, createdAt, createdBy, confirmedAt, confirmedBy } = bulk;
  return {
    bulkId: id,
    action: command.action,
    status: statusOf(shown),
    count,
    leftOut,
    ...defined({ reason: command.reason }),
    createdAt,
    ...defined({ createdBy, confirmedAt, confirmedBy }),
    ...(confirmedAt === undefined
      ? { examples: examples.map((one) => executionSummary(one, now)) }
      : { executionId, ...defined({ executionStatus: execution?.status }), progress: progressOf(shown) }),
  };
}

function statusOf({ bulk, execution, pagesDone }: ShownBulk): BulkView['status'] {
  if (!bulk.isCollected) return 'collecting';
  if (bulk.confirmedAt === undefined) return 'collected';
  if (pagesDone >= bulk.pages) return 'done';
  return execution !== undefined && isTerminal(execution.status) ? 'stopped' : 'acting';
}

function progressOf({ result: { applied, refused } }: ShownBulk): NonNullable<BulkView['progress']> {
  const reasons: RefusedView[] = Object.entries(refused)
    .map(([code, one]) => ({ code, ...one }))
    .toSorted((one, other) => other.count - one.count);
  return {
    acted: reasons.reduce((sum, { count }) => sum + count, applied),
    applied,
    refused: reasons,
  };
}
