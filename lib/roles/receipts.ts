/**
 * The supervisor's receipts: which shard was swept when, and what was found there.
 *
 * Owns: when a shard's receipt is written. At the first sweep that finds something due before the tick's end, then every
 * 20 s while that is so, and at the tick's end if there is something to tell. A shard in which nothing is due costs no
 * write and no read; that its supervisor lives is said by its log line, and that it is missed by what becomes overdue.
 * Does not own: the sweeps (`supervisor.ts`).
 *
 * A receipt never delays a sweep for long and never stops one: what cannot be written is left out.
 */

import type { Clock, Dice, Log, Receipts } from '../core/ports.ts';
import type { ShardReceipt } from '../core/receipts.ts';
import type { ShardSweep } from './supervisor.ts';

export const RECEIPT_EVERY_MS = 20_000;

interface Entry {
  readonly sweptAt: number;
  readonly due: number;
  readonly failed: number;
  readonly oldestOverdueMs: number;
  /** Something was due before the tick's end in the latest sweep. */
  readonly busy: boolean;
  /** When this supervisor last wrote the shard's receipt. */
  readonly writtenAt?: number;
}

/** @returns what to call after each sweep; `last` after the tick's last one */
export function receiptBook(
  receipts: Receipts,
  { clock, dice, log }: { readonly clock: Clock; readonly dice: Dice; readonly log: Log },
): (sweeps: readonly ShardSweep[], last: boolean) => Promise<void> {
  const entries = new Map<number, Entry>();
  let versions: Map<number, number> | undefined;

  const write = async (shard: number, entry: Entry): Promise<void> => {
    versions ??= new Map((await receipts.read()).shards.map((one) => [one.shard, one.version]));
    const { sweptAt, due, failed, oldestOverdueMs } = entry;
    const version = (versions.get(shard) ?? 0) + 1;
    const found = { sweptAt, due, failed, oldestOverdueMs };
    const receipt: ShardReceipt = { shard, version, writeId: dice.id(), ...found };
    // Another supervisor has swept it and said so: that is as good. The versions are read again before the next one.
    if ((await receipts.write(receipt)) === 'conflict') versions = undefined;
    else versions.set(shard, version);
  };

  return async (sweeps, last) => {
    const now = clock.now();
    for (const sweep of sweeps) entries.set(sweep.shard, joined(entries.get(sweep.shard), sweep, now));
    const ripe = [...entries].filter(([, entry]) => isRipe(entry, now, last));
    try {
      for (const [shard, entry] of ripe) {
        entries.set(shard, { ...NOTHING, sweptAt: entry.sweptAt, busy: entry.busy, writtenAt: now });
        await write(shard, entry);
      }
    } catch (error) {
      log.note({ what: 'receipt-failed', detail: error instanceof Error ? error.name : 'error' });
    }
  };
}

const NOTHING = { due: 0, failed: 0, oldestOverdueMs: 0 } as const;

function isRipe({ busy, due, failed, writtenAt }: Entry, now: number, last: boolean): boolean {
  if (due + failed === 0 && !busy) return false;
  if (last) return due + failed > 0;
  return writtenAt === undefined || now - writtenAt >= RECEIPT_EVERY_MS;
}

const joined = (before: Entry | undefined, sweep: ShardSweep, sweptAt: number): Entry => ({
  sweptAt,
  due: (before?.due ?? 0) + sweep.due,
  failed: (before?.failed ?? 0) + sweep.failed,
  oldestOverdueMs: Math.max(before?.oldestOverdueMs ?? 0, sweep.oldestOverdueMs),
  busy: sweep.busy,
  ...(before?.writtenAt === undefined ? {} : { writtenAt: before.writtenAt }),
});
