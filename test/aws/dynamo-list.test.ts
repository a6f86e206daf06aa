/** A page of a list, whatever DynamoDB leaves for later, and whatever cannot be read. */

import { BatchGetItemCommand, DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { executionItem, type Item } from '../../lib/aws/dynamo-items.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import type { Note } from '../../lib/core/decision.ts';
import { anExecution } from '../contract/records.ts';

const dynamo = mockClient(DynamoDBClient);
const client = new DynamoDBClient({ region: 'us-east-1' });
const store = dynamoStore(client, { table: 'state', watchShards: 2 });
beforeEach(() => dynamo.reset());

describe('a list', () => {
  const key = (id: string, startedAt: number): Item => ({
    pk: { S: `exec#${id}` },
    sk: { S: 'exec' },
    startedAt: { N: String(startedAt) },
  });
  const item = (id: string): Item => executionItem(anExecution({ id }), 2);
  const keysOf = (call: {
    args: [{ input: { RequestItems?: Record<string, { Keys?: unknown }> | undefined } }];
  }) => call.args[0].input.RequestItems?.['state']?.Keys;

  it('asks again for what DynamoDB did not get to', async () => {
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [key('e-2', 2), key('e-1', 1)] })
      .resolves({ Items: [] });
    const left = { pk: { S: 'exec#e-1' }, sk: { S: 'exec' } };
    dynamo
      .on(BatchGetItemCommand)
      .resolvesOnce({ Responses: { state: [item('e-2')] }, UnprocessedKeys: { state: { Keys: [left] } } })
      .resolvesOnce({ Responses: { state: [item('e-1')] } });
    const { items } = await store.list({ workflow: 'flow', limit: 10 });
    expect(items.map(({ id }) => id)).toEqual(['e-2', 'e-1']);
    expect(dynamo.commandCalls(BatchGetItemCommand).map(keysOf)[1]).toEqual([left]);
  });

  it('ends when DynamoDB never gets to it', async () => {
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [key('e-1', 1)] })
      .resolves({ Items: [] });
    const Keys = [{ pk: { S: 'exec#e-1' }, sk: { S: 'exec' } }];
    let calls = 0;
    dynamo.on(BatchGetItemCommand).callsFake(() => {
      calls += 1;
      if (calls > 100) throw new Error('it would have asked for ever');
      return { Responses: {}, UnprocessedKeys: { state: { Keys } } };
    });
    await expect(store.list({ workflow: 'flow', limit: 10 })).rejects.toThrow('busy');
  });

  it('leaves out what a later release wrote, or what is damaged, and says so', async () => {
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [key('e-3', 3), key('e-2', 2), key('e-1', 1)] })
      .resolves({ Items: [] });
    const state = [{ ...item('e-3'), v: { N: '4' } }, { ...item('e-2'), tags: { S: '{' } }, item('e-1')];
    dynamo.on(BatchGetItemCommand).resolves({ Responses: { state } });
    const notes: Note[] = [];
    const log = { note: (note: Note) => void notes.push(note) };
    const { items } = await dynamoStore(client, { table: 'state', watchShards: 2, log }).list({
      workflow: 'flow',
      limit: 10,
    });
    expect(items.map(({ id }) => id)).toEqual(['e-1']);
    expect(notes.map(({ what, executionId, detail }) => [what, executionId, detail])).toEqual([
      ['list-left-out', 'e-3', 'SteadfastError'],
      ['list-left-out', 'e-2', 'SyntaxError'],
    ]);
  });

  it('leaves out what the index still shows and the table no longer has', async () => {
    dynamo
      .on(QueryCommand)
      .resolvesOnce({ Items: [key('e-2', 2), key('e-1', 1)] })
      .resolves({ Items: [] });
    dynamo.on(BatchGetItemCommand).resolves({ Responses: { state: [item('e-1')] } });
    const { items } = await store.list({ workflow: 'flow', limit: 10 });
    expect(items.map(({ id }) => id)).toEqual(['e-1']);
  });
});
