/**
 * The workflow without handlers ends and undoes like the one with handlers, with the same services. A server
 * simulates AWS: the carrier's function, and the mail service behind a topic.
 */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PermanentError, TransientError } from 'steadfast';
import { crashEverywhere, testWorkflow, type TestRun, type WorldEffect } from 'steadfast/testing';
import { startWorld, type World } from '../world/server.ts';
import { chargeCard, notifyCustomer, orderFulfilment, scheduleShipping } from './without-handlers.ts';
import { DEEDS, type OrderEntry as Entry } from './world.ts';

const agents = [] as const;
const order = {
  orderId: 'order-1',
  email: 'a@b.example',
  address: 'Somewhere 1',
  items: [{ sku: 'book', quantity: 1 }],
  total: 1_250,
};

let folder: string;
let world: World;
let aws: Server;

/** The function of the carrier. */
async function carry(payload: Readonly<Record<string, string>>): Promise<object> {
  const { do: what, ...rest } = payload;
  const shipments = `${world.url}/carrier/shipments`;
  const under = `${shipments}?reference=${payload['reference'] ?? ''}`;
  if (what === 'book') {
    const answer = await fetch(shipments, { method: 'POST', body: JSON.stringify(rest) });
    return answer.ok ? ((await answer.json()) as object) : { errorType: 'Declined', errorMessage: 'no van' };
  }
  if (what === 'cancel') return (await (await fetch(under, { method: 'DELETE' })).json()) as object;
  const found = ((await (await fetch(under)).json()) as { shipments: object[] }).shipments;
  return { found: found.length, ...found[0] };
}

/** The mail service, which listens to the topic. */
async function mail(form: URLSearchParams): Promise<void> {
  const { reason, orderId } = JSON.parse(form.get('Message') ?? '') as Readonly<Record<string, string>>;
  const key = form.get('MessageAttributes.entry.1.Value.StringValue');
  const subject = reason === undefined ? 'on-its-way' : 'not-fulfilled';
  await fetch(`${world.url}/mail/mails`, {
    method: 'POST',
    body: JSON.stringify({ key, orderId, subject }),
  });
}

async function takeCall(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await textOf(request);
  if (!request.url?.includes('/functions/carrier/')) {
    await mail(new URLSearchParams(text));
    response.setHeader('content-type', 'text/xml').end('<PublishResponse/>');
    return;
  }
  const answered = await carry(JSON.parse(text) as Record<string, string>);
  if ('errorType' in answered) response.setHeader('x-amz-function-error', 'Unhandled');
  response.end(JSON.stringify(answered));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'world-'));
  world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile: join(folder, 'ledger.jsonl') });
  aws = createServer((request, response) => void takeCall(request, response)).listen(0, '127.0.0.1');
  await once(aws, 'listening');
  const AWS_ENDPOINT_URL = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`;
  Object.assign(process.env, { ...SET, AWS_ENDPOINT_URL, WORLD_URL: world.url });
});

const SET = {
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'AKIA1',
  AWS_SECRET_ACCESS_KEY: 's',
  CARRIER: 'carrier',
  MAILS: 'arn:aws:sns:eu-west-1:111111111111:mails',
};

afterEach(async () => {
  for (const name of ['AWS_ENDPOINT_URL', 'WORLD_URL', ...Object.keys(SET)]) delete process.env[name];
  await world.stop();
  aws.closeAllConnections();
  aws.close();
  rmSync(folder, { recursive: true });
});

const ledger = (): readonly Entry[] => [...world.ledger] as readonly Entry[];
const kinds = (): string[] => ledger().map(({ kind }) => kind);
const started = (): Promise<TestRun> => testWorkflow(orderFulfilment, { agents }).start(order);

/** The world misbehaves at the next call of a service. */
async function behave(service: string, mode: string, times = 1): Promise<void> {
  await fetch(`${world.url}/behave`, {
    method: 'POST',
    body: JSON.stringify({ service, mode, times, ...(mode === 'unavailable' ? { retryAfter: 1 } : {}) }),
  });
}

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
  const { status, output } = await (await started()).waitForEnd();
  expect([status, output]).toEqual(['succeeded', { chargeId: 'charge-1', trackingNumber: 'TRACK-3' }]);
  expect(kinds().toSorted()).toEqual(['charge', 'mail', 'reservation', 'shipment']);
  expect(ledger().at(-1)?.subject).toBe('on-its-way');
});

test('a charge of which no answer came is found, not repeated', async () => {
  await behave('payment', 'drop-reply');
  expect((await (await started()).waitForEnd()).status).toBe('succeeded');
  expect(kinds().filter((kind) => kind === 'charge')).toHaveLength(1);
});

test('a warehouse that is away is asked again, and a card that is declined is not', async () => {
  await behave('warehouse', 'unavailable', 4);
  expect((await (await started()).waitForEnd()).status).toBe('succeeded');
  await behave('payment', 'decline');
  const { status, steps } = await (await started()).waitForEnd();
  expect([status, steps['charge']?.attempts]).toEqual(['compensated', 1]);
  expect(ledger().at(-1)?.subject).toBe('not-fulfilled');
});

test('an order that the carrier declines is undone, and the customer is informed, once', async () => {
  await behave('carrier', 'decline');
  const { status, steps } = await (await started()).waitForEnd();
  expect([status, steps['ship']?.status, steps['ship']?.attempts]).toEqual(['compensated', 'failed', 1]);
  expect(kinds().toSorted()).toEqual(['charge', 'mail', 'refund', 'release', 'reservation']);
});

test('a mail that cannot be sent refunds nothing', async () => {
  const trial = testWorkflow(orderFulfilment, { agents });
  trial.fail(notifyCustomer, { with: new PermanentError('no such topic') });
  expect((await (await trial.start(order)).waitForEnd()).status).toBe('succeeded');
  expect(kinds().toSorted()).toEqual(['charge', 'reservation', 'shipment']);
});

test('an order that is canceled while it is shipped leaves nothing behind', async () => {
  const trial = testWorkflow(orderFulfilment, { agents });
  trial.delay(scheduleShipping, { by: '10s' });
  trial.fail(chargeCard, { on: 'undo', with: new TransientError('503') });
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
