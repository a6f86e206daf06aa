/**
 * One call of each route about bulk actions and its answer: for documents.
 *
 * Owns: the examples. Does not own: those of the other routes (`examples.ts`).
 */

import type { Route } from '../../lib/api/calls.ts';

const ID = '0f343b0931126a20f133d67c2b018a3b';
const AT = 1_795_000_000_000;
const ANN = { kind: 'iam', name: 'arn:aws:iam::123456789012:user/ann' };
const failed = {
  executionId: ID,
  workflow: 'greeting',
  plan: 'c6453c5880b03bce783acc94afb949c2',
  status: 'failed',
  startedAt: AT,
  endedAt: AT + 900,
  code: 'bank-unavailable',
};
const BULK_ID = '7d9c1b7e0f2a4c5d8e6f1a2b3c4d5e6f';
const bulk = (status: string, more: object): object => ({
  bulkId: BULK_ID,
  action: 'retry',
  status,
  count: 143,
  leftOut: 2,
  reason: 'the bank is back',
  createdAt: AT,
  createdBy: ANN,
  ...more,
});
const acting = bulk('acting', {
  confirmedAt: AT + 20_000,
  confirmedBy: ANN,
  executionId: '4a1b2c3d4e5f60718293a4b5c6d7e8f9',
  executionStatus: 'running',
  progress: {
    acted: 100,
    applied: 99,
    refused: [
      {
        code: 'not-retryable',
        count: 1,
        examples: [{ executionId: ID, message: `execution ${ID} cannot be tried again: it is running` }],
      },
    ],
  },
});

export const BULK_EXAMPLES = {
  'POST /bulk': {
    path: '/bulk',
    body: {
      action: 'retry',
      filter: { status: 'failed', code: 'bank-unavailable' },
      reason: 'the bank is back',
      idempotencyKey: 'bank-2026-11-24',
    },
    answer: bulk('collected', { examples: [failed] }),
  },
  'GET /bulk/{id}': { path: `/bulk/${BULK_ID}`, answer: acting },
  'POST /bulk/{id}/collect': {
    path: `/bulk/${BULK_ID}/collect`,
    answer: bulk('collecting', { examples: [] }),
  },
  'POST /bulk/{id}/confirm': { path: `/bulk/${BULK_ID}/confirm`, answer: acting },
  'POST /bulk/{id}/answer': {
    path: `/bulk/${BULK_ID}/answer`,
    answer: { ...acting, action: 'approve' },
  },
} as const satisfies Partial<Record<Route, object>>;
