/** What is tried next, to the rung and the millisecond. */

import {
  backoffMs,
  changesBetween,
  type Failed,
  MAX_PROBES,
  nextProbeAt,
  nextTry,
  nextUndoAt,
  nextUnsettled,
  stageOf,
} from '../../../lib/core/step/recovery.ts';
import type { RetryRung, Rung } from '../../../lib/core/plan/plan.ts';
import { agentStepOf, otherAgent, otherInput, personFor } from '../small-steps.ts';
import { NOW } from '../states.ts';

const rung: RetryRung = { kind: 'retry', attempts: 2, firstMs: 1_000, maxMs: 10_000 };
const YEAR = 366 * 86_400_000;

it('a backoff is the random part of what doubles up to its maximum', () => {
  const of = (n: number, random: number) => backoffMs(rung, n, random);
  expect([of(1, 0.5), of(2, 0.5), of(4, 0.5), of(5, 0.5)]).toStrictEqual([500, 1_000, 4_000, 5_000]);
  expect([of(1, 0), of(1, 0.9999), of(1, 1), of(1, 2), of(1, -1)]).toStrictEqual([0, 999, 1_000, 1_000, 0]);
  expect([of(0, 1), of(-9, 1), of(5_000, 1)]).toStrictEqual([1_000, 1_000, 10_000]);
  expect(backoffMs({ ...rung, maxMs: Number.POSITIVE_INFINITY }, 5_000, 1)).toBe(1_000 * 2 ** 50);
});

describe('the stage of a step', () => {
  const step = agentStepOf('it', {
    maxNoProgressMs: 5,
    ladder: [
      rung,
      otherInput,
      { ...otherAgent, maxNoProgressMs: 7 },
      { ...otherAgent, agent: 'last' },
      personFor(1),
    ],
  });
  const { kind: _kind, attempts: _attempts, firstMs: _first, maxMs: _max, ...agent } = otherAgent;
  const { maxNoProgressMs: _progress, ...rest } = step;
  const second = { ...rest, input: otherInput.input, ...agent };
  it('is the step itself until a rung changes it', () => {
    expect(stageOf(step, 0)).toBe(step);
    expect(stageOf(step, 1)).toStrictEqual(step);
  });

  it('has the input and the agent of the last rung that changed one', () => {
    expect(stageOf(step, 2)).toStrictEqual({ ...step, input: otherInput.input });
    expect(stageOf(step, 3)).toStrictEqual({ ...second, maxNoProgressMs: 7 });
    expect(stageOf(step, 4)).toStrictEqual({ ...second, agent: 'last' });
    expect([5, 6, 99].map((at) => stageOf(step, at))).toStrictEqual(
      [5, 6, 99].map(() => ({ ...second, agent: 'last' })),
    );
    // Asked again, it is the same object.
    expect(stageOf(step, 3)).toBe(stageOf(step, 3));
  });

  it('changes between rungs where one of them changes input or agent', () => {
    const between = (from: number, to: number, ...ladder: Rung[]) =>
      changesBetween({ ...step, ladder }, from, to);
    expect([
      between(0, 1, otherInput),
      between(0, 1, otherAgent),
      between(0, 1, rung),
      between(0, 1, personFor(1)),
    ]).toStrictEqual([true, true, false, false]);
    expect([
      between(0, 1, rung, otherInput),
      between(1, 2, otherInput, rung),
      between(1, 2, rung, otherInput),
    ]).toStrictEqual([false, false, true]);
  });
});

describe('the next try', () => {
  const ladder: Rung[] = [rung, { ...otherInput, attempts: 1, firstMs: 4_000, maxMs: 4_000 }];
  const next = (failed: Partial<Failed>, of = ladder) =>
    nextTry(agentStepOf('it', { ladder: of }), { rung: 0, rungAttempt: 1, ...failed }, NOW, 0.5);
  const attempt = (on: number, ms: number) => ({ kind: 'attempt', rung: on, retryAt: NOW + ms });
  it.each<[string, Partial<Failed>, object, Rung[]?]>([
    ['is on the first rung after the first attempt', {}, attempt(1, 500), ladder],
    ['is the second of two on its rung', { rung: 1 }, attempt(1, 1_000), ladder],
    ['is on the next rung after the last of one', { rung: 1, rungAttempt: 2 }, attempt(2, 2_000), ladder],
    [
      'is on the next rung when the same again cannot help',
      { rung: 1, permanent: true },
      attempt(2, 2_000),
      ladder,
    ],
    ['skips a rung of the same again, too', { permanent: true }, attempt(2, 2_000), ladder],
    ['is none after the last', { rung: 2 }, { kind: 'end' }, ladder],
    ['is none where there is no rung', {}, { kind: 'end' }, []],
    ['skips a rung without attempts', {}, attempt(2, 500), [{ ...rung, attempts: 0 }, rung]],
    ['is on the other agent after a permanent failure', { permanent: true }, attempt(1, 0), [otherAgent]],
    ['is a person’s', { rung: 1, rungAttempt: 2 }, { kind: 'person' }, [rung, personFor(1)]],
    ['is a person’s again', { rung: 2, rungAttempt: 1 }, { kind: 'end' }, [rung, personFor(1)]],
    ['is a person’s before what comes later', {}, { kind: 'person' }, [personFor(1), rung]],
    ['waits as long as the service wishes', { retryAfterMs: 501 }, attempt(1, 501), ladder],
    ['waits no less than its backoff', { retryAfterMs: 499 }, attempt(1, 500), ladder],
    ['waits a year at most', { retryAfterMs: YEAR + 1 }, attempt(1, YEAR), ladder],
  ])('%s', (_, failed, result, of) => {
    expect(next(failed, of)).toStrictEqual(result);
  });

  it('where the outcome cannot be settled is a person’s or none', () => {
    const of = (...rungs: Rung[]) => nextUnsettled(agentStepOf('it', { ladder: rungs }));
    expect([of(rung, personFor(1)), of(rung, otherAgent), of()]).toStrictEqual([
      { kind: 'person' },
      { kind: 'end' },
      { kind: 'end' },
    ]);
  });
});

it('an undo is tried once and then as often as declared', () => {
  const at = (attempts: number, undo: 'none' | RetryRung = rung) =>
    nextUndoAt(agentStepOf('it', { undo }), attempts, NOW, 0.5);
  expect([at(1), at(2), at(3), at(1, 'none')]).toStrictEqual([NOW + 500, NOW + 1_000, undefined, undefined]);
});

it('a probe is repeated after one second, then two, up to a minute', () => {
  expect(MAX_PROBES).toBe(20);
  expect([1, 2, 6, 7, 20].map((n) => nextProbeAt(n, NOW, 0.5) - NOW)).toStrictEqual([
    500, 1_000, 16_000, 30_000, 30_000,
  ]);
});
