/**
 * The production roles in simulated worlds. A failing seed is replayed alone by its number:
 * `npm run simulate -- --seed N --worlds 1`.
 */

import { FAULT_KINDS, type FaultMode, noCounts } from '../../lib/testing/simulation/faults.ts';
import { runWorlds } from '../../lib/testing/simulation/run.ts';

async function simulate(from: number, count: number, mode: FaultMode) {
  const faults = noCounts();
  const violations: string[] = [];
  let executions = 0;
  await runWorlds(
    Array.from({ length: count }, (_, at) => from + at),
    mode,
    (result) => {
      executions += result.executions;
      for (const kind of FAULT_KINDS) faults[kind] += result.faults[kind];
      for (const violation of result.violations) violations.push(`seed ${result.seed}: ${violation}`);
    },
  );
  return { faults, violations, executions };
}

async function callsOf(seeds: readonly number[]): Promise<number[]> {
  const seen: number[] = [];
  await runWorlds(seeds, 'all', (result) => seen.push(result.seed, result.calls, result.simulatedMs));
  return seen;
}

describe('simulated worlds', () => {
  it('with every kind of fault: nothing is stuck, doubled or wrongly undone (S1–S12, L1)', async () => {
    const { faults, violations, executions } = await simulate(0, 240, 'all');
    expect(violations).toEqual([]);
    expect(executions).toBeGreaterThan(1_500);
    // A kind of fault that never struck was not tested.
    for (const kind of FAULT_KINDS) expect([kind, faults[kind]]).not.toEqual([kind, 0]);
  }, 60_000);

  it('without faults: no intervention at all (C1)', async () => {
    expect((await simulate(0, 80, 'none')).violations).toEqual([]);
  }, 30_000);

  it('with duplicates, reordering and a stale index: no intervention at all (C2)', async () => {
    expect((await simulate(0, 80, 'masked')).violations).toEqual([]);
  }, 30_000);

  it('is repeatable: the same seed makes the same calls', async () => {
    expect(await callsOf([7, 8, 9, 10, 11])).toEqual(await callsOf([7, 8, 9, 10, 11]));
  });
});
