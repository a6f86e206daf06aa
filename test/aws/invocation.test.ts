/**
 * An invocation of an agent's function: which of its messages it returns to the queue (batchItemFailures).
 */

import { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { mockClient } from 'aws-sdk-client-mock';
import { ENV } from '../../lib/aws/names.ts';
import { executionItem, planItem, planKey } from '../../lib/aws/dynamo-items.ts';
import { agentHandler } from '../../lib/agent/handler.ts';
import { anAgent } from '../engine/harness.ts';
import { anExecution, aPlan } from '../contract/records.ts';

const dynamo = mockClient(DynamoDBClient);
const events = mockClient(EventBridgeClient);
afterAll(() => {
  dynamo.restore();
  events.restore();
});
const environment = {
  [ENV.table]: 'state',
  [ENV.bus]: 'bus',
  [ENV.wakeBus]: 'wake-bus',
  // The SDK's transport, because the direct one has no mock.
  [ENV.transport]: 'sdk',
  AWS_REGION: 'us-east-1',
};
beforeAll(() => Object.assign(process.env, environment));
beforeEach(() => dynamo.reset());

const textOf = (execution: string, v = 1): string =>
  JSON.stringify({ v, execution, step: 'a', attempt: 1, mode: 'execute', seq: 0 });

let calls = 0;
const handler = agentHandler(anAgent('worker'), {
  execute: async () => {
    calls += 1;
    return {};
  },
  undo: async () => undefined,
});

const invoke = (bodies: readonly string[], remainingMs = 30_000): Promise<SQSBatchResponse> =>
  handler(
    {
      Records: bodies.map((body, at) => ({ body, messageId: `m${at}`, receiptHandle: `r${at}` })),
    } as unknown as SQSEvent,
    { getRemainingTimeInMillis: () => remainingMs } as unknown as Context,
  );
const named = (...ids: string[]): SQSBatchResponse => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

describe('in a batch of messages', () => {
  it('one that could not be handled comes again, by its message id, and the others do not', async () => {
    dynamo
      .on(QueryCommand)
      .callsFake(async (input: { ExpressionAttributeValues: Record<string, object> }) => {
        if (JSON.stringify(input.ExpressionAttributeValues).includes('exec#e-bad')) throw new Error('away');
        return { Items: [] };
      });
    expect(await invoke([textOf('e-1'), textOf('e-bad'), textOf('e-2')])).toEqual(named('m1'));
  });

  it('one of a newer version is kept for the newer code, and an invalid one is dropped', async () => {
    expect(await invoke([textOf('e-1', 2), '{"v":1}', 'x'])).toEqual(named('m0'));
  });

  it('one that comes when no time is left comes again, and nothing is claimed (S9)', async () => {
    const execution = anExecution({ input: { n: 1 }, deadlineAt: Date.now() + 3_600_000 });
    dynamo.on(QueryCommand).resolves({ Items: [executionItem(execution, 2)] });
    // The breaker of the agent has no record.
    dynamo.on(GetItemCommand).resolves({});
    dynamo
      .on(GetItemCommand, { Key: planKey(execution.plan) })
      .resolves({ Item: planItem(execution.plan, aPlan) });
    events.on(PutEventsCommand).resolves({ FailedEntryCount: 0 });
    dynamo.on(PutItemCommand).resolves({});
    expect(await invoke([textOf('e-1')], 0)).toEqual(named('m0'));
    expect(dynamo.commandCalls(PutItemCommand)).toHaveLength(0);
    expect(calls).toBe(0);
    // With enough time the same message is accepted: only the missing time was the reason.
    expect(await invoke([textOf('e-1')])).toEqual(named());
    expect(calls).toBe(1);
  });
});
