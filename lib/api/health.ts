/**
 * What `GET /health` answers: whether supervisors evaluate what is due, whether the agents it needs are deployed, and what the
 * receipts of supervisors and audit say.
 *
 * Owns: the verdict. The wake index alone decides whether a supervisor is at work: an execution that is long overdue means that
 * none is, whatever the receipts say, and an idle supervisor leaves none. The supervisors' receipts name agents that are missing.
 * Does not own: the receipts.
 *
 * Cheap: a query for one key per shard, and one read of all receipts.
 */

import type { Receipts } from '../core/ports.ts';
import {
  type AuditReceipt,
  missingAgents,
  type MissingCount,
  type ShardReceipt,
} from '../core/records/receipts.ts';
import type { Scheduler } from '../scheduler/start.ts';
import type { AuditHealth, Health, MetricsPlace, ShardHealth } from './deployment-answers.ts';

/** An execution overdue for longer than two ticks says that no supervisor is at work. */
const OVERDUE_ALARM_MS = 120_000;
/** What the environment says of them. */
export type Measured = Omit<MetricsPlace, 'workflows'>;

const NO_RECEIPTS: Awaited<ReturnType<Receipts['read']>> = { shards: [] };

/** @param metrics where there are any */
export async function healthOf(
  scheduler: Scheduler,
  receipts?: Receipts,
  metrics?: Measured,
): Promise<Health> {
  const { store, clock } = scheduler.ports;
  const now = clock.now();
  const numbers = Array.from({ length: store.shards }, (_, shard) => shard);
  const [pages, left] = await Promise.all([
    Promise.all(numbers.map((shard) => store.due(shard, now, undefined, 1))),
    receipts?.read() ?? NO_RECEIPTS,
  ]);
  const shards = pages.map(({ items }, shard): ShardHealth => {
    const overdueMs = Math.max(0, now - (items[0]?.wakeAt ?? now));
    const receipt = left.shards.find((one) => one.shard === shard);
    if (receipt === undefined) return { shard, overdueMs };
    const { sweptAt, due, failed, oldestOverdueMs } = receipt;
    return { shard, overdueMs, receipt: { sweptAt, due, failed, oldestOverdueMs } };
  });
  const oldestOverdueMs = Math.max(0, ...shards.map(({ overdueMs }) => overdueMs));
  const missing = missingNow(scheduler, left.shards, now);
  return {
    status: verdictOf(oldestOverdueMs, missing.size),
    oldestOverdueMs,
    ...(missing.size === 0 ? {} : missingParts(missing)),
    workflows: scheduler.workflows.size,
    shards,
    ...(left.audit === undefined ? {} : { audit: auditHealth(left.audit) }),
    ...(metrics === undefined ? {} : { metrics: { ...metrics, workflows: [...scheduler.workflows.keys()] } }),
  };
}

function missingParts(missing: ReturnType<typeof missingNow>): Pick<Health, 'missing' | 'missingSince'> {
  const since = [...missing].flatMap(([agent, one]) => (one.since === undefined ? [] : [[agent, one.since]]));
  return {
    missing: Object.fromEntries([...missing].map(([agent, { waiting }]) => [agent, waiting])),
    ...(since.length === 0 ? {} : { missingSince: Object.fromEntries(since) as Record<string, number> }),
  };
}

const verdictOf = (oldestOverdueMs: number, missing: number): Health['status'] => {
  if (oldestOverdueMs > OVERDUE_ALARM_MS) return 'overdue';
  return missing > 0 ? 'agent-missing' : 'ok';
};

/** As the supervisors have met them of late, without those that have been deployed since. */
export function missingNow(
  { ports: { queue } }: Scheduler,
  receipts: readonly ShardReceipt[],
  now: number,
): ReadonlyMap<string, MissingCount> {
  const met = [...missingAgents(receipts, now)];
  return new Map(met.filter(([agent]) => queue.reaches?.(agent) === false));
}

/** Its place in the table is no caller's business. */
const auditHealth = ({ auditedAt, pass, whole }: AuditReceipt): AuditHealth => ({
  auditedAt,
  pass,
  ...(whole === undefined ? {} : { whole }),
});
