/**
 * One call of each route and its answer: for documents. Tests compare them with the schemas.
 *
 * Owns: the examples. Does not own: the requests and answers of a route (`routes.ts`).
 */

import type { Route } from '../../lib/api/calls.ts';
import { AGENT_EXAMPLES } from './agent-examples.ts';
import { BULK_EXAMPLES } from './bulk-examples.ts';
import { timeText } from '../../lib/core/values/text.ts';

export interface Example {
  readonly path: string;
  readonly body?: object;
  readonly answer: unknown;
}

const ID = '0f343b0931126a20f133d67c2b018a3b';
const TOKEN = `${ID}.packed.5f0c1f0e-6a4e-4b7e-9a43-1f8f6f0a2c11`;
const PLAN = 'c6453c5880b03bce783acc94afb949c2';
const AT = 1_795_000_000_000;
const ANN = { kind: 'iam', name: 'arn:aws:iam::123456789012:user/ann' };
const HELD = { at: AT, by: ANN, reason: 'the shop is closed' };
const started = (status: string): object => ({ executionId: ID, status });
const summary = {
  ...started('succeeded'),
  workflow: 'greeting',
  plan: PLAN,
  startedAt: AT,
  startedBy: ANN,
  endedAt: AT + 900,
};

const workflow = {
  workflow: 'greeting',
  plan: PLAN,
  withinMs: 300_000,
  steps: [
    {
      name: 'compose',
      kind: 'agent',
      after: [],
      agent: 'compose-greeting',
      effect: 'idempotent',
      undo: 'none',
    },
  ],
};

const taken = {
  what: `agent 'compose-greeting' takes it: attempt 1, from ${timeText(AT)}`,
  at: AT,
  who: 'agent',
  step: 'compose',
};

const ended = {
  ...summary,
  deadlineAt: AT + 300_000,
  input: { name: 'Ada' },
  output: { text: 'Hello, Ada!' },
  incidents: [],
  steps: [
    {
      name: 'compose',
      kind: 'agent',
      agent: 'compose-greeting',
      after: [],
      status: 'done',
      attempt: 1,
      output: { text: 'Hello, Ada!' },
      changedAt: AT + 880,
      attempts: [
        {
          number: 1,
          mode: 'execute',
          claimedAt: AT + 60,
          endedAt: AT + 880,
          outcome: 'done',
          variant: 1,
          agent: 'compose-greeting',
          idempotencyKey: `${ID}.compose.4e7b9a431f`,
          input: { name: 'Ada' },
        },
      ],
    },
  ],
};

