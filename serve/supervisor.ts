/**
 * Runs the supervisor and the audit of a single-process server, in loops instead of by schedules.
 *
 * Owns: when they sweep and read, and ending them. Does not own: a sweep (`lib/supervisor/sweep.ts`), a pass
 * of the audit (`lib/supervisor/audit.ts`), the clock that they use (`loop-clock.ts`).
 */

import type { OpenNow } from '../lib/aws/open-now.ts';
import type { Telemetry } from '../lib/aws/ports.ts';
import type { Ports, Receipts } from '../lib/core/ports.ts';
import { sayable } from '../lib/core/values/errors.ts';
import type { PlanCache } from '../lib/engine/plans.ts';
import { audit, auditAgeMs, type AuditPorts } from '../lib/supervisor/audit.ts';
import { auditValues, type ValuesAuditPorts } from '../lib/supervisor/audit-values.ts';
import type { Grace, Missing, ShardSweep } from '../lib/supervisor/outage.ts';
import { receiptBook } from '../lib/supervisor/receipts.ts';
import { STAYS_WHEN_BUSY } from '../lib/supervisor/stay.ts';
import { tick } from '../lib/supervisor/sweep.ts';

/** The interval of sweeps: searching an index in the same process costs next to nothing. */
const SWEEP_EVERY_MS = 1_000;
/** The interval at which the metrics of sweeps are written. */
const TICK_MS = 60_000;
const AUDIT_EVERY_MS = 60_000;
/** The time from the start of one pass of the audit to the start of the next. */
const PASS_EVERY_MS = 3_600_000;
/** How many pages of large values one run reads, up to 1,000 values each. */
const VALUE_PAGES = 5;
/** How many pages of 1 MB one run reads. */
const AUDIT_PAGES = 100;

/** Makes sleeps of the ports' clock end with `stopping`. */
const untilStopped = <P extends Pick<Ports, 'clock'>>(ports: P, stopping: AbortSignal): P => ({
  ...ports,
  clock: { now: ports.clock.now, sleep: (ms, signal) => ports.clock.sleep(ms, signal ?? stopping) },
});

/** Functions of the process that the supervisor calls. */
export interface Beside {
  /** Counts what is open, once a minute. */
  readonly open: () => Promise<OpenNow>;
  /**
   * By missing agent, the executions that wait for it and were found outside the sweeps since the last call.
   */
  readonly takeMissing: () => Missing;
}

export async function supervise(
  given: Ports & { readonly receipts: Receipts },
  { plans, grace }: { readonly plans: PlanCache; readonly grace: Grace },
  { logger, meter }: Telemetry,
  { open, takeMissing }: Beside,
  stopping: AbortSignal,
): Promise<void> {
  const ports = untilStopped(given, stopping);
  const stay = { ...STAYS_WHEN_BUSY, stays: async () => !stopping.aborted };
  while (!stopping.aborted) {
    try {
      const book = receiptBook(ports.receipts, ports);
      const leave: typeof book = (sweeps, last) => book(withMissing(sweeps, takeMissing()), last);
      const untilAt = ports.clock.now() + TICK_MS;
      const sweeps = await tick(ports, plans, { untilAt, sweepEveryMs: SWEEP_EVERY_MS, grace, leave, stay });
      const failed = sweeps.reduce((sum, sweep) => sum + sweep.failed, 0);
      const oldestOverdueMs = Math.max(0, ...sweeps.map((sweep) => sweep.oldestOverdueMs));
      meter.open(await open());
      meter.swept({ made: sweeps.length, oldestOverdueMs, failed });
    } catch (error) {
      logger.warn('sweep-failed', { detail: sayable(error) });
    }
    await ports.clock.sleep(SWEEP_EVERY_MS);
  }
}

/** Adds these missing agents to those found by the sweeps. */
function withMissing(sweeps: readonly ShardSweep[], missing: Missing): readonly ShardSweep[] {
  const [first, ...others] = sweeps;
  if (first === undefined || missing.size === 0) return sweeps;
  const all = new Map(first.missing);
  for (const [agent, waiting] of missing) all.set(agent, new Set([...(all.get(agent) ?? []), ...waiting]));
  return [{ ...first, missing: all }, ...others];
}

/** @param expire removes items whose retention is over */
export async function auditAlways(
  given: AuditPorts & ValuesAuditPorts,
  { logger, meter }: Telemetry,
  retention: { readonly retentionMs?: number },
  expire: () => unknown,
  stopping: AbortSignal,
): Promise<void> {
  const ports = untilStopped(given, stopping);
  while (!stopping.aborted) {
    await ports.clock.sleep(AUDIT_EVERY_MS);
    if (stopping.aborted) return;
    try {
      await expire();
      const untilAt = ports.clock.now() + AUDIT_EVERY_MS;
      const bounds = { untilAt, maxPages: AUDIT_PAGES, passEveryMs: PASS_EVERY_MS };
      const { receipt, removed } = await audit(ports, { ...bounds, ...retention });
      const values = await auditValues(ports, { untilAt, maxPages: VALUE_PAGES, ...retention });
      const ageMs = auditAgeMs(receipt, ports.clock.now());
      meter.audited({ removed: removed + values.removed, ageMs });
    } catch (error) {
      logger.warn('audit-failed', { detail: sayable(error) });
    }
  }
}
