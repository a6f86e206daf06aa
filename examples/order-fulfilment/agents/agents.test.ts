import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AttemptContext, PermanentError, TransientError } from 'steadfast';
import type { RuleInput } from '../../world/behaviour.ts';
import type { OrderEntry as Entry } from '../world.ts';
import { startWorld, type World } from '../../world/server.ts';
import { DEEDS } from '../world.ts';
import * as authoriseCard from './authorise-card.ts';
import * as chargeCard from './charge-card.ts';
import * as notifyCustomer from './notify-customer.ts';
import * as reserveStock from './reserve-stock.ts';
import * as scheduleShipping from './schedule-shipping.ts';

let folder: string;
let world: World;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'world-'));
  world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile: join(folder, 'ledger.jsonl') });
  process.env['WORLD_URL'] = world.url;
});

afterEach(async () => {
  delete process.env['WORLD_URL'];
  await world.stop();
  rmSync(folder, { recursive: true });
});

const ctx: AttemptContext = {
  executionId: 'x',
  step: 's',
  attempt: 1,
  idempotencyKey: 'x/s',
  timeLeftMs: () => 20_000,
  signal: new AbortController().signal,
  progress: () => {},
  log: console,
};

const behave = (rule: RuleInput): Promise<unknown> =>
  fetch(`${world.url}/behave`, { method: 'POST', body: JSON.stringify(rule) });

async function entries(): Promise<Entry[]> {
  const response = await fetch(`${world.url}/ledger`);
  return ((await response.json()) as { entries: Entry[] }).entries;
}

async function ledger(): Promise<string[]> {
  return (await entries()).map(({ kind, of }) => (of === undefined ? kind : `${kind} of ${of}`));
}

const order = { orderId: 'order-1', amount: 1_250 };
const goods = { orderId: 'order-1', items: [{ sku: 'book', quantity: 1 }] };
const parcel = { orderId: 'order-1', reservationId: 'reservation-1', address: 'Somewhere 1' };
const note = { orderId: 'order-1', email: 'a@b.example', trackingNumber: 'TRACK-1' };

describe('charge-card', () => {
  test('charges, and its probe finds the charge by the idempotency key', async () => {
    expect(await chargeCard.probe(ctx)).toEqual({ verdict: 'not-done' });
    const output = await chargeCard.execute(ctx, order);
    expect(await chargeCard.probe(ctx)).toEqual({ verdict: 'done', output });
    expect(await chargeCard.probe({ ...ctx, idempotencyKey: 'y/s' })).toEqual({ verdict: 'not-done' });
  });

  test('a lost answer is unknown, and the probe settles it', async () => {
    await behave({ service: 'payment', mode: 'drop-reply' });
    const attempt = chargeCard.execute(ctx, order);
    await expect(attempt).rejects.toThrow('fetch failed');
    await expect(attempt).rejects.not.toBeInstanceOf(TransientError);
    expect(await chargeCard.probe(ctx)).toEqual({ verdict: 'done', output: { chargeId: 'charge-1' } });
  });

  test('a declined card is permanent, an unavailable service is not', async () => {
    await behave({ service: 'payment', mode: 'unavailable', times: 1 });
    await behave({ service: 'payment', mode: 'decline' });
    await expect(chargeCard.execute(ctx, order)).rejects.toBeInstanceOf(TransientError);
    await expect(chargeCard.execute(ctx, order)).rejects.toBeInstanceOf(PermanentError);
    expect(await ledger()).toEqual([]);
  });

  test('undo gives back every charge, once, however often it is called and interrupted', async () => {
    await chargeCard.undo(ctx);
    await chargeCard.execute(ctx, order);
    await chargeCard.execute(ctx, order);
    await behave({ service: 'payment', mode: 'drop-reply', times: 1, match: { action: 'refund' } });
    await expect(chargeCard.undo(ctx)).rejects.toThrow('fetch failed');
    await chargeCard.undo(ctx);
    await chargeCard.undo(ctx);
    expect(await ledger()).toEqual(['charge', 'charge', 'refund of charge-1', 'refund of charge-2']);
  });
});

describe('authorise-card', () => {
  test('authorises, is found by its probe, and voids once what is open', async () => {
    expect(await authoriseCard.probe(ctx)).toEqual({ verdict: 'not-done' });
    const output = await authoriseCard.execute(ctx, order);
    expect(await authoriseCard.probe(ctx)).toEqual({ verdict: 'done', output });
    await authoriseCard.undo(ctx);
    await authoriseCard.undo(ctx);
    expect(await ledger()).toEqual(['authorisation', 'void of authorisation-1']);
  });

  test('what is captured is not voided, and an order that is paid is not authorised', async () => {
    const { authorisationId = '' } = await authoriseCard.execute(ctx, order);
    await chargeCard.execute({ ...ctx, idempotencyKey: 'x/c' }, { ...order, authorisationId });
    await authoriseCard.undo(ctx);
    expect(await authoriseCard.execute({ ...ctx, idempotencyKey: 'y/s' }, order)).toEqual({});
    expect(await ledger()).toEqual(['authorisation', 'charge']);
    await chargeCard.undo({ ...ctx, idempotencyKey: 'x/c' });
    expect(await authoriseCard.execute({ ...ctx, idempotencyKey: 'y/s' }, order)).toEqual({
      authorisationId: 'authorisation-4',
    });
  });
});

describe('reserve-stock', () => {
  test('asking again with the same key is safe and gives the same answer', async () => {
    const output = await reserveStock.execute(ctx, goods);
    expect(await reserveStock.execute({ ...ctx, attempt: 2 }, goods)).toEqual(output);
    expect(await ledger()).toEqual(['reservation', 'repeat of reservation-1']);
  });

  test('undo releases once, and bears that there is nothing to release', async () => {
    await reserveStock.undo(ctx);
    await reserveStock.execute(ctx, goods);
    await reserveStock.undo(ctx);
    await reserveStock.undo(ctx);
    expect(await ledger()).toEqual(['reservation', 'release of reservation-1']);
    await expect(reserveStock.execute(ctx, goods)).rejects.toBeInstanceOf(PermanentError);
  });
});

describe('schedule-shipping', () => {
  test('books, is found by its probe, and cancels once', async () => {
    expect(await scheduleShipping.probe(ctx)).toEqual({ verdict: 'not-done' });
    const output = await scheduleShipping.execute(ctx, parcel);
    expect(output).toEqual({ shipmentId: 'shipment-1', trackingNumber: 'TRACK-1' });
    expect(await scheduleShipping.probe(ctx)).toEqual({ verdict: 'done', output });
    await scheduleShipping.undo(ctx);
    await scheduleShipping.undo(ctx);
    expect(await ledger()).toEqual(['shipment', 'cancellation of shipment-1']);
  });

  test('undo bears that nothing was booked', async () => {
    await scheduleShipping.undo(ctx);
    expect(await ledger()).toEqual([]);
  });
});

describe('notify-customer', () => {
  test('asking again with the same key sends nothing more', async () => {
    const output = await notifyCustomer.execute(ctx, note);
    expect(await notifyCustomer.execute(ctx, note)).toEqual(output);
    expect(await ledger()).toEqual(['mail', 'repeat of mail-1']);
  });

  test('says which news it is: on its way, or not fulfilled', async () => {
    const { trackingNumber: _, ...whom } = note;
    await notifyCustomer.execute(ctx, note);
    await notifyCustomer.execute({ ...ctx, idempotencyKey: 'x/t' }, { ...whom, reason: 'no such address' });
    expect((await entries()).map(({ subject }) => subject)).toEqual(['on-its-way', 'not-fulfilled']);
  });
});