export const EXAMPLES: Readonly<Record<Route, Example>> = {
  'GET /workflows': { path: '/workflows', answer: { items: [workflow] } },
  'GET /workflows/{name}': { path: '/workflows/greeting', answer: workflow },
  'POST /workflows/{name}/executions': {
    path: '/workflows/greeting/executions',
    body: { input: { name: 'Ada' }, idempotencyKey: 'order-1' },
    answer: started('running'),
  },
  'POST /workflows/{name}/runs': {
    path: '/workflows/greeting/runs',
    body: { input: { name: 'Ada' }, idempotencyKey: 'order-1', wait: '20s' },
    answer: ended,
  },
  'POST /workflows/{name}/messages': {
    path: '/workflows/ship-order/messages',
    body: { key: 'order-1', name: 'paid', body: { amount: 4200 }, id: 'payment-17' },
    answer: { executionId: ID, id: 'payment-17', order: 1, at: AT },
  },
  'POST /workflows/{name}/pause': {
    path: '/workflows/greeting/pause',
    body: { reason: 'the shop is closed' },
    answer: { workflow: 'greeting', pause: HELD },
  },
  'POST /workflows/{name}/resume': {
    path: '/workflows/greeting/resume',
    answer: {
      workflow: 'greeting',
      lastPause: { ...HELD, endedAt: AT + 3_600_000, endedBy: ANN },
    },
  },
  'GET /executions': {
    path: '/executions?workflow=greeting&limit=1',
    answer: { items: [summary], cursor: `${AT}_1k2j3h/${ID}`, orderedBy: 'startedAt' },
  },
  'GET /executions/{id}': {
    path: `/executions/${ID}?wait=20s`,
    answer: ended,
  },
  'GET /executions/{id}/why': {
    path: `/executions/${ID}/why`,
    answer: {
      executionId: ID,
      status: 'running',
      past: [
        {
          at: AT,
          what: "workflow 'greeting' was started",
          evidence: { plan: PLAN, deadlineAt: AT + 300_000 },
        },
      ],
      steps: [{ name: 'compose', status: 'ready', because: 'it waits for an agent to take it', next: taken }],
      next: taken,
      warnings: [],
      commands: [
        { command: 'cancel' },
        { command: 'cancel-as-is' },
        { command: 'pause' },
        { command: 'resume', because: 'it is running' },
        { command: 'retry', because: 'it is running: its steps are tried again by themselves' },
        { command: 'replace', because: 'it is running' },
      ],
    },
  },
  'POST /executions/{id}/cancel': {
    path: `/executions/${ID}/cancel`,
    body: { reason: 'ordered twice', commandId: 'cancel-order-1' },
    answer: started('compensating'),
  },
  'POST /executions/{id}/pause': {
    path: `/executions/${ID}/pause`,
    body: { reason: 'the bank is closed', within: '2h' },
    answer: started('paused'),
  },
  'POST /executions/{id}/resume': { path: `/executions/${ID}/resume`, body: {}, answer: started('running') },
  'POST /executions/{id}/retry': {
    path: `/executions/${ID}/retry`,
    body: { reason: 'the bank is back' },
    answer: started('running'),
  },
  'POST /executions/{id}/messages': {
    path: `/executions/${ID}/messages`,
    body: { name: 'paid', body: { amount: 4200 }, id: 'payment-17' },
    answer: { executionId: ID, id: 'payment-17', order: 1, at: AT },
  },
  'POST /executions/{id}/erase': {
    path: `/executions/${ID}/erase`,
    answer: { executionId: ID, status: 'erased' },
  },
  'POST /executions/{id}/incidents/{n}/resolve': {
    path: `/executions/${ID}/incidents/1/resolve`,
    body: { choice: 'retry', reason: 'the address was corrected' },
    answer: started('running'),
  },
  ...BULK_EXAMPLES,
  'POST /callbacks/{token}/complete': {
    path: `/callbacks/${TOKEN}/complete`,
    body: { output: { parcels: 2 } },
    answer: { status: 'completed' },
  },
  'POST /callbacks/{token}/fail': {
    path: `/callbacks/${TOKEN}/fail`,
    body: { code: 'out-of-stock', message: 'the last one is broken' },
    answer: { status: 'failed' },
  },
  'POST /callbacks/{token}/heartbeat': { path: `/callbacks/${TOKEN}/heartbeat`, answer: { status: 'open' } },
  'GET /incidents': {
    path: '/incidents',
    answer: {
      items: [
        {
          executionId: ID,
          workflow: 'ship-order',
          number: 1,
          kind: 'recovery',
          step: 'ship',
          stepVersion: 7,
          failure: { code: 'PermanentError', message: 'no such street' },
          openedAt: AT,
          deadlineAt: AT + 86_400_000,
          otherwise: 'undo-all',
          reminders: 0,
        },
      ],
    },
  },
  'GET /overview': {
    path: '/overview',
    answer: {
      at: AT,
      health: {
        status: 'degraded',
        says: "Agent 'compose' has been failing since 2026-01-02 03:00:05Z (4 min) (TransientError: the service answered 503); 1 execution waits for it; it reaches its deadline in 56 min; fix its service and nothing else: they continue by themselves once it answers.",
        findings: [
          {
            kind: 'breaker',
            agent: 'compose',
            since: AT - 240_000,
            failure: { code: 'TransientError', message: 'the service answered 503' },
            waiting: 1,
            runsOutAt: AT + 3_360_000,
          },
        ],
        oldestOverdueMs: 0,
      },
      open: { count: 12, atRisk: 1, byStatus: { running: 10, waiting: 2 } },
      endedWithoutSuccess: {
        since: AT - 86_400_000,
        count: 3,
        started: { count: 340 },
        byStatus: { compensated: 2, canceled: 1 },
        byCode: [
          { code: 'card-declined', count: 2 },
          { code: 'canceled', count: 1 },
        ],
      },
      lately: { since: AT - 3_600_000, started: 20, endedWithoutSuccess: 1 },
      inbox: {
        count: 2,
        byKind: { recovery: 1, approval: 1 },
        next: { executionId: ID, kind: 'approval', deadlineAt: AT + 1_800_000 },
      },
      workflows: [
        {
          workflow: 'greeting',
          open: 12,
          waiting: 2,
          paused: 0,
          atRisk: 1,
          endedWithoutSuccess: 3,
          lately: { started: 20, endedWithoutSuccess: 1 },
          plans: [{ plan: PLAN, open: 12, isCurrent: true }],
        },
      ],
      breakers: [],
      missing: [],
      sweptAt: AT - 1_500,
    },
  },
  ...AGENT_EXAMPLES,
  'GET /health': {
    path: '/health',
    answer: {
      status: 'healthy',
      says: 'Nothing is overdue or at risk, and each agent that is needed is there.',
      findings: [],
      oldestOverdueMs: 0,
      workflows: 1,
      shards: [{ shard: 0, overdueMs: 0, receipt: { sweptAt: AT, due: 3, failed: 0, oldestOverdueMs: 40 } }],
      metrics: {
        service: 'Steadfast-prod-Steadfast-1A2B3C4D',
        by: [],
        workflows: ['greeting'],
        queues: { 'compose-greeting': 'Steadfast-prod-1a2b3c4d_compose-greeting' },
      },
    },
  },
  'GET /openapi.json': { path: '/openapi.json', answer: { openapi: '3.1.0' } },
};
