/** Shrinking: a failing world is made smaller before it is reported. */

import { FAULT_KINDS, type FaultKind, noCounts } from '../../../proof/simulation/faults.ts';
import { noKinds } from '../../../proof/simulation/kinds.ts';
import { argumentsOf, shrink } from '../../../proof/simulation/shrink.ts';
import type { WorldOptions, WorldResult } from '../../../proof/simulation/world-result.ts';

const STARTS = 12;
const WORLD = { seed: 5, mode: 'all' } as const;

/** A world that violates S6 exactly if it contains these starts and these kinds of faults. */
function failing(starts: readonly number[], kinds: readonly FaultKind[]) {
  const runs: WorldOptions[] = [];
  const run = async (options: WorldOptions): Promise<WorldResult> => {
    runs.push(options);
    const kept = options.starts ?? new Set(Array.from({ length: STARTS }, (_, at) => at));
    const only = options.only ?? new Set(FAULT_KINDS);
    const breaks =
      kept.size > 0 && starts.every((at) => kept.has(at)) && kinds.every((kind) => only.has(kind));
    const faults = noCounts();
    for (const kind of only) faults[kind] = 1;
    const violations = breaks ? ['L1 something else', 'k: S6 twice'] : ['L1 something else'];
    const rest = {
      simulatedMs: 0,
      ends: {},
      kinds: noKinds(),
      interventions: 0,
      deferred: 0,
      calls: 1_000,
    };
    const first = runs.length === 1 ? ['k: S6 twice'] : violations;
    return { ...rest, seed: 5, violations: first, starts: STARTS, executions: kept.size, faults };
  };
  return { run, runs };
}

describe('a failing world', () => {
  it('keeps the starts and the faults that break the same invariant, and no others', async () => {
    const { run, runs } = failing([3, 7], ['lostReply', 'crashAfter']);
    const { options } = await shrink(WORLD, run);
    expect(argumentsOf(options)).toBe('--seed 5 --worlds 1 --only crashAfter,lostReply --starts 3,7');
    expect(runs.length).toBeLessThan(100);
  });

  it('may need no fault at all', async () => {
    const { options } = await shrink({ ...WORLD, mode: 'none' }, failing([0], []).run);
    expect(argumentsOf(options)).toBe('--mode none --seed 5 --worlds 1 --only none --starts 0');
  });

  it('stays as it is when nothing can be left out', async () => {
    const all = Array.from({ length: STARTS }, (_, at) => at);
    const { options } = await shrink(WORLD, failing(all, FAULT_KINDS).run);
    expect(argumentsOf(options)).toBe('--seed 5 --worlds 1');
  });

  it('is given up in a bounded number of calls', async () => {
    const { run, runs } = failing([3], ['lostReply']);
    const dear = async (options: WorldOptions) => ({ ...(await run(options)), calls: 700_000 });
    await shrink(WORLD, dear);
    expect(runs.length).toBeLessThanOrEqual(4);
  });
});
