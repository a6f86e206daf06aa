/**
 * Runs every killer on the unchanged tree first, because a check that already fails proves nothing.
 *
 * Each test file runs once, even if several of its tests are killers; of the simulation, only the longest run
 * of each mode.
 */

import { runJest, runKiller } from './killers.ts';
import { describeKiller, type Killer, type Mutant } from './mutant.ts';
import type { Scratch } from './scratch.ts';

type Check = (root: string) => Promise<string[]>;

/** @returns the failures of the unchanged tree */
export async function soundTreeProblems(
  scratches: readonly Scratch[],
  mutants: readonly Mutant[],
): Promise<string[]> {
  const killers = mutants.map(({ killer }) => killer);
  const checks = [...longestRuns(killers).map(runCheck), ...testFiles(killers)];
  const problems: string[] = [];
  const lane = async ({ root }: Scratch): Promise<void> => {
    for (let check = checks.shift(); check !== undefined; check = checks.shift()) {
      problems.push(...(await check(root)));
    }
  };
  await Promise.all(scratches.map(lane));
  return problems;
}

const runCheck =
  (killer: Killer): Check =>
  async (root) => {
    const { kind, detail } = await runKiller(root, killer);
    const whole = killer.kind !== 'simulation' || detail === `${killer.worlds} worlds`;
    return kind === 'clean' && whole ? [] : [`${describeKiller(killer)}: ${detail}`];
  };

function longestRuns(killers: readonly Killer[]): Killer[] {
  const runs = new Map<string, Killer>();
  for (const killer of killers) {
    if (killer.kind === 'model') runs.set(killer.run, killer);
    if (killer.kind !== 'simulation') continue;
    const known = runs.get(killer.mode);
    if (known?.kind !== 'simulation' || known.worlds < killer.worlds) runs.set(killer.mode, killer);
  }
  return [...runs.values()];
}

function testFiles(killers: readonly Killer[]): Check[] {
  const tests = new Map<string, Set<string>>();
  for (const killer of killers) {
    if (killer.kind === 'jest')
      tests.set(killer.path, (tests.get(killer.path) ?? new Set()).add(killer.test));
  }
  return [...tests].map(([path, names]) => async (root) => {
    const { passed, failed, hung, broken } = await runJest(root, path);
    if (hung || broken !== undefined) return [`${path}: ${broken ?? 'hangs'}`];
    const absent = [...names].filter((name) => !passed.some((full) => full.includes(name)));
    return [
      ...failed.map((name) => `${path}: fails: ${name}`),
      ...absent.map((name) => `${path}: no test passes whose name has: ${name}`),
    ];
  });
}
