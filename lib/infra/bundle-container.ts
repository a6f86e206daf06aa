/**
 * The folder from which a container agent's image is built: the worker, the attempt's process, the agent's
 * code, the files in the folder beside it with the agent's name, the Dockerfile. Only a deployment needs
 * Docker.
 *
 * Does not own: the image (`containers/Dockerfile`), the agents' functions (`bundle.ts`).
 *
 * Unlike a function's, the code contains the whole search for credentials: a task fetches its credentials
 * from an address, and again before they expire: several times in an attempt that takes a day.
 */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { writeBundle } from './asset.ts';
import { agentEntry, type Bundle, bundleAgents, type Packages, PROGRAM } from './bundle.ts';
import type { Discovery, FoundAgent } from './discovery.ts';
import { PACKAGE_ROOT, programFile } from '../project/package-files.ts';

const PROGRAMS = ['main', 'attempt'] as const;

/**
 * @param equip adds what the agent's settings name beside its code
 * @returns the folder, below `folder`, of each agent that runs in a container
 */
export function bundleContainers(
  found: Discovery,
  folder: string,
  packages: Packages = {},
  equip: (bundle: Bundle, agent: FoundAgent) => Bundle = (bundle) => bundle,
): ReadonlyMap<string, string> {
  const agents = found.agents.filter(({ runsIn }) => runsIn === 'container');
  if (agents.length === 0) return new Map();
  const programs = bundlePrograms();
  const bundles = bundleAgents(found.root, agents, packages, {
    alias: { '@aws-sdk/credential-provider-node': '@aws-sdk/credential-provider-node' },
  });
  return new Map(
    agents.flatMap((agent) => {
      const { name, file } = agent;
      const bundle = bundles.get(agentEntry(name));
      if (bundle === undefined) return [];
      const path = join(folder, 'containers', name);
      mkdirSync(path, { recursive: true });
      for (const [part, content] of programs) writeFileSync(join(path, part), content);
      writeBundle(equip(bundle, agent), path);
      copyFiles(join(dirname(file), name), join(path, name));
      writeFileSync(join(path, 'Dockerfile'), dockerfile(path));
      return [[name, path]];
    }),
  );
}

/**
 * Copies the files beside an agent's code: programs in other languages, tables. Python's compiled files are
 * left out.
 */
function copyFiles(from: string, to: string): void {
  if (existsSync(from))
    cpSync(from, to, { recursive: true, filter: (path) => basename(path) !== '__pycache__' });
}

const COPY_CODE = 'COPY *.mjs *.mjs.map ./\n';

/** The Dockerfile, which also copies the files beside the programs. */
function dockerfile(folder: string): string {
  const text = readFileSync(join(PACKAGE_ROOT, 'containers', 'Dockerfile'), 'utf8');
  const others = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !/\.mjs(?:\.map)?$|^Dockerfile$/.test(name))
    .map((entry) => `COPY ${entry.name} ./${entry.isDirectory() ? `${entry.name}/` : ''}\n`);
  return text.replace(COPY_CODE, COPY_CODE + others.join(''));
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
