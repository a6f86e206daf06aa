/**
 * Values that are stored outside the table: they are written before the record and loaded when needed; and
 * what follows if one is lost.
 */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { eq } from '../../lib/author/references.ts';
import { PermanentError, TransientError } from '../../lib/core/values/errors.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { valueKeyIn, valuesOf, valueKeysIn } from '../../lib/core/records/large-values.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type MemoryValues, type MemoryWorld, memoryValues } from '../../lib/memory/world.ts';
import { type Harness, harness } from './harness.ts';
import { agentA, agentB, input } from './inner.ts';

const MB = 1_024 * 1_024;
const echo = { execute: async (_: unknown, given: unknown) => ({ got: given }), undo: async () => undefined };

/** Reads a field of a reference if the schema does not declare it. */
const at = (ref: unknown, field: string): never => (ref as Record<string, never>)[field] as never;

const chain = workflow('chain', { input, within: '3h' }, (w) => {
  const one = w.step('one', agentA, { text: at(w.input, 'text') });
  const two = w.step('two', agentA, { text: one.output['got'] as never });
  const three = w.step('three', agentA, { text: two.output['got'] as never });
  return { at: three.output['got'] as never };
}) as Workflow;

function withValues(
  flow: Workflow,
  implementations: Parameters<typeof harness>[1],
  { values = memoryValues() } = {},
): Harness & { readonly values: MemoryValues } {
  // Each use is a process of its own: none waits for what a dead one has begun.
  const around = (world: MemoryWorld): Ports => ({
    ...world,
    get largeValues() {
      return { ...values };
    },
  });
  return { ...harness(flow, implementations, 1, around), values };
}

/** Checks that every stored value named in a record exists. */
function expectWhole(values: MemoryValues, state: Snapshot): void {
  for (const key of valueKeysIn(state)) expect(values.objects.has(key)).toBe(true);
}

describe('a large value', () => {
  it('of 4 MB runs through three steps, and no record has it', async () => {
    const lengths: number[] = [];
    const counting = {
      execute: async (_: unknown, given: { text: unknown }) => {
        lengths.push(JSON.stringify(given.text).length);
        return { got: given.text };
      },
    };
    const world = withValues(chain, { 'agent-a': counting as never });
    const { id } = await world.begin({ text: 'x'.repeat(4 * MB) });
    const end = await world.run(id);
    expect(end.execution.status).toBe('succeeded');
    expect(lengths).toEqual([4 * MB + 2, 4 * MB + 2, 4 * MB + 2]);
    expect(JSON.stringify(end).length).toBeLessThan(20_000);
    expectWhole(world.values, end);
    expect(world.values.objects.size).toBe(4);
  });

  it('is in its record where it is small, and nothing is called', async () => {
    const world = withValues(chain, { 'agent-a': echo });
    const { id } = await world.begin({ text: 'x' });
    const end = await world.run(id);
    expect(end.execution.status).toBe('succeeded');
    expect(world.values.objects.size).toBe(0);
  });

  it('of more than 16 MB is refused', async () => {
    const world = withValues(chain, { 'agent-a': echo });
    await expect(world.begin({ text: 'x'.repeat(16 * MB) })).rejects.toMatchObject({ code: 'too-large' });
  });

  it('is copied for a child, and for the parent: each record names objects of its own execution', async () => {
    const inner = workflow('inner-echo', { input, within: '1h' }, (w) => {
      const x = w.step('x', agentA, { text: at(w.input, 'text') });
      return { got: x.output['got'] as never };
    }) as Workflow;
    const flow = workflow('outer', { input, within: '3h' }, (w) => {
      const sub = w.child('sub', inner as never, { text: at(w.input, 'text') } as never);
      const y = w.step('y', agentA, { text: at(at(sub as never, 'output'), 'got') });
      return { got: y.output['got'] as never };
    }) as Workflow;
    const world = withValues(flow, { 'agent-a': echo });
    const { id } = await world.begin({ text: 'x'.repeat(MB) });
    const end = await world.run(id);
    expect(end.execution.status).toBe('succeeded');
    const child = await world.state(`${id}.sub.0`);
    for (const state of [end, child]) expectWhole(world.values, state);
    const owners = [...world.values.objects.keys()].map((key) => {
      const { executionId, holder } = valueKeyIn(key)!;
      return `${executionId} ${holder}`;
    });
    expect([...new Set(owners)].sort()).toEqual([
      'e-1 input',
      'e-1 step.sub',
      'e-1 step.y',
      'e-1.sub.0 input',
      'e-1.sub.0 output',
      'e-1.sub.0 step.x',
    ]);
  });

  it('of a list joins: 200 results of 20 KB are read as one', async () => {
    let read = 0;
    const flow = workflow('lists', { input, within: '3h' }, (w) => {
      const all = w.map('each', agentA, at(w.input, 'items'), (n) => ({ n: n as never }), {
        recovery: [retry(0)],
      });
      const sum = w.step('sum', agentB, { items: (all.output as never as { items: never }).items });
      return { count: sum.output['count'] as never };
    }) as Workflow;
    const world = withValues(flow, {
      'agent-a': { execute: async () => ({ text: 'y'.repeat(20_000) }) },
      'agent-b': {
        execute: async (_: unknown, given: unknown) => {
          read = (given as { items: unknown[] }).items.length;
          return { count: read };
        },
      },
    });
    const { id } = await world.begin({ items: Array.from({ length: 200 }, (_, n) => n) });
    const end = await world.run(id);
    expect([end.execution.status, read]).toEqual(['succeeded', 200]);
    expect(end.steps['each']).not.toHaveProperty('output');
    expect(end.steps['each']?.outputAt?.bytes).toBeGreaterThan(4_000_000);
    expectWhole(world.values, end);
  });
});

