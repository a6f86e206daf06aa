/** Worlds of one mode, by the seeds that `npm test` runs. Does not own what is expected of them. */

import { COMMIT_WORLDS } from '../../../proof/mutants/mutant.ts';
import type { FaultMode } from '../../../proof/simulation/faults.ts';
import type { Simulate } from '../../../proof/simulation/processes.ts';
import { add, nothing, type Totals } from '../../../proof/simulation/totals.ts';

export async function worldsOf(run: Simulate, mode: FaultMode): Promise<Totals> {
  const sum = nothing();
  await run({ seed: 0, stride: 1, worlds: COMMIT_WORLDS[mode], mode }, (chunk) => add(sum, chunk));
  expect(sum.worlds).toBe(COMMIT_WORLDS[mode]);
  return sum;
}
