/**
 * One simulating process: for each share it runs the worlds of the share's seeds, until it has run the
 * requested number of executions or worlds.
 *
 * Which seeds it runs depends on the share alone, not on its speed.
 */

import { runWorlds } from './run.ts';
import { OVER, type Share } from './share.ts';
import { add, nothing, totalsOf } from './totals.ts';
import type { WorldResult } from './world-result.ts';

/** How many worlds it runs between two messages to the parent. */
const WORLDS_A_CHUNK = 64;

// A simulated call fails often, and its stack is never read.
Error.stackTraceLimit = 0;

async function simulate(share: Share): Promise<void> {
  const { mode, stride, overFile = false } = share;
  const { executions: enough = Number.POSITIVE_INFINITY, worlds = Number.POSITIVE_INFINITY } = share;
  const lastSeed = share.seed + (worlds - 1) * stride;
  let executions = 0;
  let chunk = nothing();
  const isEnough = (): boolean => executions >= enough;
  function* seeds(): Iterable<number> {
    for (let { seed } = share; seed <= lastSeed && !isEnough(); seed += stride) yield seed;
  }
  const onResult = (result: WorldResult): void => {
    executions += result.executions;
    add(chunk, totalsOf(result));
    if (chunk.worlds < WORLDS_A_CHUNK) return;
    process.send?.(chunk);
    chunk = nothing();
  };
  await runWorlds(seeds(), mode, onResult, { overFile });
  if (chunk.worlds > 0) process.send?.(chunk);
}

// The parent is gone, so nobody reads the results.
process.on('disconnect', () => process.exit());
process.on('message', (share) => void simulate(share as Share).then(() => process.send?.(OVER)));
