/** Runs the worlds of one mode for the seeds of `npm test`. Does not own: the expectations. */

import { COMMIT_WORLDS } from '../../../proof/mutants/mutant.ts';
import type { FaultMode } from '../../../proof/simulation/faults.ts';
import type { Simulate } from '../../../proof/simulation/processes.ts';
import { add, nothing, type Totals } from '../../../proof/simulation/totals.ts';

export async function worldsOf(
  run: Simulate,
  mode: FaultMode,
  { seed = 0, worlds = COMMIT_WORLDS[mode] } = {},
): Promise<Totals> {
  const sum = nothing();
  await run({ seed, stride: 1, worlds, mode }, (chunk) => add(sum, chunk));
  expect(sum.worlds).toBe(worlds);
  return sum;
}
