/**
 * AWS calls that work the same in an account and on the local cloud.
 *
 * Owns: the calls of DynamoDB, SQS, EventBridge and CloudWatch. Does not own: the table of effects
 * (`stack/workflows/proof/effects.ts`), how a call is made (`../aws/calls.ts`).
 */

import type { Client } from '../../lib/api/client.ts';
import { METRICS_DIMENSION, METRICS_NAMESPACE } from '../../lib/aws/names.ts';
import type { Calls } from '../aws/calls.ts';
import { CLOCK } from '../io.ts';
import type { Ports, Probes, QueueFacts } from './ports.ts';

export interface Place {
  readonly calls: Calls;
  readonly api: Client;
  readonly runId: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly queueUrls: () => Promise<readonly string[]>;
  readonly tick?: Probes['tick'];
}

type Alike = 'clock' | 'runId' | 'api' | 'begun' | 'unsigned' | 'queues' | 'probes' | 'metric';

export function portsOver({ calls, api, runId, outputs, queueUrls, tick }: Place): Pick<Ports, Alike> {
  const beganAt = CLOCK.now();
  return {
    clock: CLOCK,
    runId,
    api,
    begun: new Map(),
    unsigned: async (path) => (await fetch(`${api.url}${path}`)).status,
    queues: async () => Promise.all((await queueUrls()).map((url) => queueOf(calls, url))),
    probes: probesOf(calls, outputs, tick),
    metric: async (name) => metricSum(calls, (await api.health()).metrics?.service ?? '', name, beganAt),
  };
}

/**
 * Reads a queue:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html
 */
async function queueOf(calls: Calls, QueueUrl: string): Promise<QueueFacts> {
  const { Attributes } = await calls.json('sqs', 'GetQueueAttributes', { QueueUrl, AttributeNames: ['All'] });
  const found = Object(Attributes) as Readonly<Record<string, string | undefined>>;
  const { deadLetterTargetArn } = JSON.parse(found['RedrivePolicy'] ?? '{}') as Record<string, string>;
  const counts = ['', 'NotVisible', 'Delayed'].map((kind) => found[`ApproximateNumberOfMessages${kind}`]);
  return {
    name: lastPart(found['QueueArn'] ?? ''),
    url: QueueUrl,
    ...(deadLetterTargetArn === undefined ? {} : { deadLetters: lastPart(deadLetterTargetArn) }),
    depth: counts.reduce((sum, count) => sum + Number(count ?? 0), 0),
  };
}
const lastPart = (arn: string): string => arn.split(':').at(-1) ?? '';

/** Reads a metric: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html */
async function metricSum(
  calls: Calls,
  deployment: string,
  MetricName: string,
  sinceMs: number,
): Promise<number | undefined> {
  const minuteS = 60;
  const Dimensions = [{ Name: METRICS_DIMENSION, Value: deployment }];
  const Metric = { Namespace: METRICS_NAMESPACE, MetricName, Dimensions };
  const { MetricDataResults } = await calls.json('monitoring', 'GetMetricData', {
    StartTime: Math.floor(sinceMs / 60_000) * minuteS,
    EndTime: Math.ceil(CLOCK.now() / 60_000) * minuteS + minuteS,
    MetricDataQueries: [{ Id: 'sum', MetricStat: { Metric, Period: minuteS, Stat: 'Sum' } }],
  });
  const [result] = (MetricDataResults ?? []) as readonly { readonly Values?: readonly number[] }[];
  const { Values = [] } = result ?? {};
  return Values.length === 0 ? undefined : Values.reduce((sum, value) => sum + value, 0);
}

/** How many empty answers show that a queue is empty: SQS may read only some of its servers. */
const EMPTY_ANSWERS = 3;

/** Receives and deletes all waiting messages. */
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

/** @param outputs those of verify's stack; if absent, its own resources are not read */
function probesOf(calls: Calls, outputs: Place['outputs'], tick: Probes['tick'] = async () => {}): Probes {
  const TableName = outputs['VerifyEffects'];
  const seen = new Map<string, number>();
  return {
    requests: outputs['VerifyRequests'] ?? '',
    tick,
    take: (queueUrl) => taken(calls, queueUrl),
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
      for (const body of await taken(calls, outputs['VerifyEnds'] ?? '')) {
        const { detail } = JSON.parse(body) as { readonly detail?: { readonly executionId?: string } };
        const id = detail?.executionId ?? 'unknown';
        seen.set(id, (seen.get(id) ?? 0) + 1);
      }
      return seen;
    },
    putEvent: async (Detail) => {
      const Entries = [{ Source: 'steadfast.verify', DetailType: 'Verify', Detail }];
      await calls.json('events', 'PutEvents', { Entries });
    },
    send: async (QueueUrl, MessageBody) => {
      await calls.json('sqs', 'SendMessage', { QueueUrl, MessageBody });
    },
  };
}
