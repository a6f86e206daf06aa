/**
 * What the stack of `verify` has beside a Steadfast, asked for by AWS's own calls: an account and the local
 * cloud answer the same.
 *
 * Owns: the calls of DynamoDB, SQS and EventBridge. Does not own: the table of effects
 * (`stack/workflows/proof/effects.ts`), how a call is made (`../aws/calls.ts`).
 */

import type { Calls } from '../aws/calls.ts';
import type { Probes } from './ports.ts';

export interface Outputs {
  readonly VerifyEffects: string;
  readonly VerifyEnds: string;
  readonly VerifyRequests: string;
}

/** Answers without a message before a queue counts as empty: SQS may ask one of its servers alone. */
const EMPTY_ANSWERS = 3;

/** Everything that waits in a queue; it is gone from it then. */
async function taken(calls: Calls, QueueUrl: string): Promise<readonly string[]> {
  const bodies: string[] = [];
  for (let empty = 0; empty < EMPTY_ANSWERS; ) {
    const answer = await calls.json('sqs', 'ReceiveMessage', { QueueUrl, MaxNumberOfMessages: 10 });
    const messages = (answer['Messages'] ?? []) as readonly Record<'Body' | 'ReceiptHandle', string>[];
    if (messages.length === 0) empty += 1;
    for (const { Body, ReceiptHandle } of messages) {
      bodies.push(Body);
      await calls.json('sqs', 'DeleteMessage', { QueueUrl, ReceiptHandle });
    }
  }
  return bodies;
}

export function probesOf(calls: Calls, outputs: Outputs, tick: Probes['tick']): Probes {
  const TableName = outputs.VerifyEffects;
  const seen = new Map<string, number>();
  const take: Probes['take'] = (queueUrl) => taken(calls, queueUrl);
  return {
    requests: outputs.VerifyRequests,
    tick,
    take,
    effects: async (key) => {
      const { Count } = await calls.json('dynamodb', 'Query', {
        TableName,
        ConsistentRead: true,
        Select: 'COUNT',
        KeyConditionExpression: '#key = :key',
        ExpressionAttributeNames: { '#key': 'key' },
        ExpressionAttributeValues: { ':key': { S: key } },
      });
      return Number(Count);
    },
    switchOn: async (name) => {
      await calls.json('dynamodb', 'PutItem', { TableName, Item: { key: { S: name }, id: { S: 'on' } } });
    },
    ends: async () => {
      for (const body of await take(outputs.VerifyEnds)) {
        const { detail } = JSON.parse(body) as { readonly detail?: { readonly executionId?: string } };
        const id = detail?.executionId ?? 'unknown';
        seen.set(id, (seen.get(id) ?? 0) + 1);
      }
      return seen;
    },
    putEvent: async (Detail) => {
      await calls.json('events', 'PutEvents', {
        Entries: [{ Source: 'steadfast.verify', DetailType: 'Verify', Detail }],
      });
    },
    send: async (QueueUrl, MessageBody) => {
      await calls.json('sqs', 'SendMessage', { QueueUrl, MessageBody });
    },
    depth: async (QueueUrl) => {
      const names = ['', 'NotVisible', 'Delayed'].map((kind) => `ApproximateNumberOfMessages${kind}`);
      const { Attributes } = await calls.json('sqs', 'GetQueueAttributes', {
        QueueUrl,
        AttributeNames: names,
      });
      const found = Object(Attributes) as Record<string, string>;
      return names.reduce((sum, name) => sum + Number(found[name] ?? 0), 0);
    },
  };
}
