/** The breaker: opens on failures that outnumber answers, lets one trial through at a time, and never for good. */

import * as fc from 'fast-check';
import {
  afterCalls,
  afterTrial,
  type Breaker,
  deferredUntil,
  MAX_COOLDOWN_MS,
  passageOf,
  THRESHOLD,
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
          else if (what === 'try' && passageOf(before, now).kind === 'trial')
            breaker = withTrial(before, 900_000, inputs);
          else if (what !== 'try')
            breaker =
              afterTrial(before, before.trial ?? 'none', what === 'refuse' ? failure : undefined, inputs) ??
              before;
          if (breaker !== before) expect(breaker?.version).toBe((before?.version ?? 0) + 1);
          // Somebody may try again soon enough, whatever happened.
          expect(passageOf(breaker, now + MAX_COOLDOWN_MS * 1.25 + 1).kind).not.toBe('open');
        }
      }),
      500,
    );
  });
});

describe('held work', () => {
  const openBreaker = { agent: 'ship', since: NOW - 60_000, until: NOW + 5_000 };

  it('waits until the hold is over, and then not all of it comes at once', () => {
    expect(deferredUntil(openBreaker, NOW, 0)).toBe(NOW + 5_001);
    expect(deferredUntil(openBreaker, NOW, 0.999_999)).toBe(NOW + 5_000 + 30_000);
  });
});
