/**
 * The shapes of what the API answers about bulk actions, as schemas: for documents and
 * tests. No function loads them.
 *
 * Owns: the schemas. Does not own: the types and their comments, which become the
 * descriptions (`api/bulk-answers.ts`).
 */

import * as z from 'zod/mini';
import { BULK_ACTIONS } from '../../core/operators/bulk.ts';
import type * as shown from '../bulk-answers.ts';
import { caller, ExecutionSummary, executionStatus } from './execution-answers.ts';
import { at, count, listOf, maybe, object, shape, text } from './shape.ts';

const RefusedView = shape<shown.RefusedView>('RefusedView')(
  object({ code: text, count, examples: listOf(object({ executionId: text, message: text })) }),
);
const BulkProgress = shape<shown.BulkProgress>('BulkProgress')(
  object({ acted: count, applied: count, refused: listOf(RefusedView) }),
);

export const BulkView = shape<shown.BulkView>('BulkView')(
  object({
    bulkId: text,
    action: z.enum(BULK_ACTIONS),
    status: z.enum(['collecting', 'collected', 'acting', 'done', 'stopped']),
    count,
    leftOut: count,
    reason: maybe(text),
    createdAt: at,
    createdBy: maybe(caller),
    examples: maybe(listOf(ExecutionSummary)),
    confirmedAt: maybe(at),
    confirmedBy: maybe(caller),
    executionId: maybe(text),
    executionStatus: maybe(executionStatus),
    progress: maybe(BulkProgress),
  }),
);
