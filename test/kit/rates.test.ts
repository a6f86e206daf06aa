/** An agent's rate in a user's test: its pace; no crash doubles or loses work. */

import { agent, workflow } from 'steadfast';
import { crashEverywhere, externalWorld, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Made = { input: z.object({}), output: z.object({ id: z.string() }) };
const book = agent('book', { ...Made, effect: 'idempotent' });
const trip = workflow('trip', { input: z.object({}), within: '1d' }, (w) => {
  w.step('out', book, {});
  w.step('back', book, {});
});

it('begins its attempts at that pace', async () => {
  const calledAt: number[] = [];
  const booking = book.handler({
    execute: async (ctx) => {
      calledAt.push(test.now());
      return { id: ctx.idempotencyKey };
    },
    undo: async () => undefined,
  });
  const test = testWorkflow(trip, { agents: [booking], rates: { book: '2/min' } });
  const run = await test.start({});
  expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(calledAt).toHaveLength(2);
  expect((calledAt[1] ?? 0) - (calledAt[0] ?? 0)).toBeGreaterThanOrEqual(30_000);
});

it('loses and doubles nothing, wherever it crashes', async () => {
  const world = externalWorld();
  const booking = book.handler({
    execute: async ({ idempotencyKey }) => {
      await world.actOnce(idempotencyKey, 'booked');
      return { id: idempotencyKey };
    },
    undo: async ({ idempotencyKey }) => world.undo(idempotencyKey),
  });
  const report = await crashEverywhere(trip, {
    agents: [booking],
    rates: { book: '2/min' },
    input: {},
    world,
    slowest: '1s',
  });
  expect(report.findings).toEqual([]);
  expect(report.runs).toBeGreaterThan(40);
});

it('refuses an invalid rate, and one for an unknown agent', () => {
  const booking = book.handler({ execute: async () => ({ id: '' }), undo: async () => undefined });
  const given = { agents: [booking] };
  expect(() => testWorkflow(trip, { ...given, rates: { book: '900/s' } })).toThrow(
    'at most 500/s is allowed',
  );
  expect(() => testWorkflow(trip, { ...given, rates: { fly: '1/s' } })).toThrow("agent 'fly'");
});
