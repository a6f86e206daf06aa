/**
 * The audit: reads the whole table, a piece at each run, and puts in order what no index would show (P5).
 *
 * Owns: the pass through the table, its bounds, where the next run goes on, one bad record alone. Does not own: what is
 * out of order (`core/audit.ts`). Any number may run at once: what they do is conditional, and the loser's receipt is lost.
 *
 * A run that dies leaves no receipt: the next one reads its piece again, and finds in order what was healed.
 */

import { type Found, heal, isLeftBehind, type Removable } from '../core/audit.ts';
import type { Inventory, Ports, Receipts } from '../core/ports.ts';
import type { AuditCounts, AuditReceipt } from '../core/receipts.ts';
import { isOfEarlierLife, isPastChild } from '../core/retention.ts';
import type { Execution } from '../core/state.ts';
import { stampOf } from './stamp.ts';
import { commit } from './commit.ts';

export interface AuditOptions {
  /** No page is read after that. */
  readonly untilAt: number;
  /** Pages of one run: they bound what it costs. */
  readonly maxPages: number;
  /** How long an ended execution is kept; absent: for ever. */
  readonly retentionMs?: number;
}

export type AuditPorts = Ports & { readonly inventory: Inventory; readonly receipts: Receipts };

type Deed = 'healed' | 'removed' | 'failed' | 'nothing';

/** One run: from where the last one stopped, to the table's end or a bound. @returns the receipt it left */
export async function audit(ports: AuditPorts, options: AuditOptions): Promise<AuditReceipt> {
  const { clock, inventory, receipts } = ports;
  const { audit: before } = await receipts.read();
  let cursor = before?.cursor;
  let pass: AuditCounts =
    before === undefined || cursor === undefined
      ? { startedAt: clock.now(), scanned: 0, healed: 0, removed: 0, failed: 0 }
      : before.pass;
  let pages = 0;
  do {
    const page = await inventory.page(cursor);
    pass = withDeeds(pass, page.items.length, await auditPage(ports, page.items, options.retentionMs));
    pages += 1;
    ({ cursor } = page);
  } while (cursor !== undefined && pages < options.maxPages && clock.now() < options.untilAt);
  const now = clock.now();
  const whole = cursor === undefined ? { ...pass, endedAt: now } : before?.whole;
  const receipt: AuditReceipt = {
    version: (before?.version ?? 0) + 1,
    writeId: ports.dice.id(),
    auditedAt: now,
    ...(cursor === undefined ? {} : { cursor }),
    pass,
    ...(whole === undefined ? {} : { whole }),
  };
  const result = await receipts.write(receipt);
  if (result === 'conflict') ports.log.note({ what: 'receipt-failed', detail: 'another audit was faster' });
  return receipt;
}

async function auditPage(
  ports: AuditPorts,
  items: readonly Found[],
  retentionMs: number | undefined,
): Promise<Deed[]> {
  const met: Met = { executions: new Map(), retentionMs };
  const deeds: Deed[] = [];
  for (const found of items) {
    try {
      deeds.push(await auditOne(ports, found, met));
    } catch (error) {
      const executionId = found.kind === 'execution' ? found.execution.id : found.executionId;
      const detail = error instanceof Error ? error.name : 'error';
      ports.log.note({ what: 'audit-failed', executionId, detail });
      deeds.push('failed');
    }
  }
  return deeds;
}

interface Met {
  /** Those met so far in this page; others are read when they are asked for. */
  readonly executions: Map<string, Execution | undefined>;
  readonly retentionMs: number | undefined;
}

async function auditOne(ports: AuditPorts, found: Found, met: Met): Promise<Deed> {
  switch (found.kind) {
    case 'execution': {
      met.executions.set(found.execution.id, found.execution);
      if (await hasOutlivedParent(ports, found.execution, met)) return remove(ports, found);
      const decision = heal(found, stampOf(ports));
      // A conflict: somebody has just written it, with its watch in its place.
      return decision !== undefined && (await commit(ports, decision)) === 'written' ? 'healed' : 'nothing';
    }
    case 'unreadable':
      ports.log.note({ what: 'audit-failed', executionId: found.executionId, detail: 'unreadable' });
      return 'failed';
    default: {
      const execution = await executionOf(ports, found.executionId, met);
      return isLeftBehind(found, execution, ports.clock.now()) ? remove(ports, found) : 'nothing';
    }
  }
}

/** A child is kept as long as its parent, which may recall it. */
async function hasOutlivedParent(ports: AuditPorts, execution: Execution, met: Met): Promise<boolean> {
  const { parent } = execution;
  const { retentionMs } = met;
  if (parent === undefined || retentionMs === undefined) return false;
  if (!isPastChild(execution, retentionMs, ports.clock.now())) return false;
  const owner = await executionOf(ports, parent.executionId, met);
  return owner === undefined || isOfEarlierLife(execution, { ...parent, since: owner.startedAt });
}

async function executionOf(
  { store }: AuditPorts,
  executionId: string,
  { executions }: Met,
): Promise<Execution | undefined> {
  if (!executions.has(executionId)) executions.set(executionId, await store.readExecution(executionId));
  return executions.get(executionId);
}

async function remove(ports: AuditPorts, found: Removable): Promise<Deed> {
  if ((await ports.inventory.remove(found)) === 'conflict') return 'nothing';
  const executionId = found.kind === 'execution' ? found.execution.id : found.executionId;
  ports.log.note({ what: 'leftover-removed', executionId });
  return 'removed';
}

function withDeeds(pass: AuditCounts, scanned: number, deeds: readonly Deed[]): AuditCounts {
  const count = (deed: Deed): number => deeds.filter((one) => one === deed).length;
  return {
    startedAt: pass.startedAt,
    scanned: pass.scanned + scanned,
    healed: pass.healed + count('healed'),
    removed: pass.removed + count('removed'),
    failed: pass.failed + count('failed'),
  };
}
