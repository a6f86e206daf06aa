/**
 * Rows of docs/not-verified.md that no program checks, each with the reason.
 */

import type { Area, ByHand, Entry } from '../check.ts';

/** Why no program checks a row, in a word for the page and in a sentence for a report. */
export const REASONS = {
  absent: 'the stack of verify has no such part',
  twice: 'it needs two deployments',
  long: 'it takes too long',
  other: 'it needs another account or caller',
  person: 'a person reads it',
} as const;
type Reason = keyof typeof REASONS;

const rows: readonly (readonly [area: Area, id: string, row: string, why: Reason])[] = [
  [
    'Account and template',
    'own-key',
    'With your encryption key nothing is refused (`KMSAccessDenied`).',
    'absent',
  ],
  ['Account and template', 'prod-stage', '`prod` sets 6 executions aside; its table is protected.', 'twice'],
  ['Account and template', 'many-agents', 'A folder of 60 agents deploys.', 'absent'],
  ['Account and template', 'partitions', 'GovCloud and China: an order succeeds.', 'other'],
  [
    'Account and template',
    'first-failure',
    'A failed first deployment leaves only the empty table.',
    'twice',
  ],
  ['Executions', 'cold-start', 'A cold start stays below the shortest lease (`initDurationMs`).', 'person'],
  ['Executions', 'expiry', 'A month after its end an execution is gone.', 'long'],
  ['Executions', 'isolate-memory', '`isolate` shows a death by memory’s limit.', 'absent'],
  ['Executions', 'shards', 'The wake index’s shards bear a burst.', 'long'],
  ['API and access', 'callers', '`startedBy` names users, roles and tokens.', 'other'],
  ['API and access', 'grants', '`grantStart` allows one workflow; a token without scope is 403.', 'other'],
  [
    'API and access',
    'rate-limit',
    'Beyond `rateLimit`, and at 0, the API answers 429; `startsPerSecond` bounds writes.',
    'absent',
  ],
  ['API and access', 'domain', 'With a domain AWS’s own address answers 404.', 'absent'],
  ['API and access', 'access-log', 'The access log has routes’ patterns, no token.', 'person'],
  [
    'API and access',
    'starved',
    'With `schedulerConcurrency` the API answers while agents take all.',
    'absent',
  ],
  ['Triggers and events', 'objects', 'An object starts one execution.', 'absent'],
  [
    'Triggers and events',
    'queue-policy',
    'A queue lets in whom `grantSend` named, no other account.',
    'other',
  ],
  ['Triggers and events', 'function-url', 'A function’s address lets in only granted roles.', 'other'],
  ['Triggers and events', 'rename', 'A renamed trigger leaves its queues and messages.', 'twice'],
  ['Supervision', 'outage', 'No burst follows ten minutes without ticks.', 'person'],
  ['Supervision', 'audit-silent', 'Without its rule `AuditSilent` is raised.', 'long'],
  ['Supervision', 'audit-pace', 'The audit removes as fast as executions leave behind.', 'long'],
  [
    'Observation and cost',
    'logs-command',
    '`steadfast logs` and `console` find the stack’s lines and charts.',
    'person',
  ],
  ['Observation and cost', 'traces', 'A trace crosses a queue (`tracing`).', 'absent'],
  [
    'Observation and cost',
    'prices',
    '[The prices](OPERATIONS.md#what-it-costs) are the bill within a third.',
    'long',
  ],
  ['Agents elsewhere', 'remote', 'An agent invokes its `remoteFunction` for ten minutes.', 'absent'],
  ['Agents elsewhere', 'network', 'An agent in a network reaches the services.', 'absent'],
  [
    'Agents elsewhere',
    'containers',
    'A container’s image builds; its task works, protected, and stops.',
    'absent',
  ],
  ['Agents elsewhere', 'stalled', 'A stalled container is killed, and its step goes on.', 'absent'],
  ['Upgrade and removal', 'two-indexes', '`upgrade` to a release with two new indexes ends.', 'twice'],
  ['Upgrade and removal', 'agent-again', 'An agent removed and deployed again gets its queue.', 'twice'],
  ['Upgrade and removal', 'pipeline', 'A stage’s role is assumed by its environment alone.', 'other'],
];

export const BY_HAND: readonly Entry[] = rows.map(
  ([area, id, row, why]): ByHand => ({ area, id, row, byHand: REASONS[why] }),
);
