/**
 * The breaker opens if failures outnumber answers, then lets one trial through at a time, and never stays
 * open for ever.
 */

import * as fc from 'fast-check';
import {
  afterCalls,
  afterTrial,
  type Breaker,
  MAX_COOLDOWN_MS,
  THRESHOLD,
  withTrial,
  notBeforeOf,
  saidOf,
  WINDOW_MS,
} from '../../../lib/core/step/breaker.ts';
import { check } from '../check.ts';
import { NOW } from '../states.ts';
import type { Report } from '../../../lib/core/decisions/events.ts';
import type { NotBefore } from '../../../lib/core/records/state.ts';
import { backAt } from '../../../lib/core/step/defer.ts';

const failure = { code: 'TransientError', message: '503' };
let ids = 0;
const at = (now: number, random = 0) => ({ now, random, writeId: `w-${(ids += 1)}` });
const fail = (breaker: Breaker | undefined, now: number, answered = 0): Breaker | undefined =>
  afterCalls(breaker, 'ship', { failed: 1, answered, failure }, at(now)) ?? breaker;
const failing = (times: number, now = NOW, breaker?: Breaker): Breaker => {
  let next = breaker;
  for (let count = 0; count < times; count += 1) next = fail(next, now);
  return next as Breaker;
};
const opened = (now = NOW): Breaker => failing(THRESHOLD, now);
const tried = (breaker: Breaker, now: number): Breaker => withTrial(breaker, 60_000, at(now));
const ofTrial = (breaker: Breaker, now: number, failed: boolean): Breaker =>
  afterTrial(breaker, breaker.trial ?? '', failed ? failure : 'answered', at(now)) as Breaker;

describe('a breaker', () => {
  it('stays closed while as many calls are answered as fail, however many', () => {
    let breaker: Breaker | undefined;
    for (let count = 0; count < 10_000; count += 1) breaker = fail(breaker, NOW + count, 1);
    expect(breaker?.openedAt).toBeUndefined();
  });

  it('opens after one failure of each process and the threshold, whatever they carry from better times', () => {
    const processes = 20;
    let breaker: Breaker | undefined;
    for (let each = 0; each < processes; each += 1) breaker = fail(breaker, NOW + each, 5_000);
    breaker = failing(THRESHOLD - 1, NOW + processes, breaker);
    expect(breaker.openedAt).toBe(NOW + processes);
  });

  it('needs no word of a failure once it is open', () => {
    expect(afterCalls(opened(), 'ship', { failed: 1, answered: 0, failure }, at(NOW + 1))).toBeUndefined();
  });

  it('doubles its cooldown with every failed trial, up to a limit, and remembers since when it is open', () => {
    let breaker = opened();
    const cooldowns: number[] = [];
    for (let count = 0; count < 7; count += 1) {
      const now = breaker.openUntil as number;
      cooldowns.push(now - (count === 0 ? NOW : breaker.failedAt));
      breaker = ofTrial(tried(breaker, now), now, true);
    }
    expect(cooldowns).toEqual([10, 20, 40, 80, 120, 120, 120].map((seconds) => seconds * 1_000));
    expect(breaker.openedAt).toBe(NOW);
  });

  it('after any history is never open without an end, and every write is one version on (S3, S14)', () => {
    const step = fc.record({
      what: fc.constantFrom('fail', 'fail', 'try', 'answer', 'refuse'),
      afterMs: fc.integer({ min: 0, max: 100_000 }),
      answered: fc.integer({ min: 0, max: 20 }),
      random: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    });
    check(
      fc.property(fc.array(step, { maxLength: 60 }), (history) => {
        let now = NOW;
        let breaker: Breaker | undefined;
        for (const { what, afterMs, answered, random } of history) {
          now += afterMs;
          const before = breaker;
          const inputs = at(now, random);
          if (what === 'fail')
            breaker = afterCalls(before, 'ship', { failed: 1, answered, failure }, inputs) ?? before;
          else if (before === undefined) continue;
          else if (what === 'try' && (notBeforeOf(before, now)?.at ?? Number.NaN) <= now)
            breaker = withTrial(before, 900_000, inputs);
          else if (what !== 'try')
            breaker =
              afterTrial(before, before.trial ?? 'none', what === 'refuse' ? failure : 'answered', inputs) ??
              before;
          if (breaker !== before) expect(breaker?.version).toBe((before?.version ?? 0) + 1);
          // Whatever happened, a trial is possible soon enough.
          const later = now + MAX_COOLDOWN_MS * 1.25 + 1;
          expect(notBeforeOf(breaker, later)?.at ?? later).toBeLessThanOrEqual(later);
        }
      }),
      500,
    );
  });
});

