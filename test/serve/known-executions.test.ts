/** The store that caches executions: its answers never differ from the file. */

import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import type { Store } from '../../lib/core/ports.ts';
import { MemoryStore } from '../../lib/memory/world.ts';
import { knownExecutions } from '../../serve/known-executions.ts';
import { openDatabase, TABLE_NAME } from '../../serve/sqlite/client.ts';
import { MOST_OPEN } from '../contract/lists.contract.ts';
import { anExecution, aStep } from '../contract/records.ts';
import { describeStore } from '../contract/store.contract.ts';

describeStore('what a server remembers', async () => {
  const { client, findAtRisk, close } = openDatabase();
  const options = { table: TABLE_NAME, wakeShards: 2, mostOpen: MOST_OPEN, findAtRisk };
  const store = dynamoStore(client, options);
  return { store: knownExecutions(store), close: async () => close() };
});

const ID = 'e-1';

/** A caching store, the store behind it, and the reads of the latter. */
async function remembering({ most, ...changed }: Partial<Store> & { readonly most?: number } = {}) {
  const behind: Store = new MemoryStore(2, MOST_OPEN);
  const reads: string[] = [];
  const counted: Store = {
    ...behind,
    read: async (id) => {
      reads.push(id);
      return behind.read(id);
    },
    ...changed,
  };
  const store = knownExecutions(counted, most);
  await store.create(anExecution());
  return { store, behind, reads };
}

const stepOf = (version: number) => aStep({ name: 's', version, writeId: `w-${version}` });
const writeOf = (version: number) => ({ executionId: ID, step: stepOf(version) });

it('reads an execution once, and knows what it has written since', async () => {
  const { store, behind, reads } = await remembering();
  await store.read(ID);
  for (const version of [1, 2, 3]) {
    await store.write(writeOf(version));
    expect(await store.read(ID)).toEqual(await behind.read(ID));
  }
  expect(reads).toEqual([ID]);
});

it('reads again after a conflict', async () => {
  const { store, behind, reads } = await remembering();
  await store.read(ID);
  await behind.write(writeOf(1));
  const late = { ...writeOf(1), step: { ...stepOf(1), writeId: 'late' } };
  expect(await store.write(late)).toBe('conflict');
  expect(await store.read(ID)).toEqual(await behind.read(ID));
  expect(reads).toEqual([ID, ID]);
});

it('reads again after a write that it cannot have followed', async () => {
  const { store, behind, reads } = await remembering();
  await store.read(ID);
  await behind.write(writeOf(1));
  expect(await store.write(writeOf(2))).toBe('written');
  expect(await store.read(ID)).toEqual(await behind.read(ID));
  expect(reads).toEqual([ID, ID]);
});

it('reads again after a write without an answer', async () => {
  const write = async (): Promise<never> => Promise.reject(new Error('no answer'));
  const { store, behind, reads } = await remembering({ write });
  await store.read(ID);
  await expect(store.write(writeOf(1))).rejects.toThrow('no answer');
  await behind.write(writeOf(1));
  expect(await store.read(ID)).toEqual(await behind.read(ID));
  expect(reads).toEqual([ID, ID]);
});

it('does not remember what it has read while a write was under way', async () => {
  const { store, behind } = await remembering();
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const slow = knownExecutions({
    ...store,
    write: behind.write,
    read: async (id) => {
      const state = await behind.read(id);
      await answered;
      return state;
    },
  });
  const early = slow.read(ID);
  await slow.write(writeOf(1));
  answer();
  expect((await early)?.steps).toEqual({});
  expect(await slow.read(ID)).toEqual(await behind.read(ID));
});

it('forgets one that is over or has grown large, and the oldest of too many', async () => {
  const { store, reads } = await remembering({ most: 2 });
  const known = async (id: string): Promise<boolean> => {
    const before = reads.length;
    await store.read(id);
    return reads.length === before;
  };
  await store.read(ID);
  expect(await known(ID)).toBe(true);
  await store.write({ ...writeOf(1), step: { ...stepOf(1), output: 'x'.repeat(20_000) } });
  expect(await known(ID)).toBe(false);
  expect(await known(ID)).toBe(false);
  for (const id of ['e-2', 'e-3', 'e-4']) {
    await store.create(anExecution({ id }));
    await store.read(id);
  }
  expect([await known('e-4'), await known('e-3'), await known('e-2')]).toEqual([true, true, false]);
  const { wakeAt: _, ...over } = anExecution({ id: 'e-4', version: 2, writeId: 'w-2', status: 'succeeded' });
  await store.read('e-4');
  await store.write({ executionId: 'e-4', execution: over });
  expect(await known('e-4')).toBe(false);
});
