/**
 * Finds the files of workflow folders that only `steadfast dev` reads: `dev.ts` and `example-input.json`.
 *
 * Does not own: finding workflows (synthesis does, and the API lists them).
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';
import { BUNDLES, FORMS_FILE } from '../../lib/aws/names.ts';
import { writtenFile } from '../../lib/project/project-files.ts';
import type { Project } from './project.ts';

export interface WorkflowFolder {
  readonly name: string;
  readonly path: string;
  readonly devFile: string | undefined;
  readonly exampleInput: string | undefined;
}

/** Context that loads every folder, unless cdk.json names some, because on a laptop they are free. */
export const everythingIn = ({ context }: Project): Readonly<Record<string, unknown>> =>
  context['steadfast:only'] === undefined ? { 'steadfast:only': '*' } : {};

/** The parents of workflow folders, unless cdk.json names others. */
const PARENTS = ['workflows', 'examples'];

/**
 * The workflow folders in the order of the synthesis, but first the one that `steadfast:try` in cdk.json
 * names.
 */
export function projectFolders({ root, context }: Pick<Project, 'root' | 'context'>): WorkflowFolder[] {
  const only = listOf(context['steadfast:only']);
  const parents = listOf(context['steadfast:folders']) ?? PARENTS;
  const first = context['steadfast:try'];
  return parents
    .map((parent) => resolve(root, parent))
    .filter((parent) => existsSync(parent))
    .flatMap((parent) =>
      readdirSync(parent)
        .sort()
        .filter((name) => writtenFile(join(parent, name, 'workflow')) !== undefined)
        .filter((name) => only === undefined || only.includes(name))
        .map((name) => folderAt(join(parent, name), name)),
    )
    .toSorted((a, b) => Number(b.name === first) - Number(a.name === first));
}

/**
 * The folders whose workflow or agents are in the running stack.
 * @param assembly the assembly, with code for that stack only
 */
export function foldersIn(assembly: string, folders: readonly WorkflowFolder[]): WorkflowFolder[] {
  const bundles = join(assembly, BUNDLES);
  const deployed = new Set(
    namesIn(bundles).flatMap((deployment) => {
      const forms = join(bundles, deployment, 'scheduler', FORMS_FILE);
      const workflows = existsSync(forms)
        ? Object.keys(JSON.parse(readFileSync(forms, 'utf8')) as object)
        : [];
      const agents = ['agents', 'containers'].flatMap((kind) => namesIn(join(bundles, deployment, kind)));
      return [...workflows, ...agents];
    }),
  );
  return folders.filter(({ name, path }) =>
    [name, ...namesIn(join(path, 'agents')).map((file) => parse(file).name)].some((one) => deployed.has(one)),
  );
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

function folderAt(path: string, name: string): WorkflowFolder {
  const ifThere = (file: string): string | undefined =>
    existsSync(join(path, file)) ? join(path, file) : undefined;
  return {
    name,
    path,
    devFile: writtenFile(join(path, 'dev')),
    exampleInput: ifThere('example-input.json'),
  };
}

/** A list in the context: an array, or a text with commas. */
function listOf(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.split(',').map((item) => item.trim());
  return Array.isArray(value) ? value.map(String) : undefined;
}
