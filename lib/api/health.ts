/**
 * The answer of `GET /health`: the verdict with the worst finding in one sentence, whether supervisors
 * evaluate due executions, whether the needed agents are deployed and their services answer, and the receipts
 * of supervisors and audit.
 *
 * Owns: the reads. Only the wake index shows whether a supervisor is at work: if an execution is long
 * overdue, none is, independent of receipts, and an idle supervisor leaves no receipt. The supervisors'
 * receipts name missing agents. Does not own: the verdict and its words (`explain/situation.ts`), the
 * findings (`findings.ts`), the receipts.
 *
 * It reads one key for each shard, all receipts at once, each agent's breaker, and the executions at risk by
 * the index of open ones. Breakers are needed: without them a deployment in which all open executions waited
 * for a dead service counted as healthy.
 */

import { situationText, verdictOf } from '../explain/situation.ts';
import type { Bounded } from '../core/operators/list-filter.ts';
import type { InboxKey } from '../core/records/question.ts';
import type { Receipts } from '../core/ports.ts';
import { type AuditReceipt, lostAttempts } from '../core/records/receipts.ts';
import { NO_TROUBLES } from '../core/records/worker-ends.ts';
import { defined } from '../core/values/defined.ts';
import type { Scheduler } from '../scheduler/start.ts';
import { type BreakerOf, breakersOf, clockAhead, missingNow } from './agents.ts';
import { type AtRisk, findingsOf, readAtRisk } from './findings.ts';
import type { AuditHealth, Health, MetricsPlace, ShardHealth } from './deployment-answers.ts';

/** An execution that is overdue for this long, two ticks, shows that no supervisor is at work. */
const OVERDUE_ALARM_MS = 120_000;
/** The metrics that the environment names. */
export type Measured = Omit<MetricsPlace, 'workflows'>;

const NO_RECEIPTS: Awaited<ReturnType<Receipts['read']>> = { shards: [] };

/** @param metrics undefined if there are none */
export const healthOf = async (
  scheduler: Scheduler,
  receipts?: Receipts,
  metrics?: Measured,
): Promise<Health> => (await readHealth(scheduler, receipts, metrics)).health;

/**
 * The health with the breakers and the executions at risk that were read for it.
 * @param reading the open questions; reading 10,000 of them would cost each `/health` more than all else
 */
export async function readHealth(
  scheduler: Scheduler,
  receipts?: Receipts,
  metrics?: Measured,
  reading?: Promise<Bounded<InboxKey>>,
): Promise<{ readonly health: Health; readonly breakers: readonly BreakerOf[]; readonly atRisk: AtRisk }> {
  const { store, clock, storageTrouble, connectionTrouble, workerTroubles, startedAt } = scheduler.ports;
  const now = clock.now();
  const numbers = Array.from({ length: store.shards }, (_, shard) => shard);
  const [pages, left, breakers, atRisk, asked] = await Promise.all([
    Promise.all(numbers.map((shard) => store.due(shard, now, undefined, 1))),
    receipts?.read() ?? NO_RECEIPTS,
    breakersOf(scheduler, now),
    readAtRisk(scheduler, now),
    reading,
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
  const { lost: lostHere, ends: workerEnds } = workerTroubles?.() ?? NO_TROUBLES;
  const lost = lostAttempts(left.shards, now, lostHere);
  const sweeps = left.shards.map(({ sweptAt }) => sweptAt);
  const sweptAt = sweeps.length === 0 ? undefined : Math.max(...sweeps);
  const isOverdue = oldestOverdueMs > OVERDUE_ALARM_MS;
  const overdueSince = isOverdue ? now - oldestOverdueMs : undefined;
  const [storage, connections] = [storageTrouble?.(), connectionTrouble?.()];
  const clockAheadMs = clockAhead(scheduler);
  const deployedAt = left.release?.deployedAt;
  const known = { storage, connections, overdueSince, sweptAt, startedAt, deployedAt, clockAheadMs };
  const facts = { now, ...defined(known) };
  const findings = findingsOf({
    ...facts,
    missing,
    breakers,
    atRisk,
    lost,
    workerEnds,
    ...defined({ asked }),
  });
  const health: Health = {
    status: verdictOf(findings),
    says: situationText(findings, now),
    findings,
    oldestOverdueMs,
    ...(missing.size === 0 ? {} : missingParts(missing)),
    workflows: scheduler.workflows.size,
    shards,
    ...(left.audit === undefined ? {} : { audit: auditHealth(left.audit) }),
    ...defined({ metrics: metrics && placeOf(scheduler, metrics, startedAt ?? deployedAt) }),
  };
  return { health, breakers, atRisk };
}

const placeOf = ({ workflows }: Scheduler, metrics: Measured, startedAt?: number): MetricsPlace => ({
  ...defined({ startedAt }),
  ...metrics,
  workflows: [...workflows.keys()],
});

function missingParts(missing: ReturnType<typeof missingNow>): Pick<Health, 'missing' | 'missingSince'> {
  const since = [...missing].flatMap(([agent, one]) => (one.since === undefined ? [] : [[agent, one.since]]));
  return {
    missing: Object.fromEntries([...missing].map(([agent, { waiting }]) => [agent, waiting])),
    ...(since.length === 0 ? {} : { missingSince: Object.fromEntries(since) as Record<string, number> }),
  };
}

/** The receipt without its fields for the table, which do not concern callers. */
const auditHealth = ({ auditedAt, pass, whole }: AuditReceipt): AuditHealth => ({
  auditedAt,
  pass,
  ...(whole === undefined ? {} : { whole }),
});
