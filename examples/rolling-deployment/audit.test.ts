/** Planted faults in a ledger that the auditor of a fleet must find. */

import { rested, soaked } from './audit.ts';
import type { FleetEntry } from './world.ts';

const shift = (at: number, host: string, to: 'in' | 'out', kind: 'shift' | 'shift-back' = 'shift') =>
  ({ at, service: 'balancer', kind, host, to }) as FleetEntry;
const BATCHES = [['a', 'b'], ['c'], ['d']];

test('a batch rests from when its last host is at work until the next one begins', () => {
  const entries = [
    shift(0, 'a', 'out'),
    shift(10, 'b', 'out'),
    shift(20, 'b', 'in'),
    shift(30, 'a', 'in'),
    shift(2_030, 'c', 'out'),
    shift(2_040, 'c', 'in'),
  ];
  expect(rested(entries, BATCHES)).toEqual([2_000]);
});

test('a batch that begins before the one before has rested, or is at work, is found', () => {
  const early = [shift(0, 'a', 'out'), shift(30, 'a', 'in'), shift(40, 'c', 'out')];
  expect(rested(early, BATCHES)).toEqual([10]);
  const beside = [shift(0, 'a', 'out'), shift(20, 'c', 'out'), shift(30, 'a', 'in')];
  expect(rested(beside, BATCHES)).toEqual([-10]);
});

test('the way back does not count as the beginning of a batch', () => {
  const entries = [
    shift(0, 'a', 'out'),
    shift(30, 'a', 'in'),
    shift(40, 'a', 'in', 'shift-back'),
    shift(50, 'a', 'out', 'shift-back'),
  ];
  expect(rested(entries, BATCHES)).toEqual([]);
});

test('a gate reads the errors after the soak time of its batch, not of others', () => {
  const entries = [shift(0, 'a', 'in'), shift(30, 'b', 'in'), shift(40, 'b', 'out'), shift(500, 'c', 'in')];
  expect(soaked(entries, ['a', 'b'], 2_030)).toBe(2_000);
  expect(soaked(entries, ['a', 'b'], 50)).toBe(20);
});
