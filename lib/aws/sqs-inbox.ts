/**
 * An agent's queue as a worker sees it: taking messages, hiding them from others, giving them back.
 *
 * Owns: the requests and their limits. Does not own: when they are made (`lib/worker/worker.ts`).
 */

import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';

/** The most messages that SQS gives at once, and how long it lets a receive wait for the first. */
export const MAX_RECEIVED = 10;
const LONG_POLL_S = 20;
/** The time limit of a request is longer than a long poll, which must not count as a request that hangs. */
const CLIENT = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 2_000, requestTimeout: 25_000, throwOnRequestTimeout: true },
} as const;

export interface Received {
  readonly messageId: string;
  readonly body: string;
  readonly receipt: string;
}

export interface Inbox {
  /** Waits for messages; an empty list is an answer as well. */
  readonly receive: (most: number, hiddenS: number, signal: AbortSignal) => Promise<readonly Received[]>;
  /** Hides the message from other receivers for this long; 0 gives it back at once. */
  readonly hide: (message: Received, seconds: number) => Promise<void>;
  readonly remove: (message: Received) => Promise<void>;
}

export function sqsInbox(queueUrl: string, client: SQSClient = new SQSClient(CLIENT)): Inbox {
  const QueueUrl = queueUrl;
  return {
    receive: async (most, hiddenS, signal) => {
      const ask = new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: Math.min(most, MAX_RECEIVED),
        VisibilityTimeout: hiddenS,
        WaitTimeSeconds: LONG_POLL_S,
      });
      const { Messages = [] } = await client.send(ask, { abortSignal: signal });
      return Messages.map(({ MessageId = '', Body = '', ReceiptHandle = '' }) => ({
        messageId: MessageId,
        body: Body,
        receipt: ReceiptHandle,
      }));
    },
    hide: async ({ receipt }, seconds) => {
      const change = { QueueUrl, ReceiptHandle: receipt, VisibilityTimeout: seconds };
      await client.send(new ChangeMessageVisibilityCommand(change));
    },
    remove: async ({ receipt }) => {
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: receipt }));
    },
  };
}
