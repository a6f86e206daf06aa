/**
 * An input is stored in its own item if that is cheaper, including its removal. A start checks for an
 * existing execution only if there may be one.
 */

import * as sdk from '@aws-sdk/client-dynamodb';
import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { inputApart } from '../../lib/aws/dynamo-inputs.ts';
import { dynamoInventory } from '../../lib/aws/dynamo-inventory.ts';
import { executionItem, inputKeyOf, isInputItem, type Item, sizeOf } from '../../lib/aws/dynamo-items.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { TRANSPORTS } from '../../lib/aws/names.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { anExecution } from '../contract/records.ts';
import { answeredBy } from './mocked.ts';

const mocked = new DynamoDBClient({ region: 'us-east-1' });
const dynamo = mockClient(mocked);
beforeEach(() => dynamo.reset());

const DAY = 86_400_000;
const PARENT = { executionId: 'p-1', step: 'list', index: 0 };
const withInput = (bytes: number, changes: Partial<Execution> = {}): Execution =>
  anExecution({ input: 'x'.repeat(bytes), ...changes });
const itemOf = (execution: Execution) => executionItem(execution, 2);
const units = (bytes: number): number => Math.ceil(bytes / 1_024);

describe('the place of an input', () => {
  // Writes of the record: start, end, the end's announcement; a removal if it does not expire by itself.
  it.each<[string, Partial<Execution>, boolean, { record: number; input: number }]>([
    ['of an execution that expires', {}, true, { record: 3, input: 2 }],
    ['of a child that is removed by the audit', { parent: PARENT }, true, { record: 4, input: 2 }],
    ['of an execution that is kept for ever', {}, false, { record: 3, input: 1 }],
    ['of a child that is kept for ever', { parent: PARENT }, false, { record: 3, input: 1 }],
  ])('%s is the cheaper one, at every size', (_, changes, isRemoved, writes) => {
    const large = withInput(9_000, changes);
    const besides = sizeOf(inputApart(large, itemOf(large), false) ?? {}) - 9_000;
    for (let bytes = 0; bytes < 20_000; bytes += 37) {
      const execution = withInput(bytes, changes);
      const whole = itemOf(execution);
      const apart = inputApart(execution, whole, isRemoved);
      const record = sizeOf(whole) + 100;
      const inRecord = writes.record * units(record);
      const asApart = writes.input * units(besides + bytes) + writes.record * units(record - bytes - 2);
      if (apart === undefined) expect(inRecord).toBeLessThanOrEqual(record <= 1_024 ? Infinity : asApart);
      else expect(asApart).toBeLessThan(inRecord);
    }
  });

  it('of 1 KB is the record where what has ended is removed, and of 16 KB its own', () => {
    const place = (bytes: number, isRemoved: boolean): string =>
      inputApart(withInput(bytes), itemOf(withInput(bytes)), isRemoved) === undefined ? 'record' : 'own';
    expect([place(1_024, true), place(1_024, false), place(16_384, true)]).toEqual(['record', 'own', 'own']);
  });
});

describe.each(TRANSPORTS)('by %s:', (transport) => {
  const client = answeredBy(mocked, sdk, (settings) => new DynamoDBClient(settings), transport);

  describe('a start with a large input', () => {
    const store = dynamoStore(client, { table: 'state', wakeShards: 2, retentionMs: DAY });
    const execution = withInput(16_384);
    const reads = (): readonly unknown[] =>
      dynamo.commandCalls(GetItemCommand).map((call) => call.args[0].input.ConsistentRead);
    const puts = () => dynamo.commandCalls(PutItemCommand).map((call) => call.args[0].input.Item ?? {});
    beforeEach(() => {
      dynamo.on(PutItemCommand).resolves({});
      dynamo.on(GetItemCommand).resolves({});
    });

    it('with an id that was made for it reads nothing', async () => {
      expect(await store.create(execution, true)).toBe('written');
      expect([reads(), puts().map(isInputItem)]).toEqual([[], [true, false]]);
    });

    it('with the id of a key reads cheaply', async () => {
      expect(await store.create(execution)).toBe('written');
      expect([reads(), puts().map(isInputItem)]).toEqual([[false], [true, false]]);
    });

    it.each([
      ['by another start is answered with that', 'theirs', anExecution({ writeId: 'theirs', input: null })],
      ['by itself, its answer lost, is written (S15)', 'w-1', 'written'],
    ])('that was made %s', async (_, writeId, result) => {
      dynamo.on(GetItemCommand).resolves({ Item: itemOf(anExecution({ writeId, input: null })) });
      expect(await store.create(execution)).toEqual(result);
      expect([reads(), puts()]).toEqual([[false, true], []]);
    });
  });

  describe('an input that a later release wrote', () => {
    const execution = withInput(16_384);
    const input = { ...inputApart(execution, itemOf(execution), true), v: { N: '4' } } as Item;
    const record = itemOf({ ...execution, inputKey: inputKeyOf(input) });

    it('is refused, not guessed at', async () => {
      dynamo.on(QueryCommand).resolves({ Items: [record, input] });
      const store = dynamoStore(client, { table: 'state', wakeShards: 2 });
      await expect(store.read('e-1')).rejects.toMatchObject({ code: 'table-form' });
    });

    it('is not readable for the audit, which leaves it alone', async () => {
      dynamo.on(ScanCommand).resolves({ Items: [input] });
      const { items } = await dynamoInventory(client, { table: 'state', wakeShards: 2 }).page({
        index: 0,
        of: 1,
      });
      expect(items).toEqual([{ kind: 'unreadable', executionId: 'e-1' }]);
      // At half the price of a strongly consistent read.
      const scans = dynamo.commandCalls(ScanCommand).map((call) => call.args[0].input);
      expect(scans.map(({ ConsistentRead }) => ConsistentRead ?? false)).toEqual([false]);
    });
  });
});
