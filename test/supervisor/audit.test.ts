/** The audit: S12 it repairs the index after manual changes, a restore or a deployment; P5, S6, S11. */

import { MIN_RETENTION_MS } from '../../lib/core/records/retention.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { audit, auditAgeMs, type AuditPorts } from '../../lib/supervisor/audit.ts';
import type { AuditReceipt } from '../../lib/core/records/receipts.ts';
import { memoryReceipts } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, harness, type Harness } from '../engine/harness.ts';

const worker = anAgent('worker');
const single = workflow('single', { input: anyObject, within: '1h' }, (w) => {
  w.step('it', worker, {}, { recovery: [retry(1)] });
});
const PAGE = 4;
const RETENTION_MS = 3 * MIN_RETENTION_MS;

function open(change: (ports: AuditPorts) => Partial<AuditPorts> = () => ({})) {
  let executed = 0;
  const execute = async () => ({ times: (executed += 1) });
  const h = harness(single, { worker: { execute, undo: async () => undefined } });
  const base: AuditPorts = { ...h, inventory: h.store.inventory(PAGE), receipts: memoryReceipts() };
  const ports = { ...base, ...change(base) };
  const run = async (maxPages = 100, passEveryMs = 0): Promise<AuditReceipt> => {
    const options = { untilAt: Number.MAX_SAFE_INTEGER, maxPages, passEveryMs, retentionMs: RETENTION_MS };
    return (await audit(ports, options)).receipt;
  };
  /** Removes the wake time, as a manual change in the table. */
  const blind = async (id: string): Promise<void> => {
    const { wakeAt: _, ...execution } = (await h.state(id)).execution;
    const record = { ...execution, version: execution.version + 1, writeId: `blind-${id}` };
    expect(await h.store.write({ executionId: id, execution: record })).toBe('written');
  };
  return { h, run, blind, receipts: ports.receipts, executed: () => executed };
}
const healthy = { healed: 0, removed: 0, failed: 0 };
const loseAll = (h: Harness): number => h.sent.splice(0).length;

