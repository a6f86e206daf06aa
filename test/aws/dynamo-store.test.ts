/**
 * Answers of DynamoDB that no emulator gives on request: throttling, lost answers, conflicts of transactions.
 */

import * as sdk from '@aws-sdk/client-dynamodb';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  type GetItemCommandInput,
  ProvisionedThroughputExceededException,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactionConflictException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { dynamoInventory } from '../../lib/aws/dynamo-inventory.ts';
import { executionItem, type Item, stepItem } from '../../lib/aws/dynamo-items.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { TRANSPORTS } from '../../lib/aws/names.ts';
import { anExecution, aPlan, aStep } from '../contract/records.ts';
import { answeredBy } from './mocked.ts';

const mocked = new DynamoDBClient({ region: 'us-east-1' });
const dynamo = mockClient(mocked);
beforeEach(() => dynamo.reset());

const meta = { $metadata: {}, message: 'x' };
const refused = (item?: Item): Error =>
  new ConditionalCheckFailedException({ ...meta, ...(item === undefined ? {} : { Item: item }) });
const throttled = (): Error => new ProvisionedThroughputExceededException(meta);
const canceled = (...reasons: { Code: string; Item?: Item }[]): Error =>
  new TransactionCanceledException({ ...meta, CancellationReasons: reasons });

const execution = anExecution({ version: 2, writeId: 'mine' });
const step = aStep({ version: 2, writeId: 'mine' });
const foreign = { writeId: 'theirs', version: 2 };
const theirStep = stepItem('e-1', aStep(foreign));
const theirExecution = executionItem(anExecution(foreign), 2);
const puts = () => dynamo.commandCalls(PutItemCommand).map((call) => call.args[0].input);

