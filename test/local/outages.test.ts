/** A resource that is switched off for a time is switched on by itself. */

import { Outages } from '../../local/control/outages.ts';
import { ManualClock } from './manual-clock.ts';

const setUp = () => {
  const clock = new ManualClock();
  const ended: string[] = [];
  const outages = new Outages(clock);
  const begin = (name: string, forMs?: number): void => outages.begin(name, () => ended.push(name), forMs);
  return { clock, ended, outages, begin };
};

it('ends when its time is over, and once', () => {
  const { clock, ended, begin } = setUp();
  begin('tick', 5_000);
  clock.advance(4_999);
  expect(ended).toEqual([]);
  clock.advance(1);
  clock.advance(60_000);
  expect(ended).toEqual(['tick']);
});

it('counts its time from the last time that it was switched off (I1)', () => {
  const { clock, ended, begin } = setUp();
  begin('tick', 5_000);
  clock.advance(4_000);
  begin('tick', 5_000);
  clock.advance(4_000);
  expect(ended).toEqual([]);
  clock.advance(1_000);
  expect(ended).toEqual(['tick']);
});

it('stays off without a time, and ends early by hand', () => {
  const { clock, ended, outages, begin } = setUp();
  begin('for ever');
  begin('tick', 5_000);
  outages.forget('tick');
  clock.advance(60_000);
  expect(ended).toEqual([]);
});

it('takes no invalid time', () => {
  const { begin } = setUp();
  expect(() => begin('tick', 0)).toThrow('forMs must be a number of milliseconds above 0, got 0');
});
