/**
 * The routes about bulk actions.
 *
 * Owns: which call does what, and how a bulk action is shown. Does not own: the checks of a request
 * (`bulk-requests.ts`), what the calls do (`scheduler/bulks.ts`).
 */

import type { Context } from 'hono';
import type { Hono } from 'hono/tiny';
import type { Bulk } from '../core/operators/bulk.ts';
import { given } from '../core/values/given.ts';
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
import { parseBulk } from './bulk-requests.ts';
import { callerOf } from './callers.ts';
import { bodyText, emptyBody, keyOf, parseBody } from './requests.ts';
import { executionSummary } from './views.ts';

export function bulkRoutes(app: Hono, scheduler: Scheduler): void {
  const shown = async (c: Context, bulk: Bulk, headers: Record<string, string> = {}): Promise<Response> =>
    c.json(bulkView(await shownBulk(scheduler, bulk), scheduler.ports.clock.now()), 202, headers);
  app.post('/bulk', async (c) => {
    const request = parseBulk(await bodyText(c));
    const key = keyOf(c, request.idempotencyKey);
    const bulk = await makeBulk(scheduler, { ...request, ...given({ idempotencyKey: key }), ...callerOf(c) });
    return shown(c, bulk, { Location: `/bulk/${bulk.id}` });
  });
  app.get('/bulk/:id', async (c) =>
    c.json(bulkView(await showBulk(scheduler, c.req.param('id')), scheduler.ports.clock.now())),
  );
  app.post('/bulk/:id/collect', async (c) => {
    parseBody(await bodyText(c), emptyBody);
    return shown(c, await collectBulk(scheduler, c.req.param('id')));
  });
  for (const as of ['confirm', 'answer'] as const) {
    app.post(`/bulk/:id/${as}`, async (c) => {
      parseBody(await bodyText(c), emptyBody);
      return shown(c, await confirmBulk(scheduler, c.req.param('id'), as, callerOf(c).by));
    });
  }
}

function bulkView(shown: ShownBulk, now: number): BulkView {
  const { bulk, examples, execution, executionId } = shown;
  const { id, command, count, leftOut, createdAt, createdBy, confirmedAt, confirmedBy } = bulk;
  return {
    bulkId: id,
    action: command.action,
    status: statusOf(shown),
    count,
    leftOut,
    ...given({ reason: command.reason }),
    createdAt,
    ...given({ createdBy, confirmedAt, confirmedBy }),
    ...(confirmedAt === undefined
      ? {
          examples: examples.map((one) => executionSummary(one, now)) as unknown as NonNullable<
            BulkView['examples']
          >,
        }
      : { executionId, ...given({ executionStatus: execution?.status }), progress: progressOf(shown) }),
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
