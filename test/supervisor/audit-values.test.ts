/**
 * The audit of large values: V5 it keeps every value that a record names, or may name after a restore; V6 it
 * removes all others in the end.
 */

import type { Page, StoredValue } from '../../lib/core/ports.ts';
import { valueKeyOf, valuesOf } from '../../lib/core/records/large-values.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { absentMark, type ValuesAudit, VALUES_KEPT_MS } from '../../lib/core/supervision/stored-values.ts';
import { auditValues, type Values, type ValuesAuditPorts } from '../../lib/supervisor/audit-values.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const RETENTION_MS = 3 * DAY;
const T = 1_700_000_000_000;

interface World {
  now: number;
  readonly objects: Map<string, { readonly json: string; readonly storedAt: number }>;
  /** The life of each execution that has a record. */
  readonly records: Map<string, string>;
  readonly notes: unknown[];
  readonly reads: string[];
  readonly put: (executionId: string, life: string, id: string) => Promise<string>;
  readonly audit: (maxPages?: number) => ReturnType<typeof auditValues>;
  readonly values: Values;
  readonly keys: () => string[];
}

function world(page = 5, change: (values: Values) => Values = (same) => same): World {
  const objects: World['objects'] = new Map();
  const records: World['records'] = new Map();
  const notes: unknown[] = [];
  const reads: string[] = [];
  let receipt: ValuesAudit | undefined;
  let ids = 0;
  let sorted: string[] | undefined;
  const values = change({
    hash: (json) => `h${json.length}`,
    put: async (key, json) => {
      sorted = undefined;
      objects.set(key, { json, storedAt: w.now });
    },
    get: async (key) => objects.get(key)?.json,
    list: async (prefix, cursor = ''): Promise<Page<StoredValue>> => {
      sorted ??= [...objects.keys()].sort();
      const from = Math.max(placeOf(sorted, prefix), placeOf(sorted, `${cursor}\0`));
      const all = sorted.slice(from, from + page + 1).filter((key) => key.startsWith(prefix));
      const items = all
        .slice(0, page)
        .map((key) => ({ key, storedAt: objects.get(key)?.storedAt ?? 0, bytes: 1 }));
      const last = items.at(-1);
      return all.length > page && last !== undefined ? { items, cursor: last.key } : { items };
    },
    remove: async (keys) => {
      sorted = undefined;
      for (const key of keys) objects.delete(key);
    },
  });
  const ports = {
    values,
    valuesAudit: {
      read: async () => receipt,
      write: async (next: ValuesAudit) => {
        if (next.version !== (receipt?.version ?? 0) + 1) return 'conflict';
        receipt = next;
        return 'written';
      },
    },
    store: {
      readExecution: async (id: string) => {
        reads.push(id);
        const life = records.get(id);
        return life === undefined ? undefined : ({ id, life } as Execution);
      },
    },
    clock: { now: () => w.now },
    random: { id: () => `w${(ids += 1)}` },
    log: { note: (note: unknown) => void notes.push(note) },
  } as unknown as ValuesAuditPorts;
  const w: World = {
    now: T,
    objects,
    records,
    notes,
    reads,
    put: async (executionId, life, id) => {
      const key = valueKeyOf({ id: executionId, life }, 'input', { hash: 'h', id });
      await values.put(key, '"x"');
      return key;
    },
    audit: (maxPages = 1_000) =>
      auditValues(ports, { untilAt: Number.MAX_SAFE_INTEGER, maxPages, retentionMs: RETENTION_MS }),
    values,
    keys: () => [...objects.keys()].sort(),
  };
  return w;
}

/** The index of the first key that is not smaller. */
function placeOf(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as string) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

const days = async (w: World, count: number): Promise<void> => {
  for (let day = 0; day < count; day += 1) {
    w.now += DAY;
    await w.audit();
  }
};

it('keeps what a record names for as long as the record is there, and 35 days longer', async () => {
  const w = world();
  w.records.set('e', 'l');
  const key = await w.put('e', 'l', 'a');
  await days(w, 400);
  expect(w.keys()).toEqual([key]);
  w.records.delete('e');
  w.now += DAY;
  const goneAt = w.now;
  expect(await w.audit()).toMatchObject({ marked: 1, removed: 0 });
  await days(w, 34);
  expect(w.keys()).toEqual([absentMark('e', 'l', goneAt), key]);
  await days(w, 1);
  expect(w.now).toBe(goneAt + VALUES_KEPT_MS);
  expect(w.keys()).toEqual([]);
  expect(w.notes).toEqual([{ what: 'leftover-removed', executionId: 'e' }]);
});

it('begins to count again where a restore brought the record back', async () => {
  const w = world();
  const key = await w.put('e', 'l', 'a');
  await days(w, 30);
  expect(w.keys()).toHaveLength(2);
  w.records.set('e', 'l');
  await days(w, 10);
  expect(w.keys()).toEqual([key]);
  w.records.delete('e');
  await days(w, 35);
  expect(w.keys()).toContain(key);
  await days(w, 1);
  expect(w.keys()).toEqual([]);
});

