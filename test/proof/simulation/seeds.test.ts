/**
 * Simulates the production roles with every kind of fault. To replay a failing seed: `npm run simulate --
 * --seed N --worlds 1`. The other modes: `seeds-by-mode.test.ts`, beside it.
 */

import { COMMIT_WORLDS } from '../../../proof/mutants/mutant.ts';
import { FAULT_KINDS } from '../../../proof/simulation/faults.ts';
import { tooRare } from '../../../proof/simulation/kinds.ts';
import { openProcesses, type Processes, type Simulate } from '../../../proof/simulation/processes.ts';
import { add, nothing, type Totals } from '../../../proof/simulation/totals.ts';
import { worldsOf } from './worlds-of.ts';

/** The worlds of one test: all in one could take a busy machine longer than Jest allows. */
const WORLDS_A_PART = 10;
const PARTS = Array.from({ length: COMMIT_WORLDS.all / WORLDS_A_PART }, (_, at) => at * WORLDS_A_PART);

let processes: Processes;
/** Shared by all tests, so that its code is compiled only once. */
let warm: Simulate;
beforeAll(async () => {
  processes = await openProcesses();
  warm = processes.start();
});
afterAll(() => processes?.close());

/** Runs each seed's world, one after the other. */
async function eachOf(run: Simulate, seeds: readonly number[]): Promise<Totals[]> {
  const seen: Totals[] = [];
  for (const seed of seeds) await run({ seed, stride: 1, worlds: 1, mode: 'all' }, (one) => seen.push(one));
  return seen;
}

describe('simulated worlds', () => {
  const sum = nothing();
  it.each(PARTS)(
    'with every kind of fault, from seed %i on: nothing is stuck, doubled or wrongly undone (S1–S12, L1)',
    async (seed) => {
      const part = await worldsOf(warm, 'all', { seed, worlds: WORLDS_A_PART });
      add(sum, part);
      expect(part.violations).toEqual([]);
    },
  );

  it('have every kind of fault, and everything that may happen', () => {
    const { faults, kinds, worlds, executions } = sum;
    expect(worlds).toBe(COMMIT_WORLDS.all);
    expect(executions).toBeGreaterThan(4_000);
    // A kind of fault that never struck was not tested.
    for (const kind of FAULT_KINDS) expect([kind, faults[kind]]).not.toEqual([kind, 0]);
    expect(tooRare(kinds, executions)).toEqual([]);
  });

  it('is repeatable: the same seed makes the same calls, in a new process and after hundreds of others', async () => {
    const first = await eachOf(processes.start(), [7, 8, 9]);
    expect(new Set(first.map(({ calls }) => calls)).size).toBe(3);
    expect(await eachOf(warm, [9, 8, 7])).toEqual(first.toReversed());
  });
});
