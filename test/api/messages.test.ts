/**
 * Messages over HTTP: sending by id or by key, each refusal's code, the same answer to a repeated request.
 */

import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { anyObject as input } from '../engine/harness.ts';
import { type Answer, type Client, client } from './app.ts';

const receives = workflow('receives', { input, within: '3h' }, (w) => {
  const paid = w.receive('paid', { message: z.object({ amount: z.number() }), within: '1h' });
  w.receive('rated', { message: z.unknown(), within: '1h', after: [paid] });
  return { amount: paid.output.amount };
}) as Workflow;

async function begun(): Promise<{ c: Client; id: string; send: (body: unknown) => Promise<Answer> }> {
  const c = client(undefined, undefined, receives);
  const id = await c.begun({ input: {}, idempotencyKey: 'o-1' });
  return { c, id, send: (body) => c.post(`/executions/${id}/messages`, body) };
}

const errorOf = ({ status, body }: Answer): unknown => ({ status, ...(body['error'] as object) });

it('is accepted by the id of the execution or by its key, and taken', async () => {
  const { c, id, send } = await begun();
  const first = await send({ name: 'paid', body: { amount: 3 }, id: 'payment-1' });
  expect(first).toMatchObject({
    status: 202,
    body: { executionId: id, id: 'payment-1', order: 1, at: c.clock.now() },
  });
  expect(await send({ name: 'paid', body: { amount: 3 }, id: 'payment-1' })).toEqual(first);
  const byKey = await c.post('/workflows/receives/messages', { key: 'o-1', name: 'rated' });
  expect(byKey).toMatchObject({ status: 202, body: { executionId: id, order: 2 } });
  const { body } = await c.get(`/executions/${id}`);
  expect(body).toMatchObject({ status: 'succeeded', output: { amount: 3 } });
});

it('starts the execution of its key if none exists, with the input that it brings', async () => {
  const { c } = await begun();
  const body = {
    key: 'o-7',
    name: 'paid',
    body: { amount: 3 },
    startWith: { input: { n: 1 }, tags: { a: 'b' } },
  };
  const first = await c.post('/workflows/receives/messages', body);
  expect(first).toMatchObject({ status: 202, body: { order: 1 } });
  const shown = (await c.get(`/executions/${String(first.body['executionId'])}`)).body;
  expect(shown).toMatchObject({ status: 'running', input: { n: 1 }, tags: { a: 'b' } });
  const second = { ...body, name: 'rated', startWith: { input: { n: 2 } } };
  expect((await c.post('/workflows/receives/messages', second)).body).toMatchObject({
    executionId: first.body['executionId'],
    order: 2,
  });
  const wrong = { ...body, startWith: { input: {}, idempotencyKey: 'x' } };
  expect(errorOf(await c.post('/workflows/receives/messages', wrong))).toMatchObject({
    status: 400,
    code: 'bad-request',
  });
});

it('is another message at each call without an id', async () => {
  const { c, id, send } = await begun();
  await c.post(`/executions/${id}/pause`, {});
  const ids = [await send({ name: 'rated' }), await send({ name: 'rated' })].map(({ body }) => body['id']);
  expect(new Set(ids).size).toBe(2);
  expect(h(c, id).map(({ body, order }) => [body, order])).toEqual([
    [null, 1],
    [null, 2],
  ]);
});

const h = (c: Client, id: string) => c.store.mailboxes.messagesOf(id);

it.each([
  [{ name: 'payed' }, 400, 'unknown-message', { messages: ['paid', 'rated'] }],
  [{ name: 'paid', body: { amount: 'x' } }, 400, 'bad-message', { issues: [expect.anything()] }],
  [{ name: 'paid', text: 1 }, 400, 'bad-request', undefined],
  [{ body: 1 }, 400, 'bad-request', undefined],
  [{ name: 'paid', id: '' }, 400, 'bad-request', undefined],
  [{ name: 'paid', id: 'x'.repeat(201) }, 400, 'bad-request', undefined],
  [{ name: 'rated', body: 'x'.repeat(210_000) }, 413, 'too-large', undefined],
  [{ name: 'rated', key: 'o-1' }, 400, 'bad-request', undefined],
])('%j is refused, and nothing is kept', async (body, status, code, details) => {
  const { c, id, send } = await begun();
  const refused = errorOf(await send(body));
  expect(refused).toMatchObject({ status, code, ...(details === undefined ? {} : { details }) });
  expect(h(c, id)).toEqual([]);
});

it('is refused for an execution that is not there, or is over', async () => {
  const { c, id, send } = await begun();
  const message = { name: 'paid', body: { amount: 1 } };
  for (const [path, body, code] of [
    ['/executions/e-9/messages', message, 'unknown-execution'],
    ['/workflows/receives/messages', { ...message, key: 'o-2' }, 'unknown-execution'],
    ['/workflows/other/messages', { ...message, key: 'o-1' }, 'unknown-workflow'],
  ] as const)
    expect(errorOf(await c.post(path, body))).toMatchObject({ status: 404, code });
  await c.post(`/executions/${id}/cancel`, {});
  expect(errorOf(await send(message))).toMatchObject({
    status: 409,
    code: 'ended',
    details: { status: expect.any(String) },
  });
});
