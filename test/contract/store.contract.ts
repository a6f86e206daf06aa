/** The contract of every store: S3, S11, S15, the conditions of writes, both indexes. */
import type { Store } from '../../lib/core/ports.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { allPages, due } from './due.contract.ts';
import { openCallbacks } from './open-callbacks.contract.ts';
import { incidents } from './incidents.contract.ts';
import { lists } from './lists.contract.ts';
import { parts } from './parts.contract.ts';
import { plans } from './plans.contract.ts';
import { anExecution, aStep, fullExecution, fullStep } from './records.ts';
import { together } from './together.contract.ts';

export interface StoreUnderTest {
  /** Empty; with two shards, and `MOST_OPEN` (`lists.contract.ts`). */
  readonly store: Store;
  readonly close: () => Promise<void>;
}

const T = 1_700_000_000_000;

export function describeStore(title: string, open: () => Promise<StoreUnderTest>): void {
  describe(`store contract: ${title}`, () => {
    let store: Store;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ store, close } = await open());
    });
    afterEach(async () => {
      await close();
    });
    const suite: Suite = (name, body) => describe(name, () => body(() => store));
    suite('a new execution', created);
    suite('a part of an execution', parts);
    suite('a write', written);
    suite('a write of two records', together);
    suite('what is due', due);
    suite('an incident', incidents);
    suite('an entry of the inbox', openCallbacks);
    suite('a list', listed);
    suite('a list by a filter', lists);
    suite('a plan', plans);
  });
}

type Body = (store: () => Store) => void;
type Suite = (name: string, body: Body) => void;

const created: Body = (store) => {
  it('is read back as it was written, every field of it and no other', async () => {
    for (const record of [anExecution(), fullExecution({ id: 'e-2' })]) {
      expect(await store().create(record)).toBe('written');
      expect(await store().readExecution(record.id)).toStrictEqual(record);
      expect(await store().read(record.id)).toStrictEqual({ execution: record, steps: {} });
    }
  });

  it('that was never made is not there', async () => {
    expect(await store().readExecution('nobody')).toBeUndefined();
    expect(await store().read('nobody')).toBeUndefined();
  });

  it('is made once: the next one gets the first, which stays as it is (S11)', async () => {
    const first = anExecution();
    await store().create(first);
    const second = anExecution({ writeId: 'w-2', input: { other: true }, inputHash: 'other' });
    expect(await store().create(second)).toStrictEqual(first);
    expect(await store().readExecution('e-1')).toStrictEqual(first);
  });

  it('takes the place of one from an earlier life of its parent, and of no other (S6)', async () => {
    const childOf = (since: number, changes: Partial<Execution> = {}): Execution =>
      anExecution({ parent: { executionId: 'p', step: 's', index: 0, since }, ...changes });
    const { wakeAt: _, ...old } = childOf(1_000, { version: 4, status: 'succeeded' });
    await store().create({ ...old, version: 1 });
    const restarted = childOf(2_000, { writeId: 'w-2' });
    expect(await store().create(restarted)).toBe('written');
    expect(await store().create(restarted)).toBe('written');
    expect(await store().create(childOf(2_000, { writeId: 'w-3' }))).toStrictEqual(restarted);
    expect(await store().create(childOf(1_000, { writeId: 'w-4' }))).toStrictEqual(restarted);
    expect(await store().read('e-1')).toStrictEqual({ execution: restarted, steps: {} });
  });

  it('is recognised as our own when the answer was lost and it is made again', async () => {
    await store().create(anExecution());
    expect(await store().create(anExecution())).toBe('written');
  });

  it('of many at once is made once', async () => {
    const all = Array.from({ length: 20 }, (_, at) => anExecution({ writeId: `w-${at}` }));
    const results = await Promise.all(all.map((record) => store().create(record)));
    expect(results.filter((result) => result === 'written')).toHaveLength(1);
    const winner = await store().readExecution('e-1');
    for (const result of results) if (result !== 'written') expect(result).toStrictEqual(winner);
  });
};

