/**
 * The production roles in simulated worlds. A failing seed is replayed alone by its number:
 * `npm run simulate -- --seed N --worlds 1`.
 */

import { COMMIT_WORLDS } from '../../../proof/mutants/mutant.ts';
import { FAULT_KINDS, type FaultMode } from '../../../proof/simulation/faults.ts';
import { KINDS } from '../../../proof/simulation/kinds.ts';
import { openProcesses, type Processes, type Simulate } from '../../../proof/simulation/processes.ts';
import { add, nothing, type Totals } from '../../../proof/simulation/totals.ts';

/** A call takes thirty times as long as one to the table in memory. */
const FILE_WORLDS = 2;

let processes: Processes;
/** For all of them, so that it compiles itself for many worlds once. */
let warm: Simulate;
beforeAll(async () => {
  processes = await openProcesses();
  warm = processes.start();
});
afterAll(() => processes?.close());

async function simulate(mode: FaultMode): Promise<Totals> {
  const sum = nothing();
  await warm({ seed: 0, stride: 1, worlds: COMMIT_WORLDS[mode], mode }, (chunk) => add(sum, chunk));
  expect(sum.worlds).toBe(COMMIT_WORLDS[mode]);
  return sum;
}

/** What comes of each seed's world, one after the other. */
async function eachOf(run: Simulate, seeds: readonly number[]): Promise<Totals[]> {
  const seen: Totals[] = [];
  for (const seed of seeds) await run({ seed, stride: 1, worlds: 1, mode: 'all' }, (one) => seen.push(one));
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
    // What nobody takes although it was sent is a quarter of that: so many a world.
    expect(deferred).toBeGreaterThan(5 * COMMIT_WORLDS.crowded);
  });

  it('over the SQLite file of a server: nothing is violated, and the file answers as the table does (S3, S12)', async () => {
    const file = nothing();
    const share = { seed: 0, stride: 1, worlds: FILE_WORLDS, mode: 'all', overFile: true } as const;
    await warm(share, (chunk) => add(file, chunk));
    expect(file.violations).toEqual([]);
    expect(file.executions).toBeGreaterThan(200);
  });

  it('is repeatable: the same seed makes the same calls, in a new process and after hundreds of others', async () => {
    const first = await eachOf(processes.start(), [7, 8, 9]);
    expect(new Set(first.map(({ calls }) => calls)).size).toBe(3);
    expect(await eachOf(warm, [9, 8, 7])).toEqual(first.toReversed());
  });
});
