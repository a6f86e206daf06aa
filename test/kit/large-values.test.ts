/** In a workflow's tests, large values are stored outside the table, as in a deployment. */

import { agent, workflow } from 'steadfast';
import { crashEverywhere, externalWorld, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Text = z.object({ text: z.string() });
const BYTES = 300_000;

const write = agent('write', { input: z.any(), output: Text, effect: 'idempotent' });
const count = agent('count', { input: Text, output: z.object({ bytes: z.number() }), effect: 'idempotent' });
const flow = workflow('report', { input: z.any(), within: '1d' }, (w) => {
  const report = w.step('write', write, {});
  const counted = w.step('count', count, { text: report.output.text });
  return { bytes: counted.output.bytes };
});

const parts = () => {
  const world = externalWorld();
  const act = (key: string) => world.actOnce(key, 'done');
  return {
    world,
    agents: [
      write.handler({
        execute: async (ctx) => {
          await act(ctx.idempotencyKey);
          return { text: 'x'.repeat(BYTES) };
        },
        undo: async (ctx) => world.undo(ctx.idempotencyKey),
      }),
      count.handler({
        execute: async (ctx, { text }) => {
          await act(ctx.idempotencyKey);
          return { bytes: text.length };
        },
        undo: async (ctx) => world.undo(ctx.idempotencyKey),
      }),
    ],
  };
};

describe('a large output', () => {
  it('is read by the next step, and is shown', async () => {
    const run = await testWorkflow(flow, { agents: parts().agents }).start({});
    const end = await run.waitForEnd();
    expect([end.status, end.output]).toEqual(['succeeded', { bytes: BYTES }]);
    expect(end.steps['write']?.output).toEqual({ text: 'x'.repeat(BYTES) });
  });

  it('survives a crash at every point, between the object and its record too (V1)', async () => {
    const report = await crashEverywhere(flow, { input: {}, ...parts() });
    expect(report.findings).toEqual([]);
    expect(report.points).toContain('after:putValue:1');
  });
});
