/**
 * The production roles in simulated worlds. A failing seed is replayed alone by its number:
 * `npm run simulate -- --seed N --worlds 1`.
 */

import { COMMIT_WORLDS } from '../../../proof/mutants/mutant.ts';
import { FAULT_KINDS, type FaultMode } from '../../../proof/simulation/faults.ts';
import { KINDS } from '../../../proof/simulation/kinds.ts';
import { withProcesses } from '../../../proof/simulation/processes.ts';
import { add, nothing, type Totals } from '../../../proof/simulation/totals.ts';

async function simulate(mode: FaultMode): Promise<Totals> {
  const sum = nothing();
  const share = { seed: 0, stride: 1, worlds: COMMIT_WORLDS[mode], mode };
  await withProcesses((run) => run(share, (chunk) => add(sum, chunk)));
  expect(sum.worlds).toBe(COMMIT_WORLDS[mode]);
  return sum;
}

/** What comes of each seed's world, one process after the other. @param runs the first seed of each process, and how many */
async function eachOf(...runs: readonly (readonly [seed: number, worlds: number])[]): Promise<Totals[]> {
  const seen: Totals[] = [];
  await withProcesses(async (run) => {
    for (const [seed, worlds] of runs)
      await run({ seed, stride: 1, worlds, mode: 'all', chunk: 1 }, (one) => seen.push(one));
  });
  return seen;
}

describe('simulated worlds', () => {
  it('with every kind of fault: nothing is stuck, doubled or wrongly undone (S1–S12, L1)', async () => {
    const { faults, kinds, violations, executions } = await simulate('all');
    expect(violations).toEqual([]);
    expect(executions).toBeGreaterThan(4_000);
    // A kind of fault that never struck was not tested.
    for (const kind of FAULT_KINDS) expect([kind, faults[kind]]).not.toEqual([kind, 0]);
    for (const kind of KINDS) expect([kind, kinds[kind]]).not.toEqual([kind, 0]);
  });

  it('without faults: no intervention at all (C1)', async () => {
    expect((await simulate('none')).violations).toEqual([]);
  });

  it('with duplicates, reordering and a stale index: no intervention at all (C2)', async () => {
    expect((await simulate('masked')).violations).toEqual([]);
  });

  it('behind full queues, with every kind of fault: nothing is stuck, and what waits is deferred and claimed (L1, S12)', async () => {
    const { violations, deferred } = await simulate('crowded');
    expect(violations).toEqual([]);
    // What nobody takes although it was sent is a quarter of that.
    expect(deferred).toBeGreaterThan(300);
  });

  it('is repeatable: the same seed makes the same calls, alone or beside others', async () => {
    const together = await eachOf([7, 3]);
    expect(together).toHaveLength(3);
    expect(new Set(together.map(({ calls }) => calls)).size).toBe(3);
    expect(await eachOf([7, 1], [8, 1], [9, 1])).toEqual(together);
    expect(await eachOf([7, 3])).toEqual(together);
  });
});
