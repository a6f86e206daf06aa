/**
 * Which writes leave work that is due before the next scheduled sweep, so that a supervisor must be called
 * (L2).
 */

import { isPromised, needsPresence, presenceAfter, TICK_MS } from '../../../lib/core/supervision/presence.ts';

const NOW = 1_700_000_000_000;

describe('a write needs a supervisor', () => {
  it.each([
    ['a new record, due before any tick must have come', NOW + TICK_MS - 1, undefined, true],
    ['a new record, due when a tick has come', NOW + TICK_MS, undefined, false],
    ['a wake time that is brought nearer', NOW + 5_000, NOW + 5_001, true],
    ['one that stays as it was', NOW + 5_000, NOW + 5_000, false],
    ['one that is deferred', NOW + 5_001, NOW + 5_000, false],
    ['one that is overdue, and was not due before', NOW - 1, NOW + 1, true],
    ['a record without one', undefined, NOW + 5_000, false],
    ['one that had none before', NOW, undefined, true],
  ])('%s', (_, wakeAt, beforeAt, needed) => {
    expect(needsPresence(wakeAt, beforeAt, NOW)).toBe(needed);
  });
});

it('a presence holds until its time, and not at all where a clock that was ahead promised it (L2)', () => {
  const promised = [NOW, NOW + 1, NOW + 2 * TICK_MS, NOW + 2 * TICK_MS + 1, NOW + 7_200_000];
  expect(promised.map((untilAt) => isPromised(untilAt, NOW))).toEqual([false, true, true, false, false]);
});

it('a presence is followed by the next version of it (S3)', () => {
  expect(presenceAfter({ version: 4 }, 'w', NOW)).toEqual({ version: 5, writeId: 'w', untilAt: NOW });
});
