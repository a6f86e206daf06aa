/**
 * Failures of sends: SQS refuses some messages of a batch, EventBridge refuses an event, a request breaks
 * off.
 */

import { readFileSync } from 'node:fs';
import * as busSdk from '@aws-sdk/client-eventbridge';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import * as sqsSdk from '@aws-sdk/client-sqs';
import {
  GetQueueAttributesCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { mockClient } from 'aws-sdk-client-mock';
import { eventBus } from '../../lib/aws/event-bus.ts';
import { TRANSPORTS } from '../../lib/aws/names.ts';
import { sqsQueue } from '../../lib/aws/sqs-queue.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import type { Ended } from '../../lib/core/records/ended.ts';
import type { News, PassingNews, QuestionNews } from '../../lib/core/decisions/news.ts';
import { answeredBy } from './mocked.ts';

const mockedSqs = new SQSClient({ region: 'us-east-1' });
const mockedBus = new EventBridgeClient({ region: 'us-east-1' });
const sqs = mockClient(mockedSqs);
const bus = mockClient(mockedBus);
beforeEach(() => {
  sqs.reset();
  bus.reset();
});

const urls = new Map([
  ['worker', 'https://sqs/1/worker'],
  ['other', 'https://sqs/1/other'],
]);
const send = (at: number, agent = 'worker', delayMs = 0): Send => ({
  agent,
  message: { v: 1, execution: `e-${at}`, step: 'a', attempt: 1, mode: 'execute', seq: 0 },
  delayMs,
});
const sends = (count: number, agent = 'worker'): Send[] =>
  Array.from({ length: count }, (_, at) => send(at, agent));
const singles = () => sqs.commandCalls(SendMessageCommand).map((call) => call.args[0].input);
const batches = () => sqs.commandCalls(SendMessageBatchCommand).map((call) => call.args[0].input);

describe.each(TRANSPORTS)('by %s:', (transport) => {
  // The mock sends no checksums.
  const client = answeredBy(
    mockedSqs,
    sqsSdk,
    (settings) => new SQSClient({ ...settings, md5: false }),
    transport,
  );
  const events = answeredBy(mockedBus, busSdk, (settings) => new EventBridgeClient(settings), transport);
  const queue = sqsQueue(client, urls);

  describe('the depths of queues', () => {
    it('are returned by agent, without one that cannot be read', async () => {
      const attributes = {
        ApproximateNumberOfMessages: '3',
        ApproximateNumberOfMessagesNotVisible: '2',
        ApproximateNumberOfMessagesDelayed: '1',
      };
      sqs.on(GetQueueAttributesCommand).rejects(new Error('denied'));
      sqs
        .on(GetQueueAttributesCommand, { QueueUrl: 'https://sqs/1/worker' })
        .resolves({ Attributes: attributes });
      expect(await queue.depths?.(['worker', 'other', 'nobody'])).toEqual({
        worker: { waiting: 3, underWork: 2, delayed: 1 },
      });
    });
  });

  describe('sends at the same time', () => {
    it('leave together while the first is under way, each with its own answer', async () => {
      sqs.on(SendMessageCommand).resolves({});
      sqs.on(SendMessageBatchCommand).resolves({ Failed: [{ Id: '1', SenderFault: false, Code: 'x' }] });
      const results = await Promise.allSettled(sends(4).map((one) => queue.send([one])));
      expect(singles()).toHaveLength(1);
      expect(batches().map(({ Entries }) => Entries?.length)).toEqual([3]);
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
    });

    it('do not wait for a request that hangs, once there are ten of them', async () => {
      sqs.on(SendMessageCommand).callsFake(() => new Promise(() => undefined));
      sqs.on(SendMessageBatchCommand).resolves({});
      const busy = sqsQueue(client, urls);
      busy.send([send(0)]).catch(() => undefined);
      await Promise.all(sends(10).map((one) => busy.send([one])));
      expect(batches()).toHaveLength(1);
    });
  });

  describe('messages of several groups', () => {
    it('have theirs, and of a fair queue those of nobody share one', async () => {
      sqs.on(SendMessageCommand).resolves({});
      sqs.on(SendMessageBatchCommand).resolves({});
      await queue.send([send(0)]);
      await queue.send([{ ...send(1), group: 'a' }]);
      await sqsQueue(client, urls, { isFair: true }).send([{ ...send(2), group: 'a' }, send(3)]);
      expect(singles().map(({ MessageGroupId }) => MessageGroupId)).toEqual([undefined, 'a']);
      expect(batches()[0]?.Entries?.map(({ MessageGroupId }) => MessageGroupId)).toEqual(['a', 'none']);
    });
  });

  describe('a send of a process that works on several messages', () => {
    const asks = (messages: number) => sqsQueue(client, urls, { atWork: { messages } });

    it('waits for the others, and all leave in one request when the last has come', async () => {
      sqs.on(SendMessageBatchCommand).resolves({});
      const busy = asks(3);
      await Promise.all(sends(3).map((one) => busy.send([one])));
      expect(singles()).toHaveLength(0);
      expect(batches().map(({ Entries }) => Entries?.length)).toEqual([3]);
    });

    it('does not wait long for one that sends nothing', async () => {
      sqs.on(SendMessageBatchCommand).resolves({});
      const busy = asks(3);
      await Promise.all(sends(2).map((one) => busy.send([one])));
      expect(batches().map(({ Entries }) => Entries?.length)).toEqual([2]);
    });

    it('does not wait when it is the only one', async () => {
      sqs.on(SendMessageCommand).resolves({});
      void asks(1).send([send(1)]);
      while (singles().length === 0) await new Promise((turn) => setImmediate(turn));
      expect(singles()).toHaveLength(1);
    });
  });

  describe('a send', () => {
    it('of one message is one request, without a delay unless it has one', async () => {
      sqs.on(SendMessageCommand).resolves({});
      await queue.send([send(1)]);
      expect(singles()).toEqual([
        { QueueUrl: 'https://sqs/1/worker', MessageBody: expect.stringContaining('"e-1"') },
      ]);
    });

    it.each([
      [1, 1],
      [999, 1],
      [1_001, 2],
      [900_000, 900],
      [10_000_000, 900],
    ])('with a delay of %i ms waits %i s', async (delayMs, seconds) => {
      sqs.on(SendMessageCommand).resolves({});
      await queue.send([send(1, 'worker', delayMs)]);
      expect(singles()[0]?.DelaySeconds).toBe(seconds);
    });

    it('of 25 messages to one agent is three batches of ten at most, with ids of their own', async () => {
      sqs.on(SendMessageBatchCommand).resolves({});
      await queue.send(sends(25));
      const sizes = batches().map((batch) => batch.Entries?.length ?? 0);
      expect([...sizes].sort((a, b) => b - a)).toEqual([10, 10, 5]);
      for (const batch of batches())
        expect(new Set(batch.Entries?.map(({ Id }) => Id)).size).toBe(batch.Entries?.length);
    });

    it('of which a part was refused rejects, so that the wake time repeats it', async () => {
      sqs
        .on(SendMessageBatchCommand)
        .resolves({ Failed: [{ Id: '1', SenderFault: false, Code: 'Throttled' }] });
      await expect(queue.send(sends(3))).rejects.toMatchObject({
        code: 'send-failed',
        message: '1 of 3 messages were not sent',
      });
    });

    it('that fails for one agent is made to the others all the same', async () => {
      sqs.on(SendMessageCommand, { QueueUrl: 'https://sqs/1/worker' }).rejects(new Error('throttled'));
      sqs.on(SendMessageCommand, { QueueUrl: 'https://sqs/1/other' }).resolves({});
      await expect(queue.send([send(1), send(2, 'other')])).rejects.toThrow('throttled');
      expect(singles().map(({ QueueUrl }) => QueueUrl)).toContain('https://sqs/1/other');
    });

    it('to an agent that has no queue rejects, and the others get theirs', async () => {
      sqs.on(SendMessageCommand).resolves({});
      await expect(queue.send([send(1, 'nobody'), send(2, 'other')])).rejects.toMatchObject({
        code: 'unknown-agent',
        message: expect.stringContaining("'nobody'"),
      });
      expect(singles()).toHaveLength(1);
    });
  });

  describe('an announcement', () => {
    const ended: Ended = {
      about: 'end',
      executionId: 'e-1',
      workflow: 'flow',
      status: 'compensated',
      startedAt: 1_700_000_000_000,
      startedBy: { kind: 'iam', name: 'arn:aws:iam::123456789012:user/ann' },
      endedAt: 1_700_000_060_000,
    };
    const announcer = eventBus(events, 'the-bus');
    const detailOf = (news: News): string => JSON.stringify({ version: '1', ...news, about: undefined });

    it('is one event that says which execution ended and how, and nothing of its payload (S17)', async () => {
      bus.on(PutEventsCommand).resolves({ FailedEntryCount: 0 });
      await announcer.announce(ended);
      expect(bus.commandCalls(PutEventsCommand)[0]?.args[0].input.Entries).toEqual([
        {
          EventBusName: 'the-bus',
          Source: 'steadfast',
          DetailType: 'Steadfast Execution Ended',
          // The time is sent in seconds.
          Time: ended.endedAt / 1_000,
          Detail: detailOf(ended),
        },
      ]);
    });

    it('is documented with each of its fields', async () => {
      bus.on(PutEventsCommand).resolves({ FailedEntryCount: 0 });
      await announcer.announce(ended);
      const detail = bus.commandCalls(PutEventsCommand).at(-1)?.args[0].input.Entries?.[0]?.Detail ?? '{}';
      const text = readFileSync(new URL('../../docs/EVENTS.md', import.meta.url), 'utf8');
      const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(text)?.[1] ?? '{}') as { detail: object };
      expect(Object.keys(example.detail)).toEqual(Object.keys(JSON.parse(detail) as object));
    });

    it('that the bus refused rejects, so that it is announced again', async () => {
      const Entries = [{ ErrorCode: 'ThrottlingException', ErrorMessage: 'slow down' }];
      bus.on(PutEventsCommand).resolves({ FailedEntryCount: 1, Entries });
      await expect(announcer.announce(ended)).rejects.toMatchObject({
        code: 'announce-failed',
        message: expect.stringContaining('ThrottlingException'),
      });
    });

    it.each<[string, PassingNews | QuestionNews, string]>([
      [
        'Steadfast Question',
        {
          about: 'question',
          change: 'closed',
          executionId: 'c0f9da4ac5b9de15eb23061c771f2feb',
          workflow: 'order-fulfilment',
          incident: 1,
          kind: 'recovery',
          step: 'ship',
          at: 1_767_337_440_456,
          openedAt: 1_767_323_040_123,
          deadlineAt: 1_767_495_840_123,
          otherwise: 'undo-all',
          reminders: 1,
          code: 'PermanentError',
          tags: { orderId: '4711' },
          closedBy: 'answer',
          choice: 'retry',
          caller: { kind: 'local', name: 'ann' },
          view: '/executions/c0f9da4ac5b9de15eb23061c771f2feb',
        },
        'Questions',
      ],
      [
        'Steadfast Question',
        {
          about: 'question',
          change: 'opened',
          executionId: 'c0f9da4ac5b9de15eb23061c771f2feb',
          workflow: 'price-list',
          step: 'release',
          kind: 'approval',
          at: 1_767_323_040_123,
          openedAt: 1_767_323_040_123,
          deadlineAt: 1_767_495_840_123,
          otherwise: 'reject',
          reminders: 0,
          tags: { list: '2026-spring' },
          shown: { title: 'Spring prices', items: 412 },
          view: '/executions/c0f9da4ac5b9de15eb23061c771f2feb',
        },
        'Approvals and callbacks',
      ],
      [
        'Steadfast Breaker',
        {
          about: 'breaker',
          change: 'resumed',
          agent: 'charge-card',
          at: 1_767_337_440_456,
          since: 1_767_323_040_123,
          by: { kind: 'local', name: 'ann' },
          view: '/agents',
        },
        'Breakers and pauses of agents',
      ],
      [
        'Steadfast Agent Missing',
        { about: 'missing', change: 'missing', agent: 'charge-card', at: 1_767_337_440_456, view: '/agents' },
        'Agents that are missing',
      ],
    ])(
      '%s is an event of its own kind, and each of its fields is documented',
      async (type, told, chapter) => {
        bus.reset();
        bus.on(PutEventsCommand).resolves({ FailedEntryCount: 0 });
        await announcer.announce(told);
        const [entry] = bus.commandCalls(PutEventsCommand)[0]?.args[0].input.Entries ?? [];
        expect(entry).toMatchObject({ Source: 'steadfast', DetailType: type, Time: told.at / 1_000 });
        const text = readFileSync(new URL('../../docs/EVENTS.md', import.meta.url), 'utf8');
        const block = new RegExp(`## ${chapter}[\\s\\S]*?\`\`\`json\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
        const { about: _, ...detail } = told;
        const example = JSON.parse(block ?? '{}') as { 'detail-type': string; detail: object };
        expect([example['detail-type'], example.detail]).toEqual([type, { version: '1', ...detail }]);
        expect(JSON.parse(entry?.Detail ?? '{}')).toEqual(example.detail);
      },
    );

    it('that broke off rejects', async () => {
      bus.on(PutEventsCommand).rejects(new Error('socket hang up'));
      await expect(announcer.announce(ended)).rejects.toThrow('socket hang up');
    });
  });
});
