/** The life of an input stored in its own item on DynamoDB. */

import { GetItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { dynamoInventory } from '../../lib/aws/dynamo-inventory.ts';
import { executionKey, sizeOf } from '../../lib/aws/dynamo-items.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { type Found, isLeftBehind } from '../../lib/core/supervision/audit.ts';
import type { Store } from '../../lib/core/ports.ts';
import { MIN_RETENTION_MS } from '../../lib/core/records/retention.ts';
import { type Dynamo, startDynamo } from './dynamodb.ts';
import { anExecution } from './records.ts';

const LARGE = { text: 'ü'.repeat(1_000) };
const OTHER = { text: 'o'.repeat(2_000) };

let dynamo: Dynamo;
let table: Awaited<ReturnType<Dynamo['table']>>;
let store: Store;
beforeAll(async () => {
  dynamo = await startDynamo();
});
afterAll(() => dynamo.stop());
beforeEach(async () => {
  table = await dynamo.table();
  store = dynamoStore(dynamo.client, { table: table.name, wakeShards: 2 });
});
afterEach(() => table.drop());

const inputs = async (): Promise<number> => {
  const { Count } = await dynamo.client.send(
    new QueryCommand({
      TableName: table.name,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :input)',
      ExpressionAttributeValues: { ':pk': executionKey('e-1')['pk']!, ':input': { S: 'input#' } },
    }),
  );
  return Count ?? 0;
};
const recordBytes = async (): Promise<number> => {
  const ask = new GetItemCommand({ TableName: table.name, Key: executionKey('e-1') });
  return sizeOf((await dynamo.client.send(ask)).Item ?? {});
};
const found = async (): Promise<readonly Found[]> =>
  (await dynamoInventory(dynamo.client, { table: table.name, wakeShards: 2 }).page({ index: 0, of: 1 }))
    .items;

describe('a large input', () => {
  it('is beside the record, and read with it, also after the record was written anew', async () => {
    await store.create(anExecution({ input: LARGE }));
    const { execution } = (await store.read('e-1'))!;
    expect(execution.input).toEqual(LARGE);
    expect([await inputs(), (await recordBytes()) < 1_024]).toEqual([1, true]);
    await store.write({ executionId: 'e-1', execution: { ...execution, version: 2, writeId: 'w-2' } });
    expect((await store.read('e-1'))?.execution).toEqual({ ...execution, version: 2, writeId: 'w-2' });
    expect([await inputs(), (await recordBytes()) < 1_024]).toEqual([1, true]);
  });

  it('stays when the record is written by a reader of the record alone, as the audit does', async () => {
    await store.create(anExecution({ input: LARGE }));
    const execution = (await store.readExecution('e-1'))!;
    await store.write({ executionId: 'e-1', execution: { ...execution, version: 2, writeId: 'w-2' } });
    expect((await store.read('e-1'))?.execution.input).toEqual(LARGE);
  });

  it('stays when the record is written by its creator, which never read it', async () => {
    await store.create(anExecution({ input: LARGE }));
    const execution = anExecution({ input: LARGE, version: 2, writeId: 'w-2' });
    await store.write({ executionId: 'e-1', execution });
    expect((await store.read('e-1'))?.execution).toEqual(execution);
  });

  it('of a start that repeats another with the same key leaves no second item (S11)', async () => {
    await store.create(anExecution({ input: LARGE }));
    const again = await store.create(anExecution({ input: OTHER, inputHash: 'other', writeId: 'w-9' }));
    expect(again).toMatchObject({ writeId: 'w-1', inputHash: 'abc' });
    expect(await inputs()).toBe(1);
  });

  it('of two simultaneous starts with one key is that of the start which was written (S11)', async () => {
    const starts = Array.from({ length: 8 }, (_, at) =>
      store.create(
        anExecution({ input: { text: `${at}`.repeat(2_000) }, inputHash: `${at}`, writeId: `w-${at}` }),
      ),
    );
    const results = await Promise.all(starts);
    expect(results.filter((result) => result === 'written')).toHaveLength(1);
    const { execution } = (await store.read('e-1'))!;
    expect(execution.input).toEqual({ text: execution.inputHash.repeat(2_000) });
  });

  it('that is missing is an error, never an empty input (S6)', async () => {
    await store.create(anExecution({ input: LARGE }));
    const input = (await found()).find(({ kind }) => kind === 'input');
    if (input?.kind !== 'input') throw new Error('no input was found');
    await dynamoInventory(dynamo.client, { table: table.name, wakeShards: 2 }).remove(input);
    await expect(store.read('e-1')).rejects.toThrow('is not in the state table');
  });
});

describe('the audit', () => {
  const { startedAt } = anExecution();
  const later = startedAt + MIN_RETENTION_MS + 1;

  it('leaves an input that a record names, or that is new, and removes what is neither', async () => {
    await store.create(anExecution({ input: LARGE }));
    const input = (await found()).find(({ kind }) => kind === 'input');
    if (input?.kind !== 'input') throw new Error('no input was found');
    const named = (await store.readExecution('e-1'))!;
    expect(isLeftBehind(input, named, later)).toBe(false);
    expect(isLeftBehind(input, undefined, startedAt)).toBe(false);
    expect(isLeftBehind(input, undefined, later)).toBe(true);
    expect(isLeftBehind(input, anExecution(), later)).toBe(true);
  });

  it.each([
    ['after its retention, by the audit', later],
    ['at once, by an erasure', startedAt + 5_000],
  ])('takes that of an earlier life %s, and not the same one of the next', async (_, nextAt) => {
    await store.create(anExecution({ input: LARGE }));
    const inventory = dynamoInventory(dynamo.client, { table: table.name, wakeShards: 2 });
    const items = await found();
    for (const one of items) if (one.kind === 'execution') await inventory.remove(one);
    const next = anExecution({ life: 'next', input: LARGE, startedAt: nextAt, writeId: 'w-next' });
    expect(await store.create(next)).toBe('written');
    for (const one of items) if (one.kind === 'input') await inventory.remove(one);
    expect((await store.read('e-1'))?.execution.input).toEqual(LARGE);
    expect(await inputs()).toBe(1);
  });
});
