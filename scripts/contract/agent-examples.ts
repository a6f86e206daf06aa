/**
 * One call of each route about agents and its answer: for documents.
 *
 * Owns: the examples. Does not own: those of the other routes (`examples.ts`).
 */

import type { Route } from '../../lib/api/calls.ts';

const ID = '0f343b0931126a20f133d67c2b018a3b';
const AT = 1_795_000_000_000;
const ANN = { kind: 'iam', name: 'arn:aws:iam::123456789012:user/ann' };
const CLEANED = { at: AT, by: ANN, reason: 'the press is being cleaned' };

export const AGENT_EXAMPLES = {
  'GET /agents': {
    path: '/agents',
    answer: {
      items: [
        {
          name: 'compose-greeting',
          effect: 'idempotent',
          workflows: ['greeting'],
          queue: { waiting: 0, underWork: 1, delayed: 0 },
          breaker: { status: 'closed' },
        },
      ],
      missing: [],
      examined: 1,
    },
  },
  'POST /agents/{name}/pause': {
    path: '/agents/compose-greeting/pause',
    body: { reason: 'the press is being cleaned' },
    answer: { agent: 'compose-greeting', breaker: { status: 'paused', since: AT, pause: CLEANED } },
  },
  'POST /agents/{name}/resume': {
    path: '/agents/compose-greeting/resume',
    answer: {
      agent: 'compose-greeting',
      breaker: { status: 'closed', lastPause: { ...CLEANED, endedAt: AT + 600_000, endedBy: ANN } },
    },
  },
  'POST /agents/{name}/try-now': {
    path: '/agents/compose-greeting/try-now',
    answer: {
      agent: 'compose-greeting',
      breaker: { status: 'half-open', since: AT },
      woken: 1,
      dueAt: AT + 5_000,
      first: { executionId: ID, step: 'compose' },
    },
  },
} as const satisfies Partial<Record<Route, object>>;