const written: Body = (store) => {
  const next = (record: Execution, writeId: string, changes: Partial<Execution> = {}): Execution => ({
    ...record,
    ...changes,
    version: record.version + 1,
    writeId,
  });

  it('of a step is read back as it was written, every field of it and no other', async () => {
    await store().create(anExecution());
    for (const step of [aStep(), fullStep({ name: 'b' }), aStep({ name: 'c-1', status: 'fenced' })]) {
      expect(await store().write({ executionId: 'e-1', step })).toBe('written');
      expect((await store().read('e-1'))?.steps[step.name]).toStrictEqual(step);
    }
  });

  it('of a record that loses fields leaves none of them behind', async () => {
    await store().create(fullExecution({ version: 1 }));
    await store().write({ executionId: 'e-1', step: fullStep() });
    const { wakeAt: _w, tags: _t, output: _o, ...execution } = next(fullExecution(), 'w-2');
    const { leaseUntil: _l, retryAt: _r, failure: _f, ...step } = fullStep({ version: 2, writeId: 'w-2' });
    expect(await store().write({ executionId: 'e-1', execution })).toBe('written');
    expect(await store().write({ executionId: 'e-1', step })).toBe('written');
    expect(await store().read('e-1')).toStrictEqual({ execution, steps: { a: step } });
  });

  it('is made when what is stored is one version behind, and else is a conflict that changes nothing (S3)', async () => {
    const first = anExecution();
    await store().create(first);
    const second = next(first, 'w-2', { status: 'compensating' });
    expect(await store().write({ executionId: 'e-1', execution: second })).toBe('written');
    for (const version of [1, 2, 4, 9]) {
      const execution = { ...first, version, writeId: 'w-x' };
      expect(await store().write({ executionId: 'e-1', execution })).toBe('conflict');
    }
    expect(await store().readExecution('e-1')).toStrictEqual(second);
  });

  it('of a first version is made only if no record exists', async () => {
    await store().create(anExecution());
    expect(await store().write({ executionId: 'e-1', step: aStep({ version: 2 }) })).toBe('conflict');
    expect(await store().write({ executionId: 'e-1', step: aStep() })).toBe('written');
    expect(await store().write({ executionId: 'e-1', step: aStep({ writeId: 'w-2' }) })).toBe('conflict');
    expect(await store().write({ executionId: 'e-1', execution: anExecution({ writeId: 'w-2' }) })).toBe(
      'conflict',
    );
  });

  it('that is repeated counts as written, and is written once (S15)', async () => {
    await store().create(anExecution());
    const step = aStep();
    const execution = next(anExecution(), 'w-2');
    for (const write of [{ step }, { execution }]) {
      expect(await store().write({ executionId: 'e-1', ...write })).toBe('written');
      expect(await store().write({ executionId: 'e-1', ...write })).toBe('written');
    }
    expect(await store().read('e-1')).toStrictEqual({ execution, steps: { a: step } });
  });

  it('that is repeated beneath a later one is a conflict: who asks must read again (F10)', async () => {
    await store().create(anExecution());
    const step = aStep();
    await store().write({ executionId: 'e-1', step });
    await store().write({ executionId: 'e-1', step: aStep({ version: 2, writeId: 'w-2' }) });
    expect(await store().write({ executionId: 'e-1', step })).toBe('conflict');
  });

  it('of many at once on the same version is made by one', async () => {
    await store().create(anExecution());
    const claims = Array.from({ length: 20 }, (_, at) => aStep({ writeId: `w-${at}`, token: `t-${at}` }));
    const results = await Promise.all(claims.map((step) => store().write({ executionId: 'e-1', step })));
    expect(results.filter((result) => result === 'written')).toHaveLength(1);
    const winner = claims[results.indexOf('written')];
    expect((await store().read('e-1'))?.steps['a']).toStrictEqual(winner);
  });

  it('of one step leaves the other steps and the execution as they are', async () => {
    await store().create(anExecution());
    await store().write({ executionId: 'e-1', step: aStep({ name: 'b' }) });
    await store().write({ executionId: 'e-1', step: aStep() });
    const state = await store().read('e-1');
    expect(state).toStrictEqual({ execution: anExecution(), steps: { a: aStep(), b: aStep({ name: 'b' }) } });
  });

  it('is seen by the next read, however large the execution has become', async () => {
    await store().create(anExecution());
    const names = Array.from({ length: 60 }, (_, at) => `step-${at}`);
    const output = { text: 'x'.repeat(30_000) };
    for (const name of names) await store().write({ executionId: 'e-1', step: aStep({ name, output }) });
    const state = await store().read('e-1');
    expect(Object.keys(state?.steps ?? {}).sort()).toEqual([...names].sort());
    expect(state?.steps['step-59']).toStrictEqual(aStep({ name: 'step-59', output }));
  });
};

