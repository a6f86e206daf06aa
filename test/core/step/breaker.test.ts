/** The breaker: opens on failures that outnumber answers, lets one trial through at a time, and never for good. */

import * as fc from 'fast-check';
import type { Report } from '../../../lib/core/records/events.ts';
import {
  afterCalls,
  afterTrial,
  type Breaker,
  heldUntil,
  holdOf,
  MAX_COOLDOWN_MS,
  passageOf,
  saidOf,
  THRESHOLD,
  WINDOW_MS,
  withTrial,
} from '../../../lib/core/step/breaker.ts';
import { check } from '../check.ts';
import { NOW } from '../states.ts';

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
  afterTrial(breaker, breaker.trial ?? '', failed ? failure : undefined, at(now)) as Breaker;

describe('a breaker', () => {
  it('of an agent whose calls never failed is no record, and lets everything through', () => {
    expect(passageOf(undefined, NOW)).toEqual({ kind: 'free' });
    expect(holdOf(undefined, NOW)).toBeUndefined();
  });

  it('opens at the threshold and not before', () => {
    expect(passageOf(failing(THRESHOLD - 1), NOW)).toEqual({ kind: 'free' });
    const breaker = opened();
    expect(breaker).toMatchObject({ openedAt: NOW, openUntil: NOW + 10_000, cooldowns: 1, failure });
    const hold = { agent: 'ship', since: NOW, until: NOW + 10_000 };
    expect(passageOf(breaker, NOW + 9_999)).toEqual({ kind: 'hold', hold });
    expect(holdOf(breaker, NOW)).toEqual(hold);
  });

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

  it('forgets failures that are far apart', () => {
    let breaker: Breaker | undefined;
    for (let count = 0; count < 100; count += 1) breaker = fail(breaker, NOW + count * WINDOW_MS);
    expect(breaker).toMatchObject({ score: 1 });
    expect(breaker?.openedAt).toBeUndefined();
  });

  it('needs no word of a failure once it is open', () => {
    expect(afterCalls(opened(), 'ship', { failed: 1, answered: 0, failure }, at(NOW + 1))).toBeUndefined();
  });

  it('lets one trial through when its cooldown is over', () => {
    const breaker = opened();
    expect(passageOf(breaker, NOW + 10_000)).toEqual({ kind: 'trial' });
    const trying = tried(breaker, NOW + 10_000);
    expect(trying.version).toBe(breaker.version + 1);
    expect(trying.trial).toBe(trying.writeId);
    expect(passageOf(trying, NOW + 69_999)).toMatchObject({ kind: 'hold', hold: { until: NOW + 70_000 } });
    // The process of that trial is dead, or as good as dead.
    expect(passageOf(trying, NOW + 70_000)).toEqual({ kind: 'trial' });
  });

  it('closes with one answered trial', () => {
    const closed = ofTrial(tried(opened(), NOW + 10_000), NOW + 11_000, false);
    expect(closed).toMatchObject({ score: 0, closedAt: NOW + 11_000 });
    expect(passageOf(closed, NOW + 11_000)).toEqual({ kind: 'free' });
    for (const field of ['openedAt', 'openUntil', 'trial', 'trialUntil'])
      expect(closed).not.toHaveProperty(field);
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

  it('goes on doubling when it opens again soon, and begins anew when it opens again late', () => {
    const closed = ofTrial(tried(opened(), NOW + 10_000), NOW + 10_000, false);
    const soon = failing(THRESHOLD, NOW + 20_000, closed);
    expect((soon.openUntil as number) - NOW - 20_000).toBe(20_000);
    const late = failing(THRESHOLD, NOW + 3_600_000, closed);
    expect((late.openUntil as number) - NOW - 3_600_000).toBe(10_000);
  });

  it('does not listen to a trial that another one has followed', () => {
    const first = tried(opened(), NOW + 10_000);
    const second = tried(first, NOW + 70_000);
    expect(afterTrial(second, first.trial as string, undefined, at(NOW + 71_000))).toBeUndefined();
    expect(afterTrial(second, second.trial as string, undefined, at(NOW + 71_000))?.openedAt).toBeUndefined();
  });

  it('keeps no more of a failure than a person needs', () => {
    const breaker = afterCalls(
      undefined,
      'ship',
      { failed: 1, answered: 0, failure: { code: 'x', message: 'y'.repeat(5_000) } },
      at(NOW),
    );
    expect(breaker?.failure?.message).toHaveLength(300);
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
          const stamp = at(now, random);
          if (what === 'fail')
            breaker = afterCalls(before, 'ship', { failed: 1, answered, failure }, stamp) ?? before;
          else if (before === undefined) continue;
          else if (what === 'try' && passageOf(before, now).kind === 'trial')
            breaker = withTrial(before, 900_000, stamp);
          else if (what !== 'try')
            breaker =
              afterTrial(before, before.trial ?? 'none', what === 'refuse' ? failure : undefined, stamp) ??
              before;
          if (breaker !== before) expect(breaker?.version).toBe((before?.version ?? 0) + 1);
          // Somebody may try again soon enough, whatever happened.
          expect(passageOf(breaker, now + MAX_COOLDOWN_MS * 1.25 + 1).kind).not.toBe('hold');
        }
      }),
      500,
    );
  });
});

