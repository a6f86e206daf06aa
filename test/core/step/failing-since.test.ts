/** Recording since when a service's calls fail, and a trial without a result. */

import {
  afterAnswers,
  afterCalls,
  afterTrial,
  type Breaker,
  notBeforeOf,
  provesNoAction,
  THRESHOLD,
  withTrial,
} from '../../../lib/core/step/breaker.ts';
import type { FailedCall } from '../../../lib/core/records/unanswered.ts';
import { NOW } from '../states.ts';

const failure = { code: 'TransientError', message: '503' };
let ids = 0;
const at = (now: number) => ({ now, random: 0, writeId: `w-${(ids += 1)}` });
const tried = (breaker: Breaker, now: number): Breaker => withTrial(breaker, 60_000, at(now));
const ofTrial = (breaker: Breaker, now: number, failed: boolean): Breaker =>
  afterTrial(breaker, breaker.trial ?? '', failed ? failure : 'answered', at(now)) as Breaker;

describe('since when calls fail', () => {
  const call = (failedAt: number, mode: FailedCall['mode'] = 'execute'): FailedCall => ({
    executionId: `e-${failedAt}`,
    step: 's',
    attempt: 1,
    mode,
    at: failedAt,
  });
  const after = (
    breaker: Breaker | undefined,
    now: number,
    answered = 0,
    mode: FailedCall['mode'] = 'execute',
  ): Breaker =>
    afterCalls(
      breaker,
      'ship',
      { failed: 1, answered, failure, calls: [call(now, mode)] },
      at(now),
    ) as Breaker;

  it('is the first failure without an answer since, however far apart the failures are', () => {
    let breaker = after(undefined, NOW);
    for (let minute = 1; minute < 9; minute += 1) breaker = after(breaker, NOW + minute * 60_000);
    expect(breaker).toMatchObject({ failingSince: NOW, score: 1 });
    expect(breaker.openedAt).toBeUndefined();
    for (let more = 0; more < THRESHOLD; more += 1) breaker = after(breaker, NOW + 540_000) ?? breaker;
    expect(breaker).toMatchObject({ failingSince: NOW, openedAt: NOW + 540_000 });
  });

  it('begins again with a failure that carries an answer, and with an answer that is written', () => {
    const carried = after(after(undefined, NOW), NOW + 5, 3);
    expect(carried).toMatchObject({ failingSince: NOW + 5, calls: [call(NOW + 5)] });
    const answered = afterAnswers(carried, 1, at(NOW + 9)) as Breaker;
    expect(answered).toMatchObject({ version: 3, score: 0 });
    for (const gone of ['failingSince', 'calls']) expect(answered).not.toHaveProperty(gone);
    expect(afterAnswers(answered, 1, at(NOW + 10))).toBeUndefined();
    expect(after(answered, NOW + 20).failingSince).toBe(NOW + 20);
  });

  it('is kept by an answer from before it, however late that is recorded (seed 31, crowded)', () => {
    const breaker = after(undefined, NOW);
    const late = { failed: 1, answered: 2, answeredAt: NOW - 1, failure, calls: [call(NOW + 9)] };
    expect(afterCalls(breaker, 'ship', late, at(NOW + 9))).toMatchObject({
      failingSince: NOW,
      calls: [call(NOW), call(NOW + 9)],
    });
    expect(afterAnswers(breaker, 2, at(NOW + 9), NOW - 1)).toBeUndefined();
    const now = { ...late, answeredAt: NOW };
    expect(afterCalls(breaker, 'ship', now, at(NOW + 9))).toMatchObject({ failingSince: NOW + 9 });
    expect(afterAnswers(breaker, 2, at(NOW + 9), NOW)).not.toHaveProperty('failingSince');
  });

  it('is kept while it is open, whatever answers but the trial', () => {
    let breaker = after(undefined, NOW);
    for (let more = 1; more < THRESHOLD; more += 1) breaker = after(breaker, NOW + more);
    expect(afterAnswers(breaker, 1, at(NOW + 9))).toBeUndefined();
    const now = breaker.openUntil as number;
    const underWay = tried(breaker, now);
    expect(ofTrial(underWay, now, true).failingSince).toBe(NOW);
    expect(ofTrial(underWay, now, false)).not.toHaveProperty('failingSince');
  });

  it('says whether one of the calls since was to act: then a probe that finds nothing does not count as an answer', () => {
    const probed = after(undefined, NOW, 0, 'probe');
    expect(provesNoAction(probed)).toBe(false);
    const acted = after(probed, NOW + 40_000);
    expect(provesNoAction(acted)).toBe(true);
    const goesOn = after(acted, NOW + 80_000, 0, 'probe');
    expect(provesNoAction(goesOn)).toBe(true);
    expect(provesNoAction(after(goesOn, NOW + 120_000, 9, 'probe'))).toBe(false);
  });

  it('names the latest of many', () => {
    let breaker = after(undefined, NOW);
    for (let more = 1; more < 40; more += 1) breaker = after(breaker, NOW + more * 31_000);
    expect(breaker.calls?.map(({ at: failedAt }) => (failedAt - NOW) / 31_000)).toEqual(
      Array.from({ length: 2 * THRESHOLD }, (_, one) => 24 + one),
    );
  });
});

it('a trial that says nothing of the service leaves the next one to be made at once', () => {
  const calls = { failed: THRESHOLD, answered: 0, failure };
  const breaker = afterCalls(undefined, 'ship', calls, at(NOW)) as Breaker;
  const now = breaker.openUntil as number;
  const underWay = tried(breaker, now);
  expect(notBeforeOf(underWay, now)?.at).toBeGreaterThan(now);
  const freed = afterTrial(underWay, underWay.trial ?? '', 'nothing', at(now)) as Breaker;
  expect(notBeforeOf(freed, now)?.at).toBe(now);
  expect(freed).toMatchObject({
    openedAt: NOW,
    cooldowns: underWay.cooldowns,
    version: underWay.version + 1,
  });
});
