import * as fc from 'fast-check';
import { MAX_DURATION_MS } from '../../lib/core/duration.ts';
import { backoffMs, MAX_PROBES, nextAttemptAt, nextProbeAt, nextUndoAt } from '../../lib/core/ladder.ts';
import type { PlanStep, RetryRung } from '../../lib/core/plan.ts';
import { retry } from '../../lib/core/workflow.ts';
import { check } from './check.ts';

const NOW = 1_700_000_000_000;
const withLadder = (ladder: readonly RetryRung[], undo: PlanStep['undo'] = 'none'): PlanStep => ({
  name: 'a',
  kind: 'step',
  agent: 'a',
  input: {},
  after: [],
  effect: 'idempotent',
  timeoutMs: 1_000,
  leaseMs: 1_000,
  pickupMs: 1_000,
  settleMs: 1_000,
  ladder,
  undo,
});

const ms = fc.integer({ min: 1, max: MAX_DURATION_MS });
const rung: fc.Arbitrary<RetryRung> = fc
  .tuple(fc.integer({ min: 0, max: 20 }), ms, ms)
  .map(([attempts, a, b]) => ({ kind: 'retry', attempts, firstMs: Math.min(a, b), maxMs: Math.max(a, b) }));
const anyNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -1, 1e308, Number.POSITIVE_INFINITY),
);
const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

/** How many attempts a step gets when every one fails. */
function attemptsOf(step: PlanStep): number {
  let attempt = 1;
  while (nextAttemptAt(step, attempt, NOW, 0.5) !== undefined) attempt += 1;
  return attempt;
}

describe('a backoff', () => {
  it('is a whole number from 0 to its maximum for any count and any dice', () => {
    check(
      fc.property(
        rung,
        fc.oneof(fc.integer(), fc.constantFrom(0, 1e9, -1e9, 1e300)),
        dice,
        (of, n, random) => {
          const waitMs = backoffMs(of, n, random);
          expect(Number.isSafeInteger(waitMs) && waitMs >= 0 && waitMs <= of.maxMs).toBe(true);
        },
      ),
      500,
    );
  });

  it('stays within its bounds for dice that are out of theirs', () => {
    check(
      fc.property(rung, fc.integer({ min: 1, max: 100 }), anyNumber, (of, n, random) => {
        fc.pre(!Number.isNaN(random));
        const waitMs = backoffMs(of, n, random);
        expect(waitMs >= 0 && waitMs <= of.maxMs).toBe(true);
      }),
    );
  });

  it('doubles its ceiling with every attempt up to the maximum', () => {
    const of = retry(9, { first: '1s', max: '30s' });
    const ceilings = [1, 2, 3, 4, 5, 6, 7].map((n) => backoffMs(of, n, 1));
    expect(ceilings).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it('is spread over all of its range (full jitter)', () => {
    const of = retry(9, { first: '1s', max: '30s' });
    expect([0, 0.25, 0.5, 0.999].map((random) => backoffMs(of, 3, random))).toEqual([0, 1_000, 2_000, 3_996]);
  });
});

describe('a ladder', () => {
  it.each([
    [[], 1],
    [[retry(0)], 1],
    [[retry(1)], 2],
    [[retry(3)], 4],
    [[retry(2), retry(3)], 6],
    [[retry(0), retry(1), retry(0)], 2],
  ])('%j allows %i attempts', (ladder, attempts) => {
    expect(attemptsOf(withLadder(ladder as RetryRung[]))).toBe(attempts);
  });

  it('of any rungs allows one attempt more than they have together', () => {
    check(
      fc.property(fc.array(rung, { maxLength: 4 }), (ladder) => {
        const sum = ladder.reduce((all, one) => all + one.attempts, 0);
        expect(attemptsOf(withLadder(ladder))).toBe(sum + 1);
      }),
    );
  });

  it('starts each rung with its own first wait', () => {
    const step = withLadder([retry(2, { first: '1s', max: '9s' }), retry(2, { first: '1m', max: '9m' })]);
    const waits = [1, 2, 3, 4, 5].map((attempt) => nextAttemptAt(step, attempt, 0, 1));
    expect(waits).toEqual([1_000, 2_000, 60_000, 120_000, undefined]);
  });

  it('grants the wish of a service where it is longer, and no other', () => {
    const step = withLadder([retry(3, { first: '10s', max: '10s' })]);
    expect(nextAttemptAt(step, 1, NOW, 1, 60_000)).toBe(NOW + 60_000);
    expect(nextAttemptAt(step, 1, NOW, 1, 1_000)).toBe(NOW + 10_000);
    expect(nextAttemptAt(step, 4, NOW, 1, 1_000)).toBeUndefined();
  });

  it('never waits longer than a year, whatever a service wishes', () => {
    check(
      fc.property(
        rung,
        fc.integer({ min: 1, max: 25 }),
        dice,
        fc.double({ min: 0, noNaN: true }),
        (of, attempt, random, wish) => {
          const at = nextAttemptAt(withLadder([of]), attempt, NOW, random, wish);
          expect(at === undefined).toBe(attempt > of.attempts);
          if (at !== undefined) expect(at >= NOW && at <= NOW + MAX_DURATION_MS).toBe(true);
        },
      ),
    );
  });
});

describe('the retries of an undo and of a probe', () => {
  it('of an undo are as many as declared', () => {
    const step = withLadder([], retry(2, { first: '1s', max: '1s' }));
    expect([1, 2, 3].map((attempt) => nextUndoAt(step, attempt, 0, 1))).toEqual([1_000, 1_000, undefined]);
    expect(nextUndoAt(withLadder([]), 1, 0, 1)).toBeUndefined();
  });

  it('of a probe wait a minute at most, for every count', () => {
    check(
      fc.property(fc.integer({ min: 1, max: MAX_PROBES }), dice, (probes, random) => {
        const waitMs = nextProbeAt(probes, NOW, random) - NOW;
        expect(waitMs >= 0 && waitMs <= 60_000).toBe(true);
      }),
    );
  });
});
