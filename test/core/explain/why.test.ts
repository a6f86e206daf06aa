/** An explanation says what the roles will do, because it asks the functions by which they decide. */

import * as fc from 'fast-check';
import { TransientError } from '../../../lib/core/records/errors.ts';
import { explain } from '../../../lib/core/explain/why.ts';
import { retry, workflow } from '../../../lib/core/plan/workflow.ts';
import { memoryBreakers } from '../../../lib/testing/memory-breakers.ts';
import { anAgent, anyObject, type Harness, harness } from '../../engine/harness.ts';
import { check } from '../check.ts';
import { mixedCases as cases, NOW } from '../states.ts';

const pay = anAgent('pay', { effect: 'probed', lease: '10s', pickup: '10s' });
const mail = anAgent('mail', { undo: 'none' });
const plan = workflow('bill', { input: anyObject, within: '1h' }, (w) => {
  const paid = w.step('paid', pay, {}, { ladder: [retry(2, { first: '20s', max: '20s' })] });
  w.step('told', mail, { paid: paid.output });
});
const never = new Promise<never>(() => undefined);
const undo = async (): Promise<void> => undefined;
const probe = async () => ({ verdict: 'cannot-tell' as const });

async function why(h: Harness, id: string) {
  const state = await h.state(id);
  const told = explain(plan.plan, state, h.clock.now());
  const of = (name: string) => told.steps.find((step) => step.name === name);
  return { told, paid: of('paid'), later: of('told') };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('why', () => {
  it('of a step that nobody has taken: who takes it, and when its message is sent again', async () => {
    const h = harness(plan, {});
    const { id } = await h.begin();
    const { told, paid, later } = await why(h, id);
    const startedAt = h.clock.now();
    expect(paid).toMatchObject({
      status: 'ready',
      because: 'it waits for an agent to take it',
      next: { at: startedAt, who: 'agent' },
    });
    expect(paid?.next.what).toContain(new Date(startedAt + 10_000).toISOString());
    expect(later).toMatchObject({
      status: 'pending',
      because: "it waits for 'paid'",
      next: { who: 'nobody' },
    });
    expect(told.next).toEqual(paid?.next);
    expect(told.past).toHaveLength(1);
  });

  it('of a step that is held: until when its agent may be silent; and past that, what a supervisor does now', async () => {
    const h = harness(plan, {
      pay: { execute: () => never, probe, undo },
      mail: { execute: async () => ({}) },
    });
    const { id } = await h.begin();
    const [send] = h.sent.splice(0);
    void h.deliver(send!);
    await settle();
    const claimedAt = h.clock.now();
    const held = await why(h, id);
    expect(held.paid).toMatchObject({
      status: 'running',
      next: { at: claimedAt + 11_000, who: 'supervisor' },
    });
    // Nothing of that process runs any more: its clock is moved without waking it.
    const dead = explain(plan.plan, await h.state(id), claimedAt + 12_000);
    expect(dead.next).toMatchObject({ step: 'paid', who: 'supervisor', at: claimedAt + 12_000 });
    expect(dead.next.what).toContain('taken for unknown');
  });

  it('of a step between two attempts: why the last one failed and when the next one is due', async () => {
    const execute = async () => {
      throw new TransientError('503 from the bank');
    };
    const h = harness(plan, { pay: { execute, probe, undo }, mail: { execute: async () => ({}) } });
    const { id } = await h.begin();
    const [send] = h.sent.splice(0);
    await h.deliver(send!);
    const { paid, told } = await why(h, id);
    const retryAt = (await h.state(id)).steps['paid']?.retryAt;
    expect(paid).toMatchObject({ status: 'retrying', next: { at: retryAt, who: 'agent' } });
    expect(paid?.because).toContain('503 from the bank');
    expect(told.past.at(-1)).toMatchObject({ step: 'paid', evidence: { outcome: 'failed', number: 1 } });
  });

  it('of a step that is held back: by which breaker, since when, and when it is sent again', async () => {
    const breakers = memoryBreakers();
    const h = harness(plan, { pay: { execute: async () => ({}), probe, undo } }, 1, (world) => ({
      ...world,
      breakers,
    }));
    const openedAt = h.clock.now() - 60_000;
    const openUntil = h.clock.now() + 30_000;
    const counts = { score: 8, failedAt: openedAt, cooldowns: 2 };
    await breakers.write({ agent: 'pay', version: 1, writeId: 'w', ...counts, openedAt, openUntil });
    const { id } = await h.begin();
    await h.deliver(h.sent.splice(0)[0]!, { ...h, breakers });
    const { told, paid } = await why(h, id);
    expect(paid?.status).toBe('retrying');
    expect(paid?.because).toBe(
      `the breaker of agent 'pay' is open since ${new Date(openedAt).toISOString()}, so it is held back and no attempt is charged`,
    );
    const { retryAt } = (await h.state(id)).steps['paid'] ?? {};
    expect(paid?.next).toMatchObject({ at: retryAt, who: 'supervisor' });
    expect(paid?.next.what).toBe("a supervisor sends it to agent 'pay' again: attempt 1");
    expect(told.next).toEqual(paid?.next);
  });

  it('of an execution that has ended: nothing is next, and the past ends with the end', async () => {
    const h = harness(plan, {
      pay: { execute: async () => ({}), probe, undo },
      mail: { execute: async () => ({}) },
    });
    const { id } = await h.begin();
    await h.run(id);
    const { told } = await why(h, id);
    expect(told.next).toMatchObject({ who: 'nobody', what: expect.stringContaining('ended') });
    expect(told.past.at(-1)).toMatchObject({ what: 'it ended: succeeded' });
    expect(told.past.map((one) => one.at)).toEqual(told.past.map((one) => one.at).toSorted((a, b) => a - b));
  });

  it('is total and pure for any state (S14)', () => {
    check(
      fc.property(cases, ({ plan: any, state }) => {
        const first = explain(any, state, NOW);
        expect(first.steps).toHaveLength(any.steps.length);
        expect(explain(any, state, NOW)).toEqual(first);
      }),
      1_000,
    );
  });
});
