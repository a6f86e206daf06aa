/** Webhooks on a server's port: only a valid signature admits a request, and none needs a token. */

import { request } from 'node:http';
import { onWebhook } from '../../lib/author/triggers/trigger-declaration.ts';
import { MAX_WEBHOOK_BYTES } from '../../lib/webhooks/receive.ts';
import type { Served } from '../../serve/workflows.ts';
import { Tokens } from '../../serve/tokens.ts';
import { SECRET, SENDERS, type Sent } from '../webhooks/senders.ts';
import { clientOf, greeting, servedWith, testServer, type TestServer } from './served.ts';

const { payments, form } = SENDERS;
const served: Served = {
  ...servedWith(async (input) => input),
  triggers: [
    onWebhook(greeting, {
      verify: payments.verify,
      input: { text: '$.body.name' },
      idempotencyKey: '$.body.id',
    }),
    onWebhook(greeting, { name: 'chat', verify: form.verify, body: 'form', input: { text: '$.body.text' } }),
  ],
};

let world: TestServer;
beforeEach(() => {
  world = testServer();
  process.env['TEST_WEBHOOK_SECRET'] = SECRET;
});
afterEach(async () => {
  delete process.env['TEST_WEBHOOK_SECRET'];
  await world.end();
});

const posting =
  (url: string) =>
  async (path: string, sent: Sent, method = 'POST'): Promise<string> => {
    const { headers, body } = sent;
    const answer = await fetch(`${url}${path}`, { method, headers, ...(method === 'GET' ? {} : { body }) });
    return `${answer.status} ${await answer.text()}`;
  };
const REFUSED = '401 {"error":{"code":"forbidden","message":"the request is not signed as it must be"}}';

it('starts one execution of a message that comes five times, also after a restart (S11)', async () => {
  const first = await world.start({ served });
  expect(first.webhooks).toEqual(['/webhooks/greeting-webhook', '/webhooks/chat']);
  const body = '{"id":"e-1","name":"Zoë"}';
  const post = posting(first.url);
  for (let n = 0; n < 3; n += 1)
    expect(await post('/webhooks/greeting-webhook', payments.sends(body, Date.now()))).toBe(
      '200 {"status":"accepted"}',
    );
  expect(await post('/webhooks/chat', form.sends('text=a+b', Date.now()))).toBe('200 {"status":"accepted"}');
  await first.stop();
  const second = await world.start({ served });
  for (let n = 0; n < 2; n += 1)
    await posting(second.url)('/webhooks/greeting-webhook', payments.sends(body, Date.now()));
  const client = clientOf(second);
  const { items } = await client.list({ workflow: 'greeting' });
  const ends = await Promise.all(items.map(({ executionId }) => client.waitForEnd(executionId)));
  expect(Object.fromEntries(ends.map(({ output, tags }) => [tags?.['trigger'], output]))).toEqual({
    chat: { text: 'Hello, a b' },
    'greeting-webhook': { text: 'Hello, Zoë' },
  });
  expect(ends).toHaveLength(2);
});

it('gives a forger one answer, and writes nothing, with tokens and without', async () => {
  for (const tokens of [Tokens.none, Tokens.read('ann 0123456789abcdef0123')]) {
    const { url, answer } = await world.start({ served, tokens, file: `${world.file}${tokens.size}` });
    const post = posting(url);
    const sent = payments.sends('{"id":"e-1","name":"Ada"}', Date.now());
    const old = payments.sends(sent.body, Date.now() - 600_000);
    const path = '/webhooks/greeting-webhook';
    const forged: [string, Sent, string?][] = [
      [path, { ...sent, body: sent.body.replace('e-1', 'e-2') }],
      [path, { ...sent, headers: {} }],
      [path, old],
      ['/webhooks/nobodys', sent],
      ['/webhooks', sent],
      [path, sent, 'GET'],
      [path, sent, 'PUT'],
    ];
    for (const one of forged) expect(await post(...one)).toBe(REFUSED);
    expect(await answer({ path: '/executions?workflow=greeting' })).toMatchObject({ body: { items: [] } });
    const named = {
      ...sent,
      headers: { ...sent.headers, host: 'hooks.example', origin: 'https://else.example' },
    };
    expect(await post(path, named)).toMatch(/^200 /);
  }
});

it('refuses two of one name, and a path that no request has, at its start', async () => {
  const [one] = served.triggers;
  await expect(world.start({ served: { ...served, triggers: [one!, one!] } })).rejects.toThrow(
    "two triggers are named 'greeting-webhook'",
  );
  const other = onWebhook(greeting, { verify: payments.verify, input: { text: '$.headers.kind' } });
  await expect(world.start({ served: { ...served, triggers: [other] } })).rejects.toThrow(
    "'$.headers.kind' is not in events of this kind",
  );
});

it('refuses a body that says it is too long before it is sent, and one that is', async () => {
  const { url } = await world.start({ served });
  const says = await new Promise((resolve, reject) => {
    const headers = { 'content-length': MAX_WEBHOOK_BYTES + 1, expect: '100-continue' };
    const asked = request(`${url}/webhooks/chat`, { method: 'POST', headers }, ({ statusCode }) => {
      resolve(statusCode);
      asked.destroy();
    });
    asked.on('error', reject);
    asked.flushHeaders();
  });
  expect(says).toBe(413);
  const long = new ReadableStream({
    start: (out) => {
      for (let n = 0; n < 3; n += 1) out.enqueue(Buffer.alloc(100_000, 'x'));
      out.close();
    },
  });
  const init = { method: 'POST', body: long, duplex: 'half' } as RequestInit;
  expect((await fetch(`${url}/webhooks/nobodys`, init)).status).toBe(413);
});

it('keeps what it cannot start with its sender, and takes what is known', async () => {
  const { url } = await world.start({ served });
  const post = posting(url);
  const path = '/webhooks/greeting-webhook';
  const send = (body: string): Promise<string> => post(path, payments.sends(body, Date.now()));
  expect(await send('{"name":"Ada"}')).toMatch(/^422 .*bad-event/);
  expect(await send('{"id":"e-1","name":5}')).toMatch(/^422 .*bad-input/);
  expect(await send('{"id":"e-1","name":"Ada"}')).toMatch(/^200 /);
  // The id in the body says that it is the same event.
  expect(await send('{"id":"e-1","name":"Eve"}')).toMatch(/^200 /);
  const { items } = await clientOf({ url } as never).list({ workflow: 'greeting' });
  expect(items).toHaveLength(1);
  delete process.env['TEST_WEBHOOK_SECRET'];
  expect(await send('{"id":"e-2","name":"Ada"}')).toMatch(/^503 /);
});
