/**
 * Checks properties with a fixed seed, so that a test gives the same result everywhere; `SEED=42 npm test`
 * explores another seed, `RUNS_TIMES=5` five times as many cases (`.ci/nightly`).
 */

import * as fc from 'fast-check';

/** How many cases are drawn for a test that wants this many. */
export const runsOf = (wanted: number): number => wanted * Number(process.env['RUNS_TIMES'] ?? 1);

const parametersOf = (wanted: number): { readonly seed: number; readonly numRuns: number } => ({
  seed: Number(process.env['SEED'] ?? 1),
  numRuns: runsOf(wanted),
});

export const check = <Ts extends unknown[]>(property: fc.IPropertyWithHooks<Ts>, numRuns = 100): void =>
  fc.assert(property, parametersOf(numRuns));

/** The values that `check` draws from this arbitrary. */
export const drawn = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number): readonly T[] =>
  fc.sample(arbitrary, parametersOf(numRuns));
