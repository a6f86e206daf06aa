/**
 * The queue on SQS: hints to agents.
 *
 * Owns: one request for up to ten messages to one agent, the delay in whole seconds, the depths of the queues. Does not
 * own: what is sent when.
 */

import {
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Send } from '../core/decide.ts';
import { refuse } from '../core/errors.ts';
import { formatMessage } from '../core/message.ts';
import type { Queue, QueueDepth } from '../core/ports.ts';

/** SQS's limits: messages in a batch, and seconds of delay. */
const BATCH = 10;
const MAX_DELAY_S = 900;

/** @param urls agent name → queue URL */
export function sqsQueue(client: SQSClient, urls: ReadonlyMap<string, string>): Queue {
  const urlOf = (agent: string): string => {
    const url = urls.get(agent);
    if (url === undefined)
      throw refuse('unknown-agent', `agent '${agent}' has no queue; deploy it with the workflow`);
    return url;
  };
  const sendTo = async (agent: string, sends: readonly Send[]): Promise<void> => {
    const [first] = sends;
    if (first === undefined) return;
    const url = urlOf(agent);
    if (sends.length === 1) {
      await client.send(new SendMessageCommand({ QueueUrl: url, ...entry(first) }));
      return;
    }
    const entries = sends.map((send, at) => ({ Id: String(at), ...entry(send) }));
    const answer = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: entries }));
    const failed = answer.Failed ?? [];
    if (failed.length > 0)
      throw refuse('send-failed', `${failed.length} of ${sends.length} messages were not sent`);
  };
  return {
    send: async (sends) => {
      const byAgent = new Map<string, Send[]>();
      for (const send of sends) byAgent.set(send.agent, [...(byAgent.get(send.agent) ?? []), send]);
      const batches = [...byAgent].flatMap(([agent, all]) =>
        Array.from({ length: Math.ceil(all.length / BATCH) }, (_, at) =>
          sendTo(agent, all.slice(at * BATCH, (at + 1) * BATCH)),
        ),
      );
      const results = await Promise.allSettled(batches);
      const failure = results.find((result) => result.status === 'rejected');
      if (failure !== undefined) throw failure.reason;
    },
    depths: async (agents) => {
      const asked = agents.map(async (agent) => [agent, await depthOf(client, urlOf(agent))] as const);
      const known = (await Promise.allSettled(asked)).filter((one) => one.status === 'fulfilled');
      return Object.fromEntries(known.map(({ value }) => value));
    },
  };
}

const DEPTHS = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;

async function depthOf(client: SQSClient, url: string): Promise<QueueDepth> {
  const ask = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...DEPTHS] });
  const { Attributes = {} } = await client.send(ask);
  const [waiting = 0, underWork = 0, delayed = 0] = DEPTHS.map((name) => Number(Attributes[name] ?? 0));
  return { waiting, underWork, delayed };
}

/** Rounded up: a message that arrives early is worth nothing. */
function entry(send: Send): { MessageBody: string; DelaySeconds?: number } {
  const delayS = Math.min(MAX_DELAY_S, Math.ceil(send.delayMs / 1_000));
  return { MessageBody: formatMessage(send.message), ...(delayS > 0 ? { DelaySeconds: delayS } : {}) };
}
