import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Rule, RuleInput } from '../world/behaviour.ts';
import type { Entry } from '../world/ledger.ts';
import { startWorld, type World } from '../world/server.ts';
import { DEEDS } from './world.ts';

let folder: string;
let ledgerFile: string;
let world: World;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'world-'));
  ledgerFile = join(folder, 'ledger.jsonl');
  world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile });
});

afterEach(async () => {
  await world.stop();
  rmSync(folder, { recursive: true });
});

interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function ask(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Answered> {
  const response = await fetch(new URL(path, world.url), {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const idOf = ({ body }: Answered): string => String(body['id']);
const post = (path: string, body: unknown): Promise<Answered> => ask('POST', path, body);
const behave = (rule: RuleInput): Promise<Answered> => post('/behave', rule);

async function ledger(): Promise<Entry[]> {
  return (await ask('GET', '/ledger')).body['entries'] as Entry[];
}
const kinds = async (): Promise<string[]> => (await ledger()).map((entry) => entry.kind);
const rules = async (): Promise<Rule[]> => (await ask('GET', '/behave')).body['rules'] as Rule[];

const charge = { reference: 'r-1', amount: 500, orderId: 'order-1', executionId: 'x' };

describe('the services', () => {
  test('payment never deduplicates, is found by reference and records every refund', async () => {
    const first = await post('/payment/charges', charge);
    await post('/payment/charges', charge);
    await post(`/payment/charges/${idOf(first)}/refund`, undefined);
    await post(`/payment/charges/${idOf(first)}/refund`, undefined);
    expect(await ledger()).toMatchObject([
      { kind: 'charge', ...charge },
      { kind: 'charge', ...charge },
      { kind: 'refund', of: first.body['id'], ...charge },
      { kind: 'refund', of: first.body['id'], ...charge },
    ]);
    const found = await ask('GET', '/payment/charges?reference=r-1');
    expect(found.body['charges']).toMatchObject([{ undone: true }, { undone: false }]);
    expect((await ask('GET', '/payment/charges?reference=other')).body).toEqual({ charges: [] });
  });

  test('payment lets one authorisation of an order be open, and refuses and notes another', async () => {
    const first = await post('/payment/authorisations', charge);
    const path = `/payment/authorisations/${idOf(first)}`;
    expect((await post('/payment/authorisations', { ...charge, reference: 'r-2' })).status).toBe(402);
    expect((await post('/payment/authorisations', { ...charge, orderId: 'order-2' })).status).toBe(201);
    const capture = { ...charge, reference: 'r-3', authorisationId: idOf(first) };
    expect((await post('/payment/charges', { ...capture, orderId: 'order-2' })).status).toBe(402);
    expect((await post('/payment/charges', capture)).status).toBe(201);
    expect((await post('/payment/charges', capture)).status).toBe(402);
    expect((await post(`${path}/void`, undefined)).status).toBe(409);
    expect((await ask('GET', '/payment/authorisations?reference=r-1')).body['authorisations']).toMatchObject([
      { captured: true, undone: false },
      { captured: false },
    ]);
    expect((await ask('GET', '/payment/charges?orderId=order-1')).body['charges']).toMatchObject([
      { authorisationId: idOf(first) },
    ]);
    const again = await post('/payment/authorisations', charge);
    await post(`/payment/authorisations/${idOf(again)}/void`, undefined);
    expect((await post('/payment/authorisations', charge)).status).toBe(201);
    expect((await ledger()).map(({ kind, why }) => (why === undefined ? kind : `${kind}: ${why}`))).toEqual([
      'authorisation',
      'breach: authorisation-1 of the same order is open',
      'authorisation',
      'breach: authorisation-1 is no open authorisation of this order',
      'charge',
      'breach: authorisation-1 is no open authorisation of this order',
      'authorisation',
      'void',
      'authorisation',
    ]);
  });

  test('the warehouse reserves and releases once per key, and a released key is used up', async () => {
    const input = { key: 'k-1', items: [{ sku: 'book', quantity: 1 }], orderId: 'order-1' };
    const first = await post('/warehouse/reservations', input);
    const again = await post('/warehouse/reservations', input);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body['id']).toBe(first.body['id']);
    expect((await ask('DELETE', '/warehouse/reservations?key=k-1')).body).toEqual({ undone: true });
    expect((await ask('DELETE', '/warehouse/reservations?key=k-1')).body).toEqual({ undone: false });
    expect((await ask('DELETE', '/warehouse/reservations?key=never')).body).toEqual({ undone: false });
    expect((await post('/warehouse/reservations', input)).status).toBe(409);
    expect(await kinds()).toEqual(['reservation', 'repeat', 'release', 'repeat']);
  });

  test('the carrier books per request, is found by reference and cancels a shipment once', async () => {
    const first = await post('/carrier/shipments', { reference: 'r-1' });
    await post('/carrier/shipments', { reference: 'r-1' });
    await post(`/carrier/shipments/${idOf(first)}/cancel`, undefined);
    await post(`/carrier/shipments/${idOf(first)}/cancel`, undefined);
    expect(await kinds()).toEqual(['shipment', 'shipment', 'cancellation']);
    const found = await ask('GET', '/carrier/shipments?reference=r-1');
    expect(found.body['shipments']).toMatchObject([
      { undone: true, trackingNumber: 'TRACK-1' },
      { undone: false, trackingNumber: 'TRACK-2' },
    ]);
  });

  test('mail is sent once per key', async () => {
    await post('/mail/mails', { key: 'k-1', to: 'a@b.example' });
    await post('/mail/mails', { key: 'k-1', to: 'a@b.example' });
    expect(await kinds()).toEqual(['mail', 'repeat']);
  });

  test('a key stands for one request: another one under it is refused, and noted', async () => {
    await post('/mail/mails', { key: 'k-1', to: 'a@b.example' });
    expect((await post('/mail/mails', { key: 'k-1', to: 'c@d.example' })).status).toBe(422);
    expect(await kinds()).toEqual(['mail', 'misuse']);
  });

  test('what nobody understands is refused and not done', async () => {
    expect((await post('/payment/charges', { amount: 1 })).status).toBe(400);
    expect((await ask('GET', '/payment/charges')).status).toBe(400);
    expect((await post('/payment/charges/charge-9/refund', undefined)).status).toBe(404);
    expect((await post('/payment/elsewhere', {})).status).toBe(501);
    expect(await post('/behave', { mode: 'nap' })).toMatchObject({
      status: 400,
      body: {
        error: { message: expect.stringMatching(/^service: expected string; mode: allowed: slow, /u) },
      },
    });
    expect((await post('/behave', { service: 'pay', mode: 'hang' })).body).toEqual({
      error: { message: "there is no service 'pay', only payment, warehouse, carrier, mail" },
    });
    expect((await ask('DELETE', '/mail/mails?key=k-1')).status).toBe(501);
    expect((await post('/carrier/shipments/shipment-1/refund', undefined)).status).toBe(501);
    expect(await ledger()).toEqual([]);
  });
});

describe('the ledger', () => {
  test('survives a restart, and a last line torn by a kill never happened', async () => {
    await post('/payment/charges', charge);
    await world.stop();
    appendFileSync(ledgerFile, '{"seq":2,"kind":"cha');
    world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile });
    expect(await kinds()).toEqual(['charge']);
    await post('/payment/charges', charge);
    const lines = readFileSync(ledgerFile, 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as Entry).seq)).toEqual([1, 2]);
  });
});

