/** An execution gets back the whole time of all its pauses. */

import { pausesSince } from '../../../lib/core/step/within.ts';
import * as fc from 'fast-check';
import { waitsUntil } from '../../../lib/core/waiting/waits.ts';
import { withPause } from '../../../lib/core/holds/pause.ts';
import type { CallbackStep } from '../../../lib/core/plan/plan.ts';
import type { Execution } from '../../../lib/core/records/state.ts';
import { stateOf } from '../one-step.ts';
import { NOW } from '../states.ts';

const callback = { name: 'c', kind: 'callback', after: [], withinMs: 10_000 } as unknown as CallbackStep;
const START = stateOf([]).execution.startedAt;

/** Consecutive pauses, each as its distance from the one before and its length. */
const spans = fc.array(fc.tuple(fc.integer({ min: 1, max: 900 }), fc.integer({ min: 0, max: 900 })), {
  maxLength: 40,
});

function paused(all: readonly (readonly [number, number])[], from = START): { of: Execution; ms: number } {
  let { execution: of } = stateOf([]);
  let [at, ms] = [from, 0];
  for (const [index, [gapMs, lastsMs]] of all.entries()) {
    at += gapMs;
    of = {
      ...of,
      ...withPause(of, { number: index + 1, at, reason: '', withinMs: 1, endedAt: at + lastsMs }),
    };
    at += lastsMs;
    ms += lastsMs;
  }
  return { of, ms };
}

it('to a callback whose turn came before them (L1)', () => {
  const without = waitsUntil(callback, stateOf([])) ?? Number.NaN;
  fc.assert(
    fc.property(spans, (all) => {
      const { of, ms } = paused(all);
      expect(waitsUntil(callback, { execution: of, steps: {} })).toBe(without + ms);
    }),
  );
});

it('to a question that was asked before them, once', () => {
  fc.assert(
    fc.property(spans, (all) => {
      const { of, ms } = paused(all, NOW);
      const found = pausesSince(of, NOW);
      expect(found.ms).toBe(ms);
      expect(pausesSince(of, NOW, found.until).ms).toBe(0);
    }),
  );
});

it('and the record does not grow with them', () => {
  const { of } = paused(Array.from({ length: 1_000 }, () => [1, 1] as const));
  expect(of.pauses).toHaveLength(10);
  expect(JSON.stringify(of.pauses).length + JSON.stringify(of.earlierPauses).length).toBeLessThan(1_200);
});