describe.each(TRANSPORTS)('by %s:', (transport) => {
  const client = answeredBy(mocked, sdk, (settings) => new DynamoDBClient(settings), transport);
  const store = dynamoStore(client, { table: 'state', wakeShards: 2 });

  describe('a write that DynamoDB refuses', () => {
    it.each<[string, Item | undefined, string]>([
      ['because our own write is there already is written (S15)', stepItem('e-1', step), 'written'],
      ["because another's is there is a conflict", theirStep, 'conflict'],
      ['without saying what is there is a conflict', undefined, 'conflict'],
    ])('%s', async (_, item, result) => {
      dynamo.on(PutItemCommand).rejects(refused(item));
      expect(await store.write({ executionId: 'e-1', step })).toBe(result);
    });

    it.each([
      ['throttled', throttled()],
      ['broken off', Object.assign(new Error('socket hang up'), { name: 'TimeoutError' })],
    ])('because it is %s is not known, and no conflict', async (_, error) => {
      dynamo.on(PutItemCommand).rejects(error);
      await expect(store.write({ executionId: 'e-1', step })).rejects.toThrow();
      dynamo.on(TransactWriteItemsCommand).rejects(error);
      await expect(store.write({ executionId: 'e-1', execution, step })).rejects.toThrow();
    });
  });

  describe('every write', () => {
    it('has a condition, and asks for what is there if it does not hold', async () => {
      dynamo.on(PutItemCommand).resolves({});
      await store.create(anExecution());
      await store.write({ executionId: 'e-1', step: aStep() });
      await store.write({ executionId: 'e-1', step });
      await store.write({ executionId: 'e-1', execution });
      await store.writePlan('hash', aPlan);
      expect(puts().map((put) => put.ConditionExpression)).toEqual([
        'attribute_not_exists(pk)',
        'attribute_not_exists(pk)',
        '#version = :behind AND #life = :life',
        '#version = :behind AND #life = :life',
        'attribute_not_exists(pk)',
      ]);
      for (const put of puts().slice(0, 4)) expect(put.ReturnValuesOnConditionCheckFailure).toBe('ALL_OLD');
      expect(puts()[2]?.ExpressionAttributeValues).toEqual({
        ':behind': { N: '1' },
        ':life': { S: 'life1' },
      });
    });

    it('with an invalid name is refused before it is sent', async () => {
      await expect(store.write({ executionId: 'e-1', step: aStep({ name: 'a#b' }) })).rejects.toMatchObject({
        code: 'bad-key',
      });
      await expect(store.read('A#1')).rejects.toMatchObject({ code: 'bad-key' });
      await expect(store.readPlan('../x')).rejects.toMatchObject({ code: 'bad-key' });
      expect(dynamo.calls()).toEqual([]);
    });
  });

  describe('a write of one record', () => {
    it('that meets a transaction under way has lost a race: the writer reads again', async () => {
      const error = new TransactionConflictException({ message: 'ongoing', $metadata: {} });
      dynamo.on(PutItemCommand).rejects(error);
      expect(await store.write({ executionId: 'e-1', step })).toBe('conflict');
    });
  });

  describe('a removal by the audit', () => {
    it.each([
      ['finds another record', refused()],
      ['meets a transaction under way', new TransactionConflictException(meta)],
    ])('that %s has lost a race', async (_, error) => {
      dynamo.on(DeleteItemCommand).rejects(error);
      const inventory = dynamoInventory(client, { table: 'state', wakeShards: 2 });
      expect(await inventory.remove({ kind: 'step', executionId: 'e-1', step })).toBe('conflict');
    });
  });

  describe('a write of two records', () => {
    const both = () => store.write({ executionId: 'e-1', execution, step });
    const conflict = canceled({ Code: 'TransactionConflict' }, { Code: 'None' });
    const sent = () => dynamo.commandCalls(TransactWriteItemsCommand);

    it('is one transaction of two conditional puts', async () => {
      dynamo.on(TransactWriteItemsCommand).resolves({});
      expect(await both()).toBe('written');
      const items = sent()[0]?.args[0].input.TransactItems ?? [];
      expect(items.map((item) => item.Put?.ConditionExpression)).toEqual(
        Array(2).fill('#version = :behind AND #life = :life'),
      );
    });

    it('that met another one is tried again', async () => {
      dynamo.on(TransactWriteItemsCommand).rejectsOnce(conflict).rejectsOnce(conflict).resolves({});
      expect(await both()).toBe('written');
      expect(sent()).toHaveLength(3);
    });

    it('that meets others again and again is given up as not known', async () => {
      dynamo.on(TransactWriteItemsCommand).rejects(conflict);
      await expect(both()).rejects.toBeInstanceOf(TransactionCanceledException);
      expect(sent()).toHaveLength(6);
    });

    const ours = [
      { Code: 'ConditionalCheckFailed', Item: executionItem(execution, 2) },
      { Code: 'ConditionalCheckFailed', Item: stepItem('e-1', step) },
    ] as const;
    it.each<[string, { Code: string; Item?: Item }[], string]>([
      ['both are our own', [...ours], 'written'],
      [
        'one is our own and one is not',
        [ours[0], { Code: 'ConditionalCheckFailed', Item: theirStep }],
        'conflict',
      ],
      [
        'the execution has moved on',
        [{ Code: 'ConditionalCheckFailed', Item: theirExecution }, { Code: 'None' }],
        'conflict',
      ],
      [
        'the step has moved on',
        [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item: theirStep }],
        'conflict',
      ],
      [
        'it says nothing of what is there',
        [{ Code: 'ConditionalCheckFailed' }, { Code: 'None' }],
        'conflict',
      ],
      [
        'one has moved on and the other is busy',
        [{ Code: 'ConditionalCheckFailed', Item: theirExecution }, { Code: 'TransactionConflict' }],
        'conflict',
      ],
    ])('refused because %s', async (_, reasons, result) => {
      dynamo.on(TransactWriteItemsCommand).rejects(canceled(...reasons));
      expect(await both()).toBe(result);
    });

    it.each(['ThrottlingError', 'ProvisionedThroughputExceeded'])(
      'refused because of %s is tried again, and in the end not known, and no conflict (S9)',
      async (Code) => {
        const error = canceled({ Code }, { Code: 'None' });
        dynamo.on(TransactWriteItemsCommand).rejectsOnce(error).resolves({});
        expect(await both()).toBe('written');
        dynamo.on(TransactWriteItemsCommand).rejects(error);
        await expect(both()).rejects.toThrow();
        expect(sent()).toHaveLength(8);
      },
    );
  });

  describe('a new execution', () => {
    it('that exists is answered with what DynamoDB gave, without a read', async () => {
      dynamo.on(PutItemCommand).rejects(refused(theirExecution));
      expect(await store.create(anExecution())).toEqual(anExecution(foreign));
      expect(dynamo.commandCalls(GetItemCommand)).toHaveLength(0);
    });

    it('that exists is read strongly where DynamoDB gave nothing', async () => {
      dynamo.on(PutItemCommand).rejects(refused());
      dynamo.on(GetItemCommand).resolves({ Item: theirExecution });
      expect(await store.create(anExecution())).toEqual(anExecution(foreign));
      expect(dynamo.commandCalls(GetItemCommand)[0]?.args[0].input.ConsistentRead).toBe(true);
    });

    it('that exists and then does not is not known', async () => {
      dynamo.on(PutItemCommand).rejects(refused());
      dynamo.on(GetItemCommand).resolves({});
      await expect(store.create(anExecution())).rejects.toThrow('could not be read');
    });
  });

  describe('a read of an execution', () => {
    it('is strong, and follows every page', async () => {
      const key = { pk: { S: 'exec#e-1' }, sk: { S: 'step#a' } };
      dynamo
        .on(QueryCommand)
        .resolvesOnce({ Items: [executionItem(execution, 2)], LastEvaluatedKey: key })
        .resolvesOnce({ Items: [stepItem('e-1', step)] });
      dynamo.on(GetItemCommand).resolves({ Item: executionItem(execution, 2) });
      expect(await store.read('e-1')).toEqual({ execution, steps: { a: step } });
      const queries = dynamo.commandCalls(QueryCommand).map((call) => call.args[0].input);
      expect(queries.map((query) => query.ConsistentRead)).toEqual([true, true]);
      expect(queries[1]?.ExclusiveStartKey).toEqual(key);
    });

    it('of several pages is repeated when the execution changed meanwhile', async () => {
      const key = { pk: { S: 'exec#e-1' }, sk: { S: 'step#a' } };
      const after = anExecution({ version: 3, status: 'compensating', writeId: 'later' });
      dynamo
        .on(QueryCommand)
        .resolvesOnce({ Items: [executionItem(execution, 2)], LastEvaluatedKey: key })
        .resolvesOnce({ Items: [stepItem('e-1', step)] })
        .resolvesOnce({ Items: [executionItem(after, 2)], LastEvaluatedKey: key })
        .resolvesOnce({ Items: [stepItem('e-1', step)] });
      dynamo.on(GetItemCommand).resolves({ Item: executionItem(after, 2) });
      expect(await store.read('e-1')).toEqual({ execution: after, steps: { a: step } });
    });

    it('of a newer version is refused, not guessed at', async () => {
      dynamo.on(QueryCommand).resolves({ Items: [{ ...executionItem(execution, 2), v: { N: '4' } }] });
      await expect(store.read('e-1')).rejects.toMatchObject({ code: 'table-form' });
    });

    it('leaves other items of the partition alone', async () => {
      const incident = { pk: { S: 'exec#e-1' }, sk: { S: 'something#1' }, v: { N: '9' } };
      dynamo.on(QueryCommand).resolves({ Items: [executionItem(execution, 2), incident] });
      expect(await store.read('e-1')).toEqual({ execution, steps: {} });
    });
  });

  describe('a read of some steps', () => {
    it('asks for the execution when all of them have been answered, and all strongly (S10)', async () => {
      const answered: string[] = [];
      const asked: (readonly [string, boolean | undefined, number])[] = [];
      const releases: (() => void)[] = [];
      dynamo.on(GetItemCommand).callsFake(async ({ Key, ConsistentRead }: GetItemCommandInput) => {
        const sk = Key?.['sk']?.S ?? '';
        asked.push([sk, ConsistentRead, answered.length]);
        if (sk === 'exec') return { Item: executionItem(execution, 2) };
        await new Promise<void>((release) => releases.push(release));
        answered.push(sk);
        return { Item: stepItem('e-1', aStep({ ...step, name: sk.slice('step#'.length) })) };
      });
      const read = store.readSteps?.('e-1', ['a', 'b', 'c']);
      // The first one requested is the last one answered.
      for (let open = 3; open > 0; open -= 1) {
        while (releases.length < open) await new Promise((turn) => setImmediate(turn));
        releases.pop()?.();
        await new Promise((turn) => setImmediate(turn));
      }
      expect(Object.keys((await read)?.steps ?? {})).toEqual(['a', 'b', 'c']);
      expect(asked).toEqual([
        ['step#a', true, 0],
        ['step#b', true, 0],
        ['step#c', true, 0],
        ['exec', true, 3],
      ]);
    });
  });

  describe('a plan', () => {
    it('that is there already is fine; anything else is not', async () => {
      dynamo.on(PutItemCommand).rejectsOnce(refused()).rejects(throttled());
      await expect(store.writePlan('hash', aPlan)).resolves.toBeUndefined();
      await expect(store.writePlan('hash', aPlan)).rejects.toThrow('x');
    });
  });
});
