/**
 * One simulating process: the worlds of its seeds, until it has run its share of executions.
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
  readonly executions: number;
  readonly mode: FaultMode;
}

/** Worlds between two messages to the parent. */
const CHUNK = 64;

// A simulated call fails often, and its stack is never read.
Error.stackTraceLimit = 0;

async function simulate(share: Share): Promise<void> {
  let executions = 0;
  let chunk = nothing();
  function* seeds(): Iterable<number> {
    for (let { seed } = share; executions < share.executions; seed += share.stride) yield seed;
  }
  await runWorlds(seeds(), share.mode, (result) => {
    executions += result.executions;
    add(chunk, totalsOf(result));
    if (chunk.worlds < CHUNK) return;
    process.send?.(chunk);
    chunk = nothing();
  });
  process.send?.(chunk);
}

process.once('message', (share) => void simulate(share as Share).then(() => process.disconnect()));