const listed: Body = (store) => {
  const query = { workflows: ['flow'], limit: 10 };
  const pages = (more: object = {}): Promise<Execution[]> =>
    allPages((cursor) => store().list({ ...query, ...more, ...(cursor === undefined ? {} : { cursor }) }));
  const make = async (count: number, changes: (at: number) => Partial<Execution>): Promise<void> => {
    const records = Array.from({ length: count }, (_, at) => anExecution({ id: `e-${at}`, ...changes(at) }));
    await Promise.all(records.map((record) => store().create(record)));
  };

  it('of nothing is empty', async () => {
    expect(await store().list(query)).toEqual({ items: [], orderedBy: 'startedAt' });
  });

  it('has the latest start first, whole records, of this workflow alone', async () => {
    await make(5, (at) => ({ startedAt: T + at }));
    await store().create(anExecution({ id: 'other', workflow: 'other', startedAt: T + 100 }));
    const { items } = await store().list(query);
    expect(items.map(({ id }) => id)).toEqual(['e-4', 'e-3', 'e-2', 'e-1', 'e-0']);
    expect(items[0]).toStrictEqual(anExecution({ id: 'e-4', startedAt: T + 4 }));
  });

  it('is paged without a gap and without a repetition, also where many started at the same moment', async () => {
    await make(34, (at) => ({ startedAt: T + Math.floor(at / 10) }));
    for (const limit of [1, 7, 34, 100]) {
      const found = await pages({ limit });
      expect(new Set(found.map(({ id }) => id)).size).toBe(34);
      expect(found).toHaveLength(34);
      const starts = found.map(({ startedAt }) => startedAt);
      expect(starts).toEqual([...starts].sort((a, b) => b - a));
    }
  });

  it('of several workflows has the latest start first across them, each once, also of one moment', async () => {
    const workflows = ['flow', 'other', 'third'];
    await make(45, (at) => ({ workflow: workflows[at % 3] ?? '', startedAt: T + Math.floor(at / 12) }));
    for (const limit of [9, 45, 100]) {
      const found = await pages({ workflows, limit });
      expect(new Set(found.map(({ id }) => id)).size).toBe(45);
      expect(found).toHaveLength(45);
      const starts = found.map(({ startedAt }) => startedAt);
      expect(starts).toEqual([...starts].sort((a, b) => b - a));
    }
    const two = await pages({ workflows: ['third', 'flow'], limit: 4 });
    expect(new Set(two.map(({ workflow }) => workflow))).toEqual(new Set(['flow', 'third']));
    expect(two).toHaveLength(30);
  });

  it('has no page behind its last one, and of a rare status none that is empty', async () => {
    await make(30, (at) => ({ startedAt: T + at, status: at === 0 ? 'succeeded' : 'running' }));
    expect(await store().list({ ...query, limit: 30 })).not.toHaveProperty('cursor');
    const { items, cursor } = await store().list({ ...query, limit: 1, statuses: ['succeeded'] });
    expect([items.map(({ id }) => id), cursor]).toEqual([['e-0'], undefined]);
  });

  it('never has more than its limit', async () => {
    await make(30, (at) => ({ startedAt: T + at }));
    expect((await store().list({ ...query, limit: 7 })).items).toHaveLength(7);
  });

  it('of one status has all of that status, and of some time what started then', async () => {
    await make(60, (at) => ({ startedAt: T + at, status: at % 6 === 0 ? 'succeeded' : 'running' }));
    const statuses = ['succeeded'];
    const ids = (...ats: number[]): string[] => ats.map((at) => `e-${at}`);
    const over = await pages({ statuses, limit: 3 });
    expect(over.map(({ id }) => id)).toEqual(ids(54, 48, 42, 36, 30, 24, 18, 12, 6, 0));
    const within = await pages({ since: T + 10, until: T + 13, limit: 2 });
    expect(within.map(({ id }) => id)).toEqual(ids(12, 11, 10));
    expect(await pages({ since: T + 13, until: T + 13 })).toEqual([]);
  });

  it('goes on where it was although new ones have started meanwhile', async () => {
    await make(10, (at) => ({ startedAt: T + at }));
    const first = await store().list({ ...query, limit: 4 });
    await store().create(anExecution({ id: 'new', startedAt: T + 100 }));
    const second = await store().list({ ...query, limit: 4, cursor: first.cursor ?? '' });
    expect(second.items.map(({ id }) => id)).toEqual(['e-5', 'e-4', 'e-3', 'e-2']);
  });

  it.each(['', 'nonsense', '5', '{"pk":{"S":"exec#e-1"}}', '1.e#1', '-1.e-1'])(
    'refuses the cursor %j',
    async (cursor) => {
      await expect(store().list({ ...query, cursor })).rejects.toMatchObject({ code: 'bad-cursor' });
    },
  );
};
