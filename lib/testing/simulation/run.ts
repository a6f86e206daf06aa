/**
 * Many worlds, a bunch at a time.
 *
 * Owns: the turns: each world does one thing, then all promises go on as far as they can, so that one turn of the event
 * loop serves the whole bunch and every world is as repeatable as if it were alone.
 */

import type { FaultMode } from './faults.ts';
import { World, type WorldOptions, type WorldResult } from './world.ts';

/** Enough to share a turn; more of them only hold more memory. */
const SIDE_BY_SIDE = 48;

/** Waits until every promise that can go on has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs worlds side by side, a bunch at a time; one turn of the event loop serves all of them. */
export async function runWorlds(
  seeds: Iterable<number>,
  mode: FaultMode,
  onResult: (result: WorldResult) => void,
  limits: Pick<WorldOptions, 'only' | 'starts'> = {},
): Promise<void> {
  const waiting = seeds[Symbol.iterator]();
  let active: World[] = [];
  for (;;) {
    while (active.length < SIDE_BY_SIDE) {
      const next = waiting.next();
      if (next.done === true) break;
      active.push(new World({ seed: next.value, mode, ...limits }));
    }
    if (active.length === 0) return;
    const going: World[] = [];
    for (const world of active) {
      const result = world.advance();
      if (result === undefined) going.push(world);
      else onResult(result);
    }
    active = going;
    await settled();
  }
}
