/**
 * The modules that are generated at synthesis as entries of bundles.
 *
 * Owns: their text and their place. Does not own: the bundles (`bundle.ts`).
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { programFile } from '../project/package-files.ts';
import type { Discovery, FoundAgent } from './discovery.ts';

/** The folder of generated modules; like the CDK's output it is never committed. */
export const scratchOf = (root: string): string => join(root, 'cdk.out', '.steadfast');

/** The entry of a function. */
export const lambda = (name: string): string => programFile(`lambdas/${name}`);

/** Writes the module behind '@steadfast/workflows'. */
export function writeWorkflowsModule(found: Discovery): string {
  const folder = scratchOf(found.root);
  const files = [...new Set(found.workflows.map(({ file }) => file))];
  const lines = [
    '// Generated at synthesis from the workflow folders.',
    ...files.map(
      (file, index) => `import * as folder${index} from ${JSON.stringify(modulePath(folder, file))};`,
    ),
    'export const workflows = [',
    ...found.workflows.map(
      ({ file, exportName }) => `  folder${files.indexOf(file)}[${JSON.stringify(exportName)}],`,
    ),
    '];',
    '',
  ];
  return writeGenerated(folder, 'workflows', lines.join('\n'));
}

/** The file that exports an agent's handler: the author's, or a generated one if the work is declared. */
export function handlerFile(found: Discovery, { name, file, declared }: FoundAgent): string {
  if (declared === undefined) return file;
  const folder = scratchOf(found.root);
  const own = JSON.stringify(name);
  const lines = [
    `import * as module from ${JSON.stringify(modulePath(folder, file))};`,
    'const agents = Object.values(module).flatMap((one: any) => [one, ...(one?.agents ?? [])]);',
    `export const handler = agents.find((one) => one?.spec?.name === ${own}).handler;`,
    '',
  ];
  return writeGenerated(folder, 'declared-agent', lines.join('\n'));
}

/**
 * Writes `lambdas/agent.ts`, or the isolated one, for one agent. Each has a file of its own, because an alias
 * applies to all entries of a run.
 */
export const writeAgentEntry = (root: string, name: string, file: string, entry: string): string =>
  writeEntry(
    root,
    entry,
    new Map([
      ['@steadfast/agent', modulePath(scratchOf(root), file)],
      ['@steadfast/agent-name', name],
    ]),
  );

/** Writes `lambdas/host.ts` for several agents, and the module behind '@steadfast/agents'. */
export function writeHostEntry(
  root: string,
  agents: readonly { readonly name: string; readonly file: string }[],
): string {
  const folder = scratchOf(root);
  const lines = agents.map(
    ({ name, file }) =>
      `  ${JSON.stringify(name)}: () => import(${JSON.stringify(modulePath(folder, file))}),`,
  );
  const content = ['export const agents = {', ...lines, '};', ''].join('\n');
  const modules = writeGenerated(folder, 'host-agents', content);
  return writeEntry(root, 'host', new Map([['@steadfast/agents', modulePath(folder, modules)]]));
}

/** @param own the files for module names that no package has */
function writeEntry(root: string, entry: string, own: ReadonlyMap<string, string>): string {
  const folder = scratchOf(root);
  const template = lambda(entry);
  const content = readFileSync(template, 'utf8').replaceAll(/(['"])([@.][^'"]*)\1/g, (_, __, said: string) =>
    JSON.stringify(own.get(said) ?? modulePath(folder, join(dirname(template), said))),
  );
  return writeGenerated(folder, 'agent', content);
}

/**
 * Writes a file whose name has the hash of its content, so that two syntheses of different folders at the
 * same time do not read each other's file, and a written file never changes.
 */
function writeGenerated(folder: string, name: string, content: string): string {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
  const path = join(folder, `${name}-${hash}.ts`);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, content);
  renameSync(draft, path);
  return path;
}

function modulePath(from: string, file: string): string {
  const path = relative(from, file).split(sep).join('/');
  return path.startsWith('.') ? path : `./${path}`;
}
