/**
 * What a workflow folder may hold for `steadfast dev` beside its workflow: `dev.ts` and `example-input.json`.
 *
 * Owns: where to look for them. Does not own: which workflows there are; synthesis finds those, and the API lists them.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface WorkflowFolder {
  readonly name: string;
  readonly path: string;
  readonly devFile: string | undefined;
  readonly exampleInput: string | undefined;
}

/** What a laptop runs costs nothing: every folder, unless cdk.json names some. */
export const everythingIn = (root: string): Readonly<Record<string, unknown>> =>
  contextOf(root)['steadfast:only'] === undefined ? { 'steadfast:only': '*' } : {};

/** In the order in which synthesis finds them. */
export function projectFolders(root: string): WorkflowFolder[] {
  const context = contextOf(root);
  const only = listOf(context['steadfast:only']);
  const parents = listOf(context['steadfast:folders']) ?? ['examples'];
  return parents
    .map((parent) => resolve(root, parent))
    .filter((parent) => existsSync(parent))
    .flatMap((parent) =>
      readdirSync(parent)
        .sort()
        .filter((name) => existsSync(join(parent, name, 'workflow.ts')))
        .filter((name) => only === undefined || only.includes(name))
        .map((name) => folderAt(join(parent, name), name)),
    );
}

function folderAt(path: string, name: string): WorkflowFolder {
  const ifThere = (file: string): string | undefined =>
    existsSync(join(path, file)) ? join(path, file) : undefined;
  return {
    name,
    path,
    devFile: ifThere('dev.ts'),
    exampleInput: ifThere('example-input.json'),
  };
}

function contextOf(root: string): Readonly<Record<string, unknown>> {
  const file = join(root, 'cdk.json');
  if (!existsSync(file)) return {};
  return (JSON.parse(readFileSync(file, 'utf8')) as { context?: Record<string, unknown> }).context ?? {};
}

/** As the CDK app reads them: an array, or a text with commas. */
function listOf(value: unknown): string[] | undefined {
  if (typeof value === 'string') return value.split(',').map((item) => item.trim());
  return Array.isArray(value) ? value.map(String) : undefined;
}
