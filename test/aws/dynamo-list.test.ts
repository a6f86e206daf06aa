/** A page of a list is complete although DynamoDB returns partial pages, and despite unreadable items. */

import * as sdk from '@aws-sdk/client-dynamodb';
import { BatchGetItemCommand, DynamoDBClient, QueryCommand } from '@aws-sdk/client-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import * as fc from 'fast-check';
import { executionItem, type Item } from '../../lib/aws/dynamo-items.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { TRANSPORTS } from '../../lib/aws/names.ts';
import type { Note } from '../../lib/core/decisions/decision.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { anExecution } from '../contract/records.ts';
import { answeredBy } from './mocked.ts';

const mocked = new DynamoDBClient({ region: 'us-east-1' });
const dynamo = mockClient(mocked);
beforeEach(() => dynamo.reset());

describe.each(TRANSPORTS)('by %s:', (transport) => {
  const client = answeredBy(mocked, sdk, (settings) => new DynamoDBClient(settings), transport);
  const store = dynamoStore(client, { table: 'state', wakeShards: 2 });

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
      const { items } = await store.list({ workflows: ['flow'], limit: 10 });
      expect(items.map(({ id }) => id)).toEqual(['e-2', 'e-1']);
      expect(dynamo.commandCalls(BatchGetItemCommand).map(keysOf)[1]).toEqual([left]);
    });

    it('leaves out what a later release wrote, or what is damaged, and says so', async () => {
      dynamo
        .on(QueryCommand)
        .resolvesOnce({ Items: [key('e-3', 3), key('e-2', 2), key('e-1', 1)] })
        .resolves({ Items: [] });
      const state = [{ ...item('e-3'), v: { N: '4' } }, { ...item('e-2'), json: { S: '{' } }, item('e-1')];
      dynamo.on(BatchGetItemCommand).resolves({ Responses: { state } });
      const notes: Note[] = [];
      const log = { note: (note: Note) => void notes.push(note) };
      const { items } = await dynamoStore(client, { table: 'state', wakeShards: 2, log }).list({
        workflows: ['flow'],
        limit: 10,
      });
      expect(items.map(({ id }) => id)).toEqual(['e-1']);
      expect(notes.map(({ what, executionId, detail }) => [what, executionId, detail])).toEqual([
        ['list-left-out', 'e-3', expect.stringMatching(/^table-form: /)],
        ['list-left-out', 'e-2', 'SyntaxError'],
      ]);
    });

    it('of executions at risk counts what DynamoDB read, not what it returns', async () => {
      const isForThoseAtRisk: boolean[] = [];
      dynamo.on(QueryCommand).callsFake(({ FilterExpression, IndexName, Limit }) => {
        isForThoseAtRisk.push(FilterExpression !== undefined);
        const from = { ...key('e-1', 1), wakeShard: { S: 'x' }, wakeAt: { N: '9' } };
        if (IndexName !== 'wake' || Limit !== undefined) return { Items: [] };
        return { Items: [], ScannedCount: 6_000, LastEvaluatedKey: from };
      });
      const { items, orderedBy } = await store.list({ workflows: ['flow'], limit: 10, atRiskAt: 9e9 });
      expect([items, orderedBy]).toEqual([[], 'wakeAt']);
      // Both shards stop once 10,000 are read; the same for overdue ones, and then the shards in their own
      // order.
      expect(isForThoseAtRisk.filter(Boolean)).toHaveLength(3);
      expect(isForThoseAtRisk).toHaveLength(3 + 3 + 2);
    });

    it('leaves out what the index still shows and the table no longer has', async () => {
      dynamo
        .on(QueryCommand)
        .resolvesOnce({ Items: [key('e-2', 2), key('e-1', 1)] })
        .resolves({ Items: [] });
      dynamo.on(BatchGetItemCommand).resolves({ Responses: { state: [item('e-1')] } });
      const { items } = await store.list({ workflows: ['flow'], limit: 10 });
      expect(items.map(({ id }) => id)).toEqual(['e-1']);
    });
  });
});

// The code between it and DynamoDB does not matter for a page.
const store = dynamoStore(mocked, { table: 'state', wakeShards: 2 });

/**
 * Simulates the index: executions that started in the same millisecond have an arbitrary but stable order.
 */
