/**
 * Runs the preorder with the deployed handlers, at a payment service that notices two authorisations of one
 * order, even from different executions.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PermanentError } from 'steadfast';
import {
  crashEverywhere,
  type CrashReport,
  type WorldEffect,
  type TestRun,
  testWorkflow,
  type WorkflowTest,
} from 'steadfast/testing';
import { startWorld, type World } from '../world/server.ts';
import * as authoriseAgent from './agents/authorise-card.ts';
import { handler as charge } from './agents/charge-card.ts';
import { handler as notify } from './agents/notify-customer.ts';
import { handler as reserve } from './agents/reserve-stock.ts';
import { handler as ship } from './agents/schedule-shipping.ts';
import { audit, type Finding } from './audit.ts';
import { authoriseCard, chargeCard, type Order, preorder, scheduleShipping } from './workflow.ts';
import { DEEDS, type OrderEntry as Entry } from './world.ts';

const order: Order = {
  orderId: 'order-1',
  email: 'a@b.example',
  address: 'Somewhere 1',
  items: [{ sku: 'book', quantity: 1 }],
  total: 1_250,
};
/** The latest order: each run of a test gets a new one. */
const latest = { orders: 1, orderId: order.orderId };
/** Idempotency keys for which the order was found to be paid. */
const foundPaid = new Set<string>();
const authorise = authoriseCard.handler({
  probe: authoriseAgent.probe,
  undo: authoriseAgent.undo,
  execute: async (ctx, input) => {
    const output = await authoriseAgent.execute(ctx, input);
    if (output.authorisationId === undefined) foundPaid.add(ctx.idempotencyKey);
    return output;
  },
});
const agents = [authorise, charge, notify, reserve, ship];
const CAPTURED = ['authorisation', 'reservation', 'shipment', 'charge', 'mail'];

let folder: string;
let world: World;

