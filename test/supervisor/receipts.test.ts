/**
 * The supervisor's receipts (P5): it writes them while work is due and none otherwise (C3), and a failed
 * write never stops it.
 */

import type { Receipts } from '../../lib/core/ports.ts';
import { lostAttempts, type ShardReceipt } from '../../lib/core/records/receipts.ts';
import type { ShardSweep } from '../../lib/supervisor/outage.ts';
import { receiptBook } from '../../lib/supervisor/receipts.ts';
import { memoryReceipts } from '../../lib/memory/side-records.ts';
import { memoryWorld } from '../../lib/memory/world.ts';

const quiet = (shard = 0): ShardSweep => ({ shard, due: 0, failed: 0, oldestOverdueMs: 0, busy: false });
const busy = (changes: Partial<ShardSweep> = {}): ShardSweep => ({ ...quiet(), busy: true, ...changes });

function open(change: (receipts: Receipts) => Partial<Receipts> = () => ({})) {
  const world = memoryWorld();
  const calls: string[] = [];
  const true_ = memoryReceipts();
  const receipts: Receipts = {
    read: async () => {
      calls.push('read');
      return true_.read();
    },
    write: async (receipt) => {
      calls.push('write');
      return true_.write(receipt);
    },
  };
  const leave = receiptBook({ ...receipts, ...change(receipts) }, world);
  const after = (ms: number, sweeps: readonly ShardSweep[], last = false): Promise<void> => {
    world.clock.advanceTo(world.clock.now() + ms);
    return leave(sweeps, last);
  };
  const stored = async (): Promise<readonly Partial<ShardReceipt>[]> => (await true_.read()).shards;
  return { ...world, calls, after, stored, true_ };
}

describe('a receipt', () => {
  it('is not left where nothing is due: neither a read nor a write (C3)', async () => {
    const { after, calls } = open();
    for (let at = 0; at < 30; at += 1) await after(2_000, [quiet(0), quiet(1)], at === 29);
    expect(calls).toEqual([]);
  });

  it('is left at the first sweep that found something, then every 20 s, with all since the one before', async () => {
    const { after, calls, stored, clock } = open();
    await after(0, [busy({ due: 2, oldestOverdueMs: 900 })]);
    expect(await stored()).toMatchObject([{ shard: 0, version: 1, due: 2, failed: 0, oldestOverdueMs: 900 }]);
    for (let at = 0; at < 9; at += 1) await after(2_000, [busy({ due: 1, failed: 1, oldestOverdueMs: at })]);
    expect(calls).toEqual(['read', 'write']);
    await after(2_000, [busy()]);
    expect(calls).toEqual(['read', 'write', 'write']);
    expect(await stored()).toMatchObject([
      { version: 2, sweptAt: clock.now(), due: 9, failed: 9, oldestOverdueMs: 8 },
    ]);
  });

  it('is left of each shard on its own', async () => {
    const { after, stored } = open();
    await after(0, [busy({ shard: 0, due: 1 }), quiet(1), busy({ shard: 2, due: 5 })]);
    expect((await stored()).map(({ shard, due }) => [shard, due])).toEqual([
      [0, 1],
      [2, 5],
    ]);
  });

  it('tells at the end what was found since the last one', async () => {
    const { after, stored, calls } = open();
    await after(0, [busy({ due: 1 })]);
    await after(2_000, [busy({ due: 4 })]);
    await after(2_000, [busy()], true);
    expect(await stored()).toMatchObject([{ version: 2, due: 4 }]);
    await after(2_000, [busy()], true);
    expect(calls).toEqual(['read', 'write', 'write']);
  });

  const missing = (agent: string, ...ids: string[]) => ({ missing: new Map([[agent, new Set(ids)]]) });

  it('says at once that an agent is missing, and then as ever', async () => {
    const { after, stored, calls } = open();
    await after(0, [busy({ due: 1 })]);
    await after(2_000, [busy({ due: 1, ...missing('gone', 'e-1') })]);
    expect(await stored()).toMatchObject([{ version: 2, due: 1, missing: { gone: 1 } }]);
    await after(2_000, [busy({ due: 1, ...missing('gone', 'e-1', 'e-2') })]);
    expect(calls).toEqual(['read', 'write', 'write']);
    await after(2_000, [busy({ due: 1, ...missing('lost', 'e-3') })]);
    expect(await stored()).toMatchObject([{ version: 3, due: 2, missing: { gone: 2, lost: 1 } }]);
  });

  it('says before the end of a tick no fewer that wait for an agent than the tick before, and then how many', async () => {
    const { after, stored, true_, clock } = open();
    const sweptAt = clock.now() - 5_000;
    const theirs = {
      shard: 0,
      sweptAt,
      due: 0,
      failed: 0,
      oldestOverdueMs: 0,
      missing: { gone: 5, back: 1 },
    };
    await true_.write({ ...theirs, version: 1, writeId: 'x-1' });
    await after(0, [busy({ due: 1, ...missing('gone', 'e-1') })]);
    expect(await stored()).toMatchObject([{ missing: { gone: 5, back: 1 } }]);
    await after(2_000, [busy({ due: 1, ...missing('gone', 'e-2') })], true);
    expect(await stored()).toMatchObject([{ missing: { gone: 2 } }]);
    expect((await stored())[0]?.missing).toEqual({ gone: 2 });
  });

  it('says since when an agent is missing, and starts anew when it is missing again', async () => {
    const { after, stored, true_, clock } = open();
    const began = clock.now() - 90_000;
    const theirs = { shard: 7, sweptAt: clock.now(), due: 1, failed: 0, oldestOverdueMs: 0, writeId: 'x-1' };
    await true_.write({ ...theirs, version: 1, missing: { gone: 2 }, missingSince: { gone: began } });
    const since = async () => (await stored()).find(({ shard }) => shard === 0)?.missingSince;
    await after(0, [busy({ due: 1, ...missing('gone', 'e-1') })]);
    expect(await since()).toEqual({ gone: began });
    await after(100_000, [busy({ due: 1, ...missing('gone', 'e-1') })], true);
    await after(100_000, [busy({ due: 1, ...missing('gone', 'e-1') })], true);
    expect(await since()).toEqual({ gone: began });
    await after(180_001, [busy({ due: 1, ...missing('gone', 'e-1') })], true);
    expect(await since()).toEqual({ gone: clock.now() });
  });

  it('says nothing of agents where none is missing', async () => {
    const { after, stored } = open();
    await after(0, [busy({ due: 1 })]);
    expect((await stored())[0]).not.toHaveProperty('missing');
  });

  it('goes on from what another supervisor left, also meanwhile', async () => {
    const { after, stored, true_ } = open();
    const theirs = { shard: 0, sweptAt: 1, due: 0, failed: 0, oldestOverdueMs: 0 };
    await true_.write({ ...theirs, version: 1, writeId: 'x-1' });
    await after(0, [busy({ due: 1 })]);
    expect(await stored()).toMatchObject([{ version: 2, due: 1 }]);
    await true_.write({ ...theirs, version: 3, writeId: 'x-2' });
    await after(20_000, [busy({ due: 1 })]);
    expect(await stored()).toMatchObject([{ version: 3, writeId: 'x-2' }]);
    await after(20_000, [busy({ due: 7 })]);
    expect(await stored()).toMatchObject([{ version: 4, due: 7 }]);
  });

  it('that cannot be written stops nobody, and is noted', async () => {
    const { after, notes, stored } = open(() => ({ read: () => Promise.reject(new Error('throttled')) }));
    await after(0, [busy({ due: 1 })]);
    expect(await stored()).toEqual([]);
    expect(notes).toEqual([{ what: 'receipt-failed', detail: 'Error' }]);
  });
});

