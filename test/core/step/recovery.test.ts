/** Recovery: its stages, delays and limits, and the next attempt, probe or undo (S9, L1). */

import * as fc from 'fast-check';
import { MAX_DURATION_MS } from '../../../lib/core/values/duration.ts';
import {
  backoffMs,
  MAX_PROBES,
  nextProbeAt,
  nextTry,
  nextWithoutVerdict,
  changesBetween,
  type Failed,
  nextUndoAt,
  variantOf,
} from '../../../lib/core/step/recovery.ts';
import type { AgentStep, RetryStage, Stage } from '../../../lib/core/plan/plan.ts';
import { askPerson, retry, useAgent, withInput } from '../../../lib/author/builder/workflow.ts';
import { anAgent } from '../../engine/harness.ts';
import { check } from '../check.ts';
import { agentStepOf, otherAgent, otherInput, personFor } from '../small-steps.ts';
import { NOW } from '../states.ts';

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
  it('is a whole number from 0 to its maximum for any count and any random number', () => {
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

  it('stays within its bounds for random numbers outside theirs', () => {
    check(
      fc.property(retries, fc.integer({ min: 1, max: 100 }), anyNumber, (of, n, random) => {
        fc.pre(!Number.isNaN(random));
        const waitMs = backoffMs(of, n, random);
        expect(waitMs >= 0 && waitMs <= of.maxMs).toBe(true);
      }),
    );
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
    const step = withRecovery([
      retry(2, { delay: '1s', maxDelay: '9s' }),
      retry(2, { delay: '1m', maxDelay: '9m' }),
    ]);
    const waits = [1, 2, 3, 4, 5].map((attempt) => nextAttemptAt(step, attempt, 0, 1));
    expect(waits).toEqual([1_000, 2_000, 60_000, 120_000, undefined]);
  });

  it('grants the wish of a service where it is longer, and no other', () => {
    const step = withRecovery([retry(3, { delay: '10s', maxDelay: '10s' })]);
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
    retry(2, { delay: '1s', maxDelay: '1s' }),
    withInput({ smaller: true }, { attempts: 1 }),
    useAgent(other, { attempts: 2 }),
    askPerson({ within: '1h' }),
  ]);

  it('goes straight to the person if an outcome stays unknown, and ends if there is no person', () => {
    expect(nextWithoutVerdict(step)).toEqual({ kind: 'person' });
    expect(nextWithoutVerdict(withRecovery([retry(3)]))).toEqual({ kind: 'end' });
  });
});

const stage: RetryStage = { kind: 'retry', attempts: 2, firstMs: 1_000, maxMs: 10_000 };
const YEAR = 366 * 86_400_000;

it('a backoff is a random part of a maximum that doubles', () => {
  const of = (n: number, random: number) => backoffMs(stage, n, random);
  expect([of(1, 0.5), of(2, 0.5), of(4, 0.5), of(5, 0.5)]).toStrictEqual([500, 1_000, 4_000, 5_000]);
  expect([of(1, 0), of(1, 0.9999), of(1, 1), of(1, 2), of(1, -1)]).toStrictEqual([0, 999, 1_000, 1_000, 0]);
  expect([of(0, 1), of(-9, 1), of(5_000, 1)]).toStrictEqual([1_000, 1_000, 10_000]);
  expect(backoffMs({ ...stage, maxMs: Number.POSITIVE_INFINITY }, 5_000, 1)).toBe(1_000 * 2 ** 50);
});