describe('an execution without a wake time', () => {
  it('gets one at once and goes on (S12, L1)', async () => {
    const { h, run, blind } = open();
    const { id } = await h.begin();
    loseAll(h);
    await blind(id);
    await expect(h.run(id)).rejects.toThrow('stuck');
    expect((await run()).pass).toMatchObject({ scanned: 1, healed: 1, removed: 0, failed: 0 });
    expect((await h.state(id)).execution).toMatchObject({ status: 'running', wakeAt: h.clock.now() });
    expect(h.notes).toContainEqual({ what: 'wake-time-healed', executionId: id, detail: 'none' });
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it('is left alone if it has ended and said so', async () => {
    const { h, run } = open();
    const { id } = await h.begin();
    const { execution } = await h.run(id);
    expect((await run()).pass).toMatchObject({ scanned: 2, ...healthy });
    expect((await h.state(id)).execution).toEqual(execution);
  });

  it('that is being written meanwhile is left to its writer', async () => {
    const { h, run, blind } = open(({ inventory, store }) => ({
      inventory: {
        ...inventory,
        page: async (cursor) => {
          const page = await inventory.page(cursor);
          const { execution } = (await store.read('e-1')) ?? {};
          if (execution === undefined) return page;
          const watched = { ...execution, version: execution.version + 1, writeId: 'other', wakeAt: 77 };
          await store.write({ executionId: 'e-1', execution: watched });
          return page;
        },
      },
    }));
    const { id } = await h.begin();
    await blind(id);
    expect((await run()).pass).toMatchObject(healthy);
    expect((await h.state(id)).execution.wakeAt).toBe(77);
  });
});

describe('fewer shards than before', () => {
  it('hide executions until the audit has passed, also those whose end was not announced (S12)', async () => {
    const { h, run } = open();
    h.store.reshard(4);
    const ids: string[] = [];
    for (let at = 0; at < 8; at += 1) ids.push((await h.begin()).id);
    loseAll(h);
    const [ended = ''] = ids;
    const { execution } = await h.state(ended);
    const record = {
      ...execution,
      status: 'succeeded',
      endedAt: h.clock.now(),
      version: 2,
      writeId: 'e',
    } as const;
    await h.store.write({ executionId: ended, execution: record });
    h.store.reshard(1);
    const { healed } = (await run()).pass;
    expect(healed).toBeGreaterThan(0);
    expect((await run()).pass).toMatchObject(healthy);
    for (const id of ids) expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(h.announced.map(({ executionId }) => executionId).sort()).toEqual([...ids].sort());
  });
});

describe('what an expired execution leaves behind', () => {
  it('is removed when nobody has touched it for as long as its key is remembered', async () => {
    const { h, run } = open();
    const { id } = await h.begin();
    await h.run(id);
    h.store.expire(id);
    h.clock.advanceTo(h.clock.now() + MIN_RETENTION_MS / 2);
    expect((await run()).pass).toMatchObject({ scanned: 1, ...healthy });
    h.clock.advanceTo(h.clock.now() + MIN_RETENTION_MS);
    expect((await run()).pass).toMatchObject({ scanned: 1, removed: 1, healed: 0, failed: 0 });
    expect((await run()).pass).toMatchObject({ scanned: 0 });
    expect(h.notes).toContainEqual({ what: 'leftover-removed', executionId: id });
  });

  it('is not taken for the work of a new one with the same key: that is done anew (S6, S11)', async () => {
    const { h, run, executed } = open();
    const { id } = await h.begin({}, 'key-1');
    await h.run(id);
    h.store.expire(id);
    h.clock.advanceTo(h.clock.now() + 30 * MIN_RETENTION_MS);
    expect((await h.begin({}, 'key-1')).id).toBe(id);
    expect((await h.run(id)).steps['it']).toMatchObject({ status: 'done', output: { times: 2 } });
    expect(executed()).toBe(2);
    expect((await run()).pass).toMatchObject({ scanned: 2, ...healthy });
  });

  it('is removed beside a new one with the same key that has not come to it yet', async () => {
    const { h, run } = open();
    const { id } = await h.begin({}, 'key-1');
    await h.run(id);
    h.store.expire(id);
    h.clock.advanceTo(h.clock.now() + 30 * MIN_RETENTION_MS);
    await h.begin({}, 'key-1');
    expect((await run()).pass).toMatchObject({ scanned: 2, removed: 1 });
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });
});

describe('a child', () => {
  it('is kept as long as its parent, which may recall it, and goes when both are past', async () => {
    const { h, run } = open();
    const { id } = await h.begin();
    await h.run(id);
    const { wakeAt: _, ...ended } = (await h.state(id)).execution;
    const parent = { executionId: id, step: 'it', index: 0 };
    await h.store.create({ ...ended, id: 'e-9', parent, version: 1, writeId: 'child' });
    h.clock.advanceTo(h.clock.now() + RETENTION_MS + 1);
    expect((await run()).pass).toMatchObject(healthy);
    h.store.expire(id);
    expect((await run()).pass).toMatchObject({ removed: 2 });
    expect(await h.store.readExecution('e-9')).toBeUndefined();
  });

  it('that is open, or whose time is not over, is not touched although its parent is gone', async () => {
    const { h, run } = open();
    const { id } = await h.begin();
    const { execution } = await h.state(id);
    const parent = { executionId: 'gone', step: 'it', index: 0 };
    await h.store.create({ ...execution, id: 'e-8', parent });
    const { wakeAt: _, ...ended } = { ...execution, status: 'failed', endedAt: h.clock.now() } as const;
    await h.store.create({ ...ended, id: 'e-9', parent });
    h.clock.advanceTo(h.clock.now() + RETENTION_MS);
    expect((await run()).pass).toMatchObject(healthy);
    h.clock.advanceTo(h.clock.now() + 1);
    expect((await run()).pass).toMatchObject({ removed: 1 });
    expect(await h.store.readExecution('e-8')).toBeDefined();
  });
});

describe('a run', () => {
  const seven = async (h: Harness): Promise<void> => {
    for (let at = 0; at < 7; at += 1) await h.begin();
  };

  it('stops at its bound, and the next one goes on where it stopped, in every segment', async () => {
    const { h, run, blind, receipts } = open();
    await seven(h);
    await blind('e-7');
    const startedAt = h.clock.now();
    const first = await run(3);
    expect(first).toMatchObject({ version: 1, pass: { startedAt } });
    expect(first.segments?.filter(({ over, cursor }) => over === true || cursor !== undefined)).toHaveLength(
      3,
    );
    expect((await receipts.read()).audit?.whole).toBeUndefined();
    h.clock.advanceTo(startedAt + 1_000);
    let last = first;
    for (let runs = 0; last.segments !== undefined && runs < 10; runs += 1) last = await run(3);
    const pass = { startedAt, scanned: 7, healed: 1, removed: 0, failed: 0 };
    const whole = { ...pass, endedAt: h.clock.now() };
    expect(last).toEqual({
      version: last.version,
      writeId: expect.any(String),
      auditedAt: h.clock.now(),
      pass,
      whole,
    });
    expect(await run(1)).toMatchObject({ version: last.version + 1, pass: { healed: 0 }, whole });
  });

  it('stops when its time is over, after a page at least', async () => {
    const { h, receipts } = open();
    await seven(h);
    let pages = 0;
    const inventory = h.store.inventory(PAGE);
    const counted = {
      ...inventory,
      page: (...of: Parameters<typeof inventory.page>) => inventory.page(...of),
    };
    counted.page = (...of) => {
      pages += 1;
      return inventory.page(...of);
    };
    await audit({ ...h, inventory: counted, receipts }, { untilAt: 0, maxPages: 100 });
    expect(pages).toBe(1);
  });

  it('begins no pass before its time, and reads nothing then; one under way goes on at once', async () => {
    const { h, run } = open();
    await seven(h);
    const hour = 3_600_000;
    const first = await run(3, hour);
    expect(first.segments).toBeDefined();
    const second = await run(100, hour);
    expect(second).toMatchObject({ version: 2, pass: { scanned: 7 } });
    h.clock.advanceTo(first.pass.startedAt + hour - 1);
    expect(await run(100, hour)).toEqual(second);
    h.clock.advanceTo(first.pass.startedAt + hour);
    expect(await run(100, hour)).toMatchObject({ version: 3, pass: { startedAt: h.clock.now() } });
  });

  it('begins one each hour while the table is small, and in its own time when it is not (L6)', async () => {
    const { h, run, receipts } = open();
    await seven(h);
    const [hour, day] = [3_600_000, 86_400_000];
    const { pass, ...small } = await run(100, day);
    h.clock.advanceTo(pass.startedAt + hour);
    expect((await run(100, day)).pass.startedAt).toBe(pass.startedAt + hour);
    const whole = { ...pass, scanned: 50_001, endedAt: pass.startedAt };
    await receipts.write({ ...small, pass, whole, version: 3, writeId: 'large' });
    h.clock.advanceTo(pass.startedAt + day - 1);
    expect((await run(100, day)).version).toBe(3);
    h.clock.advanceTo(pass.startedAt + day);
    expect((await run(100, day)).pass.startedAt).toBe(pass.startedAt + day);
  });

  it('reads the segments side by side, and works on several records of each', async () => {
    let [pages, removals] = [0, 0];
    const most = { pages: 0, removals: 0 };
    const { h, run } = open(({ inventory }) => ({
      inventory: {
        page: async (segment, cursor) => {
          most.pages = Math.max(most.pages, (pages += 1));
          const page = await inventory.page(segment, cursor);
          await Promise.resolve();
          pages -= 1;
          return page;
        },
        remove: async (found) => {
          most.removals = Math.max(most.removals, (removals += 1));
          await new Promise((done) => setImmediate(done));
          removals -= 1;
          return inventory.remove(found);
        },
      },
    }));
    for (let at = 0; at < 40; at += 1) {
      const { id } = await h.begin();
      await h.run(id);
      h.store.expire(id);
    }
    h.clock.advanceTo(h.clock.now() + 2 * MIN_RETENTION_MS);
    expect((await run()).pass).toMatchObject({ scanned: 40, removed: 40 });
    expect(most.pages).toBe(8);
    expect(most.removals).toBeGreaterThan(8);
    expect(most.removals).toBeLessThanOrEqual(32);
  });

  it('writes down where it stands once a minute, so that a death costs no more than that', async () => {
    let pages = 0;
    const { h, run, receipts } = open(({ inventory, clock }) => ({
      inventory: {
        ...inventory,
        page: async (segment, cursor) => {
          pages += 1;
          if (pages > 5) throw new Error('the process was killed');
          h.clock.advanceTo(clock.now() + 61_000);
          return inventory.page(segment, cursor);
        },
      },
    }));
    for (let at = 0; at < 60; at += 1) await h.begin();
    await expect(run()).rejects.toThrow('killed');
    const { audit: receipt } = await receipts.read();
    expect(receipt?.pass.scanned).toBeGreaterThan(0);
    expect(receipt?.segments?.some(({ cursor, over }) => cursor !== undefined || over === true)).toBe(true);
    pages = -1_000;
    let last = await run();
    for (let runs = 0; last.segments !== undefined && runs < 10; runs += 1) last = await run();
    expect(last.pass.scanned).toBe(60);
  });

  it('tells how old the last whole pass is, or how long the first has been under way', () => {
    const pass = { startedAt: 1_000, scanned: 0, healed: 0, removed: 0, failed: 0 };
    const receipt = { version: 1, writeId: 'w', auditedAt: 5_000, pass };
    expect(auditAgeMs(receipt, 9_000)).toBe(8_000);
    expect(auditAgeMs({ ...receipt, whole: { ...pass, endedAt: 7_000 } }, 9_000)).toBe(2_000);
    expect(auditAgeMs(receipt, 500)).toBe(0);
  });

  it('goes past a record that cannot be handled, and says so (L4)', async () => {
    const { h, run, blind } = open((ports) => ({
      store: {
        ...ports.store,
        write: async (write) => {
          if (write.executionId === 'e-2') throw new Error('it is poison');
          return ports.store.write(write);
        },
      },
    }));
    await seven(h);
    for (const id of ['e-1', 'e-2', 'e-3']) await blind(id);
    expect((await run()).pass).toMatchObject({ scanned: 7, healed: 2, failed: 1 });
    expect(h.notes).toContainEqual({ what: 'audit-failed', executionId: 'e-2', detail: 'Error' });
  });

  it('whose receipt another one has overtaken has still healed', async () => {
    const { h, run, blind } = open(({ receipts }) => ({
      receipts: { ...receipts, write: async () => 'conflict' as const },
    }));
    const { id } = await h.begin();
    await blind(id);
    expect((await run()).pass.healed).toBe(1);
    expect(h.notes).toContainEqual({ what: 'receipt-failed', detail: 'another audit was faster' });
  });
});
