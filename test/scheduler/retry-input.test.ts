/**
 * Retrying a failed execution with another input for the failed step: when this is safe, and its new effect
 * key (S18).
 */

import * as z from 'zod/mini';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { askPerson, retry as again, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { retry } from '../../lib/scheduler/commands.ts';
import { anAgent, anyObject, type Harness, harness } from '../engine/harness.ts';
import { ann, confirmed, failed, make, orders, statusesOf, world } from './bulk-world.ts';

const bank = anAgent('bank', {
  undo: 'none',
  input: z.object({ amount: z.number() }) as never,
});
const carrier = anAgent('carrier', { effect: 'probed', undo: 'none' });
const pay = workflow('pay', { input: anyObject, within: '1h' }, (w) => {
  const charge = w.step('charge', bank, { amount: w.input['amount'] } as never, {
    recovery: [again(0)],
  });
  w.step('ship', carrier, { to: w.input['to'] } as never, { after: [charge], recovery: [again(0)] });
}) as unknown as Workflow;

interface Called {
  readonly input: unknown;
  readonly idempotencyKey: string;
}

function shop(of: Workflow = pay): Harness & { readonly calls: Called[] } {
  const calls: Called[] = [];
  const h = harness(of, {
    bank: {
      execute: async ({ idempotencyKey }, input) => {
        calls.push({ input, idempotencyKey });
        if ((Object(input) as { amount: number }).amount > 100) throw new PermanentError('declined');
        return {};
      },
    },
    carrier: {
      execute: async (_, input) => {
        if (Object(input)['to'] === 'lost') throw new Error('socket hang up');
        return {};
      },
      probe: async () => ({ verdict: 'cannot-tell' }),
    },
  });
  return { ...h, calls };
}

const failedOf = async (h: Harness, input: object): Promise<string> => {
  const { id } = await h.begin(input as never);
  expect((await h.run(id)).execution.status).toBe('failed');
  return id;
};

describe('a failed execution', () => {
  it('goes on with another input of its failed step, under another effect key, by one write (S18, S2)', async () => {
    const h = shop();
    const id = await failedOf(h, { amount: 500, to: 'ada' });
    expect(await retry(h.scheduler, id, { input: { amount: 50 }, commandId: 'r', by: ann })).toMatchObject({
      status: 'running',
      epoch: 2,
    });
    expect((await h.state(id)).steps['charge']).toMatchObject({
      status: 'ready',
      epoch: 2,
      givenInput: { amount: 50 },
    });
    // A repeated command is obeyed once.
    await retry(h.scheduler, id, { input: { amount: 50 }, commandId: 'r', by: ann });
    const { execution, steps } = await h.run(id);
    expect([execution.status, execution.epoch]).toEqual(['succeeded', 2]);
    expect(h.calls.map(({ input }) => input)).toEqual([{ amount: 500 }, { amount: 50 }]);
    expect(new Set(h.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
    expect(steps['charge']).toMatchObject({
      key: 2,
      keyInput: { amount: 50 },
      attempts: [{ outcome: 'failed' }, { outcome: 'done', given: true, key: 2 }],
    });
  });

  it('that fails again keeps what it was given at the next retry, and can be given another', async () => {
    const h = shop();
    const id = await failedOf(h, { amount: 500 });
    await retry(h.scheduler, id, { input: { amount: 300 } });
    await h.run(id);
    await retry(h.scheduler, id, {});
    await h.run(id);
    await retry(h.scheduler, id, { input: { amount: 1 }, step: 'charge' });
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(h.calls.map(({ input }) => input)).toEqual([500, 300, 300, 1].map((amount) => ({ amount })));
  });

  it('of whose failed step an attempt may have acted is refused, and so is what does not fit the agent', async () => {
    const h = shop();
    const lost = await failedOf(h, { amount: 5, to: 'lost' });
    await expect(retry(h.scheduler, lost, { input: { to: 'ada' } })).rejects.toMatchObject({
      code: 'not-retryable',
      message: expect.stringMatching(
        /'ship' may have acted, and another input would be another request.*replaces/,
      ),
    });
    await expect(retry(h.scheduler, lost, { input: { amount: 1 }, step: 'charge' })).rejects.toMatchObject({
      code: 'not-retryable',
      message: expect.stringContaining(
        "'charge' has not failed; only a failed step can be given another input: 'ship'",
      ),
    });
    const declined = await failedOf(h, { amount: 500 });
    await expect(retry(h.scheduler, declined, { input: { amount: 'few' } })).rejects.toMatchObject({
      code: 'bad-input',
    });
    expect((await h.state(declined)).execution.status).toBe('failed');
  });

  it('of which several steps failed, or none, or none of an agent, says which one could be given an input', async () => {
    const both = workflow('both', { input: anyObject, within: '1h' }, (w) => {
      w.step('one', bank, { amount: 500 } as never, { recovery: [again(0)] });
      w.step('two', bank, { amount: 600 } as never, { recovery: [again(0)] });
    }) as unknown as Workflow;
    const h = shop(both);
    const id = await failedOf(h, {});
    const { steps } = await h.state(id);
    const names = Object.values(steps).flatMap(({ name, status }) => (status === 'failed' ? [name] : []));
    expect(names.length).toBeGreaterThan(0);
    if (names.length > 1)
      await expect(retry(h.scheduler, id, { input: { amount: 1 } })).rejects.toMatchObject({
        message: expect.stringContaining('several steps have failed'),
      });
    const asking = workflow('asking', { input: anyObject, within: '1h' }, (w) => {
      w.step('charge', bank, { amount: 500 } as never, {
        recovery: [again(0), askPerson({ within: '30m' })],
      });
    }) as unknown as Workflow;
    const waits = shop(asking);
    const { id: waiting } = await waits.begin();
    await waits.run(waiting, { until: ({ execution }) => execution.status === 'waiting' });
    await expect(retry(waits.scheduler, waiting, { input: { amount: 1 } })).rejects.toMatchObject({
      code: 'not-retryable',
      message: expect.stringContaining("resolve that with 'retry-with-input'"),
    });
    const outer = workflow('outer', { input: anyObject, within: '1h' }, (w) => {
      w.child('inner', pay, { amount: 500 } as never);
    }) as unknown as Workflow;
    const parent = shop(outer);
    const parentId = await failedOf(parent, {});
    await expect(retry(parent.scheduler, parentId, { input: {} })).rejects.toMatchObject({
      code: 'not-retryable',
    });
  });
});

describe('many that failed', () => {
  it('are retried with another input, each once (S15)', async () => {
    const h = world();
    const ids = await failed(h, orders(3));
    const bulk = await make(
      h,
      { action: 'retry', input: { order: 'corrected' } },
      { filter: { statuses: ['failed'] } },
    );
    expect(bulk).toMatchObject({ count: 3 });
    expect((await confirmed(h, bulk.id)).result).toEqual({ applied: 3, refused: {} });
    expect(await statusesOf(h, ids)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(h.calls.filter((order) => order === 'corrected')).toHaveLength(3);
  });
});
