/**
 * An idempotency key used again after its retention: a new execution has the same id as remains of the first
 * one, in the table and at external services (S6, S10, S18).
 */

import type { Implementation } from '../../lib/core/plan/agent.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { cancel, retry } from '../../lib/scheduler/commands.ts';
import { book } from './book.ts';
import { harness } from './harness.ts';
import { agentB, DAY, inner, input } from './inner.ts';

describe('the same key in a later life', () => {
  const flow = workflow('flow', { input, within: '3h' }, (w) => {
    const sub = w.child('sub', inner, {} as never);
    w.step('last', agentB, {}, { after: [sub] });
  }) as Workflow;

  it('has its children do their work anew, whatever is left of earlier ones (S6)', async () => {
    const { implementation, done } = book();
    const world = harness(flow, { 'agent-a': implementation, 'agent-b': implementation });
    const { id } = await world.begin({}, 'key-1');
    await world.run(id);
    world.store.expire(id);
    world.clock.advanceTo(world.clock.now() + 30 * DAY);
    expect((await world.begin({}, 'key-1')).id).toBe(id);
    const end = await world.run(id);
    expect(end.execution.status).toBe('succeeded');
    // The service remembers its keys for longer than we do.
    for (const step of [`${id}.sub.0.x`, `${id}.last`])
      expect(done.filter((key) => key === step)).toHaveLength(2);
  });

  it('undoes nothing of an earlier one (S10)', async () => {
    const { implementation, undone } = book();
    const world = harness(flow, { 'agent-a': implementation, 'agent-b': implementation });
    const { id } = await world.begin({}, 'key-1');
    await world.run(id);
    world.store.expire(id);
    world.clock.advanceTo(world.clock.now() + 30 * DAY);
    await world.begin({}, 'key-1');
    await cancel(world.scheduler, id, {});
    const end = await world.run(id);
    expect(end.execution.status).toBe('canceled');
    expect(undone).toEqual([]);
  });

  it('takes back its own effects, not those of the first (S10, S18)', async () => {
    const keys = { done: [] as string[], undone: [] as string[] };
    let declines = false;
    const implementation: Implementation<unknown, unknown> = {
      execute: async ({ idempotencyKey, step }) => {
        if (declines && step === 'last') throw new PermanentError('declined');
        keys.done.push(idempotencyKey);
        return {};
      },
      undo: async ({ idempotencyKey }) => void keys.undone.push(idempotencyKey),
    };
    const world = harness(flow, { 'agent-a': implementation, 'agent-b': implementation });
    const { id, life } = await world.begin({}, 'key-1');
    await world.run(id);
    world.store.expire(id);
    world.clock.advanceTo(world.clock.now() + 30 * DAY);
    declines = true;
    const second = await world.begin({}, 'key-1');
    expect(second.life).not.toBe(life);
    expect((await world.run(id)).execution).toMatchObject({ status: 'compensated', life: second.life });
    const [x1, last1, x2] = keys.done;
    expect(keys.done).toEqual([x1, last1, x2]);
    expect(new Set(keys.done).size).toBe(3);
    expect(keys.undone).toEqual([x2]);
  });

  it('is kept by a start that is repeated, and by a retry', async () => {
    const { implementation } = book(() => true);
    const world = harness(flow, { 'agent-a': implementation, 'agent-b': implementation });
    const { id, life } = await world.begin({}, 'key-1');
    expect((await world.begin({}, 'key-1')).life).toBe(life);
    expect((await world.run(id)).execution.status).toBe('failed');
    await retry(world.scheduler, id, {});
    expect((await world.run(id)).execution).toMatchObject({ epoch: 2, life });
  });
});
