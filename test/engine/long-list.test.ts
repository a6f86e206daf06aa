/**
 * The ends of a long list's child executions: each is written, few lead to an evaluation, none to a read of
 * the whole list (C1, L1).
 */

import type { Ports } from '../../lib/core/ports.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { book } from './book.ts';
import { anAgent, anyObject, harness } from './harness.ts';
import { withStore } from './process.ts';

const agentA = anAgent('agent-a');
const input = anyObject as never;
/** Items for 43 executions, three of them far down the list. */
const ITEMS = 1_075;

const flow = workflow('flow', { input, within: '3h' }, (w) => {
  w.map('each', agentA, (w.input as never as { items: never }).items, (n) => ({ n: n as never }), {
    recovery: [retry(0)],
  });
}) as Workflow;

/** Counts the reads of the parent. */
function counting() {
  const reads = { whole: 0, part: 0 };
  const isParent = (id: string): boolean => !id.includes('.');
  const wrap = (world: MemoryWorld): Ports =>
    withStore(world, (store) => ({
      read: (id) => {
        if (isParent(id)) reads.whole += 1;
        return store.read(id);
      },
      readSteps: async (id, names, withInput) => {
        if (isParent(id)) reads.part += 1;
        const state = await store.readSteps?.(id, names, withInput);
        // The input is beside the record, like in the table.
        const { execution } = state ?? {};
        return state && execution && withInput === false
          ? { ...state, execution: { ...execution, input: null } }
          : state;
      },
    }));
  return { reads, wrap };
}

describe('a list of more than a thousand items', () => {
  it('ends without a supervisor, its later ends heard on a part of it', async () => {
    const { reads, wrap } = counting();
    const { implementation, done } = book();
    const world = harness(flow, { 'agent-a': implementation }, 1, wrap);
    const { id } = await world.begin({ items: Array.from({ length: ITEMS }, (_, at) => at) });
    const { execution, steps } = await world.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    expect(done).toHaveLength(ITEMS);
    expect(steps['each']?.output).toMatchObject({ total: ITEMS, failed: 0 });
    expect(reads.part).toBeGreaterThanOrEqual(3);
    // An evaluation after each of the 43 ends would add as many reads.
    expect(reads.whole).toBeLessThan(100);
  });

  it('fails with the first end that does, however far down', async () => {
    const { reads, wrap } = counting();
    const { implementation } = book(({ n }) => n === ITEMS - 1);
    const world = harness(flow, { 'agent-a': implementation }, 1, wrap);
    const { id } = await world.begin({ items: Array.from({ length: ITEMS }, (_, at) => at) });
    const { execution, steps } = await world.run(id, { supervised: false });
    expect(steps['each']?.failure?.code).toMatch(/^child-/);
    expect(execution.cause?.kind).toBe('failure');
    expect(reads.part).toBeGreaterThanOrEqual(1);
  });
});
