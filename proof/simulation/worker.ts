/**
 * One simulating process: the worlds of its seeds, until it has run its share of executions or of worlds.
 *
 * Which seeds it runs depends on the share alone, not on how fast it is.
 */

import { runWorlds } from './run.ts';
import type { FaultMode } from './faults.ts';
import { add, nothing, totalsOf } from './totals.ts';

export interface Share {
  readonly seed: number;
  /** From one seed to the next: how many processes there are. */
  readonly stride: number;
  /** At least so many, if they are not counted in worlds. */
  readonly executions?: number;
  readonly worlds?: number;
  readonly mode: FaultMode;
  /**
   * Worlds between two messages to the parent.
   * @default 64
   */
  readonly chunk?: number;
}

// A simulated call fails often, and its stack is never read.
Error.stackTraceLimit = 0;

async function simulate(share: Share): Promise<void> {
  const { mode, stride, chunk: size = 64 } = share;
  const { executions: enough = Number.POSITIVE_INFINITY, worlds = Number.POSITIVE_INFINITY } = share;
  const lastSeed = share.seed + (worlds - 1) * stride;
  let executions = 0;
  let chunk = nothing();
  const isEnough = (): boolean => executions >= enough;
  function* seeds(): Iterable<number> {
    for (let { seed } = share; seed <= lastSeed && !isEnough(); seed += stride) yield seed;
  }
  await runWorlds(seeds(), mode, (result) => {
    executions += result.executions;
    add(chunk, totalsOf(result));
    if (chunk.worlds < size) return;
    process.send?.(chunk);
    chunk = nothing();
  });
  if (chunk.worlds > 0) process.send?.(chunk);
}

process.once('message', (share) => void simulate(share as Share).then(() => process.disconnect()));
