/**
 * The contract of any replacement of SQS, tested with the real client. The test controls the clock, so no
 * test waits. A server under test has two queues, `work` (visibility 30 s, redrive to `dead` after 3
 * receives) and `dead`.
 */
import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  type Message,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  type ReceiveMessageCommandInput,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  type SQSClient,
} from '@aws-sdk/client-sqs';

const entries = (count: number, size = 1) =>
  Array.from({ length: count }, (_, index) => ({ Id: `e${index}`, MessageBody: 'x'.repeat(size) }));

/** A server with empty queues. */
export interface SqsUnderTest {
  readonly client: SQSClient;
  /** Moves the server's clock. */
  advance(ms: number): void;
  /** Resolves when that many long polls are waiting at the server. */
  waiting(count: number): Promise<void>;
  close(): Promise<void>;
}

export function describeSqs(title: string, open: () => Promise<SqsUnderTest>): void {
  describe(`SQS contract: ${title}`, () => {
    let server: SqsUnderTest;
    let work = '';
    let dead = '';
    const urlOf = async (queue: string) =>
      (await server.client.send(new GetQueueUrlCommand({ QueueName: queue }))).QueueUrl ?? '';

    beforeEach(async () => {
      server = await open();
      work = await urlOf('work');
      dead = await urlOf('dead');
    });
    afterEach(async () => await server.close());

    const send = async (body: string, more: Partial<SendMessageCommandInput> = {}) =>
      await server.client.send(new SendMessageCommand({ QueueUrl: work, MessageBody: body, ...more }));
    const receive = async (more: Partial<ReceiveMessageCommandInput> = {}): Promise<Message[]> => {
      const input = { QueueUrl: work, MessageSystemAttributeNames: ['All' as const], ...more };
      return (await server.client.send(new ReceiveMessageCommand(input))).Messages ?? [];
    };
    const one = async (more: Partial<ReceiveMessageCommandInput> = {}): Promise<Message> => {
      const [message] = await receive(more);
      if (message === undefined) throw new Error('a message was expected');
      return message;
    };
    const depth = async (url = work) => {
      const AttributeNames = ['All' as const];
      const { Attributes } = await server.client.send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames }),
      );
      return [
        Attributes?.['ApproximateNumberOfMessages'],
        Attributes?.['ApproximateNumberOfMessagesNotVisible'],
        Attributes?.['ApproximateNumberOfMessagesDelayed'],
      ].map(Number);
    };
    const remove = async (message: Message) =>
      await server.client.send(
        new DeleteMessageCommand({ QueueUrl: work, ReceiptHandle: message.ReceiptHandle }),
      );

    test('a message arrives once, with its attributes, and is gone when deleted', async () => {
      const MessageAttributes = {
        kind: { DataType: 'String', StringValue: 'order' },
        count: { DataType: 'Number', StringValue: '3' },
        raw: { DataType: 'Binary', BinaryValue: new Uint8Array([1, 2, 3]) },
      };
      const sent = await send('hello ✓', { MessageAttributes });
      const got = await one({ MessageAttributeNames: ['All'] });
      expect(got).toMatchObject({
        MessageId: sent.MessageId,
        Body: 'hello ✓',
        MD5OfBody: sent.MD5OfMessageBody,
        MD5OfMessageAttributes: sent.MD5OfMessageAttributes,
      });
      expect(got.MessageAttributes?.['count']).toEqual({ DataType: 'Number', StringValue: '3' });
      expect(got.MessageAttributes?.['raw']?.BinaryValue).toEqual(new Uint8Array([1, 2, 3]));
      expect(got.Attributes).toMatchObject({ ApproximateReceiveCount: '1' });
      await remove(got);
      server.advance(31_000);
      expect(await receive()).toEqual([]);
    });

    test('a received message is hidden until its visibility ends, then comes back with a higher count', async () => {
      await send('again');
      const first = await one();
      expect(await receive()).toEqual([]);
      server.advance(29_999);
      expect(await receive()).toEqual([]);
      server.advance(1);
      const second = await one();
      expect(second.MessageId).toBe(first.MessageId);
      expect(second.ReceiptHandle).not.toBe(first.ReceiptHandle);
      expect(second.Attributes?.['ApproximateReceiveCount']).toBe('2');
      expect(second.Attributes?.['ApproximateFirstReceiveTimestamp']).toBe(
        first.Attributes?.['ApproximateFirstReceiveTimestamp'],
      );
    });

    test('a receive may ask for its own visibility timeout', async () => {
      await send('short');
      await one({ VisibilityTimeout: 5 });
      server.advance(5000);
      expect(await receive()).toHaveLength(1);
    });

    test('an old receipt handle is accepted and deletes nothing', async () => {
      await send('kept');
      const first = await one();
      server.advance(30_000);
      await one();
      await remove(first);
      server.advance(30_000);
      expect((await one()).Body).toBe('kept');
    });

    test('a delayed message is hidden for its delay', async () => {
      await send('later', { DelaySeconds: 900 });
      expect(await depth()).toEqual([0, 0, 1]);
      server.advance(899_999);
      expect(await receive()).toEqual([]);
      server.advance(1);
      expect(await receive()).toHaveLength(1);
    });

    test('visibility can be shortened, prolonged and ended', async () => {
      await send('moving');
      const message = await one();
      const change = async (VisibilityTimeout: number) =>
        await server.client.send(
          new ChangeMessageVisibilityCommand({
            QueueUrl: work,
            ReceiptHandle: message.ReceiptHandle,
            VisibilityTimeout,
          }),
        );
      await change(100);
      server.advance(99_000);
      expect(await receive()).toEqual([]);
      await change(0);
      expect(await receive()).toHaveLength(1);
      await expect(change(10)).rejects.toMatchObject({ name: 'MessageNotInflight' });
    });

    test('after the third receive the next one moves the message to the dead-letter queue', async () => {
      const sent = await send('poison');
      for (const count of ['1', '2', '3']) {
        expect((await one()).Attributes?.['ApproximateReceiveCount']).toBe(count);
        server.advance(30_000);
      }
      expect(await receive()).toEqual([]);
      expect(await depth()).toEqual([0, 0, 0]);
      expect(await depth(dead)).toEqual([1, 0, 0]);
      const buried = await one({ QueueUrl: dead });
      expect(buried.MessageId).toBe(sent.MessageId);
      expect(buried.Attributes?.['DeadLetterQueueSourceArn']).toMatch(/:work$/);
    });

    test('depth counts what is visible, in flight and delayed', async () => {
      await send('a');
      await send('b');
      await send('c', { DelaySeconds: 10 });
      await one();
      expect(await depth()).toEqual([1, 1, 1]);
      server.advance(10_000);
      expect(await depth()).toEqual([2, 1, 0]);
      await server.client.send(new PurgeQueueCommand({ QueueUrl: work }));
      expect(await depth()).toEqual([0, 0, 0]);
    });

    test.each([1, 10])('a long poll for up to %i messages wakes at the moment of a send', async (max) => {
      const polled = receive({ WaitTimeSeconds: 20, MaxNumberOfMessages: max });
      await server.waiting(1);
      await send('wake');
      expect((await polled).map((message) => message.Body)).toEqual(['wake']);
    });

    test('a long poll wakes at the end of a visibility and of a delay', async () => {
      await send('seen');
      await one({ VisibilityTimeout: 7 });
      const first = receive({ WaitTimeSeconds: 20, MaxNumberOfMessages: 10 });
      await server.waiting(1);
      server.advance(7000);
      expect((await first).map((message) => message.Body)).toEqual(['seen']);
      await send('delayed', { DelaySeconds: 3 });
      const second = receive({ WaitTimeSeconds: 20, MaxNumberOfMessages: 10 });
      await server.waiting(1);
      server.advance(3000);
      expect((await second).map((message) => message.Body)).toEqual(['delayed']);
    });

    test('a long poll ends empty when its time is over', async () => {
      const polled = receive({ WaitTimeSeconds: 20 });
      await server.waiting(1);
      server.advance(20_000);
      expect(await polled).toEqual([]);
    });

    test('two long polls share two messages', async () => {
      const polls = [receive({ WaitTimeSeconds: 20 }), receive({ WaitTimeSeconds: 20 })];
      await server.waiting(2);
      await send('x');
      await send('y');
      const bodies = (await Promise.all(polls)).flat().map((message) => message.Body);
      expect(new Set(bodies)).toEqual(new Set(['x', 'y']));
    });

    test('a batch is sent, received and deleted; a bad entry fails alone', async () => {
      const Entries = [
        { Id: 'a', MessageBody: 'A' },
        { Id: 'b', MessageBody: 'B', DelaySeconds: 901 },
        { Id: 'c', MessageBody: 'C' },
      ];
      const sent = await server.client.send(new SendMessageBatchCommand({ QueueUrl: work, Entries }));
      expect(sent.Successful?.map((entry) => entry.Id)).toEqual(['a', 'c']);
      expect(sent.Failed).toMatchObject([{ Id: 'b', Code: 'InvalidParameterValue', SenderFault: true }]);
      const got = await receive({ MaxNumberOfMessages: 10 });
      expect(got.map((message) => message.Body)).toEqual(['A', 'C']);
      const handles = got.map((message, index) => ({
        Id: String(index),
        ReceiptHandle: message.ReceiptHandle,
      }));
      const changed = await server.client.send(
        new ChangeMessageVisibilityBatchCommand({
          QueueUrl: work,
          Entries: handles.map((handle) => ({ ...handle, VisibilityTimeout: 60 })),
        }),
      );
      expect(changed.Successful).toHaveLength(2);
      const deleted = await server.client.send(
        new DeleteMessageBatchCommand({
          QueueUrl: work,
          Entries: [...handles, { Id: 'bad', ReceiptHandle: 'nonsense' }],
        }),
      );
      expect(deleted.Successful?.map((entry) => entry.Id)).toEqual(['0', '1']);
      expect(deleted.Failed).toMatchObject([{ Id: 'bad', Code: 'ReceiptHandleIsInvalid' }]);
      expect(await depth()).toEqual([0, 0, 0]);
    });

    const batch = (Entries: { Id: string; MessageBody: string }[]) => async () =>
      await server.client.send(new SendMessageBatchCommand({ QueueUrl: work, Entries }));

    describe('refuses, with the names the client knows,', () => {
      const mebibyte = 1_048_576;

      test.each([
        ['a queue that does not exist', async () => await urlOf('nothing'), 'QueueDoesNotExist'],
        ['a delay over 900 s', async () => await send('x', { DelaySeconds: 901 }), 'InvalidParameterValue'],
        [
          'more than 10 messages',
          async () => await receive({ MaxNumberOfMessages: 11 }),
          'InvalidParameterValue',
        ],
        ['a wait over 20 s', async () => await receive({ WaitTimeSeconds: 21 }), 'InvalidParameterValue'],
        ['a message over 1 MiB', async () => await send('x'.repeat(mebibyte + 1)), 'InvalidParameterValue'],
        ['control characters', async () => await send('a\u0000b'), 'InvalidMessageContents'],
        ['an empty batch', batch([]), 'EmptyBatchRequest'],
        ['a batch of 11', batch(entries(11)), 'TooManyEntriesInBatchRequest'],
        ['a batch over 1 MiB', batch(entries(2, mebibyte / 2 + 1)), 'BatchRequestTooLong'],
        ['a repeated id', batch([...entries(1), ...entries(1)]), 'BatchEntryIdsNotDistinct'],
        ['a bad handle', async () => await remove({ ReceiptHandle: 'nonsense' }), 'ReceiptHandleIsInvalid'],
      ])('%s', async (_what, run, name) => {
        await expect(run()).rejects.toMatchObject({ name });
      });

      test('nothing at exactly 1 MiB and 900 s', async () => {
        await send('x'.repeat(mebibyte), { DelaySeconds: 900 });
        expect(await depth()).toEqual([0, 0, 1]);
      });
    });
  });
}
