import * as fc from 'fast-check';
import { MAX_DURATION_MS } from '../../../lib/core/plan/duration.ts';
import {
  backoffMs,
  changesBetween,
  MAX_PROBES,
  nextProbeAt,
  nextTry,
  nextUndoAt,
  nextUnsettled,
  stageOf,
} from '../../../lib/core/step/recovery.ts';
import type { AgentStep, RetryRung, Rung } from '../../../lib/core/plan/plan.ts';
import { human, retry, useAgent, withInput } from '../../../lib/core/plan/workflow.ts';
import { anAgent } from '../../engine/harness.ts';
import { check } from '../check.ts';

const NOW = 1_700_000_000_000;
const withLadder = (ladder: readonly Rung[], undo: AgentStep['undo'] = 'none'): AgentStep => ({
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
const retries: fc.Arbitrary<RetryRung> = fc
  .tuple(fc.integer({ min: 0, max: 20 }), ms, ms)
  .map(([attempts, a, b]) => ({ kind: 'retry', attempts, firstMs: Math.min(a, b), maxMs: Math.max(a, b) }));
const anyNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -1, 1e308, Number.POSITIVE_INFINITY),
);
const dice = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

/** When the attempt after the `attempt`-th starts, if all of them fail transiently. */
function nextAttemptAt(
  step: AgentStep,
  attempt: number,
  now: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  let [rung, rungAttempt] = [0, 1];
  for (let made = 1; ; made += 1) {
    const next = nextTry(step, { rung, rungAttempt, retryAfterMs }, now, random);
    if (next.kind !== 'attempt') return undefined;
    if (made === attempt) return next.retryAt;
    rungAttempt = next.rung === rung ? rungAttempt + 1 : 1;
    rung = next.rung;
  }
}

/** How many attempts a step gets when every one fails. */
function attemptsOf(step: AgentStep): number {
  let attempt = 1;
  while (nextAttemptAt(step, attempt, NOW, 0.5) !== undefined) attempt += 1;
  return attempt;
}

describe('a backoff', () => {
  it('is a whole number from 0 to its maximum for any count and any dice', () => {
    check(
      fc.property(
        retries,
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
      fc.property(retries, fc.integer({ min: 1, max: 100 }), anyNumber, (of, n, random) => {
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
      fc.property(fc.array(retries, { maxLength: 4 }), (ladder) => {
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
        retries,
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

describe('a ladder with several rungs', () => {
  const other = anAgent('other', { effect: 'probed', lease: '20s' });
  const step = withLadder([
    retry(2, { first: '1s', max: '1s' }),
    withInput({ smaller: true }, { attempts: 1 }),
    useAgent(other, { attempts: 2 }),
    human({ within: '1h' }),
  ]);
  const climb = (permanent: boolean): (number | string)[] => {
    const seen: (number | string)[] = [];
    let [rung, rungAttempt] = [0, 1];
    for (;;) {
      const next = nextTry(step, { rung, rungAttempt, permanent }, NOW, 0.5);
      seen.push(next.kind === 'attempt' ? next.rung : next.kind);
      if (next.kind !== 'attempt') return seen;
      rungAttempt = next.rung === rung ? rungAttempt + 1 : 1;
      rung = next.rung;
    }
  };

  it('is climbed rung by rung, each as often as it says, to the person', () => {
    expect(climb(false)).toEqual([1, 1, 2, 3, 3, 'person']);
  });

  it('spares what is the same again after a permanent failure', () => {
    expect(climb(true)).toEqual([2, 3, 'person']);
  });

  it('comes back to the person when what a person had tried again fails', () => {
    expect(nextTry(step, { rung: 3, rungAttempt: 3 }, NOW, 0.5)).toEqual({ kind: 'person' });
    expect(nextTry(withLadder([human()]), { rung: 0, rungAttempt: 2 }, NOW, 0.5)).toEqual({ kind: 'person' });
  });

  it('goes straight to the person when an outcome cannot be settled, and ends where there is none', () => {
    expect(nextUnsettled(step)).toEqual({ kind: 'person' });
    expect(nextUnsettled(withLadder([retry(3)]))).toEqual({ kind: 'end' });
  });

  it('changes the input, then the agent with its limits, from the rung on that says so', () => {
    expect([0, 1].map((rung) => stageOf(step, rung))).toEqual([step, step]);
    expect(stageOf(step, 2)).toMatchObject({ agent: 'a', input: { smaller: true }, leaseMs: 1_000 });
    expect(stageOf(step, 3)).toMatchObject({
      agent: 'other',
      input: { smaller: true },
      leaseMs: 20_000,
      effect: 'probed',
    });
    expect(stageOf(step, 4)).toMatchObject({ agent: 'other', name: 'a', after: [] });
  });

  it('knows between which rungs something changes', () => {
    expect([
      changesBetween(step, 0, 1),
      changesBetween(step, 1, 2),
      changesBetween(step, 2, 3),
      changesBetween(step, 3, 4),
    ]).toEqual([false, true, true, false]);
  });
});
