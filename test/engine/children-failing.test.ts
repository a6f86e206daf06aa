/** The store always refuses some child executions: all work that does not depend on them continues (L4). */

import type { Execution } from '../../lib/core/records/state.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ports, Store } from '../../lib/core/ports.ts';
import { book, statuses } from './book.ts';
import { anAgent, anyObject, harness } from './harness.ts';

const agentA = anAgent('agent-a');
const agentB = anAgent('agent-b');
const input = anyObject as never;
const inner = workflow('inner', { input, within: '1h' }, (w) => void w.step('x', agentA, {}));
const child = inner as never as Workflow<object>;

/** Ports whose store refuses the selected calls. */
const refusing = (ports: Ports, name: 'create' | 'read', isRefused: (id: string) => boolean): Ports => {
  const call = async (given: Execution | string): Promise<unknown> => {
    const id = typeof given === 'string' ? given : given.id;
    if (isRefused(id)) throw new Error('the store does not take it');
    return name === 'create' ? ports.store.create(given as Execution) : ports.store.read(id);
  };
  const store = new Proxy(ports.store, {
    get: (target, key) => (key === name ? call : Reflect.get(target, key)),
  });
  return { ...ports, store: store as Store };
};

describe('a child that cannot be created', () => {
  it('keeps no independent step from being sent, and is created when it can be', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      w.child('sub', child, {});
      w.step('b', agentB, {});
    }) as Workflow;
    const { implementation } = book();
    let isRefused = true;
    const world = harness(flow, { 'agent-a': implementation, 'agent-b': implementation }, 1, (ports) =>
      refusing(ports, 'create', (id) => isRefused && id.endsWith('.sub.0')),
    );
    const { id } = await world.begin();
    expect(world.sent.map(({ agent }) => agent)).toEqual(['agent-b']);
    await world.run(id, { until: ({ steps }) => steps['b']?.status === 'done', supervised: false });
    expect(statuses(await world.state(id))).toEqual({ b: 'done' });
    expect(world.notes).toContainEqual({
      what: 'children-failed',
      executionId: id,
      step: 'sub',
      detail: 'Error',
    });
    world.clock.advanceTo((await world.state(id)).execution.wakeAt ?? 0);
    await world.sweep();
    expect(world.notes.filter(({ what }) => what === 'evaluation-failed')).toHaveLength(1);
    isRefused = false;
    expect((await world.run(id)).execution.status).toBe('succeeded');
  });

  it('keeps a supervisor from no dispatch of an independent step whose message was lost', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      w.child('sub', child, {});
      w.step('b', agentB, {});
    }) as Workflow;
    const world = harness(flow, { 'agent-b': book().implementation }, 1, (ports) =>
      refusing(ports, 'create', (id) => id.endsWith('.sub.0')),
    );
    const { id } = await world.begin();
    world.sent.splice(0);
    const { steps } = await world.run(id, { until: (state) => state.steps['b']?.status === 'done' });
    expect(steps['b']?.attempt).toBe(1);
  });

  it('keeps no other part of its list from being created', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      const { items } = w.input as never as { items: never };
      w.map('each', agentA, items, (item) => ({ n: item as never }));
    }) as Workflow;
    const world = harness(flow, { 'agent-a': book().implementation }, 1, (ports) =>
      refusing(ports, 'create', (id) => id.endsWith('.each.3')),
    );
    const { id } = await world.begin({ items: Array.from({ length: 40 * 25 }, (_, n) => n) });
    const created = await Promise.all(
      Array.from({ length: 40 }, (_, part) => world.store.readExecution(`${id}.each.${part}`)),
    );
    expect(created.flatMap((part, at) => (part === undefined ? [at] : []))).toEqual([3]);
  });
});

it('a child that cannot be stopped keeps no independent step from being undone', async () => {
  const flow = workflow('flow', { input, within: '3h' }, (w) => {
    const sub = w.child('sub', child, {});
    const b = w.step('b', agentB, {});
    w.step('last', anAgent('agent-c', { undo: 'none' }), {}, { after: [sub, b] });
  }) as Workflow;
  const { implementation, undone } = book();
  let isRefused = false;
  const refuses = async (): Promise<never> => {
    isRefused = true;
    throw new PermanentError('no');
  };
  const implementations = {
    'agent-a': implementation,
    'agent-b': implementation,
    'agent-c': { execute: refuses },
  };
  const world = harness(flow, implementations, 1, (ports) =>
    refusing(ports, 'read', (id) => isRefused && id.endsWith('.sub.0')),
  );
  const { id } = await world.begin();
  await world.run(id, { until: ({ steps }) => steps['b']?.status === 'compensated' });
  expect(undone).toEqual([`${id}.b`]);
  isRefused = false;
  expect((await world.run(id)).execution.status).toBe('compensated');
});
