/**
 * An attempt is interrupted because another attempt ended their process; another returns after its lease (S6,
 * S9, S10).
 */

import { askPerson, retry, workflow } from '../../lib/author/builder/workflow.ts';
import { saidOf } from '../../lib/core/step/breaker.ts';
import { InterruptedError } from '../../lib/core/values/errors.ts';
import { anAgent, anyObject, type Harness, harness } from '../engine/harness.ts';

const MANY = 20;
const EFFECTS = {
  idempotent: anAgent('carrier'),
  probed: anAgent('carrier', { effect: 'probed' }),
  unsafe: anAgent('carrier', { effect: 'unsafe' }),
} as const;

async function interrupted(effect: keyof typeof EFFECTS, times: number, hasBegun = true) {
  const flow = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
    w.step('ship', EFFECTS[effect], {}, { recovery: effect === 'unsafe' ? [askPerson()] : [retry(1)] });
    return {};
  });
  let calls = 0;
  const execute = async () => {
    calls += 1;
    if (calls <= times) throw new InterruptedError('another has ended it', hasBegun);
    return {};
  };
  const probe = async () => ({ verdict: 'not-done' }) as never;
  const h = harness(flow, { carrier: { execute, probe, undo: async () => undefined } });
  const { id } = await h.begin();
  return { h, id };
}

const shipOf = async (h: Harness, id: string) => (await h.run(id)).steps['ship'];

describe('an attempt that another one has interrupted uses up no try', () => {
  it('of an idempotent step: it is repeated at once, however often', async () => {
    const { h, id } = await interrupted('idempotent', MANY);
    const beganAt = h.clock.now();
    const step = await shipOf(h, id);
    expect(step).toMatchObject({ status: 'done', attempt: MANY + 1, stage: 0 });
    expect(h.clock.now() - beganAt).toBeLessThan(MANY * 1_000);
  });

  it('of a probed step: its outcome is asked for, and it is repeated', async () => {
    const { h, id } = await interrupted('probed', MANY);
    const step = await shipOf(h, id);
    expect(step).toMatchObject({ status: 'done', attempt: MANY + 1, stage: 0 });
    // Statistics recognise it by its code.
    expect(step?.attempts[0]).toMatchObject({ outcome: 'unknown', failure: { code: 'interrupted' } });
  });

  it('of an unsafe step a person is asked, but where it never began', async () => {
    const begun = await interrupted('unsafe', 1);
    const asked = await begun.h.run(begun.id, {
      until: ({ execution }) => execution.status === 'waiting',
    });
    expect(asked.steps['ship']).toMatchObject({ attempt: 1, mayHaveActed: true });
    const unbegun = await interrupted('unsafe', MANY, false);
    expect(await shipOf(unbegun.h, unbegun.id)).toMatchObject({ status: 'done', attempt: MANY + 1 });
  });

  it('and says nothing of its service', () => {
    const failure = { code: 'interrupted', message: 'another has ended it' };
    const report = { kind: 'unknown', codeReturned: true, failure } as const;
    expect(saidOf({ ...report, interrupted: true }, 0)).toBe('nothing');
    expect(saidOf(report, 0)).toBe('failed');
  });
});

it('code that returns after its lease is over keeps nobody waiting for its process deadline (S10)', async () => {
  const limits = { timeout: '10m', lease: '10s', progressWithin: '4s' } as const;
  const stalling = anAgent('carrier', { effect: 'probed', ...limits });
  const flow = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
    w.step('ship', stalling, {}, { recovery: [retry(1)], undo: 'none' });
    return {};
  });
  let calls = 0;
  const execute = async ({ signal }: { signal: AbortSignal }) => {
    calls += 1;
    // Like one that is killed because it ignores the end of its signal, long after the lease.
    if (calls === 1) {
      await new Promise<void>((over) => signal.addEventListener('abort', () => over()));
      await h.clock.sleep(20_000);
      throw new Error('the process of the attempt died');
    }
    return {};
  };
  const probe = async () => ({ verdict: 'not-done' }) as never;
  const implementation = { execute: execute as never, probe, undo: async () => undefined };
  const h = harness(flow, { carrier: implementation }, 1, undefined, { processMs: 3_600_000 });
  const { id } = await h.begin();
  const beganAt = h.clock.now();
  const state = await h.run(id);
  expect(state.steps['ship']).toMatchObject({ status: 'done', attempt: 2 });
  // The attempt cannot act any more once its code has returned, not only an hour later when its process has
  // ended.
  expect(h.clock.now() - beganAt).toBeLessThan(60_000);
});

it('a claim notes whole milliseconds, in whatever its host counts', async () => {
  const flow = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
    w.step('ship', anAgent('carrier'), {}, { undo: 'none' });
    return {};
  });
  const kept: unknown[] = [];
  const execute = async () => {
    const state = await h.store.read(id);
    const { processDeadlineAt } = Object(state?.steps['ship']) as { processDeadlineAt?: number };
    kept.push(processDeadlineAt);
    return {};
  };
  const h = harness(flow, { carrier: { execute } }, 1, undefined, { processMs: 20_000.255 });
  const { id } = await h.begin();
  await h.run(id);
  expect(kept.map(Number.isInteger)).toEqual([true]);
});