function indexOf(executions: readonly Execution[], tieOf: (id: string) => number): void {
  const items = executions.map((execution) => executionItem(execution, 2));
  const keys = items.map(({ pk, sk, listKey, startedAt }) => ({ pk, sk, listKey, startedAt }) as Item);
  const at = (item: Item): number => Number(item['startedAt']?.N);
  const id = (item: Item): string => item['pk']?.S ?? '';
  keys.sort((a, b) => at(b) - at(a) || tieOf(id(a)) - tieOf(id(b)));
  dynamo
    .on(QueryCommand)
    .callsFake(({ ExpressionAttributeValues: values, ExclusiveStartKey: from, Limit }) => {
      const partition = keys
        .filter(({ listKey }) => listKey?.S === values[':key'].S)
        .filter((key) => at(key) >= Number(values[':from'].N) && at(key) <= Number(values[':to'].N));
      const begin = from === undefined ? 0 : partition.findIndex((key) => id(key) === from.pk.S) + 1;
      if (from !== undefined && begin === 0) throw new Error('no such place in this partition');
      const Items = partition.slice(begin, begin + Limit);
      return Items.length === Limit ? { Items, LastEvaluatedKey: Items.at(-1) } : { Items };
    });
  dynamo.on(BatchGetItemCommand).callsFake(({ RequestItems }) => {
    const wanted = new Set(RequestItems.state.Keys.map((key: Item) => key['pk']?.S));
    return { Responses: { state: items.filter(({ pk }) => wanted.has(pk?.S)) } };
  });
}

async function allPages(query: { limit: number; statuses?: ['succeeded'] }, workflows: string[]) {
  const pages: Execution[][] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ workflows, ...query, ...(cursor === undefined ? {} : { cursor }) });
    pages.push([...page.items]);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return pages;
}

describe('a list in the index’s own order', () => {
  const starts = fc.array(
    fc.record({
      workflow: fc.constantFrom('flow', 'other', 'third'),
      startedAt: fc.integer({ min: 1, max: 3 }),
      tie: fc.nat(),
    }),
    { maxLength: 60 },
  );

  it('has each once, latest first across workflows, whatever the order of ties and the size of the pages', async () => {
    await fc.assert(
      fc.asyncProperty(starts, fc.integer({ min: 1, max: 40 }), async (all, limit) => {
        dynamo.reset();
        const ties = new Map(all.map(({ tie }, at) => [`exec#e-${at}`, tie]));
        const executions = all.map(({ workflow, startedAt }, at) =>
          anExecution({ id: `e-${at}`, workflow, startedAt }),
        );
        indexOf(executions, (id) => ties.get(id) ?? 0);
        const pages = await allPages({ limit }, ['flow', 'other', 'third']);
        const found = pages.flat();
        expect(found.map(({ id }) => id).sort()).toEqual(executions.map(({ id }) => id).sort());
        const times = found.map(({ startedAt }) => startedAt);
        expect(times).toEqual([...times].sort((a, b) => b - a));
        // Only the last page is short: nothing was filtered.
        expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
        expect(pages.length).toBe(Math.max(1, Math.ceil(executions.length / limit)));
      }),
    );
  });

  it('costs a query for each partition, and reads of a rare status 500 executions before it gives a page back', async () => {
    const executions = Array.from({ length: 1_200 }, (_, at) =>
      anExecution({
        id: `e-${at}`,
        workflow: at % 2 === 0 ? 'flow' : 'other',
        startedAt: at,
        status: at < 300 ? 'succeeded' : 'running',
      }),
    );
    indexOf(executions, Number);
    const counts = () => [
      dynamo.commandCalls(QueryCommand).length,
      dynamo.commandCalls(BatchGetItemCommand).length,
    ];
    await store.list({ workflows: ['flow', 'other'], limit: 20 });
    expect(counts()).toEqual([8, 1]);
    dynamo.resetHistory();
    const pages = await allPages({ limit: 20, statuses: ['succeeded'] }, ['flow', 'other']);
    // 900 have started since: the first page has none of the succeeded ones, and the second some.
    expect(pages.map(({ length }) => length).slice(0, 3)).toEqual([0, 20, 20]);
    expect(pages.flat().map(({ id }) => id)).toEqual(Array.from({ length: 300 }, (_, at) => `e-${299 - at}`));
    dynamo.resetHistory();
    await store.list({ workflows: ['flow', 'other'], limit: 20, statuses: ['succeeded'] });
    const [queries = 0, batches = 0] = counts();
    expect(queries).toBeLessThanOrEqual(8 + 500 / 25 + 8);
    expect(batches).toBeLessThanOrEqual(500 / 25 + 5);
  });

  it.each([
    '5',
    '5_',
    '5_flow',
    '5_flow/e-1/e-2',
    '5_unknown/e-1',
    '5_flow/E',
    `5${'_flow/e-1'.repeat(5)}`,
    '-1_flow/e-1',
    '5.e-1',
  ])('refuses the cursor %j', async (cursor) => {
    await expect(store.list({ workflows: ['flow'], limit: 5, cursor })).rejects.toMatchObject({
      code: 'bad-cursor',
    });
  });
});
