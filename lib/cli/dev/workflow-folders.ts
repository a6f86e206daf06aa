/**
 * What a workflow folder may hold for `steadfast dev` beside its workflow: `dev.ts` and `example-input.json`.
 *
 * Owns: where to look for them. Does not own: which workflows there are; synthesis finds those, and the API lists them.
 */

import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writtenFile } from '../../project/project-files.ts';
import type { Project } from './project.ts';

export interface WorkflowFolder {
  readonly name: string;
  readonly path: string;
  readonly devFile: string | undefined;
  readonly exampleInput: string | undefined;
}

/** What a laptop runs costs nothing: every folder, unless cdk.json names some. */
export const everythingIn = ({ context }: Project): Readonly<Record<string, unknown>> =>
  context['steadfast:only'] === undefined ? { 'steadfast:only': '*' } : {};

/** Where workflow folders are, unless cdk.json says another place. */
const PARENTS = ['workflows', 'examples'];

/** In the order in which synthesis finds them; the one that `steadfast:try` of cdk.json names comes first. */
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

/** As the CDK app reads them: an array, or a text with commas. */
function listOf(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.split(',').map((item) => item.trim());
  return Array.isArray(value) ? value.map(String) : undefined;
}