describe('misbehaviour', () => {
  test('unavailable: so many 503s, nothing done, then business as usual', async () => {
    await behave({ service: 'payment', mode: 'unavailable', times: 2, retryAfter: 3 });
    const response = await fetch(`${world.url}/payment/charges`, {
      method: 'POST',
      body: JSON.stringify(charge),
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '3']);
    expect((await post('/payment/charges', charge)).status).toBe(503);
    expect(await ledger()).toEqual([]);
    expect((await post('/payment/charges', charge)).status).toBe(201);
    expect(await rules()).toMatchObject([{ fired: 2 }]);
  });

  test('decline: 402 of the payment service, 422 of the others, for good', async () => {
    await behave({ service: 'payment', mode: 'decline' });
    await behave({ service: 'carrier', mode: 'decline' });
    expect((await post('/payment/charges', charge)).status).toBe(402);
    expect((await post('/payment/charges', charge)).status).toBe(402);
    expect((await post('/carrier/shipments', { reference: 'r' })).status).toBe(422);
    expect(await ledger()).toEqual([]);
  });

  test('drop-reply: done, but no answer is sent', async () => {
    await behave({ service: 'payment', mode: 'drop-reply', times: 1 });
    await expect(post('/payment/charges', charge)).rejects.toThrow('fetch failed');
    expect(await kinds()).toEqual(['charge']);
  });

  test('hang: not done and never answered', async () => {
    await behave({ service: 'mail', mode: 'hang' });
    const giveUp = new AbortController();
    const asked = ask('POST', '/mail/mails', { key: 'k' }, giveUp.signal);
    const gaveUp = expect(asked).rejects.toThrow('aborted');
    while ((await rules())[0]?.fired !== 1);
    giveUp.abort();
    await gaveUp;
    expect(await ledger()).toEqual([]);
  });

  test('slow and slow-reply: done late, or done at once and answered late', async () => {
    await behave({ service: 'warehouse', mode: 'slow', ms: 5 });
    expect((await post('/warehouse/reservations', { key: 'k' })).status).toBe(201);
    await behave({ service: 'mail', mode: 'slow-reply', ms: 600_000 });
    const giveUp = new AbortController();
    const asked = ask('POST', '/mail/mails', { key: 'k' }, giveUp.signal);
    const gaveUp = expect(asked).rejects.toThrow('aborted');
    while (!(await kinds()).includes('mail'));
    giveUp.abort();
    await gaveUp;
  });

  test('applies to the order, the reference and the action it names; queries and undo pass otherwise', async () => {
    await behave({ service: 'payment', mode: 'decline', match: { about: 'order-2' } });
    await behave({ service: 'payment', mode: 'decline', match: { reference: 'special' } });
    await behave({ service: 'payment', mode: 'unavailable', match: { action: 'refund' }, times: 1 });
    const first = await post('/payment/charges', charge);
    expect(first.status).toBe(201);
    expect((await post('/payment/charges', { ...charge, orderId: 'order-2' })).status).toBe(402);
    expect((await post('/payment/charges', { ...charge, reference: 'a special one' })).status).toBe(402);
    expect((await ask('GET', '/payment/charges?reference=r-1')).status).toBe(200);
    expect((await post(`/payment/charges/${idOf(first)}/refund`, undefined)).status).toBe(503);
    expect((await post(`/payment/charges/${idOf(first)}/refund`, undefined)).status).toBe(201);
  });

  test('is forgotten on request', async () => {
    await behave({ service: 'payment', mode: 'decline' });
    await ask('DELETE', '/behave');
    expect((await post('/payment/charges', charge)).status).toBe(201);
  });
});
