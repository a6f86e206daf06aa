/** The breaker also opens for a service that answers reads but no writes (P8). */

import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { memoryBreakers } from '../../lib/memory/side-records.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';

const T0 = 1_700_000_000_000;

describe('a service that reads and does not act', () => {
  const charge = workflow('charging', { input: anyObject, within: '4h' }, (w) => {
    w.step(
      'charge',
      anAgent('card', { effect: 'probed', lateEffectWithin: '1s' }),
      {},
      { recovery: [retry(9)] },
    );
    return {};
  });

  it('opens its breaker although each lost attempt is followed by a probe that finds nothing done', async () => {
    const breakers = memoryBreakers();
    let hangs = true;
    const execute = async (): Promise<Record<string, unknown>> => {
      if (hangs) throw new Error('This operation was aborted');
      return {};
    };
    const probe = async () => ({ verdict: 'not-done' as const });
    const wrap = (world: MemoryWorld): Ports => ({ ...world, breakers });
    const h = harness(charge, { card: { execute, probe, undo: execute } }, 1, wrap);
    const ids: string[] = [];
    for (let count = 0; count < 12; count += 1) ids.push((await h.begin()).id);
    const isOver = (): boolean => h.clock.now() > T0 + 300_000;
    await h.run(ids[0] as string, { until: isOver });
    const failing = await breakers.read('card');
    expect(failing?.openedAt).toBeDefined();
    expect(failing?.failingSince).toBe(T0);
    // The breaker's trials are probes as well: none of them closes it.
    expect(h.notes.filter(({ what }) => what === 'breaker-closed')).toEqual([]);
    for (const id of ids) {
      const { execution, steps } = await h.state(id);
      expect(execution.risk).toMatchObject({ why: 'breaker', step: 'charge', agent: 'card' });
      expect(steps['charge']?.stageAttempt).toBeLessThan(9);
    }
    hangs = false;
    for (const id of ids) expect((await h.run(id)).execution.status).toBe('succeeded');
    expect((await breakers.read('card'))?.openedAt).toBeUndefined();
  });
});
