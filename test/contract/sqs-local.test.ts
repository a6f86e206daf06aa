/** The local cloud's SQS passes the contract, over real HTTP, with the test's clock. */
import { createServer } from 'node:http';
import { SQSClient } from '@aws-sdk/client-sqs';
import { readAwsCall } from '../../local/gateway/aws-call.ts';
import { serveSqs } from '../../local/gateway/aws-gateway.ts';
import { readBody } from '../../local/http/read-body.ts';
import { noJournal } from '../../local/sqs/journal.ts';
import { QueueDirectory } from '../../local/sqs/queue-directory.ts';
import { ManualClock } from '../local/manual-clock.ts';
import { describeSqs, type SqsUnderTest } from './sqs-server.contract.ts';

const settings = (queueName: string) => ({
  queueName,
  arn: `arn:aws:sqs:us-east-1:000000000000:${queueName}`,
  visibilityTimeoutMs: 30_000,
  delayMs: 0,
  retentionMs: 345_600_000,
  receiveWaitMs: 0,
  maxMessageBytes: 1_048_576,
  redrive: undefined,
});

/** Counts the timers of a clock, so that a test knows when a long poll has begun. */
class WatchedClock extends ManualClock {
  #waiters: (() => void)[] = [];

  override setTimer(delayMs: number, callback: () => void): () => void {
    const cancel = super.setTimer(delayMs, callback);
    for (const wake of this.#waiters.splice(0)) wake();
    return cancel;
  }

  async timers(count: number): Promise<void> {
    while (this.pending < count) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }
}

async function open(): Promise<SqsUnderTest> {
  const clock = new WatchedClock();
  const redrive = { targetArn: settings('dead').arn, maxReceiveCount: 3 };
  const queues = new QueueDirectory(
    [settings('dead'), { ...settings('work'), redrive }],
    clock,
    () => noJournal,
  );
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readBody(request, 10_000_000);
      const call = readAwsCall(request.headers, body === 'tooLarge' ? Buffer.alloc(0) : body);
      const backends = { queues, gatewayUrl: 'http://127.0.0.1', accountId: '000000000000' };
      const answer = await serveSqs(call, request, response, backends);
      response.writeHead(answer.statusCode, answer.headers).end(answer.body);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const client = new SQSClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'Caller-1', secretAccessKey: 'x' },
    maxAttempts: 1,
  });
  return {
    client,
    advance: (ms) => clock.advance(ms),
    waiting: async (count) => await clock.timers(count),
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

describeSqs('the local cloud', open);
