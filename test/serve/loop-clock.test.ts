/** A step that blocks the event loop makes no other step lose its lease. */

import { setImmediate } from 'node:timers/promises';
import { TURN_MS, BLOCKED_MS, LoopClock } from '../../serve/loop-clock.ts';
import { ManualClock } from '../../lib/memory/world.ts';

const BLOCK_MS = 10_000;

function started(): {
  clock: ManualClock;
  loop: LoopClock;
  blocks: number[];
  turns: (count: number) => void;
} {
  const clock = new ManualClock();
  const blocks: number[] = [];
  const loop = new LoopClock(clock, (ms) => void blocks.push(ms), clock.now);
  const turns = (count: number): void => {
    for (let at = 0; at < count; at += 1) {
      clock.advanceTo(clock.now() + TURN_MS);
      loop.turn();
    }
  };
  return { clock, loop, blocks, turns };
}

it('goes on with the loop, two turns behind', () => {
  const { clock, loop, turns } = started();
  turns(10);
  expect(clock.now() - loop.now()).toBe(2 * TURN_MS);
});

it('stands still while the loop is blocked, and until it has gone round three times after that (L2)', () => {
  const { clock, loop, turns, blocks } = started();
  turns(10);
  const before = loop.now();
  // After a block, the supervisor may read the clock before the loop's timer has had its turn.
  clock.advanceTo(clock.now() + BLOCK_MS);
  expect(loop.now()).toBe(before);
  loop.turn();
  turns(1);
  expect(loop.now()).toBeLessThan(before + BLOCKED_MS);
  turns(1);
  expect(clock.now() - loop.now()).toBe(2 * TURN_MS);
  expect(blocks).toEqual([BLOCK_MS - TURN_MS]);
  // A stopped process could not receive anything, so this is not silence.
  expect(loop.ran()).toBe(12 * TURN_MS + BLOCKED_MS);
});

it('says nothing of a loop that is merely busy', () => {
  const { clock, loop, blocks } = started();
  for (let at = 0; at < 10; at += 1) {
    clock.advanceTo(clock.now() + BLOCKED_MS);
    loop.turn();
  }
  expect(blocks).toEqual([]);
});

it('never is ahead of a clock that was set back', async () => {
  let now = 1_000_000;
  const loop = new LoopClock(
    { now: () => now, sleep: () => setImmediate() },
    () => undefined,
    () => 0,
  );
  now -= 60_000;
  expect(loop.now()).toBe(now);
});

it('takes no clock that was set forward for a blocked loop', () => {
  let now = 1_000_000;
  const blocks: number[] = [];
  const clock = { now: () => now, sleep: () => setImmediate() };
  const loop = new LoopClock(
    clock,
    (ms) => void blocks.push(ms),
    () => 0,
  );
  now += 7_200_000;
  for (let at = 0; at < 3; at += 1) loop.turn();
  expect([loop.now(), loop.ran(), blocks]).toEqual([now, 0, []]);
});
