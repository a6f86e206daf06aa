/**
 * Many worlds, a bunch at a time.
 *
 * Owns: the turns: each world does one thing, then all promises go on as far as they can, so that one turn of the event
 * loop serves the whole bunch and every world is as repeatable as if it were alone.
 */

import type { FaultMode } from './faults.ts';
import { World, type WorldResult } from './world.ts';

/** Waits until every promise that can go on has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs worlds side by side, a bunch at a time; one turn of the event loop serves all of them. */
export async function runWorlds(
  seeds: Iterable<number>,
  mode: FaultMode,
  onResult: (result: WorldResult) => void,
  sideBySide = 64,
): Promise<void> {
  const waiting = seeds[Symbol.iterator]();
  const active: AsyncGenerator<void, WorldResult>[] = [];
  const refill = (): void => {
    while (active.length < sideBySide) {
      const next = waiting.next();
      if (next.done === true) return;
      active.push(new World(next.value, mode).run());
    }
  };
  refill();
  while (active.length > 0) {
    const turns = await Promise.all(active.map((world) => world.next()));
    await settled();
    for (let at = turns.length - 1; at >= 0; at -= 1) {
      const turn = turns[at];
      if (turn?.done !== true) continue;
      onResult(turn.value);
      active.splice(at, 1);
    }
    refill();
  }
}
