/** The breaker's records and times to the field and the millisecond (S9). */

import type { OpenBreaker, Report } from '../../../lib/core/records/events.ts';
import {
  afterCalls,
  afterTrial,
  type Breaker,
  openBreakerOf,
  MAX_COOLDOWN_MS,
  passageOf,
  saidOf,
  THRESHOLD,
  WINDOW_MS,
  withTrial,
} from '../../../lib/core/step/breaker.ts';
import { NOW } from '../states.ts';

const failure = { code: 'x', message: 'y' };
const inputs = { writeId: 'w-new', now: NOW, random: 0.4 };
const closed: Breaker = {
  agent: 'a',
  version: 3,
  writeId: 'w',
  score: 4,
  failedAt: NOW - 1,
  cooldowns: 2,
  failure,
};
const open: Breaker = { ...closed, openedAt: NOW - 90, openUntil: NOW + 10 };
const trying: Breaker = { ...open, openUntil: NOW, trial: 't', trialUntil: NOW + 20 };
const calls = (failed: number, answered = 0) => ({ failed, answered, failure });

it('its limits', () => {
  expect([THRESHOLD, WINDOW_MS, MAX_COOLDOWN_MS]).toStrictEqual([8, 30_000, 120_000]);
});

describe('who may call', () => {
  const openBreaker = (until: number): OpenBreaker => ({ agent: 'a', since: NOW - 90, until });
  it.each<[string, Breaker | undefined, object, OpenBreaker | undefined]>([
    ['all, where no record is', undefined, { kind: 'free' }, undefined],
    ['all, while it is closed', closed, { kind: 'free' }, undefined],
    [
      'nobody before the cooldown is over',
      open,
      { kind: 'open', openBreaker: openBreaker(NOW + 10) },
      openBreaker(NOW + 10),
    ],
    ['one, when it is', { ...open, openUntil: NOW }, { kind: 'trial' }, openBreaker(NOW)],
    [
      'nobody, a moment before',
      { ...open, openUntil: NOW + 1 },
      { kind: 'open', openBreaker: openBreaker(NOW + 1) },
      openBreaker(NOW + 1),
    ],
    [
      'nobody beside a trial',
      trying,
      { kind: 'open', openBreaker: openBreaker(NOW + 20) },
      openBreaker(NOW + 20),
    ],
    ['one, when a trial is long over', { ...trying, trialUntil: NOW }, { kind: 'trial' }, openBreaker(NOW)],
    [
      'one, of a record that says no time',
      { ...closed, openedAt: NOW - 90 },
      { kind: 'trial' },
      openBreaker(NOW),
    ],
  ])('%s', (_, breaker, passage, held) => {
    expect(passageOf(breaker, NOW)).toStrictEqual(passage);
    expect(openBreakerOf(breaker, NOW)).toStrictEqual(held);
  });
});

describe('failed calls', () => {
  const first = { agent: 'a', version: 1, writeId: 'w-new', failedAt: NOW, cooldowns: 0, failure };
  it('are the first record, or the next', () => {
    expect(afterCalls(undefined, 'a', calls(2), inputs)).toStrictEqual({ ...first, score: 2 });
    expect(afterCalls(undefined, 'a', calls(2, 1), inputs)).toStrictEqual({ ...first, score: 2 });
    expect(afterCalls(closed, 'b', calls(2), inputs)).toStrictEqual({
      ...closed,
      version: 4,
      writeId: 'w-new',
      score: 6,
      failedAt: NOW,
    });
    expect(afterCalls(closed, 'a', calls(2, 3), inputs)?.score).toBe(3);
    expect(afterCalls(closed, 'a', calls(2, 9), inputs)?.score).toBe(2);
  });

  it('add up within half a minute', () => {
    const after = (ms: number) => afterCalls({ ...closed, failedAt: NOW - ms }, 'a', calls(1), inputs)?.score;
    expect([after(29_999), after(30_000)]).toStrictEqual([5, 1]);
  });

  it('open it at the threshold, for ten seconds and up to a quarter more', () => {
    expect(afterCalls(closed, 'a', calls(3), inputs)).not.toHaveProperty('openedAt');
    expect(afterCalls(closed, 'a', calls(4), inputs)).toStrictEqual({
      ...closed,
      version: 4,
      writeId: 'w-new',
      score: 8,
      failedAt: NOW,
      openedAt: NOW,
      cooldowns: 1,
      openUntil: NOW + 11_000,
    });
    expect(afterCalls(open, 'a', calls(4), inputs)).toBeUndefined();
  });

  it('open it for longer soon after it was closed', () => {
    const again = (ms: number) => afterCalls({ ...closed, closedAt: NOW - ms }, 'a', calls(4), inputs);
    expect(again(599_999)).toMatchObject({ cooldowns: 3, openUntil: NOW + 44_000 });
    expect(again(600_000)).toMatchObject({ cooldowns: 1, openUntil: NOW + 11_000 });
  });
});

describe('a trial', () => {
  const next = { version: 4, writeId: 'w-new' };
  it('keeps others from trying for its time, a minute at most', () => {
    expect(withTrial(open, 7_000, inputs)).toStrictEqual({
      ...open,
      ...next,
      trial: 'w-new',
      trialUntil: NOW + 7_000,
    });
    expect(withTrial(open, 60_001, inputs).trialUntil).toBe(NOW + 60_000);
  });

  it('that was answered closes it', () => {
    expect(afterTrial(trying, 't', undefined, inputs)).toStrictEqual({
      ...closed,
      ...next,
      score: 0,
      closedAt: NOW,
    });
  });

  it('of the past says nothing', () => {
    expect(afterTrial(trying, 'other', undefined, inputs)).toBeUndefined();
    const { openedAt: _, ...shut } = trying;
    expect(afterTrial(shut, 't', undefined, inputs)).toBeUndefined();
  });
});

describe('a report says of the service', () => {
  const of = (code: string) => ({ code, message: 'm' });
  const failed = (permanent: boolean, code = 'x'): Report => ({
    kind: 'failed',
    codeReturned: true,
    permanent,
    failure: of(code),
  });
  const found = (verdict: string, code?: string) =>
    ({
      kind: 'found',
      codeReturned: true,
      verdict,
      ...(code === undefined ? {} : { failure: of(code) }),
    }) as Report;
  it.each<[string, Report, ReturnType<typeof saidOf>]>([
    ['done', { kind: 'done', codeReturned: true, output: 1 }, 'answered'],
    ['compensated', { kind: 'compensated', codeReturned: true }, 'answered'],
    ['a refusal', failed(true), 'answered'],
    ['a failure', failed(false), 'failed'],
    ['nothing certain', { kind: 'unknown', codeReturned: false, failure }, 'failed'],
    ['a verdict', found('not-done'), 'answered'],
    ['that it cannot tell', found('cannot-tell'), 'answered'],
    ['that it threw', found('cannot-tell', 'x'), 'failed'],
    ['that its answer is bad', found('cannot-tell', 'bad-output'), 'answered'],
    ['that its answer is too large', found('cannot-tell', 'output-too-large'), 'answered'],
    ['a verdict with a failure', found('running', 'x'), 'answered'],
    ['nothing, for its input was refused', failed(true, 'input-refused'), 'not-asked'],
    ['nothing, for it has no probe', found('cannot-tell', 'no-probe'), 'not-asked'],
    ['nothing, for it has no undo', failed(true, 'no-undo'), 'not-asked'],
  ])('%s', (_, report, said) => {
    expect(saidOf(report)).toBe(said);
  });
});
