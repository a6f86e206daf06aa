/**
 * The shapes of what the API answers about workflows, agents and health, as schemas: for documents and
 * tests. No function loads them.
 *
 * Owns: the schemas. Each says the same as the type of its name, which the compiler holds. Does not own: the
 * types and their comments, which become the descriptions (`api/deployment-answers.ts`, `core/records/`).
 */

import * as z from 'zod/mini';
import { EXECUTION_STATUSES } from '../../core/transitions.ts';
import type { AuditCounts } from '../../core/records/receipts.ts';
import type { EndedPause, PausedStarts } from '../../core/holds/workflow-pause.ts';
import type { Finding as Found } from '../../core/explain/situation.ts';
import type * as shown from '../deployment-answers.ts';
import { caller, riskWhy } from './execution-answers.ts';
import { at, count, effect, json, kind, listOf, maybe, object, shape, SHAPES, text, yes } from './shape.ts';

const RecoveryView = shape<shown.RecoveryView>('RecoveryView')(
  object({
    kind: z.enum(['retry', 'withInput', 'useAgent', 'human']),
    attempts: maybe(count),
    agent: maybe(text),
    withinMs: maybe(count),
    otherwise: maybe(z.enum(['undo', 'fail'])),
  }),
);
const WorkflowStepView = shape<shown.WorkflowStepView>('WorkflowStepView')(
  object({
    name: text,
    kind,
    after: listOf(text),
    onFailure: yes,
    pointOfNoReturn: yes,
    agent: maybe(text),
    effect: maybe(effect),
    undo: maybe(z.enum(['none', 'required'])),
    recovery: maybe(listOf(RecoveryView)),
    forMs: maybe(count),
    until: maybe(json),
    withinMs: maybe(count),
    heartbeatMs: maybe(count),
    by: maybe(z.literal('another')),
    otherwise: maybe(z.enum(['approve', 'reject'])),
    remindMs: maybe(count),
    workflow: maybe(text),
    over: maybe(json),
    concurrency: maybe(count),
    tolerate: maybe(z.union([z.literal(true), object({ items: count }), object({ percent: z.number() })])),
  }),
);
const held = { at, by: maybe(caller), reason: text, withinMs: maybe(count) };
const PausedStartsView = shape<PausedStarts>('PausedStarts')(object(held));
const EndedPauseView = shape<EndedPause>('EndedPause')(
  object({ ...held, endedAt: at, endedBy: maybe(caller) }),
);
const pauses = {
  pause: maybe(PausedStartsView),
  lastPause: maybe(EndedPauseView),
};
export const WorkflowPauseView = shape<shown.WorkflowPauseView>('WorkflowPauseView')(
  object({ workflow: text, ...pauses }),
);
const WorkflowForms = shape<shown.WorkflowForms>('WorkflowForms')(
  object({
    input: maybe(json),
    example: maybe(json),
    steps: maybe(z.record(text, object({ input: maybe(json), output: maybe(json) }))),
  }),
);
export const WorkflowView = shape<shown.WorkflowView>('WorkflowView')(
  object({
    workflow: text,
    plan: text,
    withinMs: count,
    search: maybe(listOf(text)),
    steps: listOf(WorkflowStepView),
    forms: maybe(WorkflowForms),
    ...pauses,
  }),
);
export const Workflows = object({ items: listOf(WorkflowView) });
SHAPES.add(Workflows, { id: 'Workflows' });

const pausedBy = { at, by: maybe(caller), reason: text };
const BreakerView = shape<shown.BreakerView>('BreakerView')(
  object({
    status: z.enum(['closed', 'open', 'half-open', 'paused']),
    since: maybe(at),
    until: maybe(at),
    trialUntil: maybe(at),
    pause: maybe(object(pausedBy)),
    lastPause: maybe(object({ ...pausedBy, endedAt: at, endedBy: maybe(caller) })),
  }),
);
const OutageView = shape<shown.OutageView>('OutageView')(
  object({
    agent: text,
    beganAt: at,
    openedAt: at,
    closedAt: maybe(at),
    failure: object({ code: text, message: text }),
    failed: count,
    calls: listOf(
      object({
        executionId: text,
        step: text,
        attempt: count,
        mode: z.enum(['execute', 'probe', 'undo']),
        at,
        unknown: yes,
        settled: maybe(z.enum(['done', 'not-done', 'repeated', 'undone', 'person', 'open', 'gone'])),
      }),
    ),
  }),
);
export const Outages = shape<shown.Outages>('Outages')(object({ items: listOf(OutageView) }));
export const AgentPauseView = shape<shown.AgentPauseView>('AgentPauseView')(
  object({ agent: text, breaker: BreakerView }),
);
const AgentView = shape<shown.AgentView>('AgentView')(
  object({
    name: text,
    effect,
    workflows: listOf(text),
    queue: maybe(object({ waiting: count, underWork: count, delayed: count })),
    breaker: BreakerView,
    lastError: maybe(object({ code: text, message: text, at })),
  }),
);
const MissingAgent = shape<shown.MissingAgent>('MissingAgent')(
  object({ name: text, waiting: count, since: maybe(at), planned: count }),
);
export const Agents = shape<shown.Agents>('Agents')(
  object({ items: listOf(AgentView), missing: listOf(MissingAgent), examined: count }),
);

