/**
 * The shapes of what the API answers about executions, as schemas: for documents and
 * tests. No function loads them.
 *
 * Owns: the schemas. Each says the same as the type of its name, which the compiler holds. Does not own: the
 * types and their comments, which become the descriptions (`api/answers.ts`, `core/records/`).
 */

import * as z from 'zod/mini';
import { ORDERS } from '../../core/operators/list-filter.ts';
import type { Caller } from '../../core/values/caller.ts';
import type { Parent } from '../../core/records/children.ts';
import type { Standing } from '../../core/records/ended.ts';
import type { Failure } from '../../core/values/failure.ts';
import { CHOICES } from '../../core/records/incident.ts';
import type { RiskReason } from '../../core/records/state.ts';
import type { People } from '../../core/records/people.ts';
import type { Cause, Deferred, Pause, Retried } from '../../core/records/state.ts';
import { EXECUTION_STATUSES, STEP_STATUSES } from '../../core/transitions.ts';
import type { Happened, Next } from '../../core/explain/words.ts';
import type * as shown from '../answers.ts';
import { at, count, json, kind, listOf, maybe, object, shape, text, yes } from './shape.ts';

export const executionStatus = z.enum(EXECUTION_STATUSES);
const mode = z.enum(['execute', 'probe', 'undo']);
const choice = z.enum(CHOICES);
const failure = shape<Failure>('Failure')(object({ code: text, message: text }));
export const caller = shape<Caller>('Caller')(
  object({ kind: z.enum(['iam', 'jwt', 'local', 'trigger']), name: text }),
);
const tags = z.record(text, text);

const standing = shape<Standing>('Standing')(
  object({
    stands: count,
    mayStand: count,
    first: listOf(object({ step: text, effect: z.enum(['stands', 'may-stand']), executionId: maybe(text) })),
    view: text,
  }),
);

const started = { executionId: text, status: executionStatus };
export const Started = shape<shown.Started>('Started')(object(started));
export const Stopped = shape<shown.Stopped>('Stopped')(
  object({ ...started, undo: maybe(z.literal(false)), standing: maybe(standing) }),
);

const cause = shape<Cause>('Cause')(
  object({
    kind: z.enum(['failure', 'cancel', 'deadline', 'parent']),
    at,
    step: maybe(text),
    failure,
    undo: maybe(z.literal(false)),
    by: maybe(caller),
  }),
);
const parent = shape<Parent>('Parent')(
  object({
    executionId: text,
    step: text,
    index: count,
    since: maybe(at),
    epoch: maybe(count),
    try: maybe(count),
    part: yes,
  }),
);

export const riskWhy = z.enum([
  'breaker',
  'paused',
  'unclaimed',
  'budget',
  'not-deployed',
  'cannot-tell',
  'last-try',
  'late',
  'overdue',
]);
const risk = shape<RiskReason>('RiskReason')(
  object({
    why: riskWhy,
    step: maybe(text),
    agent: maybe(text),
  }),
);

const summary = {
  ...started,
  workflow: text,
  plan: text,
  startedAt: at,
  wakeAt: maybe(at),
  riskSince: maybe(at),
  risk: maybe(risk),
  step: maybe(text),
  startedBy: maybe(caller),
  endedAt: maybe(at),
  code: maybe(text),
  cause: maybe(cause),
  tags: maybe(tags),
  parent: maybe(parent),
};
export const ExecutionSummary = shape<shown.ExecutionSummary>('ExecutionSummary')(object(summary));
export const ListPage = shape<shown.ListPage>('ListPage')(
  object({ items: listOf(ExecutionSummary), cursor: maybe(text), orderedBy: z.enum(ORDERS) }),
);

