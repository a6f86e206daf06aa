/** A server's time if the machine's clock is set while it runs, or between two runs. */

import { SteadyTime } from '../../serve/steady-time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 8_760 * HOUR;
const START = 1_800_000_000_000;

function machine() {
  const now = { wall: START, elapsed: 5_000 };
  return {
    now,
    wall: () => now.wall,
    elapsed: () => now.elapsed,
    pass: (ms: number) => {
      now.wall += ms;
      now.elapsed += ms;
    },
  };
}

it.each([MINUTE, 2 * HOUR, 2 * YEAR])('goes on where the clock is set back by %i ms', (ms) => {
  const clock = machine();
  const jumps: number[] = [];
  const time = new SteadyTime((byMs) => void jumps.push(byMs), clock);
  clock.pass(MINUTE);
  const before = time.now();
  clock.now.wall -= ms;
  clock.pass(100);
  expect(time.now() - before).toBe(100);
  clock.pass(MINUTE);
  // Its minute is a little shorter, so that it comes nearer to the machine's clock; no wait is much longer.
  expect(time.now() - before).toBeGreaterThanOrEqual(0.995 * MINUTE);
  expect(time.now() - before).toBeLessThan(MINUTE + 100);
  expect(time.aheadMs).toBeLessThan(ms);
  expect(jumps).toEqual([-ms]);
});

it.each([MINUTE, 2 * HOUR, 2 * YEAR])('follows a clock that is set forward by %i ms', (ms) => {
  const clock = machine();
  const jumps: number[] = [];
  const time = new SteadyTime((byMs) => void jumps.push(byMs), clock);
  clock.now.wall += ms;
  clock.pass(100);
  expect(time.now()).toBe(START + ms + 100);
  expect(jumps).toEqual([ms]);
});

it('skips nothing where a clock that was set back is set forward again', () => {
  const clock = machine();
  const skipped: number[] = [];
  const time = new SteadyTime((_, skippedMs) => void skipped.push(skippedMs), clock);
  clock.now.wall -= HOUR;
  clock.pass(1);
  time.now();
  clock.now.wall += HOUR + MINUTE;
  clock.pass(1);
  time.now();
  expect(skipped).toEqual([0, MINUTE]);
});

it.each([MINUTE, 2 * HOUR, 2 * YEAR])('goes on from the last run, whose clock was %i ms ahead', (ms) => {
  const clock = machine();
  const jumps: number[] = [];
  const time = new SteadyTime((byMs) => void jumps.push(byMs), clock);
  time.goOnFrom(START + ms);
  expect(time.now()).toBe(START + ms);
  expect(jumps).toEqual([-ms]);
});

it.each([MINUTE, 2 * HOUR, 2 * YEAR])('takes %i ms between two runs for time that has passed', (ms) => {
  const clock = machine();
  const time = new SteadyTime(() => expect(undefined).toBe('no jump'), clock);
  time.goOnFrom(START - ms);
  expect(time.now()).toBe(START);
});

it('is the machine’s again in the end, and at once when the clock is set right', () => {
  const clock = machine();
  const time = new SteadyTime(() => undefined, clock);
  clock.now.wall -= 2 * HOUR;
  time.now();
  clock.pass(200 * 2 * HOUR);
  expect(time.now()).toBe(clock.now.wall);
  clock.now.wall -= 2 * HOUR;
  const before = time.now();
  clock.now.wall += 2 * HOUR;
  expect(time.now()).toBe(before);
  expect(time.aheadMs).toBe(0);
});

it('never goes back, and has no news of small corrections', () => {
  const clock = machine();
  const time = new SteadyTime(() => expect(undefined).toBe('no jump'), clock);
  let before = time.now();
  for (let at = 0; at < 100; at += 1) {
    clock.pass(10);
    clock.now.wall += at % 2 === 0 ? -300 : 290;
    const now = time.now();
    expect(now).toBeGreaterThanOrEqual(before);
    before = now;
  }
});
