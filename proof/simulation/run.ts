/**
 * Many worlds, one after the other: each finds its own in the processor's cache.
 *
 * Owns: the turns of a world: it does one thing, then all promises go on as far as they
 * can. Does not own: what happens.
 *
 * Between two turns of the event loop lie some microseconds, between two things that happen in a world less.
 * So the promises are not waited for but made to go on, which V8 can do and Node does not show.
 */

import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { given } from '../../lib/core/values/given.ts';
import type { FaultMode } from './faults.ts';
import { World } from './world.ts';
import type { WorldOptions, WorldResult } from './world-result.ts';

/**
 * Then the event loop has its turn: messages leave, and the check for a world without an end gets its turn.
 */
const THINGS_A_TURN = 1_000;

/** Lets every promise go on that can; nothing where V8 has no such function. */
function checkpointOf(): (() => void) | undefined {
  // For good: V8 compiles the function when it is first called, and anew when it was not called for long.
  setFlagsFromString('--allow-natives-syntax');
  try {
    return runInThisContext('() => %PerformMicrotaskCheckpoint()') as () => void;
  } catch {
    return undefined;
  }
}

type Limits = Pick<WorldOptions, 'only' | 'starts'> & {
  /** Roles are answered by a SQLite file as `serve` has it. */
  readonly overFile?: boolean;
};

async function fileStores(): Promise<NonNullable<WorldOptions['fileOf']>> {
  const { FileStore } = await import('./file-store.ts');
  return (...of) => new FileStore(...of);
}

/** Runs a world for each seed, and tells of each when it is over. */
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
   * Some of what happens in a world; one thing, where promises have to be waited for.
   * @returns whether there is more
   */
  const turn = (): boolean => {
    if (world === undefined) {
      const next = waiting.next();
      if (next.done === true) return false;
      world = new World({ seed: next.value, mode, ...limits, ...given({ fileOf }) });
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
    // A callback of the event loop, for within a promise's own no other one goes on.
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
