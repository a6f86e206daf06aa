/**
 * Events of an execution sent to the `callbackUrl` of its start: signed, at least once, receivers
 * independent.
 */

import * as z from 'zod/mini';
import { isSigned } from '../../lib/webhooks/signature.ts';
import { workflow } from '../../lib/index.ts';
import { createClient, type Client } from '../../lib/api/typed-client.ts';
import { receiverOf } from './receiver.ts';
import { servedWith, testServer, type TestServer } from './served.ts';

const SECRET = `whsec_${Buffer.from('a'.repeat(32)).toString('base64')}`;
const notificationSecret = Buffer.from('a'.repeat(32));
const signedBy = {
  header: 'webhook-signature',
  prefix: 'v1,',
  encoding: 'base64',
  signed: '{webhook-id}.{time}.{body}',
  time: { header: 'webhook-timestamp' },
  toleranceMs: 300_000,
  key: 'base64',
  secret: { env: '' },
} as const;

interface Came {
  readonly id: string;
  readonly isSigned: boolean;
  readonly type: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly body: string;
}

async function receiver(answers: (at: number) => number = () => 204) {
  const read = (body: string, header: (name: string) => string): Came => {
    const { 'detail-type': type, detail } = JSON.parse(body) as {
      'detail-type': string;
      detail: Came['detail'];
    };
    const proven = isSigned(signedBy, { header, body: Buffer.from(body) }, SECRET, Date.now());
    return { id: header('webhook-id'), isSigned: proven, type, detail, body };
  };
  const made = await receiverOf(read, (_, at) => answers(at));
  return { ...made, url: `${made.origin}/news?token=known` };
}

const asking = workflow('asking', { input: z.object({}), within: '1h' }, (w) => {
  w.approval('ok', { within: '30m' });
});
const served = { ...servedWith(async () => ({ text: '' })), workflows: [asking], agents: new Map() };
let world: TestServer;
let to: Awaited<ReturnType<typeof receiver>>;
beforeEach(() => {
  world = testServer();
});
afterEach(async () => {
  to.end();
  await world.end();
});

const startOn = async (more: object = {}): Promise<Client> => {
  const options = { served, notificationSecret, allowsPrivateNotifications: true, ...more };
  return createClient({ url: (await world.start(options)).url });
};

test('its questions and its end come, signed; no answer of the API and no event has the address', async () => {
  to = await receiver();
  const client = await startOn();
  const { executionId } = await client.start('asking', { input: {}, callbackUrl: to.url });
  await to.count(1);
  const { token = '' } = (await client.get(executionId)).steps[0] ?? {};
  await client.callbacks.complete(token, { approved: true });
  await to.count(3);
  expect(to.came.map(({ type, isSigned: proven, detail }) => [type, proven, detail['executionId']])).toEqual([
    ['Steadfast Question', true, executionId],
    ['Steadfast Question', true, executionId],
    ['Steadfast Execution Ended', true, executionId],
  ]);
  const shown = JSON.stringify([await client.get(executionId), to.came]);
  expect(shown).not.toContain('token=known');
});

test('an event that is not taken comes again, under the same id', async () => {
  to = await receiver((at) => (at === 1 ? 503 : 204));
  await (await startOn()).start('asking', { input: {}, callbackUrl: to.url });
  await to.count(2);
  expect(new Set(to.came.map(({ id }) => id)).size).toBe(1);
});

test('an execution without an address is nobody’s, and a private one is never called', async () => {
  to = await receiver();
  const client = await startOn({ allowsPrivateNotifications: false });
  await client.start('asking', { input: {}, callbackUrl: to.url });
  const plain = await client.start('asking', { input: {} });
  await client.cancel(plain.executionId);
  expect(to.came).toEqual([]);
});

test('a start is refused if no secret is named, or the address is invalid', async () => {
  to = await receiver();
  const client = await startOn({ notificationSecret: undefined });
  const start = (callbackUrl: string) => client.start('asking', { input: {}, callbackUrl });
  await expect(start(to.url)).rejects.toMatchObject({
    code: 'no-callback-urls',
    status: 400,
    message: expect.stringContaining('callbackUrls of the construct'),
  });
  for (const wrong of ['shop', 'ftp://shop.example', 'https://me:pw@shop.example'])
    await expect(start(wrong)).rejects.toMatchObject({ code: 'bad-request' });
});
