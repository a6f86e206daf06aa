import * as fc from 'fast-check';
import { MAX_DURATION_MS } from '../../../lib/core/plan/duration.ts';
import {
  backoffMs,
  changesBetween,
  MAX_PROBES,
  nextProbeAt,
  nextTry,
  nextUndoAt,
  nextWithoutVerdict,
  variantOf,
} from '../../../lib/core/step/recovery.ts';
import type { AgentStep, RetryStage, Stage } from '../../../lib/core/plan/plan.ts';
import { human, retry, useAgent, withInput } from '../../../lib/core/plan/workflow.ts';
import { anAgent } from '../../engine/harness.ts';
import { check } from '../check.ts';

const NOW = 1_700_000_000_000;
const withRecovery = (recovery: readonly Stage[], undo: AgentStep['undo'] = 'none'): AgentStep => ({
  name: 'a',
  kind: 'agent',
  agent: 'a',
  input: {},
  after: [],
  effect: 'idempotent',
  timeoutMs: 1_000,
  leaseMs: 1_000,
  pickupMs: 1_000,
  settleMs: 1_000,
  recovery,
  undo,
});

const ms = fc.integer({ min: 1, max: MAX_DURATION_MS });
const retries: fc.Arbitrary<RetryStage> = fc
  .tuple(fc.integer({ min: 0, max: 20 }), ms, ms)
  .map(([attempts, a, b]) => ({ kind: 'retry', attempts, firstMs: Math.min(a, b), maxMs: Math.max(a, b) }));
const anyNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -1, 1e308, Number.POSITIVE_INFINITY),
);
const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

