/**
 * Outputs of child executions that were stored outside the table are lost: only a step that reads them fails.
 */

import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type MemoryValues, memoryValues } from '../../lib/memory/world.ts';
import { type Harness, harness } from './harness.ts';
import { agentA, agentB, input } from './inner.ts';

const echo = { execute: async (_: unknown, given: unknown) => ({ got: given }), undo: async () => undefined };
const large = { ...echo, execute: async () => ({ got: 'x'.repeat(50_000) }) };

/** Reads a field of a reference if the schema does not declare it. */
const at = (ref: unknown, field: string): never => (ref as Record<string, never>)[field] as never;

function worldOf(flow: Workflow): Harness & { readonly values: MemoryValues } {
  const values = memoryValues();
  const agents = { 'agent-a': large, 'agent-b': echo };
  return { ...harness(flow, agents, 1, (world) => ({ ...world, largeValues: { ...values } })), values };
}

const lose = (values: MemoryValues, part: string): void => {
  for (const key of values.objects.keys()) if (key.includes(part)) values.objects.delete(key);
};

it.each(['child', 'list'] as const)('of a %s: a value that it is made of', async (kind) => {
  const sub = workflow('sub', { input, within: '1h' }, (w) => {
    const one = w.step('one', agentA, {});
    w.step('two', agentB, {}, { after: [one] });
    return { got: one.output['got'] as never };
  }) as Workflow;
  const flow = workflow('reads', { input, within: '3h' }, (w) => {
    const read =
      kind === 'child'
        ? w.child('sub', sub as never, {} as never)
        : w.map('sub', sub as never, at(w.input, 'items'), () => ({}) as never);
    w.step('last', agentB, { read: read.output as never });
  }) as Workflow;
  const world = worldOf(flow);
  const { id } = await world.begin({ items: [1] });
  const isDone = (): boolean => [...world.values.objects.keys()].some((key) => key.includes('/step.one/'));
  await world.run(id, { until: isDone, deliverable: ({ agent }) => agent !== 'agent-b' });
  lose(world.values, '/step.one/');
  const reader = kind === 'child' ? 'sub' : 'last';
  const end = await world.run(id, { until: ({ steps }) => steps[reader]?.failure !== undefined });
  expect(end.steps[reader]?.failure?.code).toBe('value-lost');
  expect(end.steps[reader]?.failure?.message).toContain('a large value (500');
});

it('the lost output of an item that no step reads undoes nothing', async () => {
  const sub = workflow('sub', { input, within: '1h' }, (w) => ({
    got: w.step('one', agentA, {}).output['got'] as never,
  })) as Workflow;
  const flow = workflow('counts', { input, within: '3h' }, (w) => {
    const list = w.map('sub', sub as never, at(w.input, 'items'), () => ({}) as never);
    w.step('last', agentB, { failed: list.output.failed });
  }) as Workflow;
  const world = worldOf(flow);
  const { id } = await world.begin({ items: [1, 2] });
  const losing = ({ execution }: Snapshot): boolean => {
    lose(world.values, '/output/');
    return execution.endedAt !== undefined;
  };
  const end = await world.run(id, { until: losing });
  expect([end.execution.status, end.steps['sub']?.output]).toEqual(['succeeded', { total: 2, failed: 0 }]);
});
