/**
 * Runs many worlds, one after the other: each finds its own data in the processor's cache.
 *
 * Owns: the turns of a world. In each turn it does one thing; then all promises go on as far as they can.
 * Does not own: what happens.
 *
 * Between two turns of the event loop some microseconds pass; between two events of a world, less. So the
 * promises are not awaited: V8 is made to run them at once, which Node does not offer.
 */

import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { defined } from '../../lib/core/values/defined.ts';
import type { FaultMode } from './faults.ts';
import { World } from './world.ts';
import type { WorldOptions, WorldResult } from './world-result.ts';

/**
 * After so many things the event loop gets a turn: messages leave, and the check for a world without an end
 * runs.
 */
const THINGS_A_TURN = 1_000;

/** Lets every promise go on that can; nothing if V8 has no such function. */
function checkpointOf(): (() => void) | undefined {
  // Set for good: V8 compiles the function at its first call, and again if it was not called for long.
  setFlagsFromString('--allow-natives-syntax');
  try {
    return runInThisContext('() => %PerformMicrotaskCheckpoint()') as () => void;
  } catch {
    return undefined;
  }
}

type Limits = Pick<WorldOptions, 'only' | 'starts'> & {
  /** A SQLite file answers the roles, as in `serve`. */
  readonly overFile?: boolean;
};

async function fileStores(): Promise<NonNullable<WorldOptions['fileOf']>> {
  const { FileStore } = await import('./file-store.ts');
  return (...of) => new FileStore(...of);
}

/** Runs a world for each seed, and reports each when it is over. */
export async function runWorlds(
  seeds: Iterable<number>,
  mode: FaultMode,
  onResult: (result: WorldResult) => void,
  { overFile = false, ...limits }: Limits = {},
): Promise<void> {
  const fileOf = overFile ? await fileStores() : undefined;
  const checkpoint = checkpointOf();
  const thingsATurn = checkpoint === undefined ? 1 : THINGS_A_TURN;
  const waiting = seeds[Symbol.iterator]();
  let world: World | undefined;
  /**
   * Runs some events of a world; only one if promises have to be waited for.
   * @returns whether there are more
   */
  const turn = (): boolean => {
    if (world === undefined) {
      const next = waiting.next();
      if (next.done === true) return false;
      world = new World({ seed: next.value, mode, ...limits, ...defined({ fileOf }) });
    }
    // Its file answers in turns of the event loop.
    if (world.isAsking) return true;
    let result = world.advance();
    for (let things = 1; result === undefined && things < thingsATurn; things += 1) {
      checkpoint?.();
      if (world.isAsking) return true;
      result = world.advance();
    }
    if (result !== undefined) {
      onResult(result);
      world = undefined;
    }
    return true;
  };
  await new Promise<void>((resolve, reject) => {
    // A callback of the event loop, because within a promise's own callback no other one goes on.
    const go = (): void => {
      try {
        if (turn()) setImmediate(go);
        else resolve();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    setImmediate(go);
  });
}
