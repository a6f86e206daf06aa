/**
 * Messages on the local cloud, with the deployed roles: sent by a client, a command, an event; early, late,
 * twice, after the end; and the notification of an end. No role needs a permission that it does not have.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../lib/client.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { createApp, PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { steadfast } from '../cli/fake-api.ts';
import type { mailed } from './mailed/workflow.ts';

const STACK = 'Mailed';
const folder = mkdtempSync(join(tmpdir(), 'steadfast-messages-'));
const denied: string[] = [];
let cloud: Cloud;
const client = () => createClient<{ mailed: typeof mailed }>({ url: cloud.apiUrl });

beforeAll(async () => {
  const outdir = join(folder, 'cdk.out');
  const app = createApp({ outdir, builtinCloudFormationValidation: false });
  const workflows = await discoverWorkflows({ root: PROJECT_ROOT, folders: ['test/e2e'], only: ['mailed'] });
  const secret = { kind: 'steadfast:secret', env: 'NEWS_KEY', parameter: '/shop/news' } as const;
  const stack = new SteadfastStack(app, STACK, { workflows, callbackUrls: { secret } });
  expect([...stack.steadfast.triggers.all.keys()]).toEqual(['mailed-queue', 'mailed-paid']);
  cloud = await startCloud({
    assembly: app.synth().directory,
    dataDir: join(folder, 'data'),
    fresh: true,
    port: 0,
    environment: { NEWS_KEY: 'a'.repeat(32) },
    onDenied: ({ message }) => denied.push(message),
  });
});
afterAll(async () => {
  await cloud.stop();
  rmSync(folder, { recursive: true, force: true });
  expect(denied).toEqual([]);
});

const queueOf = (part: string): string => {
  const path = `${STACK}/Steadfast/Triggers/${part}/Resource`;
  for (const { metadata, physicalName } of cloud.resources.values())
    if (metadata['aws:cdk:path'] === path) return physicalName;
  throw new Error(`no queue at ${path}`);
};

test('what a client sends is taken once each, early, late and twice, and is refused after the end', async () => {
  const { executionId } = await client().start('mailed', {
    input: { orderId: 'o-1' },
    idempotencyKey: 'o-1',
  });
  const early = await client().send({ executionId }, 'rated', 'good', { id: 'r-1' });
  expect(early).toMatchObject({ order: 1, id: 'r-1' });
  await expect(client().send({ executionId }, 'payed', 1)).rejects.toMatchObject({
    code: 'unknown-message',
    details: { messages: ['paid', 'rated'] },
  });
  await expect(client().send({ executionId }, 'paid', { amount: '7' })).rejects.toMatchObject({
    code: 'bad-message',
  });
  const paid = await client().send({ workflow: 'mailed', key: 'o-1' }, 'paid', { amount: 7 }, { id: 'p-1' });
  expect(await client().send({ executionId }, 'paid', { amount: 8 }, { id: 'p-1' })).toEqual(paid);
  const end = await client().waitForEnd(executionId);
  expect(end).toMatchObject({ status: 'succeeded', output: { shipped: 7, rated: 'good' } });
  expect(await client().send({ executionId }, 'rated', 'good', { id: 'r-1' })).toEqual(early);
  await expect(client().send({ executionId }, 'rated', 'better')).rejects.toMatchObject({ code: 'ended' });
});

test('the command sends as well', async () => {
  const { executionId } = await client().start('mailed', {
    input: { orderId: 'o-2' },
    idempotencyKey: 'o-2',
  });
  const send = (...args: string[]) => steadfast(['send', ...args, '--url', cloud.apiUrl]);
  expect((await send(executionId.slice(0, 12), 'paid', '--body', '{"amount":3}')).exitCode).toBe(0);
  const { out } = await send('mailed', 'rated', '--key', 'o-2', '--body', '"fine"', '--message-id', 'm-1');
  expect(out).toContain(`${executionId}  message 2 accepted, with the id m-1`);
  expect((await client().waitForEnd(executionId)).output).toEqual({ shipped: 3, rated: 'fine' });
  const late = await send(executionId, 'rated', '--body', '"late"');
  expect([late.exitCode, late.err]).toEqual([1, expect.stringContaining('no step of execution')]);
});

test('an event reaches the execution that another trigger has started, however often it is delivered', async () => {
  cloud.control.send(queueOf('mailed-queue/Queue'), JSON.stringify({ orderId: 'o-3' }));
  let id: string | undefined;
  while (id === undefined) {
    const { items } = await client().list({ workflow: 'mailed' });
    id = items.find(({ tags }) => tags?.['trigger'] === 'mailed-queue')?.executionId;
    await new Promise((done) => setTimeout(done, 100));
  }
  const detail = { orderId: 'o-3', amount: 9 };
  cloud.control.putEvent({ source: 'bank', detailType: 'Paid', detail });
  const event = cloud.control.events().find(({ detailType }) => detailType === 'Paid');
  cloud.control.send(queueOf('mailed-paid/Queue'), JSON.stringify({ id: event?.id, source: 'bank', detail }));
  const paid = async () => (await client().get(id ?? '')).steps.find(({ name }) => name === 'ship')?.status;
  while ((await paid()) !== 'done') await new Promise((done) => setTimeout(done, 200));
  expect((await client().send({ executionId: id }, 'rated', 'ok')).order).toBe(2);
  expect((await client().waitForEnd(id)).output).toEqual({ shipped: 9, rated: 'ok' });
});

test('its end goes to the address of its start on this machine, again until it is taken', async () => {
  const came: string[] = [];
  const untaken = [503];
  let noticed = (): void => undefined;
  const twice = new Promise<void>((both) => (noticed = () => came.length === 2 && both()));
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      came.push(body);
      response.writeHead(untaken.pop() ?? 204).end();
      noticed();
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  const { executionId } = await client().start('mailed', {
    input: { orderId: 'o-4' },
    callbackUrl: `http://127.0.0.1:${port}/news`,
  });
  await client().cancel(executionId);
  await twice;
  server.close();
  expect(new Set(came).size).toBe(1);
  expect(JSON.parse(came[0] ?? '')).toMatchObject({ detail: { executionId, status: 'canceled' } });
});
