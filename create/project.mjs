/**
 * Detects a CDK app's module kind, package manager, test runner and repository.
 *
 * Does not own: the written files (`write.mjs`).
 */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const MANAGERS = {
  npm: { lock: 'package-lock.json', add: ['npm', 'install'], run: 'npm', ci: 'npm ci' },
  pnpm: {
    lock: 'pnpm-lock.yaml',
    // Allows esbuild's install script, which pnpm otherwise refuses.
    add: ['pnpm', 'add', '--allow-build=esbuild'],
    run: 'pnpm',
    ci: 'pnpm install --frozen-lockfile',
  },
  yarn: { lock: 'yarn.lock', add: ['yarn', 'add'], run: 'yarn', ci: 'yarn install --frozen-lockfile' },
};
/** The option of Yarn 2 and later; each Yarn ignores the other's. */
const MODERN_YARN_CI = 'yarn install --immutable';

/** The nearest folder with one of these files, here or above. */
function folderWith(names, root) {
  for (let at = root; ; at = dirname(at)) {
    if (names.some((name) => existsSync(join(at, name)))) return at;
    if (at === dirname(at)) return undefined;
  }
}

/** The package manager of the lock file, here or above (a workspace's), else the one that runs this. */
export function managerOf(root, agent = '') {
  const place = folderWith(
    Object.values(MANAGERS).map(({ lock }) => lock),
    root,
  );
  const isHere = (name) => place !== undefined && existsSync(join(place, MANAGERS[name].lock));
  const names = Object.keys(MANAGERS);
  return names.find(isHere) ?? names.find((name) => agent.startsWith(`${name}/`)) ?? 'npm';
}

/** The folder in which GitHub looks for workflows, and the app's folder below it. */
function repositoryOf(root) {
  const top = folderWith(['.git'], root) ?? root;
  return { top, app: relative(top, root).replaceAll('\\', '/') };
}

/**
 * Detects Yarn 2 or later without `node_modules`, because neither TypeScript 7 nor esbuild can read what it
 * installs instead.
 * @returns undefined for any other package manager
 */
function modernYarnAt(root, agent) {
  const [settings, locked] = ['.yarnrc.yml', 'yarn.lock'].map((name) => {
    const place = folderWith([name], root);
    return place === undefined ? undefined : readFileSync(join(place, name), 'utf8');
  });
  const isNew = locked === undefined && settings === undefined;
  const [, version] = /^yarn\/([2-9]\S*|\d\d\S*)/.exec(agent) ?? [];
  if (isNew ? version === undefined : settings === undefined && !locked.includes('__metadata:'))
    return undefined;
  return {
    version: isNew ? version : undefined,
    hasModules: /^nodeLinker: *["']?node-modules/m.test(settings ?? ''),
  };
}

export function projectAt(root, managerName, agent = '') {
  const file = join(root, 'package.json');
  const manifest = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const known = { ...manifest.dependencies, ...manifest.devDependencies };
  const { lock, add, run, ci } = MANAGERS[managerName];
  const modernYarn = managerName === 'yarn' ? modernYarnAt(root, agent) : undefined;
  return {
    root,
    manifest,
    isModule: manifest.type === 'module',
    repository: repositoryOf(root),
    runner: 'vitest' in known ? 'vitest' : 'jest' in known ? 'jest' : undefined,
    manager: {
      name: managerName,
      lock,
      ci: modernYarn === undefined ? ci : MODERN_YARN_CI,
      modernYarn,
      add: (packages) => [...add, ...packages],
      run: (script) => `${run} ${script === 'test' ? 'test' : `run ${script}`}`,
    },
  };
}