const attempt = shape<shown.AttemptView>('AttemptView')(
  object({
    number: count,
    mode,
    claimedAt: at,
    endedAt: at,
    outcome: z.enum(['done', 'failed', 'unknown', 'not-done', 'still-running', 'cannot-tell', 'compensated']),
    failure: maybe(failure),
    variant: maybe(count),
    agent: maybe(text),
    effectKey: maybe(text),
    input: maybe(json),
    inputBytes: maybe(count),
    inputGiven: yes,
  }),
);
const deferred = shape<Deferred>('Deferred')(
  object({
    mode,
    why: z.enum(['breaker', 'paused', 'unclaimed', 'budget', 'not-deployed']),
    at,
    since: maybe(at),
    pause: maybe(object({ by: maybe(caller), reason: text })),
  }),
);
const entry = {
  step: text,
  kind: z.enum(['approval', 'callback']),
  openedAt: at,
  deadlineAt: at,
  otherwise: z.enum(['approve', 'reject', 'fail']),
  shown: maybe(z.record(text, json)),
  reminders: count,
  remindedAt: maybe(at),
  remindAt: maybe(at),
  closedAt: maybe(at),
  closedBy: maybe(z.enum(['answer', 'deadline', 'moot'])),
  outcome: maybe(z.enum(['done', 'failed'])),
};
const EntryView = shape<shown.EntryView>('EntryView')(object(entry));
const incident = {
  number: count,
  kind: z.enum(['recovery', 'undo', 'pause', 'deadline']),
  step: maybe(text),
  stepVersion: count,
  failure,
  wrongAnswer: maybe(text),
  openedAt: at,
  deadlineAt: at,
  otherwise: choice,
  movedFor: maybe(count),
  reminders: maybe(count),
  remindedAt: maybe(at),
  remindAt: maybe(at),
  resolvedAt: maybe(at),
  choice: maybe(choice),
  by: maybe(z.enum(['person', 'deadline', 'moot'])),
  caller: maybe(caller),
  reason: maybe(text),
  commandId: maybe(text),
  choices: maybe(
    listOf(object({ choice, needs: maybe(text), notBefore: maybe(at), leaves: maybe(standing) })),
  ),
};
const IncidentView = shape<shown.IncidentView>('IncidentView')(object(incident));
const asked = { executionId: text, workflow: maybe(text), tags: maybe(tags) };
export const IncidentPage = shape<shown.IncidentPage>('IncidentPage')(
  object({
    items: listOf(z.union([object({ ...incident, ...asked }), object({ ...entry, ...asked })])),
    cursor: maybe(text),
  }),
);

const StepView = shape<shown.StepView>('StepView')(
  object({
    name: text,
    kind,
    agent: maybe(text),
    after: listOf(text),
    onFailure: yes,
    pointOfNoReturn: maybe(z.boolean()),
    status: z.enum([...STEP_STATUSES, 'pending']),
    attempt: maybe(count),
    claimedAt: maybe(at),
    leaseUntil: maybe(at),
    retryAt: maybe(at),
    deferred: maybe(deferred),
    output: maybe(json),
    failure: maybe(failure),
    wrongAnswer: maybe(text),
    progress: maybe(z.union([text, z.number()])),
    by: maybe(caller),
    mayHaveActed: maybe(z.boolean()),
    waitsUntil: maybe(at),
    token: maybe(text),
    entry: maybe(EntryView),
    children: maybe(
      object({
        executionIds: listOf(text),
        count,
        started: count,
        ended: z.partialRecord(executionStatus, count),
        items: maybe(object({ count, begun: count, ended: z.partialRecord(executionStatus, count) })),
        try: maybe(count),
      }),
    ),
    changedAt: maybe(at),
    attempts: listOf(attempt),
    attemptsLeftOut: maybe(object({ count, atLeast: yes })),
    omitted: maybe(listOf(z.enum(['failure', 'attempts', 'children', 'output']))),
  }),
);

const pause = shape<Pause>('Pause')(
  object({
    number: count,
    at,
    by: maybe(caller),
    reason: text,
    withinMs: count,
    workflowPausedAt: maybe(at),
    pausedAt: maybe(at),
    deadlineAt: maybe(at),
    endedAt: maybe(at),
    endedBy: maybe(caller),
  }),
);
const retried = shape<Retried>('Retried')(
  object({ at, by: maybe(caller), reason: text, cause: maybe(cause) }),
);
const deed = z.union([
  z.enum(['started', 'retried', 'gave-input', 'gave-output', 'skipped', 'continued']),
  z.templateLiteral(['approved:', text]),
]);
const people = shape<People>('People')(z.record(text, deed));

export const ExecutionView = shape<shown.ExecutionView>('ExecutionView')(
  object({
    ...summary,
    deadlineAt: at,
    input: json,
    output: maybe(json),
    pauses: maybe(listOf(pause)),
    retries: maybe(listOf(retried)),
    redriveOf: maybe(text),
    end: maybe(object({ status: executionStatus, at })),
    people: maybe(people),
    standing: maybe(standing),
    incidents: listOf(IncidentView),
    steps: listOf(StepView),
    omitted: maybe(listOf(text)),
  }),
);

const next = shape<Next>('Next')(
  object({
    what: text,
    at: maybe(at),
    who: maybe(z.enum(['agent', 'person', 'external-party', 'child', 'supervisor'])),
    step: maybe(text),
  }),
);
const happened = shape<Happened>('Happened')(
  object({ at, what: text, step: maybe(text), evidence: z.record(text, z.unknown()) }),
);
export const Reasons = shape<shown.Reasons>('Reasons')(
  object({
    executionId: text,
    status: text,
    past: listOf(happened),
    steps: listOf(object({ name: text, status: text, because: text, next })),
    next,
    warnings: listOf(text),
    commands: listOf(
      object({
        command: z.enum(['cancel', 'cancel-as-is', 'pause', 'resume', 'retry', 'redrive']),
        because: maybe(text),
      }),
    ),
    omittedPast: maybe(count),
  }),
);

export const CallbackOutcome = shape<shown.CallbackOutcome>('CallbackOutcome')(
  object({ status: z.enum(['completed', 'failed', 'open']), by: maybe(caller) }),
);
