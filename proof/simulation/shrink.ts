/**
 * Makes a failing world smaller: fewer executions and fewer kinds of faults, as long as the same invariant
 * breaks.
 *
 * Owns: the order of the tries and their bound, which is counted in calls and so is the same on every
 * machine.
 */

import { FAULT_KINDS, type FaultKind } from './faults.ts';
import { runWorlds } from './run.ts';
import type { WorldOptions, WorldResult } from './world-result.ts';

export interface Shrunk {
  readonly options: WorldOptions;
  readonly result: WorldResult;
}

/** The most calls of all tries together: seconds. A stuck world goes on for many hours of its time. */
const MAX_CALLS = 2_000_000;

/** @returns the smallest world found that first breaks the invariant which the given one first breaks */
export async function shrink(
  options: WorldOptions,
  run: (options: WorldOptions) => Promise<WorldResult> = worldOf,
): Promise<Shrunk> {
  let best: Shrunk = { options, result: await run(options) };
  let callsLeft = MAX_CALLS - best.result.calls;
  const broken = invariantOf(best.result);
  const tryOne = async (smaller: WorldOptions): Promise<boolean> => {
    if (callsLeft <= 0) return false;
    const result = await run(smaller);
    callsLeft -= result.calls;
    if (broken === undefined || !result.violations.some((violation) => violation.includes(broken)))
      return false;
    best = { options: smaller, result };
    return true;
  };
  const all = Array.from({ length: best.result.starts }, (_, at) => at);
  const starts = await without(options.starts ? [...options.starts] : all, (kept) =>
    tryOne({ ...best.options, starts: new Set(kept) }),
  );
  const { faults } = best.result;
  await without(
    FAULT_KINDS.filter((kind) => faults[kind] > 0),
    (kept: readonly FaultKind[]) => tryOne({ ...best.options, only: new Set(kept) }),
  );
  // With fewer faults, fewer executions may be enough.
  await without(starts, (kept) => tryOne({ ...best.options, starts: new Set(kept) }));
  return best;
}

/** Leaves out unnecessary items: halves, then quarters, then one at a time. */
async function without<Item>(
  items: readonly Item[],
  stillFails: (kept: readonly Item[]) => Promise<boolean>,
): Promise<readonly Item[]> {
  let kept = items;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kept.length; ) {
      const fewer = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (await stillFails(fewer)) kept = fewer;
      else at += size;
    }
  }
  return kept;
}

async function worldOf({ seed, mode, ...limits }: WorldOptions): Promise<WorldResult> {
  const results: WorldResult[] = [];
  await runWorlds([seed], mode, (result) => results.push(result), limits);
  return results[0] as WorldResult;
}

/** Extracts 'S10' from 'id: S10 the undo …'. */
const invariantOf = ({ violations }: WorldResult): string | undefined =>
  /\b[A-Z]\d+ /.exec(violations[0] ?? '')?.[0];

/** The arguments with which `npm run simulate` runs this very world. */
export function argumentsOf({ seed, mode, only, starts }: WorldOptions): string {
  return [
    ...(mode === 'all' ? [] : [`--mode ${mode}`]),
    `--seed ${seed} --worlds 1`,
    ...(only === undefined ? [] : [`--only ${[...only].join(',') || 'none'}`]),
    ...(starts === undefined ? [] : [`--starts ${[...starts].join(',')}`]),
  ].join(' ');
}
