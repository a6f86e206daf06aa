/**
 * Tests what the workflow declares, and how it ends when services or processes fail, with the example's
 * world.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PermanentError, TransientError } from 'steadfast';
import { crashEverywhere, type WorldEffect, testWorkflow } from 'steadfast/testing';
import { handler as charge } from './agents/charge-card.ts';
import { handler as notify } from './agents/notify-customer.ts';
import { handler as reserve } from './agents/reserve-stock.ts';
import { handler as ship } from './agents/schedule-shipping.ts';
import {
  chargeCard,
  notifyCustomer,
  type Order,
  orderFulfilment,
  reserveStock,
  scheduleShipping,
} from './workflow.ts';
import type { OrderEntry as Entry } from './world.ts';
import { startWorld, type World } from '../world/server.ts';
import { DEEDS } from './world.ts';

const { plan } = orderFulfilment;
const agents = [charge, reserve, ship, notify];
const order: Order = {
  orderId: 'order-1',
  email: 'a@b.example',
  address: 'Somewhere 1',
  items: [{ sku: 'book', quantity: 1 }],
  total: 1_250,
};
const steps = plan.steps.filter((step) => step.kind === 'agent');

test('the card is charged and the stock reserved side by side; shipping waits for both, the mail for shipping', () => {
  const after = Object.fromEntries(plan.steps.map((step) => [step.name, [...step.after].sort()]));
  expect(after).toEqual({ charge: [], reserve: [], ship: ['charge', 'reserve'], notify: ['ship'] });
});

test('what follows a failure is the same agent with its reason, and nothing of the order itself', () => {
  expect(plan.onFailure).toMatchObject([{ name: 'tell-customer', agent: 'notify-customer', after: [] }]);
});

test('each service’s habits are declared: who deduplicates, who is asked, what cannot be undone', () => {
  const declared = steps.map((step) => [step.agent, step.effect, step.undo === 'none']);
  expect(declared).toEqual(
    expect.arrayContaining([
      ['charge-card', 'probed', false],
      ['reserve-stock', 'idempotent', false],
      ['schedule-shipping', 'probed', false],
      ['notify-customer', 'idempotent', true],
    ]),
  );
});

test('three refusals in a row are survived', () => {
  for (const step of steps) {
    expect(step.recovery).toEqual([{ kind: 'retry', attempts: 4, firstMs: 500, maxMs: 5_000 }]);
  }
});

test.each([
  ['a total that is not in cents', { total: 12.5 }],
  ['an empty order', { items: [] }],
  ['an order without an id', { orderId: '' }],
])('%s is refused', async (_, change) => {
  const { validate } = orderFulfilment.input['~standard'];
  expect((await validate(order)).issues).toBeUndefined();
  expect((await validate({ ...order, ...change })).issues).toHaveLength(1);
});

describe('with the handlers that are deployed, against the world', () => {
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

  const ledger = (): readonly Entry[] => [...world.ledger] as readonly Entry[];

  const news = (): (string | undefined)[] =>
    ledger()
      .filter(({ kind }) => kind === 'mail')
      .map(({ subject }) => subject);

  /** The effects in the world's ledger, and how often each was undone. */
  function effects(): readonly WorldEffect[] {
    const entries = ledger();
    return entries
      .filter(({ kind }) => ['charge', 'reservation', 'shipment', 'mail'].includes(kind))
      .map(({ id, kind, reference }) => ({
        key: reference,
        kind,
        undone: entries.filter((entry) => entry.of === id && entry.kind !== 'repeat').length,
      }));
  }

  test('an order is fulfilled', async () => {
    const trial = testWorkflow(orderFulfilment, { agents });
    const run = await trial.start(order);
    expect(await run.waitForEnd()).toMatchObject({
      status: 'succeeded',
      output: { chargeId: 'charge-1', trackingNumber: 'TRACK-3' },
    });
    expect(news()).toEqual(['on-its-way']);
  });

  test('an order that fails is undone, and then the customer is informed, once', async () => {
    const trial = testWorkflow(orderFulfilment, { agents });
    trial.fail(scheduleShipping, { times: 1, with: new PermanentError('no such address') });
    trial.loseReply(notifyCustomer);
    const run = await trial.start(order);
    expect((await run.waitForEnd()).status).toBe('compensated');
    const kinds = ledger().map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['charge', 'mail', 'refund', 'release', 'repeat', 'reservation']);
    expect(kinds.slice(-2)).toEqual(['mail', 'repeat']);
    expect(news()).toEqual(['not-fulfilled']);
  });

  test('a mail to the customer that fails does not change how the order ended', async () => {
    const trial = testWorkflow(orderFulfilment, { agents });
    trial.fail(scheduleShipping, { times: 1, with: new PermanentError('no such address') });
    trial.fail(notifyCustomer, { times: 1, with: new PermanentError('no such mailbox') });
    const run = await trial.start(order);
    expect((await run.waitForEnd()).status).toBe('compensated');
    expect(news()).toEqual([]);
  });

  test('a charge of which no answer came is found, not repeated', async () => {
    const trial = testWorkflow(orderFulfilment, { agents });
    trial.loseReply(chargeCard);
    const run = await trial.start(order);
    expect((await run.waitForEnd()).status).toBe('succeeded');
    expect(effects().filter(({ kind }) => kind === 'charge')).toHaveLength(1);
  });

  test('a warehouse that is away for four tries is waited for; a fifth time is one too many', async () => {
    const away = (times: number) => ({ times, with: new TransientError('503') });
    const patient = testWorkflow(orderFulfilment, { agents });
    patient.fail(reserveStock, away(4));
    expect((await (await patient.start(order)).waitForEnd()).status).toBe('succeeded');
    const tried = testWorkflow(orderFulfilment, { agents });
    tried.fail(reserveStock, away(5));
    expect((await (await tried.start(order)).waitForEnd()).status).toBe('compensated');
  });

  test('a mail that is declined refunds nothing', async () => {
    const trial = testWorkflow(orderFulfilment, { agents });
    trial.fail(notifyCustomer, { times: 1, with: new PermanentError('no such address') });
    const run = await trial.start(order);
    expect((await run.waitForEnd()).status).toBe('succeeded');
    expect(effects().map(({ kind, undone }) => [kind, undone])).toEqual([
      ['charge', 0],
      ['reservation', 0],
      ['shipment', 0],
    ]);
  });

  test('an order that is canceled while it is shipped leaves nothing behind', async () => {
    const trial = testWorkflow(orderFulfilment, { agents });
    trial.delay(scheduleShipping, { by: '10s' });
    const run = await trial.start(order);
    await trial.skip('5s');
    await run.cancel('the customer has called');
    expect((await run.waitForEnd()).status).toBe('canceled');
    expect(effects().map(({ kind, undone }) => [kind, undone])).toEqual([
      ['charge', 1],
      ['reservation', 1],
      ['shipment', 1],
      ['mail', 0],
    ]);
    expect(news()).toEqual(['not-fulfilled']);
  });

  test('a fault at any point loses and doubles nothing', async () => {
    const report = await crashEverywhere(orderFulfilment, { input: order, agents, effects });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
  });

  test('nor does one at any point of the way back', async () => {
    const report = await crashEverywhere(orderFulfilment, {
      input: order,
      agents,
      effects,
      scenario: (trial, input) => {
        trial.fail(scheduleShipping, { times: Infinity, with: new PermanentError('no such address') });
        return trial.start(input);
      },
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });
});
