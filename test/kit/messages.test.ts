/** Messages in the test kit: sending and taking them, with a crash at every point. */

import { agent, workflow } from 'steadfast';
import { crashEverywhere, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const any = z.record(z.string(), z.any());
const ship = agent('ship', { input: any, output: any, effect: 'idempotent', timeout: '30s', undo: 'none' });
const Paid = z.object({ amount: z.number() });
const order = workflow('order', { input: any, within: '3d' }, (w) => {
  const paid = w.receive('paid', { message: Paid, within: '2d' });
  const shipped = w.step('ship', ship, { amount: paid.output.amount });
  const moved = w.receive('moved', { message: Paid, within: '1h', otherwise: 'continue', after: [shipped] });
  return { amount: paid.output.amount, moved: moved.output };
});
const agents = () => [ship.handler({ execute: async (_ctx, input) => ({ ...input }) })];

it('a message is taken when its turn has come; what never comes is null', async () => {
  const test = testWorkflow(order, { agents: agents() });
  const run = await test.start({});
  await run.until(({ steps }) => steps['paid']?.waitsUntil !== undefined);
  await run.send('paid', { amount: 5 });
  const end = await run.waitForEnd();
  expect([end.status, end.output]).toEqual(['succeeded', { amount: 5, moved: null }]);
  expect((await run.why()).past.map(({ what }) => what)).toEqual(
    expect.arrayContaining([expect.stringContaining("it took message 'paid'")]),
  );
});

it('why says for which message it waits, and until when', async () => {
  const run = await testWorkflow(order, { agents: agents() }).start({});
  await run.until(({ steps }) => steps['paid']?.waitsUntil !== undefined);
  const { steps, next } = await run.why();
  expect(steps[0]?.because).toMatch(/^no message 'paid' has come; it waits until /);
  expect(next).toMatchObject({ what: "a message 'paid' comes; without one it fails", who: 'external-party' });
});

it.each([
  ['unknown-message', 'paied', { amount: 1 }],
  ['bad-message', 'paid', { amount: 'much' }],
])('is refused with %s', async (code, name, body) => {
  const run = await testWorkflow(order, { agents: agents() }).start({});
  await expect(run.send(name, body)).rejects.toMatchObject({ code });
});

it('is refused once no step can take it any more', async () => {
  const run = await testWorkflow(order, { agents: agents() }).start({});
  await run.send('paid', { amount: 5 });
  await expect(run.send('paid', { amount: 6 })).rejects.toMatchObject({ code: 'ended' });
  await run.waitForEnd();
  await expect(run.send('moved', { amount: 6 })).rejects.toMatchObject({ code: 'ended' });
});

it('is taken once, whatever dies when', async () => {
  const report = await crashEverywhere(order, {
    agents: agents(),
    input: {},
    scenario: async (trial, input) => {
      const run = await trial.start(input);
      await run.send('paid', { amount: 5 });
      await run.send('moved', { amount: 6 });
      return run;
    },
  });
  expect(report.ends).toEqual({ succeeded: report.runs + 1 });
  expect(report.findings).toEqual([]);
});

it('why names what no step has taken', async () => {
  const run = await testWorkflow(order, { agents: agents() }).start({});
  await run.send('moved', { amount: 1 }, { id: 'too-early' });
  const { past } = await run.why();
  expect(past).toContainEqual({
    at: expect.any(Number),
    what: "message 'moved' (too-early) was accepted, and no step has taken it",
    evidence: { id: 'too-early', order: 1, bytes: 12 },
  });
});