describe('held work', () => {
  const notBefore = { why: 'breaker' as const, since: NOW - 60_000, at: NOW + 5_000 };

  it('waits until the hold is over, and then not all of it comes at once', () => {
    const back = (random: number, why: NotBefore['why'] = 'breaker') =>
      backAt({ ...notBefore, why }, { writeId: 'w', now: NOW, random });
    expect([back(0), back(0.999_999)]).toStrictEqual([NOW + 5_001, NOW + 5_000 + 30_000]);
    expect(back(0.999_999, 'paused')).toBe(NOW + 5_000 + 30_000);
  });

  it('comes back at its own time where no service was away', () => {
    for (const why of ['rate', 'unclaimed', 'not-deployed'] as const)
      expect(backAt({ ...notBefore, why }, { writeId: 'w', now: NOW, random: 0.9 })).toBe(NOW + 5_000);
  });
});

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
  const from = (until: number): NotBefore => ({ why: 'breaker', since: NOW - 90, at: until });
  it.each<[string, Breaker | undefined, NotBefore | undefined]>([
    ['all, where no record is', undefined, undefined],
    ['all, while it is closed', closed, undefined],
    ['nobody before the cooldown is over', open, from(NOW + 10)],
    ['one, when it is', { ...open, openUntil: NOW }, from(NOW)],
    ['nobody, a moment before', { ...open, openUntil: NOW + 1 }, from(NOW + 1)],
    ['nobody beside a trial', trying, from(NOW + 20)],
    ['one, when a trial is long over', { ...trying, trialUntil: NOW }, from(NOW)],
    ['one, of a record that says no time', { ...closed, openedAt: NOW - 90 }, from(NOW)],
    ['nobody, in the longest cooldown', { ...open, openUntil: NOW + 29_000 }, from(NOW + 29_000)],
    ['one, of a clock that was ahead', { ...open, openUntil: NOW + 29_001 }, from(NOW)],
    ['nobody, in the longest trial', { ...trying, trialUntil: NOW + 64_000 }, from(NOW + 64_000)],
    ['one, beside a trial of such a clock', { ...trying, trialUntil: NOW + 64_001 }, from(NOW)],
  ])('%s', (_, breaker, until) => {
    expect(notBeforeOf(breaker, NOW)).toStrictEqual(until);
  });
});

describe('failed calls', () => {
  const failed = { failedAt: NOW, failingSince: NOW, failure };
  const first = { agent: 'a', version: 1, writeId: 'w-new', cooldowns: 0, ...failed };
  it('are the first record, or the next', () => {
    expect(afterCalls(undefined, 'a', calls(2), inputs)).toStrictEqual({ ...first, score: 2 });
    expect(afterCalls(undefined, 'a', calls(2, 1), inputs)).toStrictEqual({ ...first, score: 2 });
    expect(afterCalls(closed, 'b', calls(2), inputs)).toStrictEqual({
      ...closed,
      version: 4,
      writeId: 'w-new',
      score: 6,
      ...failed,
    });
    expect(afterCalls(closed, 'a', calls(2, 3), inputs)?.score).toBe(3);
    expect(afterCalls(closed, 'a', calls(2, 9), inputs)?.score).toBe(2);
  });

  it('add up within half a minute', () => {
    const after = (ms: number) => afterCalls({ ...closed, failedAt: NOW - ms }, 'a', calls(1), inputs)?.score;
    expect([after(29_999), after(30_000)]).toStrictEqual([5, 1]);
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
    expect(afterTrial(trying, 't', 'answered', inputs)).toStrictEqual({
      ...closed,
      ...next,
      score: 0,
      closedAt: NOW,
    });
  });

  it('of the past says nothing', () => {
    expect(afterTrial(trying, 'other', 'answered', inputs)).toBeUndefined();
    const { openedAt: _, ...shut } = trying;
    expect(afterTrial(shut, 't', 'answered', inputs)).toBeUndefined();
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
    ['a verdict', found('running'), 'answered'],
    ['that nothing is done', found('not-done'), 'found-nothing'],
    ['that it cannot tell', found('cannot-tell'), 'failed'],
    ['why it cannot tell', found('cannot-tell', 'cannot-tell'), 'failed'],
    ['that it threw', found('cannot-tell', 'x'), 'failed'],
    ['a wrong answer', { kind: 'wrong-answer', codeReturned: true, failure, answer: '1' }, 'answered'],
    ['a verdict with a failure', found('running', 'x'), 'answered'],
    ['nothing, for its input was refused', failed(true, 'input-refused'), 'nothing'],
    ['nothing, for it has no probe', found('cannot-tell', 'no-probe'), 'nothing'],
    ['nothing, for it has no undo', failed(true, 'no-undo'), 'nothing'],
  ])('%s', (_, report, said) => {
    expect(saidOf(report, 0)).toBe(said);
  });

  it.each<[string, Report, ReturnType<typeof saidOf>]>([
    ['that it cannot tell', found('cannot-tell'), 'nothing'],
    ['why it cannot tell', found('cannot-tell', 'cannot-tell'), 'nothing'],
    ['that it threw', found('cannot-tell', 'x'), 'failed'],
    ['nothing certain', { kind: 'unknown', codeReturned: false, failure }, 'failed'],
    ['that nothing is done', found('not-done'), 'found-nothing'],
  ])('%s, once another probe was in vain', (_, report, said) => {
    expect(saidOf(report, 1)).toBe(said);
  });
});
