/**
 * What is found out of a CDK app: ES modules or CommonJS, who installs its packages, who runs its tests.
 *
 * Owns: the reading. Does not own: what is written because of it (`write.mjs`).
 */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const MANAGERS = {
  npm: { lock: 'package-lock.json', add: ['npm', 'install'], run: 'npm', ci: 'npm ci' },
  pnpm: {
    lock: 'pnpm-lock.yaml',
    // It refuses a package whose install script nobody has decided on; this records the decision for later installs.
    add: ['pnpm', 'add', '--allow-build=esbuild'],
    run: 'pnpm',
    ci: 'pnpm install --frozen-lockfile',
  },
  yarn: { lock: 'yarn.lock', add: ['yarn', 'add'], run: 'yarn', ci: 'yarn install --immutable' },
};

/** By its lock file, here or above (a workspace has one), else by who runs this. */
export function managerOf(root, agent = '') {
  for (let at = root; ; at = dirname(at)) {
    const found = Object.keys(MANAGERS).find((name) => existsSync(join(at, MANAGERS[name].lock)));
    if (found !== undefined) return found;
    if (at === dirname(at)) break;
  }
  return Object.keys(MANAGERS).find((name) => agent.startsWith(`${name}/`)) ?? 'npm';
}

export function projectAt(root, managerName) {
  const file = join(root, 'package.json');
  const manifest = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const known = { ...manifest.dependencies, ...manifest.devDependencies };
  const { add, run, ci } = MANAGERS[managerName];
  return {
    root,
    manifest,
    isModule: manifest.type === 'module',
    runner: 'vitest' in known ? 'vitest' : 'jest' in known ? 'jest' : undefined,
    manager: {
      name: managerName,
      ci,
      add: (packages) => [...add, ...packages],
      run: (script) => `${run} ${script === 'test' ? 'test' : `run ${script}`}`,
    },
  };
}
