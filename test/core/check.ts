/**
 * Properties with a fixed seed, so that a test says the same everywhere; `SEED=42 npm test` explores another one.
 * `RUNS_AT_MOST` is for who runs them thousands of times (`npm run mutation`).
 */

import * as fc from 'fast-check';

export function check<Ts extends unknown[]>(property: fc.IPropertyWithHooks<Ts>, numRuns = 100): void {
  const atMost = Number(process.env['RUNS_AT_MOST'] ?? Number.POSITIVE_INFINITY);
  fc.assert(property, { seed: Number(process.env['SEED'] ?? 1), numRuns: Math.min(numRuns, atMost) });
}
