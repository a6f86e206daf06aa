/**
 * Messages to executions through `serve`: sent early, late, twice and after the end; they survive a restart.
 */

import * as z from 'zod/mini';
import type { AgentHandler } from '../../lib/agent/handler.ts';
import { ApiError, type Client, createClient } from '../../lib/client.ts';
import { agent, onWebhook, workflow } from '../../lib/index.ts';
import type { Server } from '../../serve/server.ts';
import type { Served } from '../../serve/workflows.ts';
import { SECRET, SENDERS } from '../webhooks/senders.ts';
import { type TestServer, testServer } from './served.ts';

const order = z.object({ orderId: z.string() });
const Paid = z.object({ amount: z.number() });
const ship = agent('ship', { input: Paid, output: Paid, effect: 'idempotent', undo: 'none' });

const shop = workflow('shop', { input: order, within: '1d' }, (w) => {
  const paid = w.receive('paid', { message: Paid, within: '2h' });
  const shipped = w.step('ship', ship, { amount: paid.output.amount });
  const rated = w.receive('rated', {
    message: z.string(),
    within: '2h',
    otherwise: 'continue',
    after: [shipped],
  });
  return { amount: shipped.output.amount, rated: rated.output };
});

const handler: AgentHandler = ship.handler({ execute: async (_, { amount }) => ({ amount }) });
const served: Served = {
  workflows: [shop],
  agents: new Map([['ship', { worker: handler.worker, isIsolated: false }]]),
  triggers: [],
  forms: {},
  warnings: [],
};
const clientOf = ({ url }: Server): Client<{ shop: typeof shop }> => createClient({ url, retryForMs: 5_000 });

let tested: TestServer;
beforeEach(() => {
  tested = testServer();
});
afterEach(() => tested.end());

it('takes what was sent early, late and twice, once each, and refuses what comes after the end', async () => {
  const client = clientOf(await tested.start({ served }));
  const input = { orderId: 'o-1' };
  const { executionId } = await client.start('shop', { input, idempotencyKey: 'o-1' });
  const early = await client.send({ executionId }, 'rated', 'good', { id: 'r-1' });
  expect(early).toMatchObject({ executionId, id: 'r-1', order: 1 });
  const paid = await client.send({ workflow: 'shop', key: 'o-1' }, 'paid', { amount: 7 }, { id: 'p-1' });
  expect(paid).toMatchObject({ executionId, order: 2 });
  expect(await client.send({ executionId }, 'paid', { amount: 8 }, { id: 'p-1' })).toEqual(paid);
  const end = await client.waitForEnd(executionId);
  expect(end).toMatchObject({ status: 'succeeded', output: { amount: 7, rated: 'good' } });
  expect(await client.send({ executionId }, 'paid', { amount: 7 }, { id: 'p-1' })).toEqual(paid);
  const late = client.send({ executionId }, 'paid', { amount: 9 });
  await expect(late).rejects.toMatchObject({ code: 'ended', status: 409 });
  await expect(late).rejects.toBeInstanceOf(ApiError);
});

it('takes the signed request of a third party, once, however often it is sent', async () => {
  process.env['TEST_WEBHOOK_SECRET'] = SECRET;
  const { payments } = SENDERS;
  const paid = onWebhook(shop, {
    verify: payments.verify,
    send: 'paid',
    key: '$.body.order',
    message: { amount: '$.body.amount' },
  });
  const server = await tested.start({ served: { ...served, triggers: [paid] } });
  const client = clientOf(server);
  const input = { orderId: 'o-3' };
  const { executionId } = await client.start('shop', { input, idempotencyKey: 'o-3' });
  for (let sent = 0; sent < 3; sent += 1) {
    const { headers, body } = payments.sends('{"order":"o-3","amount":5}', Date.now());
    const answer = await fetch(`${server.url}/webhooks/shop-paid`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
  }
  expect((await client.send({ executionId }, 'rated', 'ok')).order).toBe(2);
  expect(await client.waitForEnd(executionId)).toMatchObject({ output: { amount: 5, rated: 'ok' } });
  delete process.env['TEST_WEBHOOK_SECRET'];
});

it('has what was sent before a stop, and before the turn of its step', async () => {
  const first = await tested.start({ served });
  const { executionId } = await clientOf(first).start('shop', { input: { orderId: 'o-2' } });
  await clientOf(first).send({ executionId }, 'rated', 'fine');
  await first.stop();
  const client = clientOf(await tested.start({ served }));
  await client.send({ executionId }, 'paid', { amount: 1 });
  expect(await client.waitForEnd(executionId)).toMatchObject({ output: { amount: 1, rated: 'fine' } });
});