describe('a value and its record', () => {
  it('are written in this order: where the object cannot be put, the report is repeated, at no attempt', async () => {
    let [refused, executed] = [0, 0];
    const values = memoryValues();
    const failing: MemoryValues = {
      ...values,
      put: async (key, json) => {
        if (key.includes('/step.') && refused < 5) {
          refused += 1;
          throw new Error('SlowDown');
        }
        return values.put(key, json);
      },
    };
    const once = {
      execute: async (_: unknown, given: { text: unknown }) => {
        executed += 1;
        return { got: given.text };
      },
    };
    const world = withValues(chain, { 'agent-a': once as never }, { values: failing });
    const { id } = await world.begin({ text: 'x'.repeat(40_000) });
    const end = await world.run(id);
    expect([end.execution.status, refused, executed]).toEqual(['succeeded', 5, 3]);
    expect(Object.values(end.steps).map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  });

  it('leave no record that names nothing, wherever a process dies between them', async () => {
    for (let dies = 1; dies <= 12; dies += 1) {
      let puts = 0;
      const values = memoryValues(64);
      const dying: MemoryValues = {
        ...values,
        put: async (key, json) => {
          await values.put(key, json);
          puts += 1;
          // The object exists, and its process is gone.
          if (puts === dies) await new Promise(() => undefined);
        },
      };
      const world = withValues(chain, { 'agent-a': echo }, { values: dying });
      const text = 'x'.repeat(100);
      const begun = world.begin({ text }, 'key');
      const isBegun = await Promise.race([
        begun.then(() => true),
        new Promise((go) => setTimeout(go, 0, false)),
      ]);
      const { id } = isBegun ? await begun : await world.begin({ text }, 'key');
      const end = await world.run(id);
      expect(end.execution.status).toBe('succeeded');
      expectWhole({ ...values, objects: values.objects }, end);
    }
  });
});

describe('a value that is lost', () => {
  const lose = (values: MemoryValues, part: string): void => {
    for (const key of values.objects.keys()) if (key.includes(part)) values.objects.delete(key);
  };

  it('fails the step that reads it, after its recovery, as value-lost; what was done is undone', async () => {
    const undone: string[] = [];
    const keeps = { ...echo, undo: async ({ step }: { step: string }) => void undone.push(step) };
    const flow = workflow('two-steps', { input, within: '3h' }, (w) => {
      const one = w.step('one', agentA, {});
      w.step('two', agentB, { text: one.output['got'] as never }, { recovery: [retry(2)] });
    }) as Workflow;
    const world = withValues(flow, {
      'agent-a': { ...keeps, execute: async () => ({ got: 'x'.repeat(50_000) }) } as never,
      'agent-b': echo,
    });
    const { id } = await world.begin();
    await world.run(id, {
      until: ({ steps }) => steps['one']?.status === 'done',
      deliverable: ({ agent }) => agent !== 'agent-b',
    });
    lose(world.values, '/step.one/');
    const end = await world.run(id, {
      until: ({ execution, steps }) => steps['two']?.status === 'failed' || execution.endedAt !== undefined,
    });
    expect(end.steps['two']?.failure?.code).toBe('value-lost');
    expect(end.steps['two']?.attempt).toBe(3);
    expect(end.steps['two']?.mayHaveActed).toBe(false);
  });

  it('in a condition fails its step: it is neither done nor skipped', async () => {
    const flow = workflow('conditional', { input, within: '3h' }, (w) => {
      w.step('one', agentA, {});
      w.step('two', agentB, {}, { when: eq(at(w.input, 'go'), 'yes'), after: ['one'] as never });
    }) as Workflow;
    const world = withValues(flow, { 'agent-a': echo, 'agent-b': echo });
    const { id } = await world.begin({ go: 'yes', text: 'x'.repeat(50_000) });
    lose(world.values, '/input/');
    const end = await world.run(id);
    expect(end.execution.status).not.toBe('succeeded');
    expect(end.steps['two']?.failure?.code).toBe('value-lost');
  });

  it('that a person was to be shown fails the approval: nobody approves what is not shown', async () => {
    const flow = workflow('shown', { input, within: '3h' }, (w) => {
      w.step('one', agentA, {});
      w.approval('agreed', {
        after: ['one'] as never,
        within: '1h',
        show: { amount: at(w.input, 'amount') as never },
      });
    }) as Workflow;
    const world = withValues(flow, { 'agent-a': echo });
    const { id } = await world.begin({ amount: 7, text: 'x'.repeat(50_000) });
    lose(world.values, '/input/');
    const end = await world.run(id);
    expect(end.steps['agreed']?.failure?.code).toBe('value-lost');
    expect(end.questions).toBeUndefined();
    expect(end.execution.status).toBe('compensated');
  });

  it('keeps no execution of its list from being stopped, and undone', async () => {
    const undone: string[] = [];
    const refuses = { execute: async () => Promise.reject(new PermanentError('no')) };
    const flow = workflow('list-undone', { input, within: '3h' }, (w) => {
      const all = w.map('each', agentA, at(w.input, 'items'), (n) => ({ n: n as never }));
      w.step('last', agentB, {}, { after: [all] as never });
    }) as Workflow;
    const undo = async (_: unknown, given: unknown): Promise<void> =>
      void undone.push((given as { n: string }).n);
    const world = withValues(flow, { 'agent-a': { ...echo, undo }, 'agent-b': refuses });
    const { id } = await world.begin({
      items: Array.from({ length: 60 }, (_, n) => `${n}${'x'.repeat(1_000)}`),
    });
    await world.run(id, {
      until: ({ steps }) => steps['each']?.status === 'done',
      deliverable: ({ agent }) => agent !== 'agent-b',
    });
    lose(world.values, `${id}/`);
    const end = await world.run(id);
    expect([end.execution.status, end.steps['each']?.status, undone.length]).toEqual([
      'compensated',
      'compensated',
      60,
    ]);
  });

  it.each([
    ['the execution', '30s', {}],
    ['the step', '3h', { within: '30s' }],
  ] as const)(
    'keeps none of its parts from being stopped when the time of %s is over',
    async (_what, within, own) => {
      const flow = workflow('list-stopped', { input, within }, (w) => {
        w.map('each', agentA, at(w.input, 'items'), (n) => ({ n: n as never }), { concurrency: 50, ...own });
      }) as Workflow;
      const never = { ...echo, execute: async () => Promise.reject(new TransientError('later')) };
      const world = withValues(flow, { 'agent-a': never });
      const { id } = await world.begin({
        items: Array.from({ length: 90 }, (__, n) => `${n}${'x'.repeat(1_000)}`),
      });
      await world.run(id, { until: ({ steps }) => steps['each']?.children?.started === 2 });
      lose(world.values, `${id}/`);
      const end = await world.run(id);
      expect([end.execution.status, end.steps['each']?.status]).toEqual(['compensated', 'compensated']);
      const parts = await Promise.all([0, 1, 2, 3].map((n) => world.state(`${id}.each.${n}`)));
      expect(parts.map(({ execution }) => execution.endedAt === undefined)).not.toContain(true);
      expect(parts.slice(2).map(({ execution }) => execution.status)).toEqual(['canceled', 'canceled']);
    },
  );

  it('is one whose text is another', async () => {
    const world = withValues(chain, { 'agent-a': echo });
    const { id } = await world.begin({ text: 'x'.repeat(50_000) });
    for (const key of world.values.objects.keys()) world.values.objects.set(key, '{"text":"y"}');
    const end = await world.run(id);
    expect(end.steps['one']?.failure?.code).toBe('value-lost');
    expect(end.execution.status).toBe('failed');
  });
});

describe('executions that a process has begun to start before the value was lost', () => {
  it.each([
    ['of a list', 3],
    ['of a list that is longer than what is started in one go', 60],
  ])('%s are not left behind: the step that fails takes their places first', async (_what, parts) => {
    const flow = workflow('list-raced', { input, within: '3h' }, (w) => {
      w.map('each', agentA, at(w.input, 'items'), (n) => ({ n: n as never }));
    }) as Workflow;
    const world = withValues(flow, { 'agent-a': echo });
    const items = Array.from({ length: 25 * parts }, (__, n) => `${n}${'x'.repeat(1_000)}`);
    // The process has loaded the list, and dies after it created the first part: the step's record does not
    // show this.
    const store = world.store as { create: MemoryWorld['store']['create'] };
    const { create } = store;
    let begun: string | undefined;
    store.create = async (execution, isNew) => {
      if (begun !== undefined) throw new Error('it is dead');
      if (execution.id.includes('.each.')) begun = execution.id;
      return create(execution, isNew);
    };
    const { id } = await world.begin({ items });
    store.create = create;
    for (const key of world.values.objects.keys())
      if (key.startsWith(valuesOf(id))) world.values.objects.delete(key);
    const end = await world.run(id);
    expect(end.steps['each']?.failure?.code).toBe('value-lost');
    const one = await world.state(begun ?? '');
    expect([end.execution.status, one.execution.status]).toEqual(['compensated', 'canceled']);
  });
});
