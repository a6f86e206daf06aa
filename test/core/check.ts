/**
 * Properties with a fixed seed, so that a test says the same everywhere; `SEED=42 npm test` explores another
 * one. `RUNS_AT_MOST` is for who runs them thousands of times (`npm run mutation`).
 */

import * as fc from 'fast-check';

const parametersOf = (numRuns: number): { readonly seed: number; readonly numRuns: number } => ({
  seed: Number(process.env['SEED'] ?? 1),
  numRuns: Math.min(numRuns, Number(process.env['RUNS_AT_MOST'] ?? Number.POSITIVE_INFINITY)),
});

export const check = <Ts extends unknown[]>(property: fc.IPropertyWithHooks<Ts>, numRuns = 100): void =>
  fc.assert(property, parametersOf(numRuns));

/** What `check` would draw for a property of it. */
export const drawn = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number): readonly T[] =>
  fc.sample(arbitrary, parametersOf(numRuns));