describe('attempts whose processes went silent', () => {
  const lost = (agent: string, attempts: number) => ({
    lost: new Map([[agent, { attempts, executionId: `e-${attempts}` }]]),
  });

  it('are in the receipt by agent, within 5 s of another, and add up', async () => {
    const { after, stored, calls, clock } = open();
    await after(0, [busy({ due: 1 })]);
    const began = clock.now() + 6_000;
    await after(6_000, [busy({ due: 1, ...lost('pay', 1) })]);
    expect(await stored()).toMatchObject([{ lost: { pay: { attempts: 1, since: began, at: began } } }]);
    await after(2_000, [busy({ due: 2, ...lost('pay', 2) })]);
    expect(calls).toEqual(['read', 'write', 'write']);
    await after(4_000, [busy()]);
    expect(await stored()).toMatchObject([
      { lost: { pay: { attempts: 3, since: began, executionId: 'e-2' } } },
    ]);
    expect((await stored())[0]?.lost?.['pay']?.at).toBe(clock.now());
  });

  it('are forgotten after ten minutes without another', async () => {
    const { after, stored } = open();
    await after(0, [busy({ due: 1, ...lost('pay', 1) })]);
    await after(600_000, [busy({ due: 1 })]);
    expect((await stored())[0]?.lost).toHaveProperty('pay');
    await after(20_000, [busy({ due: 1 })]);
    expect((await stored())[0]?.lost).toBeUndefined();
  });

  it('of all shards are one number for each agent', () => {
    const of = (shard: number, since: number, at: number) => ({
      shard,
      version: 1,
      writeId: 'w',
      sweptAt: at,
      due: 1,
      failed: 0,
      oldestOverdueMs: 0,
      lost: { pay: { attempts: 2, since, at } },
    });
    const found = lostAttempts([of(0, 5_000, 9_000), of(1, 1_000, 2_000)], 601_000);
    expect([...found]).toEqual([['pay', { attempts: 4, since: 1_000, at: 9_000 }]]);
    expect([...lostAttempts([of(1, 1_000, 2_000)], 602_001)]).toEqual([]);
  });
});
