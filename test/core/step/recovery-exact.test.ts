/** What is tried next, to the stage and the millisecond. */

import {
  backoffMs,
  changesBetween,
  type Failed,
  MAX_PROBES,
  nextProbeAt,
  nextTry,
  nextUndoAt,
  nextWithoutVerdict,
  variantOf,
} from '../../../lib/core/step/recovery.ts';
import type { RetryStage, Stage } from '../../../lib/core/plan/plan.ts';
import { agentStepOf, otherAgent, otherInput, personFor } from '../small-steps.ts';
import { NOW } from '../states.ts';

const stage: RetryStage = { kind: 'retry', attempts: 2, firstMs: 1_000, maxMs: 10_000 };
const YEAR = 366 * 86_400_000;

it('a backoff is the random part of what doubles up to its maximum', () => {
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
    // Asked again, it is the same object.
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
  const attempt = (on: number, ms: number) => ({ kind: 'attempt', stage: on, retryAt: NOW + ms });
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