beforeEach(async () => {
  foundPaid.clear();
  Object.assign(latest, { orders: 1, orderId: order.orderId });
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

const kinds = (): string[] => ledger().map(({ kind }) => kind);

/**
 * The effects that took place, and how often each was undone. A captured authorisation remains; an order that
 * was found paid has one as well.
 */
function effects(): readonly WorldEffect[] {
  const entries = ledger().filter(({ orderId }) => orderId === latest.orderId);
  const found = [...foundPaid].map((key) => ({ key, kind: 'authorisation', undone: 0 }));
  const done = entries
    .filter(({ kind }) => CAPTURED.includes(kind) || kind === 'breach')
    .map(({ id, kind, reference }) => ({
      key: reference,
      kind,
      undone: entries.filter((entry) => entry.of === id && entry.kind !== 'repeat').length,
    }));
  return [...done, ...found];
}

/** Starts two executions of one order at once. A person releases the goods of each, if it asks. */
async function startedTwice(trial: WorkflowTest<Order>, input: Order): Promise<readonly TestRun[]> {
  const runs = [await trial.start(input, { idempotencyKey: 'the first' }), await trial.start(input)];
  for (const run of runs) await run.approve('release');
  return runs;
}

async function findingsAfter(runs: readonly TestRun[]): Promise<readonly Finding[]> {
  const ended = [];
  for (const run of runs) {
    const { status, steps } = await run.waitForEnd();
    const named = Object.entries(steps).map(([name, step]) => ({ name, status: step.status }));
    ended.push({ executionId: run.id, status, steps: named });
  }
  return audit(ledger(), ended).findings;
}

test('the card is authorised now, and charged when the goods have left', async () => {
  const run = await testWorkflow(preorder, { agents }).start(order);
  await run.waitForQuestion('release');
  expect(kinds()).toEqual(['authorisation']);
  await run.approve('release');
  expect(await run.waitForEnd()).toMatchObject({
    status: 'succeeded',
    output: { trackingNumber: 'TRACK-3' },
  });
  expect(kinds()).toEqual(CAPTURED);
});

test('an authorisation that is not released in time is voided, and the customer is informed', async () => {
  const trial = testWorkflow(preorder, { agents });
  trial.loseReply(authoriseCard);
  expect((await (await trial.start(order)).waitForEnd()).failure?.code).toBe('rejected');
  const run = await trial.start(order);
  await run.waitForQuestion('release');
  await run.reject('release', { reason: 'the goods are damaged' });
  expect((await run.waitForEnd()).status).toBe('compensated');
  expect(kinds()).toEqual(['authorisation', 'void', 'mail', 'authorisation', 'void', 'mail']);
});

test('an order whose capture is declined is not shipped, and its authorisation is voided', async () => {
  const trial = testWorkflow(preorder, { agents });
  trial.fail(chargeCard, { times: 1, with: new PermanentError('the card is blocked') });
  const run = await trial.start(order);
  await run.approve('release');
  expect((await run.waitForEnd()).status).toBe('compensated');
  expect(effects().map(({ kind, undone }) => [kind, undone])).toEqual([
    ['authorisation', 1],
    ['reservation', 1],
    ['shipment', 1],
    ['mail', 0],
  ]);
});

describe('an order that is started twice', () => {
  test('is authorised, charged and shipped once: the later execution finds it paid', async () => {
    const runs = await startedTwice(testWorkflow(preorder, { agents }), order);
    expect(await findingsAfter(runs)).toEqual([]);
    expect(kinds()).toEqual(CAPTURED);
    expect((await runs[1]?.waitForEnd())?.output).toEqual({ trackingNumber: 'paid before' });
  });

  test('is authorised anew when the first one was taken back', async () => {
    const trial = testWorkflow(preorder, { agents });
    trial.fail(scheduleShipping, { times: 1, with: new PermanentError('no such address') });
    expect(await findingsAfter(await startedTwice(trial, order))).toEqual([]);
    expect(kinds().filter((kind) => kind === 'authorisation' || kind === 'void')).toEqual([
      'authorisation',
      'void',
      'authorisation',
    ]);
  });

  test('without the lane has two authorisations open at once: the service and the audit find it', async () => {
    const lane = preorder.plan.steps.find(({ kind }) => kind === 'lane');
    const steps = preorder.plan.steps
      .filter((step) => step !== lane)
      .map((step) => ({ ...step, after: step.after.filter((name) => name !== lane?.name) }));
    const unguarded = { ...preorder, plan: { ...preorder.plan, steps } } as typeof preorder;
    const found = await findingsAfter(await startedTwice(testWorkflow(unguarded, { agents }), order));
    expect(found).toContainEqual(expect.objectContaining({ kind: 'breach', effect: 'authorisation' }));
  });
});

describe('a fault at any point loses and doubles nothing, and never has two authorisations open:', () => {
  /** Starts an order twice. @returns the later execution */
  const twice = async (trial: WorkflowTest<Order>, input: Order): Promise<TestRun> => {
    latest.orders += 1;
    latest.orderId = `order-${latest.orders}`;
    const [, later] = await startedTwice(trial, { ...input, orderId: latest.orderId });
    return later as TestRun;
  };
  const expectSound = async (report: CrashReport, end: string): Promise<void> => {
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ [end]: report.runs + 1 });
    expect(kinds()).not.toContain('breach');
  };

  test('of an order that is started twice', async () => {
    await expectSound(
      await crashEverywhere(preorder, { input: order, agents, effects, scenario: twice }),
      'succeeded',
    );
  });

  test('of two that are taken back', async () => {
    const scenario = (trial: WorkflowTest<Order>, input: Order): Promise<TestRun> => {
      trial.fail(scheduleShipping, { times: Infinity, with: new PermanentError('no such address') });
      return twice(trial, input);
    };
    await expectSound(
      await crashEverywhere(preorder, { input: order, agents, effects, scenario }),
      'compensated',
    );
  });
});
