/**
 * The supervisor's receipts: when each shard was swept, and with which findings.
 *
 * Owns: when a shard's receipt is written: at the first sweep that finds an execution due before the tick's
 * end; then every 20 s while that is so, at once when another agent is found missing, within 5 s when an
 * attempt was lost; and at the tick's end if the findings have changed. A shard without due executions costs
 * no write and no read: the supervisor's log line shows that it lives, and overdue executions show that it
 * does not. An agent that no fresh receipt has named is announced, once. Does not own: the sweeps
 * (`sweep.ts`).
 *
 * A receipt never delays a sweep for long: one that cannot be written is left out.
 */

import type { Ports, Receipts } from '../core/ports.ts';
import { sayable } from '../core/values/errors.ts';
import { defined } from '../core/values/defined.ts';
import { lostAfter, missingAgents, type NewlyLost, type ShardReceipt } from '../core/records/receipts.ts';
import { announceOnce } from '../engine/announce.ts';
import type { Lost, Missing, ShardSweep } from './outage.ts';

export const RECEIPT_EVERY_MS = 20_000;
/** The interval while attempts are lost. */
const LOST_EVERY_MS = 5_000;

interface Entry {
  readonly sweptAt: number;
  readonly due: number;
  readonly failed: number;
  readonly oldestOverdueMs: number;
  /** True if the latest sweep found an execution due before the tick's end. */
  readonly busy: boolean;
  /** When this supervisor last wrote the shard's receipt. */
  readonly writtenAt?: number;
  /**
   * By missing agent, the executions that the whole tick has met; it meets each waiting one at least once.
   */
  readonly missing: Missing;
  /** How many agents were missing in the shard's last receipt. */
  readonly told: number;
  /** Attempts lost since the shard's last receipt. */
  readonly lost: Lost;
}

/** @returns a function to call after each sweep; `last` after the tick's last one */
export function receiptBook(
  receipts: Receipts,
  ports: Pick<Ports, 'clock' | 'random' | 'log' | 'announcer'>,
): (sweeps: readonly ShardSweep[], last: boolean) => Promise<void> {
  const { clock, random, log } = ports;
  const entries = new Map<number, Entry>();
  let stored: Map<number, ShardReceipt> | undefined;

  const write = async (shard: number, entry: Entry, last: boolean): Promise<void> => {
    stored ??= new Map((await receipts.read()).shards.map((one) => [one.shard, one]));
    const { sweptAt, due, failed, oldestOverdueMs } = entry;
    const before = stored.get(shard);
    const version = (before?.version ?? 0) + 1;
    const known = missingAgents([...stored.values()], sweptAt);
    const missing = missed(entry, last ? undefined : before, known);
    const lost = lostAfter(before?.lost, entry.lost, sweptAt);
    const found = { sweptAt, due, failed, oldestOverdueMs, ...missing, ...lost };
    const receipt: ShardReceipt = { shard, version, writeId: random.id(), ...found };
    // Another supervisor has swept the shard and written its receipt: read that before the next one.
    if ((await receipts.write(receipt)) === 'conflict') {
      stored = undefined;
      return;
    }
    stored.set(shard, receipt);
    for (const agent of Object.keys(receipt.missing ?? {}))
      if (!known.has(agent))
        await announceOnce(ports, {
          about: 'missing',
          change: 'missing',
          agent,
          at: sweptAt,
          view: '/agents',
        });
  };

  return async (sweeps, last) => {
    const now = clock.now();
    for (const sweep of sweeps) entries.set(sweep.shard, joined(entries.get(sweep.shard), sweep, now));
    const ripe = [...entries].filter(([, entry]) => isRipe(entry, now, last));
    try {
      for (const [shard, entry] of ripe) {
        const { sweptAt, busy, missing } = entry;
        entries.set(shard, { ...NOTHING, sweptAt, busy, missing, told: missing.size, writtenAt: now });
        await write(shard, entry, last);
      }
    } catch (error) {
      log.note({ what: 'receipt-failed', detail: sayable(error) });
    }
  };
}

const NOTHING = { due: 0, failed: 0, oldestOverdueMs: 0, lost: new Map<string, NewlyLost>() } as const;

/**
 * How many executions miss which agent. Not all may have been met before the tick's end, so until then a
 * count never falls.
 * @param known what all shards together have reported so far
 */
function missed(
  { missing, sweptAt }: Entry,
  before: ShardReceipt | undefined,
  known: ReturnType<typeof missingAgents>,
): Pick<ShardReceipt, 'missing' | 'missingSince'> {
  const earlier = before === undefined ? [] : [...missingAgents([before], sweptAt)];
  const counts = new Map(earlier.map(([agent, { waiting }]) => [agent, waiting]));
  for (const [agent, met] of missing) counts.set(agent, Math.max(counts.get(agent) ?? 0, met.size));
  if (counts.size === 0) return {};
  const since = [...counts.keys()].map((agent) => [agent, known.get(agent)?.since ?? sweptAt]);
  return { missing: Object.fromEntries(counts), missingSince: Object.fromEntries(since) };
}

function isRipe(entry: Entry, now: number, last: boolean): boolean {
  const { busy, due, failed, writtenAt, missing, told, lost } = entry;
  if (due + failed + lost.size === 0 && !busy && missing.size <= told) return false;
  if (last) return due + failed + lost.size > 0;
  const everyMs = lost.size > 0 ? LOST_EVERY_MS : RECEIPT_EVERY_MS;
  return writtenAt === undefined || now - writtenAt >= everyMs || missing.size > told;
}

const joined = (before: Entry | undefined, sweep: ShardSweep, sweptAt: number): Entry => ({
  sweptAt,
  due: (before?.due ?? 0) + sweep.due,
  failed: (before?.failed ?? 0) + sweep.failed,
  oldestOverdueMs: Math.max(before?.oldestOverdueMs ?? 0, sweep.oldestOverdueMs),
  busy: sweep.busy,
  missing: union(before?.missing, sweep.missing),
  told: before?.told ?? 0,
  lost: summed(before?.lost, sweep.lost),
  ...defined({ writtenAt: before?.writtenAt }),
});

function summed(one: Lost = new Map(), other: Lost = new Map()): Lost {
  if (other.size === 0) return one;
  const all = new Map(one);
  for (const [agent, { attempts, executionId }] of other)
    all.set(agent, { attempts: (all.get(agent)?.attempts ?? 0) + attempts, executionId });
  return all;
}

function union(one: Missing = new Map(), other: Missing = new Map()): Missing {
  if (other.size === 0) return one;
  const all = [...one.keys(), ...other.keys()];
  return new Map(
    all.map((agent) => [agent, new Set([...(one.get(agent) ?? []), ...(other.get(agent) ?? [])])]),
  );
}