describe('held work', () => {
  const hold = { agent: 'ship', since: NOW - 60_000, until: NOW + 5_000 };

  it('waits until the hold is over, and then not all of it comes at once', () => {
    expect(heldUntil(hold, NOW, 0)).toBe(NOW + 5_001);
    expect(heldUntil(hold, NOW, 0.999_999)).toBe(NOW + 5_000 + 30_000);
  });

  it('is spread wider the longer the service was away, within limits', () => {
    const width = (awayMs: number): number =>
      heldUntil({ ...hold, since: NOW - awayMs }, NOW, 0.999_999) - NOW - 5_000;
    expect([0, 10_000, 60_000, 86_400_000].map(width)).toEqual([5_000, 5_000, 30_000, 300_000]);
  });

  it('never waits for a time that has passed', () => {
    expect(heldUntil({ ...hold, until: NOW - 9 }, NOW, 0)).toBe(NOW + 1);
  });
});

describe('a report says of the service', () => {
  it.each<[string, Report, ReturnType<typeof saidOf>]>([
    ['done', { kind: 'done', settled: true, output: 1 }, 'answered'],
    ['undone', { kind: 'undone', settled: true }, 'answered'],
    ['a declined card', { kind: 'failed', settled: true, permanent: true, failure }, 'answered'],
    ['a 503', { kind: 'failed', settled: true, permanent: false, failure }, 'failed'],
    ['a time-out', { kind: 'unknown', settled: false, failure: { code: 'timeout', message: '' } }, 'failed'],
    ['a lost connection', { kind: 'unknown', settled: true, failure }, 'failed'],
    ['found', { kind: 'found', settled: true, verdict: 'not-done' }, 'answered'],
    ['a probe that threw', { kind: 'found', settled: true, verdict: 'cannot-tell', failure }, 'failed'],
    ['cannot tell', { kind: 'found', settled: true, verdict: 'cannot-tell' }, 'answered'],
    [
      'an output that does not fit',
      { kind: 'found', settled: true, verdict: 'cannot-tell', failure: { code: 'bad-output', message: '' } },
      'answered',
    ],
    [
      'an input of ours that does not fit',
      { kind: 'failed', settled: true, permanent: true, failure: { code: 'input-refused', message: '' } },
      'not-asked',
    ],
    [
      'no probe',
      { kind: 'found', settled: true, verdict: 'cannot-tell', failure: { code: 'no-probe', message: '' } },
      'not-asked',
    ],
  ])('%s', (_, report, said) => {
    expect(saidOf(report)).toBe(said);
  });
});
