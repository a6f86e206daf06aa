/** The function that sends notifications: a message of its queue, and what it becomes. */

import type { Context, SQSRecord } from 'aws-lambda';
import { executionItem } from '../../lib/aws/dynamo-items.ts';
import { notificationsHandler } from '../../lib/notifications/handler.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import { TRIES_OF_A_DAY } from '../../lib/notifications/tries.ts';
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
const AT = 1_767_323_045_456;

let aws: Service;
let receiver: Service;
let record: Partial<Execution> | undefined;
let handler: ReturnType<typeof notificationsHandler>;

/** A fake AWS: a table with one execution, and the queue. */
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
const message = (tries = 3, detail: object = DETAIL): SQSRecord =>
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
    attributes: { SentTimestamp: '1', ApproximateReceiveCount: String(tries) },
  }) as SQSRecord;
const handled = async (one = message()): Promise<boolean> =>
  (await handler({ Records: [one] }, {} as Context)).batchItemFailures.length === 0;
const delays = (): unknown[] =>
  aws.asked
    .filter(({ headers }) => String(headers['x-amz-target']).endsWith('ChangeMessageVisibility'))
    .map(({ body }) => (JSON.parse(body) as { VisibilityTimeout: number }).VisibilityTimeout);

async function logOf(run: () => Promise<void>): Promise<string> {
  const lines: string[] = [];
  const outputs = [process.stdout, process.stderr].map((stream) => ({
    stream,
    write: stream.write.bind(stream),
  }));
  for (const { stream } of outputs) stream.write = (line: unknown) => lines.push(String(line)) > 0;
  try {
    await run();
  } finally {
    for (const { stream, write } of outputs) stream.write = write;
  }
  return lines.join('');
}

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

test('what is not taken comes again, later and later, as its receiver wants within five minutes', async () => {
  receiver.answer = gives(503);
  expect([await handled(), await handled(message(99))]).toEqual([false, false]);
  for (const wish of ['1', '200', '3600', '999999999']) {
    receiver.answer = gives(429, '', { 'retry-after': wish });
    expect(await handled()).toBe(false);
  }
  expect(delays()).toEqual([4, 300, 4, 200, 300, 300]);
});

test('a receiver that is gone is not asked again', async () => {
  receiver.answer = gives(410);
  expect([await handled(), delays()]).toEqual([true, []]);
});

test.each([301, 404])('an answer with %i takes nothing, and the log has no address', async (status) => {
  receiver.answer = gives(status);
  const log = await logOf(async () =>
    expect([await handled(), await handled(message(TRIES_OF_A_DAY))]).toEqual([false, false]),
  );
  expect(log).toMatch(/notification-not-taken.*notification-given-up/s);
  expect(log).not.toMatch(/news|known/);
});

test('a receiver that does not answer is left alone for a minute, and its events come again', async () => {
  receiver.answer = (response) => response.destroy();
  expect([await handled(), await handled(), delays()]).toEqual([false, false, [4, 4]]);
  expect(receiver.asked).toHaveLength(1);
  const other = await startService(gives(204));
  record = { callbackUrl: other.url };
  expect([await handled(), other.asked.length]).toEqual([true, 1]);
  await other.stop();
});

test('a receiver that answers while another request to it is silent is not left alone', async () => {
  let answerLate = (): void => undefined;
  receiver.answer = (response) => {
    if (receiver.asked.length === 1) answerLate = () => gives(503)(response, receiver.asked[0] as Asked);
    else response.destroy();
  };
  const answered = handled();
  while (receiver.asked.length < 1) await new Promise(setImmediate);
  expect(await handled()).toBe(false);
  answerLate();
  expect([await answered, receiver.asked.length]).toEqual([false, 2]);
  receiver.answer = gives(204);
  expect([await handled(), receiver.asked.length]).toEqual([true, 3]);
});

test('another life, an erased execution, and one without an address are nobody’s', async () => {
  expect(await handled(message(3, { ...DETAIL, notify: 'of another deployment' }))).toBe(true);
  record = {};
  expect(await handled()).toBe(true);
  record = undefined;
  expect(await handled()).toBe(true);
  expect(receiver.asked).toEqual([]);
});

test.each([
  ['a private address', false, '10.0.0.1'],
  ['this machine', true, '127.0.0.1'],
  ['the link, where the credentials are', true, '169.254.170.2'],
])('H1 %s is never called on AWS, and not tried again', async (_, allowsPrivate, host) => {
  process.env['STEADFAST_NOTIFICATIONS'] = settings(allowsPrivate);
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = aws.url;
  delete process.env['AWS_ENDPOINT_URL'];
  record = { callbackUrl: receiver.url.replace('127.0.0.1', host) };
  try {
    expect([await handled(), receiver.asked]).toEqual([true, []]);
  } finally {
    delete process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  }
});

test('the local cloud calls its own machine, whatever is allowed', async () => {
  process.env['STEADFAST_NOTIFICATIONS'] = settings(false);
  expect([await handled(), receiver.asked.length]).toEqual([true, 1]);
});

test('without a secret nothing is sent, and it comes again', async () => {
  process.env['EVENTS_SECRET'] = 'short';
  expect([await handled(), receiver.asked, delays()]).toEqual([false, [], [4]]);
});

test('what cannot be sent at the last try, either, is given up aloud', async () => {
  process.env['EVENTS_SECRET'] = 'short';
  const log = await logOf(async () => expect(await handled(message(TRIES_OF_A_DAY))).toBe(false));
  expect(log).toMatch(/"level":"ERROR".*notification-given-up.*has fewer than 24 bytes/);
});
