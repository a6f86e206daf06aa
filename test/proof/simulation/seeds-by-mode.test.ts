/**
 * Simulates the production roles in the other modes: without faults, with faults that use up no try, with
 * full queues, and over a server's file. With every kind of fault: `seeds.test.ts`.
 */

import { COMMIT_WORLDS } from '../../../proof/mutants/mutant.ts';
import { openProcesses, type Processes, type Simulate } from '../../../proof/simulation/processes.ts';
import { add, nothing } from '../../../proof/simulation/totals.ts';
import { worldsOf } from './worlds-of.ts';

/** Few worlds, because a call takes thirty times as long as with the table in memory. */
const FILE_WORLDS = 2;

let processes: Processes;
/** Shared by all tests, so that its code is compiled only once. */
let warm: Simulate;
beforeAll(async () => {
  processes = await openProcesses();
  warm = processes.start();
});
afterAll(() => processes?.close());

describe('simulated worlds', () => {
  it('without faults: no intervention at all (C1)', async () => {
    expect((await worldsOf(warm, 'none')).violations).toEqual([]);
  });

  it('with duplicates, reordering and a stale index: no intervention at all (C2)', async () => {
    expect((await worldsOf(warm, 'masked')).violations).toEqual([]);
  });

  it('behind full queues, with every kind of fault: nothing is stuck, and what waits is deferred and claimed (L1, S12)', async () => {
    const { violations, deferred } = await worldsOf(warm, 'crowded');
    expect(violations).toEqual([]);
    // Work that nobody takes although it was sent is a quarter of that, so this many in a world.
    expect(deferred).toBeGreaterThan(3 * COMMIT_WORLDS.crowded);
  });

  it('over the SQLite file of a server: nothing is violated, and the file answers as the table does (S3, S12)', async () => {
    const file = nothing();
    const share = { seed: 0, stride: 1, worlds: FILE_WORLDS, mode: 'all', overFile: true } as const;
    await warm(share, (chunk) => add(file, chunk));
    expect(file.violations).toEqual([]);
    expect(file.executions).toBeGreaterThan(200);
  });
});
