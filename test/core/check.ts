/** Properties with a fixed seed, so that a test says the same everywhere; `SEED=42 npm test` explores another one. */

import * as fc from 'fast-check';

export function check<Ts extends unknown[]>(property: fc.IPropertyWithHooks<Ts>, numRuns = 100): void {
  fc.assert(property, { seed: Number(process.env['SEED'] ?? 1), numRuns });
}
