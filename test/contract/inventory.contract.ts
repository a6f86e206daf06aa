/**
 * The contract of every store's inventory: it shows the audit every record, removes exactly one, and keeps
 * two lives of one id separate (S6, S11).
 */

import type { Erasure, Inventory, Store } from '../../lib/core/ports.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import { MIN_RETENTION_MS } from '../../lib/core/records/retention.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { type Beside, besideOf, type Found } from '../../lib/core/supervision/audit.ts';
import { aCallback } from './open-callbacks.contract.ts';
import { anExecution, aStep } from './records.ts';

export interface InventoryUnderTest {
  /** Empty; with two shards. */
  readonly store: Store;
  /** Has pages of three records. */
  readonly inventory: Inventory;
  readonly recordsOf: Erasure['recordsOf'];
  /** Opens the same records as a deployment with another number of shards. */
  readonly reshard: (shards: number) => { readonly store: Store; readonly inventory: Inventory };
  /** Lets the record of the execution expire. */
  readonly expire: (executionId: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const T = 1_700_000_000_000;
/** The segments of the scan: all records of an execution are in the same one. */
const SEGMENTS = 3;
const LATER = T + 2 * MIN_RETENTION_MS;
const anIncident: Incident = {
  number: 1,
  life: 'life1',
  workflow: 'shop',
  version: 1,
  writeId: 'w-i',
  kind: 'recovery',
  step: 'a',
  stepVersion: 1,
  failure: { code: 'x', message: 'y' },
  openedAt: T,
  deadlineAt: T + 1,
  otherwise: 'undo-all',
  reminders: 0,
};

export function describeInventory(title: string, open: () => Promise<InventoryUnderTest>): void {
  describe(`inventory contract: ${title}`, () => {
    let under: InventoryUnderTest;
    beforeEach(async () => {
      under = await open();
    });
    afterEach(async () => {
      await under.close();
    });
    describe('the records', () => shown(() => under));
    describe('a removal', () => removed(() => under));
    describe('another number of shards', () => resharded(() => under));
    describe('a new execution with the id of an expired one', () => reborn(() => under));
  });
}

async function everything(inventory: Inventory): Promise<Found[]> {
  const all: Found[] = [];
  for (let index = 0; index < SEGMENTS; index += 1) {
    let cursor: string | undefined;
    do {
      const page = await inventory.page({ index, of: SEGMENTS }, cursor);
      all.push(...page.items);
      ({ cursor } = page);
    } while (cursor !== undefined);
  }
  return all;
}
const isBeside = (found: Found): found is Beside => found.kind === 'step' || found.kind === 'question';
const besides = async (inventory: Inventory): Promise<Beside[]> =>
  (await everything(inventory)).filter(isBeside);

/** Writes an execution with two steps, an incident and an approval, all at time T. */
async function begin({ store }: InventoryUnderTest, id: string): Promise<void> {
  await store.create(anExecution({ id }));
  await store.write({ executionId: id, step: aStep({ status: 'done', output: { life: 1 }, changedAt: T }) });
  await store.write({ executionId: id, step: aStep({ name: 'b', changedAt: T }) });
  await store.write({ executionId: id, question: anIncident });
  await store.write({ executionId: id, question: aCallback({ openedAt: T, remindedAt: T }) });
}

function shown(under: () => InventoryUnderTest): void {
  it('are all shown, each once, an execution before what is beside it', async () => {
    const ids = ['e-1', 'e-2', 'e-3', 'e-4'];
    for (const id of ids) await begin(under(), id);
    await under().store.writePlan('hash', { v: 1, workflow: 'w', withinMs: 1, steps: [], output: {} });
    const all = await everything(under().inventory);
    expect(all).toHaveLength(20);
    for (const id of ids) {
      const own = all.filter(
        (found) => (found.kind === 'execution' ? found.execution.id : found.executionId) === id,
      );
      expect(own[0]).toStrictEqual({ kind: 'execution', execution: anExecution({ id }), wake: 'swept' });
      expect(own.map(({ kind }) => kind).sort()).toEqual([
        'execution',
        'question',
        'question',
        'step',
        'step',
      ]);
    }
  });

  it('of one id are shown alone', async () => {
    for (const id of ['e-1', 'e-11']) await begin(under(), id);
    const all = await everything(under().inventory);
    const own = all.filter(
      (one) => (one.kind === 'execution' ? one.execution.id : one.executionId) === 'e-1',
    );
    const found = await under().recordsOf('e-1');
    expect(found).toHaveLength(5);
    expect(found).toEqual(expect.arrayContaining(own));
    expect(await under().recordsOf('e')).toEqual([]);
  });

  it('are seen as they are now, also without a wake time', async () => {
    await begin(under(), 'e-1');
    const { wakeAt: _, ...execution } = anExecution({ version: 2, writeId: 'w-2' });
    await under().store.write({ executionId: 'e-1', execution });
    const [first] = await everything(under().inventory);
    expect(first).toStrictEqual({ kind: 'execution', execution, wake: 'none' });
  });

  it('are removed if they are the ones that were found, one and no other', async () => {
    await begin(under(), 'e-1');
    await under().expire('e-1');
    const { inventory } = under();
    const [first, ...rest] = await besides(inventory);
    if (first === undefined) throw new Error('nothing was left');
    const other = { ...first, [first.kind]: { ...besideOf(first), writeId: 'w-x' } } as Beside;
    expect(await inventory.remove(other)).toBe('conflict');
    expect(await besides(inventory)).toHaveLength(4);
    expect(await inventory.remove(first)).toBe('removed');
    expect(await inventory.remove(first)).toBe('conflict');
    expect(await besides(inventory)).toStrictEqual(rest);
  });
}

function removed(under: () => InventoryUnderTest): void {
  it('of an execution leaves what is beside it', async () => {
    await begin(under(), 'e-1');
    const { inventory, store } = under();
    const execution = anExecution();
    const found = { kind: 'execution', wake: 'swept' } as const;
    expect(await inventory.remove({ ...found, execution: { ...execution, writeId: 'w-x' } })).toBe(
      'conflict',
    );
    expect(await inventory.remove({ ...found, execution })).toBe('removed');
    expect(await store.readExecution('e-1')).toBeUndefined();
    expect(await besides(inventory)).toHaveLength(4);
  });
}

function resharded(under: () => InventoryUnderTest): void {
  const ids = Array.from({ length: 12 }, (_, at) => `e-${at}`);
  const dueIn = async (store: Store): Promise<string[]> => {
    const shards = Array.from({ length: store.shards }, (_, shard) =>
      store.due(shard, Number.MAX_SAFE_INTEGER),
    );
    return (await Promise.all(shards))
      .flatMap(({ items }) => items.map(({ executionId }) => executionId))
      .sort();
  };
  const placesIn = async (inventory: Inventory): Promise<Map<string, string>> =>
    new Map(
      (await everything(inventory)).flatMap((found) =>
        found.kind === 'execution' ? [[found.execution.id, found.wake]] : [],
      ),
    );
  const next = (id: string): Execution => anExecution({ id, version: 2, writeId: 'w-2', wakeAt: T });

  it.each([4, 16])('that is greater, %i, hides none, before its next write and after', async (shards) => {
    for (const id of ids) await under().store.create(anExecution({ id }));
    const { store, inventory } = under().reshard(shards);
    expect(await dueIn(store)).toEqual([...ids].sort());
    expect([...(await placesIn(inventory)).values()]).toEqual(ids.map(() => 'swept'));
    for (const id of ids) expect(await store.write({ executionId: id, execution: next(id) })).toBe('written');
    expect(await dueIn(store)).toEqual([...ids].sort());
    const used = await Promise.all(
      Array.from(
        { length: shards },
        async (_, shard) => (await store.due(shard, Number.MAX_SAFE_INTEGER)).items,
      ),
    );
    // They have moved: before, there were two shards.
    expect(used.filter((items) => items.length > 0).length).toBeGreaterThan(2);
  });

  it('that is lower hides some: those, and they come back with their next write (S12)', async () => {
    for (const id of ids) await under().store.create(anExecution({ id }));
    const { store, inventory } = under().reshard(1);
    const found = await dueIn(store);
    const hidden = ids.filter((id) => !found.includes(id));
    expect(hidden.length).toBeGreaterThan(0);
    const places = await placesIn(inventory);
    expect(ids.filter((id) => places.get(id) === 'unswept')).toEqual(hidden);
    for (const id of hidden)
      expect(await store.write({ executionId: id, execution: next(id) })).toBe('written');
    expect(await dueIn(store)).toEqual([...ids].sort());
    expect([...(await placesIn(inventory)).values()]).toEqual(ids.map(() => 'swept'));
  });
}

function reborn(under: () => InventoryUnderTest): void {
  const again = (startedAt: number): Execution => anExecution({ startedAt, life: 'life2', writeId: 'w-new' });
  const claim = aStep({
    life: 'life2',
    writeId: 'w-claim',
    claimedAt: LATER,
    processDeadlineAt: LATER + 60_000,
    leaseUntil: LATER + 30_000,
  });
  beforeEach(async () => {
    await begin(under(), 'e-1');
    await under().expire('e-1');
  });

  it('has none of its steps and incidents', async () => {
    expect(await under().store.create(again(LATER))).toBe('written');
    expect(await under().store.read('e-1')).toStrictEqual({ execution: again(LATER), steps: {} });
  });

  it('can have steps, incidents and entries of the same names, each written once', async () => {
    const { store, inventory } = under();
    await store.create(again(LATER));
    const late = aStep({ ...claim, writeId: 'w-late', token: 't-2' });
    expect(await store.write({ executionId: 'e-1', step: claim })).toBe('written');
    expect(await store.write({ executionId: 'e-1', step: late })).toBe('conflict');
    expect(await store.write({ executionId: 'e-1', step: claim })).toBe('written');
    const asked = { ...anIncident, life: 'life2', writeId: 'w-asked', openedAt: LATER };
    const execution = { ...again(LATER), version: 2, writeId: 'w-asked' };
    const entry = aCallback({ life: 'life2', writeId: 'w-asked', openedAt: LATER });
    const both = [
      { executionId: 'e-1', execution, question: asked },
      { executionId: 'e-1', question: entry },
    ];
    for (const write of [...both, ...both]) expect(await store.write(write)).toBe('written');
    const state = { execution, steps: { a: claim }, questions: { 1: asked, a: entry } };
    expect(await store.read('e-1')).toStrictEqual(state);
    expect((await besides(inventory)).map((found) => besideOf(found).writeId).sort()).toEqual([
      'w-1',
      'w-asked',
      'w-asked',
      'w-claim',
    ]);
  });

  it('has none of them however late they were written: the life tells, not the time', async () => {
    const { store } = under();
    await store.create(again(T + 1_000));
    expect(await store.read('e-1')).toStrictEqual({ execution: again(T + 1_000), steps: {} });
    expect(await store.write({ executionId: 'e-1', step: claim })).toBe('written');
    expect((await store.read('e-1'))?.steps).toEqual({ a: claim });
  });

  it('is written by nobody who knows the earlier life alone, at whatever version', async () => {
    const { store } = under();
    await store.create(again(LATER));
    await store.write({ executionId: 'e-1', step: claim });
    const stale = aStep({ writeId: 'w-stale', token: 't-stale' });
    for (const step of [stale, { ...stale, version: 2 }])
      expect(await store.write({ executionId: 'e-1', step })).toBe('conflict');
    const execution = anExecution({ version: 2, writeId: 'w-stale', status: 'succeeded' });
    expect(await store.write({ executionId: 'e-1', execution })).toBe('conflict');
    expect(await store.read('e-1')).toStrictEqual({ execution: again(LATER), steps: { a: claim } });
  });

  it('is not made up for one that does not exist', async () => {
    const { store } = under();
    if ((await store.readExecution('e-1')) !== undefined) throw new Error('it has not expired');
    expect(await store.write({ executionId: 'e-1', step: claim })).toBe('conflict');
    expect(await store.read('e-1')).toBeUndefined();
    // Its condition concerns only the step: a claimer must know that the execution exists.
    const other = { ...claim, name: 'other' };
    for (let times = 0; times < 2; times += 1)
      expect(await store.write({ executionId: 'e-1', step: other })).toBe('written');
    expect(await store.write({ executionId: 'e-1', step: { ...other, writeId: 'w-x' } })).toBe('conflict');
    expect(await store.read('e-1')).toBeUndefined();
    expect((await besides(under().inventory)).map((found) => besideOf(found).writeId)).toContain('w-claim');
  });

  it('never replaces what a frozen process would have it replace in one life', async () => {
    const { store } = under();
    await store.create({ ...again(T + 1_000), life: 'life1' });
    // A process that read before the first claim and went on days later.
    const step = { ...claim, life: 'life1' };
    expect(await store.write({ executionId: 'e-1', step })).toBe('conflict');
    expect((await store.read('e-1'))?.steps['a']?.output).toEqual({ life: 1 });
  });
}
