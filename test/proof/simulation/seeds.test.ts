/**
 * The production roles in simulated worlds. A failing seed is replayed alone by its number:
 * `npm run simulate -- --seed N --worlds 1`.
 */

import { FAULT_KINDS, type FaultMode, noCounts } from '../../../proof/simulation/faults.ts';
import { KINDS, noKinds } from '../../../proof/simulation/kinds.ts';
import { runWorlds } from '../../../proof/simulation/run.ts';
import { COMMIT_WORLDS } from '../../../proof/mutants/mutant.ts';

async function simulate(mode: FaultMode) {
  const faults = noCounts();
  const kinds = noKinds();
  const violations: string[] = [];
  let executions = 0;
  let deferred = 0;
  await runWorlds(
    Array.from({ length: COMMIT_WORLDS[mode] }, (_, at) => at),
    mode,
    (result) => {
      executions += result.executions;
      deferred += result.deferred;
      for (const kind of FAULT_KINDS) faults[kind] += result.faults[kind];
      for (const kind of KINDS) kinds[kind] += result.kinds[kind];
      for (const violation of result.violations) violations.push(`seed ${result.seed}: ${violation}`);
    },
  );
  return { faults, kinds, violations, executions, deferred };
}

/** What is seen of each seed's world, in the order of the seeds. */
async function callsOf(seeds: readonly number[]): Promise<string[]> {
  const seen = new Map<number, string>();
  await runWorlds(seeds, 'all', ({ seed, calls, simulatedMs, ends }) => {
    seen.set(seed, `${seed}: ${calls} calls in ${simulatedMs} ms, ${JSON.stringify(ends)}`);
  });
  return seeds.map((seed) => seen.get(seed) ?? 'no end');
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
    const together = await callsOf([7, 8, 9]);
    const alone = [...(await callsOf([7])), ...(await callsOf([8])), ...(await callsOf([9]))];
    expect(alone).toEqual(together);
    expect(await callsOf([7, 8, 9])).toEqual(together);
  });
});
