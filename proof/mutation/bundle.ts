/**
 * All tests of the core as one script, so that a mutant costs no start of a process and no module's load.
 *
 * Owns: which tests judge the core, their bundle, a load of it. Does not own: how they are run. Invariant:
 * nothing that a load remembers outlives the test that it was remembered for.
 */

import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { build } from 'esbuild';
import { expect } from 'expect';
import { type Registry, registryOf } from './registry.ts';

/** What runs in memory alone. */
const JUDGES: readonly (readonly [folder: string, names: RegExp])[] = [
  ['test/core', /\.test\.ts$/],
  ['test/engine', /\.test\.ts$/],
  ['test/scheduler', /\.test\.ts$/],
  ['test/agent', /\.test\.ts$/],
  ['test/supervisor', /\.test\.ts$/],
];
const BUNDLE = 'mutation-bundle.cjs';

let generation = 0;
/**
 * What the core remembers about a plan would hide a mutant from every test but the
 * first, and outlive the mutant.
 */
export const forget = (): void => {
  generation += 1;
};
class Forgetful extends WeakMap<WeakKey, { readonly at: number; readonly value: unknown }> {
  override get(key: WeakKey): never {
    const kept = super.get(key);
    return (kept?.at === generation ? kept.value : undefined) as never;
  }
  override has(key: WeakKey): boolean {
    return super.get(key)?.at === generation;
  }
  override set(key: WeakKey, value: never): this {
    return super.set(key, { at: generation, value });
  }
}

/** How many places of mutants are passed: a clock that other processes' load does not change. */
export const steps = {
  taken: 0,
  allowed: Number.POSITIVE_INFINITY,
  endless: (_mutant: string): void => undefined,
};
const CAUGHT_AT_MOST = 100_000;
export class TooManySteps extends Error {}
let active: string | undefined;
export const activate = (mutant: string | undefined): void => {
  active = mutant;
};
function isActive(mutant: string): boolean {
  steps.taken += 1;
  // Code that catches this and goes on would go on for ever, and nothing but
  // the end of the process ends that.
  if (steps.taken > steps.allowed + CAUGHT_AT_MOST) steps.endless(active ?? '');
  if (steps.taken > steps.allowed)
    throw new TooManySteps('many times the steps that it takes without the mutant');
  return mutant === active;
}

const PARAMETERS =
  'require, module, exports, file, WeakMap, isActive, expect, describe, it, beforeEach'.split(', ');

export interface Scripts {
  /** Counts which test reaches which mutant. */
  readonly counting: Script;
  /** The same without: nobody asks again. */
  readonly silent: Script;
}

export async function bundleOf(root: string): Promise<Scripts> {
  const path = join(root, BUNDLE);
  // Processes of one run share it; a name is put in place whole.
  if (!existsSync(path)) {
    const files = JUDGES.flatMap(([folder, names]) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => names.test(name))
        .sort()
        .map((name) => `${folder}/${name}`),
    );
    const loads = files.map((file) => `file(${JSON.stringify(file)}, () => require('./${file}'));`);
    const { outputFiles } = await build({
      stdin: { contents: loads.join('\n'), resolveDir: root },
      absWorkingDir: root,
      bundle: true,
      write: false,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      packages: 'external',
      logLevel: 'error',
    });
    const text = outputFiles[0]?.text ?? '';
    writeFileSync(`${path}.${process.pid}`, `(function (${PARAMETERS.join(', ')}) {${text}\n})`);
    renameSync(`${path}.${process.pid}`, path);
  }
  const text = readFileSync(path, 'utf8');
  // A bundle numbers the helpers of each file.
  const counting = text.replaceAll(/\bstryMutAct_9fa48\d*\("/g, 'isActive("');
  const silent = counting.replaceAll(/\bstryCov_9fa48\d*\((?:"\d+"(?:,\s*)?)+\)/g, '0');
  return {
    counting: new Script(counting, { filename: path }),
    silent: new Script(silent, { filename: path }),
  };
}

/** Loads all modules of ours again, with the mutant that is active now. */
export function load(script: Script, root: string): Registry {
  const registry = registryOf(() => steps.taken);
  const given: Record<string, unknown> = {
    ...registry.globals,
    require: createRequire(join(root, BUNDLE)),
    module: { exports: {} },
    exports: {},
    file: registry.file,
    WeakMap: Forgetful,
    isActive,
    expect,
  };
  forget();
  (script.runInThisContext() as (...values: unknown[]) => void)(...PARAMETERS.map((name) => given[name]));
  return registry;
}