it('does not take another life’s record for its own', async () => {
  const w = world();
  await w.put('e', 'old', 'a');
  await days(w, 3);
  w.records.set('e', 'new');
  const own = await w.put('e', 'new', 'b');
  await days(w, 40);
  expect(w.keys()).toEqual([own]);
});

it('asks for no execution that cannot be gone, and lists once a day', async () => {
  const w = world();
  await w.put('e', 'l', 'a');
  await w.audit();
  for (let hour = 0; hour < 70; hour += 1) {
    w.now += HOUR;
    await w.audit();
  }
  expect(w.reads).toEqual([]);
  w.now += 5 * HOUR;
  await w.audit();
  await w.audit();
  expect(w.reads).toEqual(['e']);
});

it('goes on in the next run where the last stopped, in the middle of a life', async () => {
  const w = world(2);
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await w.put('e', 'l', id);
  w.now += 4 * DAY;
  const one = async (): Promise<void> => {
    for (let run = 0; run < 10; run += 1) await w.audit(1);
  };
  await one();
  expect(w.keys().filter((key) => key.includes('!'))).toHaveLength(1);
  w.now += VALUES_KEPT_MS;
  await one();
  w.now += DAY;
  await one();
  expect(w.keys()).toEqual([]);
});

it('lets one life that cannot be handled delay no other, and says which (L4)', async () => {
  const w = world(5, (values) => ({
    ...values,
    put: async (key, json) => {
      if (key.includes('/bad/') && key.includes('!')) throw new Error('AccessDenied');
      await values.put(key, json);
    },
  }));
  await w.put('bad', 'l', 'a');
  await w.put('good', 'l', 'a');
  w.now += 4 * DAY;
  expect(await w.audit()).toMatchObject({ marked: 1, failed: 1 });
  expect(w.notes).toEqual([{ what: 'audit-failed', executionId: 'bad', detail: expect.any(String) }]);
});

it('leaves alone objects that are not values, and values younger than a day', async () => {
  const w = world();
  await w.values.put('foreign', '1');
  await w.values.put(`${valuesOf('e')}m/!absent/x`, '');
  await w.values.put(absentMark('e', 'l', T - VALUES_KEPT_MS), '');
  const young = await w.put('e', 'l', 'a');
  await w.audit();
  expect(w.keys()).toContain(young);
  w.now += 2 * DAY;
  await w.audit();
  expect(w.keys()).not.toContain(young);
  w.now += DAY;
  await w.audit();
  expect(w.keys()).toEqual([`${valuesOf('e')}m/!absent/x`, 'foreign'].sort());
});

/** A fast seeded generator. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

it('after 1,000 kills between object and record: nothing dangles, and 35 days later nothing is left', async () => {
  const w = world(50);
  const roll = randomOf(7);
  const named = new Map<string, readonly string[]>();
  /** Values that a restore may need, with the time at which the record was removed. */
  const gone: {
    readonly id: string;
    readonly life: string;
    readonly keys: readonly string[];
    readonly at: number;
  }[] = [];
  const ends = new Map<string, number>();
  let [kills, lives, restored] = [0, 0, 0];
  const lost = (): string[] => {
    const needed = gone.filter(({ at }) => w.now < at + VALUES_KEPT_MS).flatMap(({ keys }) => keys);
    return [...needed, ...[...named.values()].flat()].filter((key) => !w.objects.has(key));
  };
  while (kills < 1_000) {
    for (let n = 0; n < 25; n += 1) {
      // The same ids repeat, so that lives follow each other.
      const id = `e-${Math.floor(roll() * 400)}`;
      const life = `l${(lives += 1)}`;
      const key = await w.put(id, life, 'input');
      if (roll() < 0.5) kills += 1;
      else if (!w.records.has(id)) {
        w.records.set(id, life);
        named.set(id, [key]);
        ends.set(id, w.now + roll() * 10 * DAY);
        const output = await w.put(id, life, 'output');
        if (roll() < 0.3) kills += 1;
        else named.set(id, [key, output]);
      }
    }
    w.now += Math.round((0.2 + roll()) * DAY);
    for (const [id, endAt] of ends) {
      if (w.now < endAt + RETENTION_MS) continue;
      gone.push({ id, life: w.records.get(id)!, keys: named.get(id)!, at: w.now });
      for (const map of [ends, named, w.records] as Map<string, unknown>[]) map.delete(id);
    }
    // A table restored from up to 35 days ago has a record again, for longer than from pass to pass.
    const again = gone.find((one) => w.now < one.at + VALUES_KEPT_MS && !w.records.has(one.id));
    if (again !== undefined && roll() < 0.2) {
      restored += 1;
      gone.splice(gone.indexOf(again), 1);
      w.records.set(again.id, again.life);
      named.set(again.id, again.keys);
      ends.set(again.id, w.now + roll() * DAY);
    }
    await w.audit(roll() < 0.3 ? 2 : 1_000);
    expect(lost()).toEqual([]);
  }
  expect(restored).toBeGreaterThan(3);
  w.records.clear();
  named.clear();
  await days(w, 4);
  await days(w, 36);
  expect(w.keys()).toEqual([]);
});
