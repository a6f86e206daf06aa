/** The function that sends news to the addresses of starts: a message of its queue, and what it becomes. */

import type { Context, SQSRecord } from 'aws-lambda';
import { executionItem } from '../../lib/aws/dynamo-items.ts';
import { notificationsHandler } from '../../lib/notifications/handler.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { isSigned } from '../../lib/webhooks/signature.ts';
import { type Answer, type Asked, gives, type Service, startService } from '../ready/service.ts';

const SECRET = `whsec_${Buffer.from('a'.repeat(32)).toString('base64')}`;
const SIGNED_BY = {
  header: 'webhook-signature',
  prefix: 'v1,',
  encoding: 'base64',
  signed: '{webhook-id}.{time}.{body}',
  time: { header: 'webhook-timestamp' },
  toleranceMs: 300_000,
  key: 'base64',
  secret: { env: '' },
} as const;
const settings = (allowsPrivate: boolean): string =>
  JSON.stringify({ secret: { env: 'EVENTS_SECRET' }, allowsPrivate });
const SET = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIA1',
  AWS_SECRET_ACCESS_KEY: 's',
  STEADFAST_TABLE: 'state',
  STEADFAST_BUS: 'bus',
  STEADFAST_NOTIFICATIONS: settings(true),
  EVENTS_SECRET: SECRET,
};
const HOUR_MS = 3_600_000;
const AT = 1_767_323_045_456;

let aws: Service;
let receiver: Service;
let record: Partial<Execution> | undefined;
let handler: ReturnType<typeof notificationsHandler>;

/** The table, which has one execution, and the queue. */
const answersAsAws: Answer = (response, asked) => {
  const item = record === undefined ? {} : { Item: executionItem({ ...EXECUTION, ...record }, 1) };
  const isRead = String(asked.headers['x-amz-target']).endsWith('GetItem');
  gives(200, isRead ? JSON.stringify(item) : '{}')(response, asked);
};
const EXECUTION = {
  id: 'e-1',
  life: 'l-1',
  workflow: 'orders',
  status: 'succeeded',
  commands: [],
  dispatches: {},
  input: null,
  startedAt: 1,
  version: 3,
} as unknown as Execution;

beforeEach(async () => {
  aws = await startService(answersAsAws);
  receiver = await startService(gives(204));
  Object.assign(process.env, SET, {
    AWS_ENDPOINT_URL: aws.url,
    STEADFAST_NOTIFICATION_QUEUE: `${aws.url}/q`,
  });
  record = { callbackUrl: `${receiver.url}/news?token=known` };
  handler = notificationsHandler();
});
afterEach(async () => {
  for (const name of ['AWS_ENDPOINT_URL', 'STEADFAST_NOTIFICATION_QUEUE', ...Object.keys(SET)])
    delete process.env[name];
  await aws.stop();
  await receiver.stop();
});

const DETAIL = { version: '1', executionId: 'e-1', workflow: 'orders', notify: 'l-1', endedAt: AT };
const message = (sentAt = Date.now(), detail: object = DETAIL): SQSRecord =>
  ({
    messageId: 'm-1',
    receiptHandle: 'r',
    body: JSON.stringify({
      id: 'of EventBridge',
      source: 'steadfast',
      'detail-type': 'Steadfast Execution Ended',
      time: '2026-01-02T03:04:05Z',
      detail,
    }),
    attributes: { SentTimestamp: String(sentAt), ApproximateReceiveCount: '3' },
  }) as SQSRecord;
const handled = async (one = message()): Promise<boolean> =>
  (await handler({ Records: [one] }, {} as Context)).batchItemFailures.length === 0;
const delays = (): unknown[] =>
  aws.asked
    .filter(({ headers }) => String(headers['x-amz-target']).endsWith('ChangeMessageVisibility'))
    .map(({ body }) => (JSON.parse(body) as { VisibilityTimeout: number }).VisibilityTimeout);

test('an end goes to the address of its execution, signed, with the time to the millisecond', async () => {
  expect(await handled()).toBe(true);
  const [{ path, body, headers }] = receiver.asked as [Asked];
  expect([path, JSON.parse(body)]).toEqual([
    '/news?token=known',
    {
      source: 'steadfast',
      'detail-type': 'Steadfast Execution Ended',
      time: '2026-01-02T03:04:05.456Z',
      detail: DETAIL,
    },
  ]);
  const header = (name: string) => headers[name] as string | undefined;
  expect(isSigned(SIGNED_BY, { header, body: Buffer.from(body) }, SECRET, Date.now())).toBe(true);
});

test('a repeated delivery has the same id', async () => {
  await handled();
  await handled();
  expect(new Set(receiver.asked.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

test('what is not taken comes again, later and later; after a day it is given up', async () => {
  receiver.answer = gives(503);
  expect([await handled(), delays()]).toEqual([false, [4]]);
  expect(await handled(message(Date.now() - 25 * HOUR_MS))).toBe(true);
});

test.each([301, 404, 410])('an answer with %i takes nothing, and the log has no address', async (status) => {
  receiver.answer = gives(status);
  const lines: string[] = [];
  const outputs = [process.stdout, process.stderr].map((stream) => ({
    stream,
    write: stream.write.bind(stream),
  }));
  for (const { stream } of outputs) stream.write = (line: unknown) => lines.push(String(line)) > 0;
  try {
    expect([await handled(), await handled(message(Date.now() - 25 * HOUR_MS))]).toEqual([false, true]);
  } finally {
    for (const { stream, write } of outputs) stream.write = write;
  }
  expect(lines.join('')).toMatch(/notification-not-taken.*notification-given-up/s);
  expect(lines.join('')).not.toMatch(/news|known/);
});

test('a receiver that does not answer is left alone for a minute, and its events come again', async () => {
  receiver.answer = (response) => response.destroy();
  expect([await handled(), await handled(), delays()]).toEqual([false, false, [4, 4]]);
  expect(receiver.asked).toHaveLength(1);
  expect(await handled(message(Date.now() - 25 * HOUR_MS))).toBe(true);
  expect(receiver.asked).toHaveLength(1);
  const other = await startService(gives(204));
  record = { callbackUrl: other.url };
  expect([await handled(), other.asked.length]).toEqual([true, 1]);
  await other.stop();
});

test('an event whose function was off for a day is not given up at its first try', async () => {
  receiver.answer = gives(503);
  const one = message(Date.now() - 25 * HOUR_MS);
  expect(await handled({ ...one, attributes: { ...one.attributes, ApproximateReceiveCount: '1' } })).toBe(
    false,
  );
});

test('another life, an erased execution, and one without an address are nobody’s', async () => {
  expect(await handled(message(Date.now(), { ...DETAIL, notify: 'of another deployment' }))).toBe(true);
  record = {};
  expect(await handled()).toBe(true);
  record = undefined;
  expect(await handled()).toBe(true);
  expect(receiver.asked).toEqual([]);
});

test('H1 a private address is never called, and not tried again', async () => {
  process.env['STEADFAST_NOTIFICATIONS'] = settings(false);
  expect([await handled(), receiver.asked]).toEqual([true, []]);
});

test('without a secret nothing is sent, and it comes again', async () => {
  process.env['EVENTS_SECRET'] = 'short';
  expect([await handled(), receiver.asked, delays()]).toEqual([false, [], [4]]);
});
