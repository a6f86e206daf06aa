/** The results of many worlds, added up. */

import { noCounts } from './faults.ts';
import { noKinds } from './kinds.ts';
import type { WorldResult } from './world-result.ts';

export interface Totals {
  executions: number;
  worlds: number;
  simulatedMs: number;
  calls: number;
  /** Pieces of work that were deferred because no agent had taken them for long. */
  deferred: number;
  faults: Record<string, number>;
  ends: Record<string, number>;
  kinds: Record<string, number>;
  violations: { seed: number; violations: readonly string[] }[];
}

export const nothing = (): Totals => ({
  executions: 0,
  worlds: 0,
  simulatedMs: 0,
  calls: 0,
  deferred: 0,
  faults: noCounts(),
  ends: {},
  kinds: noKinds(),
  violations: [],
});

export function add(sum: Totals, more: Totals): void {
  sum.executions += more.executions;
  sum.worlds += more.worlds;
  sum.simulatedMs += more.simulatedMs;
  sum.calls += more.calls;
  sum.deferred += more.deferred;
  for (const key of Object.keys(more.faults))
    sum.faults[key] = (sum.faults[key] ?? 0) + (more.faults[key] ?? 0);
  for (const kind of ['ends', 'kinds'] as const)
    for (const [key, count] of Object.entries(more[kind])) sum[kind][key] = (sum[kind][key] ?? 0) + count;
  sum.violations.push(...more.violations);
}

export const totalsOf = (result: WorldResult): Totals => ({
  ...result,
  worlds: 1,
  violations: result.violations.length > 0 ? [{ seed: result.seed, violations: result.violations }] : [],
});