describe('the variant of a step', () => {
  const step = agentStepOf('it', {
    maxNoProgressMs: 5,
    recovery: [
      stage,
      otherInput,
      { ...otherAgent, maxNoProgressMs: 7 },
      { ...otherAgent, agent: 'last' },
      personFor(1),
    ],
  });
  const { kind: _kind, attempts: _attempts, firstMs: _first, maxMs: _max, ...agent } = otherAgent;
  const { maxNoProgressMs: _progress, ...rest } = step;
  const second = { ...rest, input: otherInput.input, ...agent };
  it('is the step itself until a stage changes it', () => {
    expect(variantOf(step, 0)).toBe(step);
    expect(variantOf(step, 1)).toStrictEqual(step);
  });

  it('has the input and the agent of the last stage that changed one', () => {
    expect(variantOf(step, 2)).toStrictEqual({ ...step, input: otherInput.input });
    expect(variantOf(step, 3)).toStrictEqual({ ...second, maxNoProgressMs: 7 });
    expect(variantOf(step, 4)).toStrictEqual({ ...second, agent: 'last' });
    expect([5, 6, 99].map((at) => variantOf(step, at))).toStrictEqual(
      [5, 6, 99].map(() => ({ ...second, agent: 'last' })),
    );
    // A second call returns the same object.
    expect(variantOf(step, 3)).toBe(variantOf(step, 3));
  });

  it('changes between stages where one of them changes input or agent', () => {
    const between = (from: number, to: number, ...recovery: Stage[]) =>
      changesBetween({ ...step, recovery }, from, to);
    expect([
      between(0, 1, otherInput),
      between(0, 1, otherAgent),
      between(0, 1, stage),
      between(0, 1, personFor(1)),
    ]).toStrictEqual([true, true, false, false]);
    expect([
      between(0, 1, stage, otherInput),
      between(1, 2, otherInput, stage),
      between(1, 2, stage, otherInput),
    ]).toStrictEqual([false, false, true]);
  });
});

describe('the next try', () => {
  const recovery: Stage[] = [stage, { ...otherInput, attempts: 1, firstMs: 4_000, maxMs: 4_000 }];
  const next = (failed: Partial<Failed>, of = recovery) =>
    nextTry(agentStepOf('it', { recovery: of }), { stage: 0, stageAttempt: 1, ...failed }, NOW, 0.5);
  const attempt = (on: number, inMs: number) => ({ kind: 'attempt', stage: on, retryAt: NOW + inMs });
  it.each<[string, Partial<Failed>, object, Stage[]?]>([
    ['is on the first stage after the first attempt', {}, attempt(1, 500), recovery],
    ['is the second of two on its stage', { stage: 1 }, attempt(1, 1_000), recovery],
    [
      'is on the next stage after the last of one',
      { stage: 1, stageAttempt: 2 },
      attempt(2, 2_000),
      recovery,
    ],
    [
      'is on the next stage when the same again cannot help',
      { stage: 1, permanent: true },
      attempt(2, 2_000),
      recovery,
    ],
    ['skips a stage of the same again, too', { permanent: true }, attempt(2, 2_000), recovery],
    ['is none after the last', { stage: 2 }, { kind: 'end' }, recovery],
    ['is none where there is no stage', {}, { kind: 'end' }, []],
    ['skips a stage without attempts', {}, attempt(2, 500), [{ ...stage, attempts: 0 }, stage]],
    ['is on the other agent after a permanent failure', { permanent: true }, attempt(1, 0), [otherAgent]],
    ['is a person’s', { stage: 1, stageAttempt: 2 }, { kind: 'person' }, [stage, personFor(1)]],
    ['is a person’s again', { stage: 2, stageAttempt: 1 }, { kind: 'end' }, [stage, personFor(1)]],
    ['is a person’s before what comes later', {}, { kind: 'person' }, [personFor(1), stage]],
    ['waits as long as the service wishes', { retryAfterMs: 501 }, attempt(1, 501), recovery],
    ['waits no less than its backoff', { retryAfterMs: 499 }, attempt(1, 500), recovery],
    ['waits a year at most', { retryAfterMs: YEAR + 1 }, attempt(1, YEAR), recovery],
  ])('%s', (_, failed, result, of) => {
    expect(next(failed, of)).toStrictEqual(result);
  });

  it('where the outcome cannot be settled is a person’s or none', () => {
    const of = (...stages: Stage[]) => nextWithoutVerdict(agentStepOf('it', { recovery: stages }));
    expect([of(stage, personFor(1)), of(stage, otherAgent), of()]).toStrictEqual([
      { kind: 'person' },
      { kind: 'end' },
      { kind: 'end' },
    ]);
  });
});

it('an undo is tried once and then as often as declared', () => {
  const at = (attempts: number, undo: 'none' | RetryStage = stage) =>
    nextUndoAt(agentStepOf('it', { undo }), attempts, NOW, 0.5);
  expect([at(1), at(2), at(3), at(1, 'none')]).toStrictEqual([NOW + 500, NOW + 1_000, undefined, undefined]);
});

it('a probe is repeated after one second, then two, up to a minute', () => {
  expect(MAX_PROBES).toBe(20);
  expect([1, 2, 6, 7, 20].map((n) => nextProbeAt(n, NOW, 0.5) - NOW)).toStrictEqual([
    500, 1_000, 16_000, 30_000, 30_000,
  ]);
});
