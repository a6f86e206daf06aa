/**
 * The folder from which a container agent's image is built: the worker, the attempt's process, the
 * agent's code, the files in the folder named like the agent beside it, the Dockerfile. Docker
 * itself is needed at deployment only.
 *
 * Owns: what is in that folder. Does not own: the image (`containers/Dockerfile`), the
 * agents' functions (`bundle.ts`).
 *
 * Unlike a function's, the code keeps the whole search for credentials: a task's are fetched from an address,
 * and fetched again before they expire, which an attempt of a day outlives several times.
 */

import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { bundleFunctions, PROGRAM } from './bundle.ts';
import type { Discovery } from './discovery.ts';
import { PACKAGE_ROOT, programFile } from '../project/package-files.ts';

const PROGRAMS = ['main', 'attempt'] as const;

/** @returns agent name → folder, below `folder`, of all agents that run in containers */
export function bundleContainers(found: Discovery, folder: string): ReadonlyMap<string, string> {
  const agents = found.agents.filter(({ runsIn }) => runsIn === 'container');
  if (agents.length === 0) return new Map();
  const programs = bundlePrograms();
  const bundles = bundleFunctions({
    root: found.root,
    entries: {},
    agents: Object.fromEntries(agents.map(({ name, file }) => [`containers/${name}`, file])),
    alias: { '@aws-sdk/credential-provider-node': '@aws-sdk/credential-provider-node' },
  });
  return new Map(
    agents.map(({ name, file }) => {
      const path = join(folder, 'containers', name);
      mkdirSync(path, { recursive: true });
      const code = bundles.get(`containers/${name}`)?.files ?? new Map<string, Uint8Array>();
      for (const [part, content] of [...programs, ...code]) writeFileSync(join(path, part), content);
      const hasFiles = copyFiles(join(dirname(file), name), join(path, name));
      writeFileSync(join(path, 'Dockerfile'), dockerfile(hasFiles ? name : undefined));
      return [name, path];
    }),
  );
}

/**
 * What an agent brings along beside its code: programs in other languages, tables.
 * What Python compiles is made anew.
 */
function copyFiles(from: string, to: string): boolean {
  if (!existsSync(from)) return false;
  cpSync(from, to, { recursive: true, filter: (path) => basename(path) !== '__pycache__' });
  return true;
}

const COPY_CODE = 'COPY *.mjs *.mjs.map ./\n';

function dockerfile(folder: string | undefined): string {
  const text = readFileSync(join(PACKAGE_ROOT, 'containers', 'Dockerfile'), 'utf8');
  return folder === undefined ? text : text.replace(COPY_CODE, `${COPY_CODE}COPY ${folder} ./${folder}/\n`);
}

function bundlePrograms(): ReadonlyMap<string, Uint8Array> {
  const { outputFiles } = buildSync({
    absWorkingDir: PACKAGE_ROOT,
    entryPoints: Object.fromEntries(PROGRAMS.map((name) => [name, programFile(`lib/worker/${name}`)])),
    outdir: join(PACKAGE_ROOT, 'worker'),
    ...PROGRAM,
  });
  return new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
}