/** When the attempt after the `attempt`-th starts, if all of them fail transiently. */
function nextAttemptAt(
  step: AgentStep,
  attempt: number,
  now: number,
  random: number,
  retryAfterMs = 0,
): number | undefined {
  let [stage, stageAttempt] = [0, 1];
  for (let made = 1; ; made += 1) {
    const next = nextTry(step, { stage, stageAttempt, retryAfterMs }, now, random);
    if (next.kind !== 'attempt') return undefined;
    if (made === attempt) return next.retryAt;
    stageAttempt = next.stage === stage ? stageAttempt + 1 : 1;
    stage = next.stage;
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
        anyRandom,
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

describe('a recovery', () => {
  it.each([
    [[], 1],
    [[retry(0)], 1],
    [[retry(1)], 2],
    [[retry(3)], 4],
    [[retry(2), retry(3)], 6],
    [[retry(0), retry(1), retry(0)], 2],
  ])('%j allows %i attempts', (recovery, attempts) => {
    expect(attemptsOf(withRecovery(recovery as RetryStage[]))).toBe(attempts);
  });

  it('of any stages allows one attempt more than they have together', () => {
    check(
      fc.property(fc.array(retries, { maxLength: 4 }), (recovery) => {
        const sum = recovery.reduce((all, one) => all + one.attempts, 0);
        expect(attemptsOf(withRecovery(recovery))).toBe(sum + 1);
      }),
    );
  });

  it('starts each stage with its own first wait', () => {
    const step = withRecovery([retry(2, { first: '1s', max: '9s' }), retry(2, { first: '1m', max: '9m' })]);
    const waits = [1, 2, 3, 4, 5].map((attempt) => nextAttemptAt(step, attempt, 0, 1));
    expect(waits).toEqual([1_000, 2_000, 60_000, 120_000, undefined]);
  });

  it('grants the wish of a service where it is longer, and no other', () => {
    const step = withRecovery([retry(3, { first: '10s', max: '10s' })]);
    expect(nextAttemptAt(step, 1, NOW, 1, 60_000)).toBe(NOW + 60_000);
    expect(nextAttemptAt(step, 1, NOW, 1, 1_000)).toBe(NOW + 10_000);
    expect(nextAttemptAt(step, 4, NOW, 1, 1_000)).toBeUndefined();
  });

  it('never waits longer than a year, whatever a service wishes', () => {
    check(
      fc.property(
        retries,
        fc.integer({ min: 1, max: 25 }),
        anyRandom,
        fc.double({ min: 0, noNaN: true }),
        (of, attempt, random, wish) => {
          const at = nextAttemptAt(withRecovery([of]), attempt, NOW, random, wish);
          expect(at === undefined).toBe(attempt > of.attempts);
          if (at !== undefined) expect(at >= NOW && at <= NOW + MAX_DURATION_MS).toBe(true);
        },
      ),
    );
  });
});

describe('the retries of an undo and of a probe', () => {
  it('of an undo are as many as declared', () => {
    const step = withRecovery([], retry(2, { first: '1s', max: '1s' }));
    expect([1, 2, 3].map((attempt) => nextUndoAt(step, attempt, 0, 1))).toEqual([1_000, 1_000, undefined]);
    expect(nextUndoAt(withRecovery([]), 1, 0, 1)).toBeUndefined();
  });

  it('of a probe wait a minute at most, for every count', () => {
    check(
      fc.property(fc.integer({ min: 1, max: MAX_PROBES }), anyRandom, (probes, random) => {
        const waitMs = nextProbeAt(probes, NOW, random) - NOW;
        expect(waitMs >= 0 && waitMs <= 60_000).toBe(true);
      }),
    );
  });
});

describe('a recovery with several stages', () => {
  const other = anAgent('other', { effect: 'probed', lease: '20s' });
  const step = withRecovery([
    retry(2, { first: '1s', max: '1s' }),
    withInput({ smaller: true }, { attempts: 1 }),
    useAgent(other, { attempts: 2 }),
    human({ within: '1h' }),
  ]);
  const climb = (permanent: boolean): (number | string)[] => {
    const seen: (number | string)[] = [];
    let [stage, stageAttempt] = [0, 1];
    for (;;) {
      const next = nextTry(step, { stage, stageAttempt, permanent }, NOW, 0.5);
      seen.push(next.kind === 'attempt' ? next.stage : next.kind);
      if (next.kind !== 'attempt') return seen;
      stageAttempt = next.stage === stage ? stageAttempt + 1 : 1;
      stage = next.stage;
    }
  };

  it('is climbed stage by stage, each as often as it says, to the person', () => {
    expect(climb(false)).toEqual([1, 1, 2, 3, 3, 'person']);
  });

  it('spares what is the same again after a permanent failure', () => {
    expect(climb(true)).toEqual([2, 3, 'person']);
  });

  it('comes back to the person when what a person had tried again fails', () => {
    expect(nextTry(step, { stage: 3, stageAttempt: 3 }, NOW, 0.5)).toEqual({ kind: 'person' });
    expect(nextTry(withRecovery([human()]), { stage: 0, stageAttempt: 2 }, NOW, 0.5)).toEqual({
      kind: 'person',
    });
  });

  it('goes straight to the person when an outcome cannot be settled, and ends where there is none', () => {
    expect(nextWithoutVerdict(step)).toEqual({ kind: 'person' });
    expect(nextWithoutVerdict(withRecovery([retry(3)]))).toEqual({ kind: 'end' });
  });

  it('changes the input, then the agent with its limits, from the stage on that says so', () => {
    expect([0, 1].map((stage) => variantOf(step, stage))).toEqual([step, step]);
    expect(variantOf(step, 2)).toMatchObject({ agent: 'a', input: { smaller: true }, leaseMs: 1_000 });
    expect(variantOf(step, 3)).toMatchObject({
      agent: 'other',
      input: { smaller: true },
      leaseMs: 20_000,
      effect: 'probed',
    });
    expect(variantOf(step, 4)).toMatchObject({ agent: 'other', name: 'a', after: [] });
  });

  it('knows between which stages something changes', () => {
    expect([
      changesBetween(step, 0, 1),
      changesBetween(step, 1, 2),
      changesBetween(step, 2, 3),
      changesBetween(step, 3, 4),
    ]).toEqual([false, true, true, false]);
  });
});