const counts = { startedAt: at, scanned: count, healed: count, removed: count, failed: count };
const auditCounts = shape<AuditCounts>('AuditCounts')(object(counts));
const AuditHealth = shape<shown.AuditHealth>('AuditHealth')(
  object({ auditedAt: at, pass: auditCounts, whole: maybe(object({ ...counts, endedAt: at })) }),
);
const ShardHealth = shape<shown.ShardHealth>('ShardHealth')(
  object({
    shard: count,
    overdueMs: count,
    receipt: maybe(
      object({
        sweptAt: at,
        due: count,
        failed: count,
        oldestOverdueMs: count,
        missing: maybe(z.record(text, count)),
        missingSince: maybe(z.record(text, at)),
      }),
    ),
  }),
);
const MetricsPlace = shape<shown.MetricsPlace>('MetricsPlace')(
  object({
    service: text,
    by: listOf(z.enum(['workflow', 'agent'])),
    workflows: listOf(text),
    queues: z.record(text, text),
  }),
);
const Finding = shape<Found>('Finding')(
  object({
    kind: z.enum(['schedule-off', 'overdue', 'missing', 'breaker', 'paused', 'at-risk']),
    agent: maybe(text),
    since: maybe(at),
    sweptAt: maybe(at),
    failure: maybe(object({ code: text, message: text })),
    reason: maybe(text),
    waiting: maybe(count),
    atLeast: yes,
    runsOutAt: maybe(at),
    why: maybe(riskWhy),
  }),
);
const verdict = {
  status: z.enum(['healthy', 'at-risk', 'down']),
  says: text,
  findings: listOf(Finding),
  oldestOverdueMs: count,
};
export const Health = shape<shown.Health>('Health')(
  object({
    ...verdict,
    missing: maybe(z.record(text, count)),
    missingSince: maybe(z.record(text, at)),
    workflows: count,
    shards: listOf(ShardHealth),
    audit: maybe(AuditHealth),
    metrics: maybe(MetricsPlace),
  }),
);

const counted = { count, atLeast: yes };
const byStatus = z.partialRecord(z.enum(EXECUTION_STATUSES), count);
const inboxKind = z.enum(['recovery', 'undo', 'pause', 'deadline', 'approval', 'callback']);
const WorkflowCounts = shape<shown.WorkflowCounts>('WorkflowCounts')(
  object({
    workflow: text,
    isGone: maybe(z.literal(true)),
    isChild: maybe(z.literal(true)),
    open: count,
    waiting: count,
    paused: count,
    atRisk: count,
    endedWithoutSuccess: count,
    plans: listOf(object({ plan: text, open: count, isCurrent: z.boolean() })),
    pause: maybe(PausedStartsView),
  }),
);
export const Overview = shape<shown.Overview>('Overview')(
  object({
    at,
    health: object(verdict),
    open: object({ ...counted, atRisk: count, byStatus }),
    oldestOverdue: maybe(object({ executionId: text, workflow: text, wakeAt: at })),
    endedWithoutSuccess: object({
      since: at,
      ...counted,
      started: maybe(object(counted)),
      byStatus,
      byCode: listOf(object({ code: text, count })),
    }),
    inbox: object({
      ...counted,
      byKind: z.partialRecord(inboxKind, count),
      next: maybe(object({ executionId: text, kind: inboxKind, deadlineAt: at })),
    }),
    workflows: listOf(WorkflowCounts),
    breakers: listOf(object({ agent: text, breaker: BreakerView })),
    missing: listOf(object({ agent: text, waiting: count, since: maybe(at) })),
    sweptAt: maybe(at),
  }),
);
