/** On-failure steps in a user's test: one report at a service without keys, whichever process dies. */

import { agent, concat, done, notDone, orElse, PermanentError, workflow } from 'steadfast';
import { crashEverywhere, externalWorld, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const LIMITS = { timeout: '20s', lease: '10s', claimWithin: '10s', lateEffectWithin: '1s' } as const;
const pay = agent('pay', {
  input: z.object({}),
  output: z.object({ id: z.string() }),
  effect: 'probed',
  ...LIMITS,
});
const ship = agent('ship', { input: z.object({}), output: z.object({}), effect: 'idempotent', ...LIMITS });
const ticket = agent('open-ticket', {
  input: z.object({ why: z.string(), payment: z.string() }),
  output: z.object({ ticket: z.string() }),
  effect: 'probed',
  undo: 'none',
  ...LIMITS,
});

const order = workflow('order', { input: z.object({}), within: '1h' }, (w) => {
  const paid = w.step('pay', pay, {});
  w.step('ship', ship, {}, { after: [paid] });
  w.onFailure('tell', ticket, {
    why: concat(w.failure.code, ': ', w.failure.message),
    payment: orElse(paid.output.id, 'none'),
  });
});

const given = () => {
  const world = externalWorld();
  const asked: unknown[] = [];
  const agents = [
    pay.handler({
      execute: async (ctx) => ({ id: await world.act(ctx.idempotencyKey, 'payment') }),
      probe: async (ctx) => {
        const id = await world.find(ctx.idempotencyKey);
        return id === undefined ? notDone() : done({ id });
      },
      undo: async (ctx) => world.undo(ctx.idempotencyKey),
    }),
    ship.handler({
      execute: async () => {
        throw new PermanentError('no such address');
      },
      undo: async () => undefined,
    }),
    ticket.handler({
      execute: async (ctx, input) => {
        asked.push(input);
        return { ticket: await world.act(ctx.idempotencyKey, 'ticket') };
      },
      probe: async (ctx) => {
        const found = await world.find(ctx.idempotencyKey);
        return found === undefined ? notDone() : done({ ticket: found });
      },
    }),
  ];
  return { world, agents, asked };
};

it('customer service is informed once, after the refund, and the test sees that', async () => {
  const { agents, asked } = given();
  const run = await testWorkflow(order, { agents }).start({});
  const state = await run.waitForEnd();
  expect(state.status).toBe('compensated');
  expect(state.steps).toMatchObject({
    pay: { status: 'compensated' },
    tell: { status: 'done', attempts: 1 },
  });
  expect(asked).toEqual([{ why: 'PermanentError: no such address', payment: expect.any(String) }]);
});

it('once, whatever dies', async () => {
  const { agents, world } = given();
  const report = await crashEverywhere(order, { input: {}, agents, world, slowest: '1s' });
  expect(report.findings).toEqual([]);
  expect(report.ends).toEqual({ compensated: report.runs + 1 });
});

it('an on-failure step whose service acts anew with each attempt is found', async () => {
  const { agents, world } = given();
  let calls = 0;
  const careless = ticket.handler({
    execute: async ({ idempotencyKey }) => ({
      ticket: await world.act(`${idempotencyKey}.${(calls += 1)}`, 'ticket'),
    }),
    probe: async () => notDone(),
  });
  const report = await crashEverywhere(order, {
    input: {},
    agents: [...agents.slice(0, 2), careless],
    world,
    slowest: '1s',
  });
  expect(report.findings.some(({ kind, step }) => kind === 'doubled' && step === 'tell')).toBe(true);
});
