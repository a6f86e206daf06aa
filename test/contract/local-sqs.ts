/** The local cloud's SQS server over real HTTP, with the test's clock. */

import { createServer } from 'node:http';
import { DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Transport } from '../../lib/aws/names.ts';
import { transported } from '../../lib/aws/transport.ts';
import { readAwsCall } from '../../local/gateway/aws-call.ts';
import { serveSqs } from '../../local/gateway/aws-gateway.ts';
import { readBody } from '../../local/http/read-body.ts';
import { noJournal } from '../../local/sqs/journal.ts';
import { QueueDirectory } from '../../local/sqs/queue-directory.ts';
import { ManualClock } from '../local/manual-clock.ts';

const ACCOUNT = '000000000000';

export interface LocalSqs {
  readonly client: SQSClient;
  readonly urlOf: (queue: string) => string;
  readonly advance: (ms: number) => void;
  /** Receives and deletes everything that is visible. */
  readonly receiveAll: (queue: string) => Promise<string[]>;
  readonly close: () => Promise<void>;
}

/** @param transport of its client. @default 'sdk' */
export async function startSqs(names: readonly string[], transport: Transport = 'sdk'): Promise<LocalSqs> {
  const clock = new ManualClock();
  const queueSettings = names.map((queueName) => ({
    queueName,
    arn: `arn:aws:sqs:us-east-1:${ACCOUNT}:${queueName}`,
    visibilityTimeoutMs: 30_000,
    delayMs: 0,
    retentionMs: 345_600_000,
    receiveWaitMs: 0,
    maxMessageBytes: 1_048_576,
    redrive: undefined,
  }));
  const queues = new QueueDirectory(queueSettings, clock, () => noJournal);
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readBody(request, 10_000_000);
      const call = readAwsCall(request.headers, body === 'tooLarge' ? Buffer.alloc(0) : body);
      const backends = { queues, gatewayUrl: 'http://127.0.0.1', accountId: ACCOUNT };
      const answer = await serveSqs(call, request, response, backends);
      response.writeHead(answer.statusCode, answer.headers).end(answer.body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const endpoint = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const settings = {
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'Caller-1', secretAccessKey: 'x' },
    maxAttempts: 1,
  };
  const client = transported(new SQSClient(settings), { transport, requestTimeout: 60_000 });
  const urlOf = (queue: string): string => `${endpoint}/${ACCOUNT}/${queue}`;
  return {
    client,
    urlOf,
    advance: (ms) => clock.advance(ms),
    receiveAll: async (queue) => {
      const QueueUrl = urlOf(queue);
      const bodies: string[] = [];
      for (;;) {
        const answer = await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }));
        if ((answer.Messages ?? []).length === 0) return bodies;
        for (const { Body, ReceiptHandle } of answer.Messages ?? []) {
          bodies.push(Body ?? '');
          await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
        }
      }
    },
    close: async () => {
      client.destroy();
      queues.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
