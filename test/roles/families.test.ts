/**
 * Steps with executions of their own where it is narrow: two at once, an earlier life of the same id, what is too large,
 * hundreds at a time.
 */

import { type Workflow, workflow } from '../../lib/core/workflow.ts';
import { cancel } from '../../lib/roles/operators.ts';
import { book } from './book.ts';
import { anAgent, anyObject, harness } from './harness.ts';

const agentA = anAgent('agent-a');
const agentB = anAgent('agent-b');
const input = anyObject as never;
const DAY = 86_400_000;

const inner = workflow('inner', { input, within: '1h' }, (w) => {
  const x = w.step('x', agentA, {});
  return { x: x.output['got'] };
}) as Workflow;

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
    expect(done.filter((key) => key === `${id}.sub.0.x`)).toHaveLength(2);
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
});
