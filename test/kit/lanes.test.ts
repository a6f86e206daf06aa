/**
 * A lane in a user's test: it admits one execution at a time; no crash leaves one in the queue or admits two.
 */

import { agent, workflow } from 'steadfast';
import { crashEverywhere, externalWorld, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Order = z.object({ account: z.string() });
const book = agent('book', { input: Order, output: Order, effect: 'idempotent' });
const booking = workflow(
  'booking',
  {
    input: Order,
    within: '1h',
    concurrency: { key: (input) => input.account, limit: 1, waitWithin: '6h' },
  },
  (w) => w.step('book', book, w.input).output,
);

/** @returns an agent, and the most executions of the lane that acted at the same time */
function observed() {
  const world = externalWorld();
  const [inside, most] = [new Set<string>(), { at: 0 }];
  const handler = book.handler({
    execute: async ({ idempotencyKey, executionId }, input) => {
      inside.add(executionId);
      most.at = Math.max(most.at, inside.size);
      await world.actOnce(idempotencyKey, 'booked');
      inside.delete(executionId);
      return input;
    },
    undo: async ({ idempotencyKey }) => world.undo(idempotencyKey),
  });
  return { agents: [handler], world, most };
}

it('lets one in after the other', async () => {
  const { agents, most } = observed();
  const trial = testWorkflow(booking, { agents });
  const runs = [await trial.start({ account: 'a' }), await trial.start({ account: 'a' })];
  for (const run of runs) expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(most.at).toBe(1);
});

it('takes starts of the same moment, whose writes meet', async () => {
  const { agents, most } = observed();
  const trial = testWorkflow(booking, { agents });
  const runs = await Promise.all([1, 2, 3].map(() => trial.start({ account: 'a' })));
  for (const run of runs) expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(most.at).toBe(1);
});

it('loses and doubles nothing, wherever it crashes, while another is in the lane', async () => {
  const { agents, world } = observed();
  const report = await crashEverywhere(booking, {
    agents,
    input: { account: 'a' },
    world,
    slowest: '1s',
    scenario: async (trial, input) => {
      await trial.start(input, { idempotencyKey: 'the first' });
      return trial.start(input);
    },
  });
  expect(report.findings).toEqual([]);
  expect(report.runs).toBeGreaterThan(40);
});
