/** Questions of callbacks and approvals: what closes them, when they are asked again, what waits for them. */

import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { callbackToken } from '../../lib/core/records/state.ts';
import { closeCallback } from '../../lib/scheduler/callbacks.ts';
import { retry } from '../../lib/scheduler/commands.ts';
import { anyObject, harness, type Harness } from '../engine/harness.ts';

const input = anyObject as never;

const tokenOf = async (world: Harness, id: string, step: string): Promise<string> =>
  callbackToken((await world.state(id)).execution, step) ?? '';

describe('the question of a callback', () => {
  const flow = workflow('flow', { input, within: '3h' }, (w) => {
    w.callback('paid', { output: z.object({}), within: '1h' });
  }) as Workflow;
  const question = async (world: Harness, id: string, step: string) =>
    (await world.state(id)).questions?.[step];

  it('is closed by its time where nobody answered, and by an answer else', async () => {
    const world = harness(flow, {});
    const [late, answered] = [await world.begin(), await world.begin()];
    const token = await tokenOf(world, answered.id, 'paid');
    await closeCallback(world.scheduler, token, { kind: 'complete', output: {} });
    await world.run(late.id, { maxMs: 7_200_000 });
    expect(await question(world, late.id, 'paid')).toMatchObject({ closedBy: 'deadline', outcome: 'failed' });
    expect(await question(world, answered.id, 'paid')).toMatchObject({ closedBy: 'answer', outcome: 'done' });
  });

  it('is asked again in the next epoch once all of the one before is announced', async () => {
    const bus = { isAway: true };
    const world = harness(flow, {}, 1, (memory) => ({
      ...memory,
      announcer: {
        announce: async (one) => {
          if (bus.isAway && one.about === 'question') throw new Error('the bus is away');
          await memory.announcer.announce(one);
        },
      },
    }));
    const { id } = await world.begin();
    await world.run(id, { maxMs: 7_200_000, until: ({ execution }) => execution.status === 'failed' });
    await retry(world.scheduler, id, {});
    await world.sweep();
    expect(await question(world, id, 'paid')).toMatchObject({ unannounced: ['opened', 'closed'] });
    bus.isAway = false;
    await world.run(id, { maxMs: 7_200_000 });
    expect(world.questionNews.map(({ change }) => change)).toEqual(['opened', 'closed', 'opened', 'closed']);
  });
});

it('an approval leaves the execution waiting as long as another person is asked', async () => {
  const both = workflow('flow', { input, within: '3h' }, (w) => {
    w.approval('one', { within: '1h' });
    w.approval('other', { within: '1h' });
  }) as Workflow;
  const world = harness(both, {});
  const { id } = await world.begin();
  const status = async () => (await world.state(id)).execution.status;
  for (const [step, after] of [
    ['one', 'waiting'],
    ['other', 'succeeded'],
  ] as const) {
    const token = await tokenOf(world, id, step);
    await closeCallback(world.scheduler, token, { kind: 'complete', output: {} });
    expect(await status()).toBe(after);
  }
});
