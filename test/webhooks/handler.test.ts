/** The function behind the route of webhooks: an event of API Gateway, and what is put into a queue. */

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { TRIGGER_FILE } from '../../lib/aws/names.ts';
import { webhooksHandler } from '../../lib/webhooks/handler.ts';
import { type Answer, gives, type Service, startService } from '../ready/service.ts';
import { SECRET, SENDERS, type Sent } from './senders.ts';

const { payments, 'code-host': codeHost } = SENDERS;
const BODY = '{"id":"e-1","order":"o-1","name":"Zoë"}';
const TASK = mkdtempSync(join(tmpdir(), 'steadfast-webhooks-'));

let queue: Service;
let handler: ReturnType<typeof webhooksHandler>;
const SET = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIA1',
  AWS_SECRET_ACCESS_KEY: 's',
  LAMBDA_TASK_ROOT: TASK,
  TEST_WEBHOOK_SECRET: SECRET,
};

/** A queue that takes everything; the SDK compares the digest. */
const takes: Answer = (response, asked) => {
  const { MessageBody } = JSON.parse(asked.body) as Put;
  const MD5OfMessageBody = createHash('md5').update(MessageBody).digest('hex');
  gives(200, JSON.stringify({ MessageId: 'm-1', MD5OfMessageBody }))(response, asked);
};

beforeAll(() => {
  const webhooks = Object.entries(SENDERS).map(([name, { verify }]) => ({ name, verify }));
  writeFileSync(join(TASK, TRIGGER_FILE), JSON.stringify(webhooks));
});
beforeEach(async () => {
  queue = await startService(takes);
  const names = Object.keys(SENDERS).map((name) => `${name}=${queue.url}/${name}`);
  Object.assign(process.env, SET, {
    AWS_ENDPOINT_URL: queue.url,
    STEADFAST_WEBHOOK_QUEUES: names.join(' '),
  });
  handler = webhooksHandler();
});
afterEach(async () => {
  for (const name of ['AWS_ENDPOINT_URL', 'STEADFAST_WEBHOOK_QUEUES', ...Object.keys(SET)])
    delete process.env[name];
  await queue.stop();
});
afterAll(() => rmSync(TASK, { recursive: true, force: true }));

/** Posts as API Gateway does: the body as text, or in base64 if its type is not a text. */
async function posted(
  proxy: string,
  headers: Sent['headers'],
  body: Buffer | string | undefined,
  isBase64Encoded = Buffer.isBuffer(body),
): Promise<number | undefined> {
  const event = {
    pathParameters: { proxy },
    headers,
    requestContext: { requestId: 'r-1', http: { method: 'POST' } },
    ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? body.toString('base64') : body }),
    isBase64Encoded,
  };
  const answer = await handler(event as unknown as APIGatewayProxyEventV2, {} as Context);
  return (answer as { statusCode?: number }).statusCode;
}

interface Put {
  readonly QueueUrl: string;
  readonly MessageBody: string;
  readonly MessageAttributes?: Readonly<Record<string, { readonly StringValue: string }>>;
}
const puts = (): Put[] => queue.asked.map(({ body }) => JSON.parse(body) as Put);

it('puts the bytes that were signed into the queue of their webhook, as text or in base64', async () => {
  const { headers } = payments.sends(BODY, Date.now());
  expect(await posted('payments', headers, BODY)).toBe(200);
  expect(await posted('payments', headers, Buffer.from(BODY))).toBe(200);
  expect(await posted('payments/tok.en', headers, Buffer.from(BODY))).toBe(200);
  const put = { QueueUrl: `${queue.url}/payments`, MessageBody: BODY };
  expect(puts()).toMatchObject([put, put, put]);
  expect(puts()[2]?.MessageAttributes).toEqual({ token: { DataType: 'String', StringValue: 'tok.en' } });
});

it('K1 takes the text of a base64 body for no body, and base64 for no other', async () => {
  const { headers } = codeHost.sends(BODY);
  expect(await posted('code-host', headers, Buffer.from(BODY).toString('base64'))).toBe(401);
  expect(await posted('code-host', headers, BODY, true)).toBe(401);
  const encoded = Buffer.from(BODY).toString('base64');
  expect(await posted('code-host', codeHost.sends(encoded).headers, Buffer.from(BODY))).toBe(401);
  expect(puts()).toEqual([]);
});

it('K1 takes nothing that was packed, encoded or emptied on its way', async () => {
  const { headers } = codeHost.sends(BODY);
  for (const encoding of ['utf16le', 'latin1', 'hex', 'base64url'] as const)
    expect(await posted('code-host', headers, Buffer.from(BODY, encoding))).toBe(401);
  const packed = { ...headers, 'content-encoding': 'gzip' };
  expect(await posted('code-host', packed, gzipSync(BODY))).toBe(401);
  expect(await posted('code-host', headers, undefined)).toBe(401);
  expect(await posted('code-host', headers, '')).toBe(401);
  expect(puts()).toEqual([]);
});

it('answers 503 while its queue does not answer, so that the sender sends again', async () => {
  queue.answer = gives(400, '{"__type":"AWS.SimpleQueueService.NonExistentQueue"}');
  expect(await posted('code-host', codeHost.sends(BODY).headers, BODY)).toBe(503);
});
