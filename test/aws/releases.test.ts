/**
 * Two releases at once: an item with another form of the state table is refused with a message and not
 * changed. No code reads two forms.
 */

import { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import type { Context, SQSEvent } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { agentHandler } from '../../lib/agent/handler.ts';
import { routes } from '../../lib/api/routes.ts';
import { dynamoLanes, laneHash } from '../../lib/aws/dynamo-lanes.ts';
import {
  executionItem,
  executionOf,
  FORM,
  type Item,
  planItem,
  planOf,
  questionItem,
  questionOf,
  stepItem,
  stepOf,
} from '../../lib/aws/dynamo-items.ts';
import { BREAKER, dynamoRecords, PRESENCE } from '../../lib/aws/dynamo-side-records.ts';
import { dynamoStore } from '../../lib/aws/dynamo-store.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { createScheduler } from '../../lib/scheduler/start.ts';
import { memoryWorld } from '../../lib/memory/world.ts';
import { anIncident } from '../contract/incidents.contract.ts';
import { anExecution, aPlan, aStep } from '../contract/records.ts';
import { anAgent, anyObject } from '../engine/harness.ts';

const pay = anAgent('pay');
const order = workflow('order', { input: anyObject, within: '1h' }, (w) => {
  w.step('paid', pay, {});
  return {};
}) as Workflow;

const NOW = Number(FORM['v']?.N);
const OTHERS = [
  [NOW + 1, /items of form 4, this code reads form 3: deploy the newer code$/],
  [NOW - 1, /items of form 2, this code reads form 3: use a new table, or the code that wrote this one$/],
] as const;

describe.each(OTHERS)('an item of form %i', (form, said) => {
  const table = mockClient(DynamoDBClient);
  const client = new DynamoDBClient({ region: 'us-east-1' });
  afterAll(() => table.restore());
  const other = (item: Item): Item => ({ ...item, v: { N: String(form) } });
  const execution = other(executionItem(anExecution(), 1));

  beforeEach(() => {
    table.reset();
    table.on(QueryCommand).resolves({ Items: [execution] });
    table.on(GetItemCommand).resolves({ Item: execution });
  });

  it('is refused whatever it is of, saying what to do', async () => {
    expect(() => executionOf(execution)).toThrow(said);
    expect(() => stepOf(other(stepItem('e-1', aStep())))).toThrow(said);
    expect(() => questionOf(other(questionItem('e-1', anIncident())))).toThrow(said);
    expect(() => planOf(other(planItem('h', aPlan)))).toThrow(said);
    await expect(dynamoLanes(client, 't').readLane(laneHash('a'))).rejects.toThrow(said);
  });

  // A supervisor reads its presence first, an agent its breaker.
  it('is refused at the start', async () => {
    await expect(dynamoRecords(client, 't', PRESENCE).read()).rejects.toThrow(said);
    await expect(dynamoRecords(client, 't', BREAKER).read('pay')).rejects.toThrow(said);
  });

  it('is left alone by an agent, and its message is given back', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      STEADFAST_TABLE: 't',
      STEADFAST_BUS: 'b',
      STEADFAST_WAKE_BUS: 'w',
      // The SDK's transport, because the direct one has no mock.
      STEADFAST_TRANSPORT: 'sdk',
      POWERTOOLS_LOG_LEVEL: 'SILENT',
    });
    const handler = agentHandler(pay as never, { execute: async () => ({}), undo: async () => {} } as never);
    const body = JSON.stringify({
      v: 1,
      execution: 'e-1',
      step: 'paid',
      seq: 1,
      mode: 'execute',
      attempt: 1,
    });
    const event = { Records: [{ messageId: 'm-1', body }] } as SQSEvent;
    const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 60_000 } as unknown as Context;
    const answer = await handler(event, context);
    process.env = before;
    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm-1' }] });
    expect(table.calls().length).toBeGreaterThan(0);
    expect(table.commandCalls(PutItemCommand)).toEqual([]);
  });

  it('is answered by the API with what to do', async () => {
    const store = dynamoStore(client, { table: 't', wakeShards: 1 });
    const settings = { hash: (text: string) => text, newId: () => 'e' };
    const scheduler = createScheduler({ ...memoryWorld({ seed: 1 }), store }, [order], settings);
    const response = await routes(scheduler).request('/executions/e-1');
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([503, 'table-form']);
    expect(error.message).toMatch(said);
    expect(table.commandCalls(PutItemCommand)).toEqual([]);
  });
});

it('a message of a later release is given back before anything is read', async () => {
  const table = mockClient(DynamoDBClient);
  const handler = agentHandler(pay as never, { execute: async () => ({}), undo: async () => {} } as never);
  const event = { Records: [{ messageId: 'm-1', body: '{"v":2,"more":1}' }] } as SQSEvent;
  const context = { awsRequestId: 'r', getRemainingTimeInMillis: () => 60_000 } as unknown as Context;
  expect(await handler(event, context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'm-1' }] });
  expect(table.calls()).toEqual([]);
  table.restore();
});
