/** The header with the idempotency key: which key each request of an agent has there. */

import type { HttpAnswer } from '../../lib/index.ts';
import { called, charging, gives, outcomeIn, type Service, startService } from './service.ts';

let service: Service;
const KEY = 'e.charge.1';
const output = ({ body }: HttpAnswer) => ({ paymentId: body('id') });
beforeAll(async () => {
  service = await startService(gives(200, '{"id":"p-1"}'));
});
beforeEach(() => {
  service.asked.length = 0;
});
afterAll(() => service.stop());

const keysSent = (header: string): unknown[] => service.asked.map(({ headers }) => headers[header]);

it('is the one that is named; an undo has a key of its own in it', async () => {
  const options = charging(service.url, { idempotencyKey: 'X-Request-Key' });
  for (const call of ['execute', 'probe', 'undo'] as const) await called(options, { call });
  expect(keysSent('x-request-key')).toEqual([KEY, KEY, `${KEY}.undo`]);
  expect(service.asked.map(({ path }) => path)).toEqual(['/charges', `/charges/${KEY}`, `/charges/${KEY}`]);
});

it('S10 lets each request act on a service that acts once for a key', async () => {
  const known = new Map<string, string>();
  const acts: string[] = [];
  service.answer = (response, asked) => {
    const path = String(asked.path);
    const { 'idempotency-key': key = path } = asked.headers;
    if (!known.has(String(key))) acts.push(path);
    known.set(String(key), known.get(String(key)) ?? JSON.stringify({ id: path }));
    gives(200, known.get(String(key)))(response, asked);
  };
  const post = { method: 'POST', url: service.url } as const;
  const options = charging(service.url, {
    execute: { ...post, path: ['charges'], output },
    probe: ({ idempotencyKey }) => ({ ...post, path: ['searches', idempotencyKey], output }),
    undo: ({ input }) => ({ ...post, path: ['refunds'], body: { amount: input.amount } }),
  });
  for (const call of ['probe', 'execute', 'execute', 'undo', 'undo'] as const)
    expect(outcomeIn(await called(options, { call }))).toBe(call === 'undo' ? 'compensated' : 'done');
  expect(acts).toEqual([`/searches/${KEY}`, '/charges', '/refunds']);
});

it('is as its author writes it, except with the request that the key stands for', async () => {
  service.answer = gives(200, '{"id":"p-1"}');
  const post = { method: 'POST', url: service.url } as const;
  const options = charging(service.url, {
    execute: { ...post, headers: { 'Idempotency-Key': 'mine' }, output },
    undo: ({ idempotencyKey }) => ({ ...post, headers: { 'Idempotency-Key': idempotencyKey } }),
  });
  for (const call of ['execute', 'undo'] as const) await called(options, { call });
  expect(keysSent('idempotency-key')).toEqual([KEY, KEY]);
});
