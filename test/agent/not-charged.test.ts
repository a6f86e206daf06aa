/**
 * An attempt that meets a dead service uses up no try, and repeats nothing that may have been done (S6, S9).
 */

import type { Breaker } from '../../lib/core/step/breaker.ts';
import { TransientError } from '../../lib/core/values/errors.ts';
import { MAX_NOT_CHARGED_MS } from '../../lib/core/step/defer.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { askPerson, retry, workflow } from '../../lib/author/builder/workflow.ts';
import { memoryBreakers } from '../../lib/memory/side-records.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, type Harness, harness } from '../engine/harness.ts';

const T0 = 1_700_000_000_000;
const halfOpen: Breaker = {
  agent: 'carrier',
  version: 1,
  writeId: 'w-0',
  score: 8,
  failedAt: T0,
  openedAt: T0,
  openUntil: T0,
  cooldowns: 3,
};

const stepOf = async (h: Harness, id: string) => (await h.state(id)).steps['ship'];

describe('what an attempt that met a dead service leaves', () => {
  const rare = { lease: '2m', claimWithin: '2m' } as const;
  const agents = {
    idempotent: anAgent('carrier', rare),
    probed: anAgent('carrier', { ...rare, effect: 'probed' }),
    unsafe: anAgent('carrier', { ...rare, effect: 'unsafe' }),
  };
  const cannot = async () => {
    throw new Error('socket hang up');
  };
  const failing = async (
    effect: keyof typeof agents,
    error: () => Error | undefined,
    probe: () => Promise<never> = cannot,
  ) => {
    const flow = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
      w.step('ship', agents[effect], {}, { recovery: effect === 'unsafe' ? [askPerson()] : [retry(2)] });
      return {};
    });
    const breakers = memoryBreakers();
    await breakers.write(halfOpen);
    const execute = async () => {
      const failure = error();
      if (failure !== undefined) throw failure;
      return {};
    };
    const wrap = (world: MemoryWorld): Ports => ({ ...world, breakers });
    const h = harness(flow, { carrier: { execute, probe, undo: cannot } }, 1, wrap);
    const { id } = await h.begin();
    await h.deliver(h.sent.splice(0)[0] as never);
    return { h, id };
  };

  it('known to have failed: the same stage, uncharged', async () => {
    const { h, id } = await failing('probed', () => new TransientError('503', { retryAfter: '15m' }));
    const step = await stepOf(h, id);
    expect(step).toMatchObject({
      status: 'retrying',
      attempt: 1,
      stage: 0,
      stageAttempt: 0,
      mayHaveActed: false,
    });
    expect(step?.deferred?.why).toBe('breaker');
    // The service asked for a longer wait.
    expect(step?.retryAt).toBe(T0 + 900_000);
    expect(h.sent).toEqual([]);
  });

  it('that gives a time in place of a pause, or too long a pause, is tried again as if it gave none', async () => {
    for (const retryAfter of [1e300, T0 + 60_000]) {
      const { h, id } = await failing('probed', () => new TransientError('503', { retryAfter }));
      const step = await stepOf(h, id);
      expect(step?.retryAt).toBeLessThan(T0 + 300_000);
      expect(step?.attempts[0]?.failure?.message).toBe(
        `503 (its retryAfter, ${retryAfter}, is over a year and was ignored: give a duration, not a time)`,
      );
    }
  });

  it('that wishes for more time than is left goes on with the next stage, or fails at once', async () => {
    const { h, id } = await failing('probed', () => new TransientError('503', { retryAfter: '40d' }));
    expect(await stepOf(h, id)).toMatchObject({ status: 'failed' });
    expect((await h.run(id)).execution).toMatchObject({ status: 'failed' });
  });

  it('of unknown outcome, probed, and found not done once the service is back: the same stage, uncharged', async () => {
    const notDone = async () => ({ verdict: 'not-done' }) as never;
    let calls = 0;
    const once = (): Error | undefined => {
      calls += 1;
      return calls === 1 ? new Error('socket hang up') : undefined;
    };
    const { h, id } = await failing('probed', once, notDone);
    await h.run(id);
    expect(await stepOf(h, id)).toMatchObject({ status: 'done', attempt: 2, stage: 0, mayHaveActed: false });
  });

  it('of unknown outcome, idempotent: repeated uncharged, and remembered (S10)', async () => {
    const { h, id } = await failing('idempotent', () => new Error('socket hang up'));
    expect(await stepOf(h, id)).toMatchObject({ status: 'retrying', stageAttempt: 0, mayHaveActed: true });
  });

  it('of unknown outcome, probed: asked first, and the probe is deferred as well; probes are not used up (S6)', async () => {
    const { h, id } = await failing('probed', () => new Error('socket hang up'));
    expect(await stepOf(h, id)).toMatchObject({
      status: 'unknown',
      stageAttempt: 0,
      probes: 0,
      deferred: { mode: 'probe' },
    });
    await h.run(id, { until: () => h.clock.now() > T0 + 1_800_000 });
    const step = await stepOf(h, id);
    expect(step?.attempts.filter(({ mode }) => mode === 'probe').length).toBeGreaterThan(2);
    expect(step).toMatchObject({ status: 'unknown', probes: 0 });
  });

  it('of unknown outcome, unsafe: a person is asked, whatever the breaker says (S6)', async () => {
    const { h, id } = await failing('unsafe', () => new Error('socket hang up'));
    expect(await stepOf(h, id)).toMatchObject({ status: 'waiting', attempt: 1 });
    expect((await h.state(id)).questions).toMatchObject({ 1: { kind: 'recovery' } });
  });

  it('during an undo: the next one is not charged, until a day has passed', async () => {
    const { h, id } = await failing('idempotent', () => new Error('socket hang up'));
    const stopAt = T0 + 3 * 3_600_000;
    await h.run(id, { until: () => h.clock.now() > stopAt, maxMs: 4 * 3_600_000 });
    const { execution, steps } = await h.state(id);
    expect(execution.status).toBe('compensating');
    expect(steps['ship']?.attempts.filter(({ mode }) => mode === 'undo').length).toBeGreaterThan(3);
    expect(steps['ship']).toMatchObject({ status: 'compensating', undoAttempt: 0 });
    const asked = await h.run(id, {
      until: ({ questions }) => questions !== undefined,
      maxMs: MAX_NOT_CHARGED_MS + 48 * 3_600_000,
    });
    expect(asked.steps['ship']?.status).toBe('compensation-failed');
  });
});
