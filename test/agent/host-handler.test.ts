/**
 * A function that hosts several agents: how it finds the agent of a message, and what its agents do not
 * share.
 */

import type { Context, SQSEvent } from 'aws-lambda';
import { agentHandler } from '../../lib/agent/handler.ts';
import { hostHandler, Members } from '../../lib/agent/host-handler.ts';
import { telemetryOf } from '../../lib/aws/ports.ts';
import { anAgent } from '../engine/harness.ts';

const ENVIRONMENT = {
  STEADFAST_TABLE: 'table',
  STEADFAST_BUS: 'bus',
  STEADFAST_WAKE_BUS: 'wake',
  STEADFAST_QUEUES: 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders-1a2b3c4d_',
  STEADFAST_AGENTS: 'charge,ship,mail',
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  POWERTOOLS_DEV: 'false',
};
const before = { ...process.env };
beforeAll(() => void Object.assign(process.env, ENVIRONMENT));
afterAll(() => {
  process.env = before;
});

const fileOf = (name: string) => async () => ({
  handler: agentHandler(anAgent(name) as never, { execute: async () => ({}), undo: async () => undefined }),
});
type Made = ConstructorParameters<typeof Members>;
const members = (modules: Made[0], sleep?: Made[3]) =>
  new Members(modules, { carries: [], rates: { ship: '5/s' } }, telemetryOf({ role: 'agent' }), sleep);

it('gives each agent a worker of its own: breaker, rate, log and metrics', async () => {
  const all = members({ charge: fileOf('charge'), ship: fileOf('ship') });
  const [charge, ship] = [await all.of('charge'), await all.of('ship')];
  expect(charge.worker.agent.spec.name).toBe('charge');
  expect(charge.worker.rate).toBeUndefined();
  expect(ship.worker.rate).toBeDefined();
  expect(charge.worker.breaker).not.toBe(ship.worker.breaker);
  expect(charge.telemetry.meter).not.toBe(ship.telemetry.meter);
  expect(charge.ports.store).toBe(ship.ports.store);
  expect(charge.worker.singleFlight).toBe(ship.worker.singleFlight);
  expect(await all.of('charge')).toBe(charge);
});

it('loads a module at its first message, and once', async () => {
  let loads = 0;
  const all = members({
    charge: () => {
      loads += 1;
      return fileOf('charge')();
    },
  });
  expect(loads).toBe(0);
  await Promise.all([all.of('charge'), all.of('charge')]);
  expect(loads).toBe(1);
});

it('refuses by its name an agent whose module never comes to an end, and no other', async () => {
  let pass = (): void => undefined;
  const sleep = (): Promise<void> => new Promise((resolve) => (pass = resolve));
  const all = members({ charge: () => new Promise(() => undefined), ship: fileOf('ship') }, sleep);
  const charge = all.of('charge');
  const passed = pass;
  expect((await all.of('ship')).worker.agent.spec.name).toBe('ship');
  passed();
  await expect(charge).rejects.toThrow("the module of agent 'charge' did not load within 10 s");
});

it('takes an agent whose module came late, at its next message', async () => {
  let load = (): void => undefined;
  const module = new Promise<Awaited<ReturnType<ReturnType<typeof fileOf>>>>((resolve) => {
    load = () => void fileOf('charge')().then(resolve);
  });
  let sleeps = 0;
  const sleep = () => (sleeps++ === 0 ? Promise.resolve() : new Promise<void>(() => undefined));
  const all = members({ charge: () => module }, sleep);
  await expect(all.of('charge')).rejects.toThrow('did not load within 10 s');
  load();
  expect((await all.of('charge')).worker.agent.spec.name).toBe('charge');
});

it('hands messages to those that it may, for as long as it may, and only out of a batch of one', () => {
  const settings = { carries: ['ship'], rates: {}, longestMs: 2_000 };
  const all = new Members({}, settings, telemetryOf({ role: 'agent' }));
  const ask = (isAlone: boolean) => all.neighbours(isAlone, (member) => member);
  expect(['ship', 'charge'].map(ask(true).has)).toEqual([true, false]);
  expect(ask(false).has('ship')).toBe(false);
  expect(ask(true).longestMs).toBe(2_000);
});

it('opens the log and the metrics of the agent that a message is handed to', async () => {
  const entered: string[] = [];
  const { of } = members({ ship: fileOf('ship') }).neighbours(true, (member) => {
    entered.push(member.worker.agent.spec.name);
    return member;
  });
  await of({ agent: 'ship' } as Parameters<typeof of>[0]);
  expect(entered).toEqual(['ship']);
});

const recordOf = (messageId: string, agent: string) => ({
  messageId,
  body: 'no message at all',
  eventSourceARN: `arn:aws:sqs:eu-west-1:123456789012:orders-1a2b3c4d_${agent}`,
});
const context = { getRemainingTimeInMillis: () => 60_000 } as Context;
const eventOf = (...Records: readonly ReturnType<typeof recordOf>[]) => ({ Records }) as unknown as SQSEvent;

it.each([
  [1, [true]],
  [2, [false, false]],
])('of %i messages at once, each is alone: %j', async (count, expected) => {
  const asked: boolean[] = [];
  const own = Object.getOwnPropertyDescriptor(Members.prototype, 'neighbours')!;
  const value = function (this: Members, isAlone: boolean, ...more: unknown[]): unknown {
    asked.push(isAlone);
    return Reflect.apply(own.value as typeof value, this, [isAlone, ...more]);
  };
  Object.defineProperty(Members.prototype, 'neighbours', { ...own, value });
  const handler = hostHandler({ ship: fileOf('ship') });
  await handler(eventOf(...Array.from({ length: count }, (_, at) => recordOf(`m${at}`, 'ship'))), context);
  Object.defineProperty(Members.prototype, 'neighbours', own);
  expect(asked).toEqual(expected);
});

it('gives back the messages of an agent that does not load; those of others go on', async () => {
  const handler = hostHandler({
    charge: () => Promise.reject(new Error('no such table')),
    ship: fileOf('ship'),
    airship: () => Promise.reject(new Error('no such bucket')),
  });
  const records = [
    recordOf('m1', 'charge'),
    recordOf('m2', 'ship'),
    recordOf('m3', 'ship-other'),
    recordOf('m4', 'airship'),
  ];
  const answer = await handler(eventOf(...records), context);
  // A text that is not a message is dropped; a message from a queue of no agent here is given back.
  const failed = answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  expect(failed).toEqual(['m1', 'm3', 'm4']);
});
