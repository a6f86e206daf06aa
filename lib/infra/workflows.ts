/**
 * The workflows of a CDK app, found while its stack is built:
 *
 *     new Steadfast(this, 'Orders', { workflows: Workflows.fromFolder('workflows') });
 *
 * Owns: where the folder is found, and doing so synchronously, as constructors must. Does not own: the search
 * and its refusals (`discover.ts`, which runs in a process of its own, because it loads modules of either
 * kind, TypeScript included).
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { programFile, typescriptLoader } from '../project/package-files.ts';
import { projectRoot } from '../project/project-files.ts';
import type { DiscoverProps, Discovery } from './discovery.ts';
import { DiscoveryError } from './discovery.ts';

/** Selects workflows of a folder. */
export interface FolderOptions {
  /**
   * Names of the workflow folders to take.
   * @default - all
   */
  readonly only?: readonly string[];
}

/** The output of `discover-process.ts`, a line of JSON. */
export type Discovered = { readonly found: Discovery } | { readonly problem: string };

/** Finds the workflows of a folder while the stack is built: the `workflows` of a `Steadfast`. */
export const Workflows = {
  /**
   * Every `<folder>/<name>/workflow.ts` (or `.js`), with `agents/<agent>.ts` beside
   * it for each agent that it uses.
   * @param folder relative to the folder of the nearest cdk.json, from the
   * working directory upward; or absolute
   * @example
   * export const workflows = Workflows.fromFolder('workflows');
   * @throws DiscoveryError naming the workflow, the agent and the path expected
   */
  fromFolder: (folder = 'workflows', { only }: FolderOptions = {}): Discovery => {
    const root = projectRoot(process.cwd());
    if (root === undefined) {
      throw new DiscoveryError(
        `there is no cdk.json in ${process.cwd()} or above it: run the app in its own folder, or write one ({ "app": "npx tsx bin/app.ts" })`,
      );
    }
    if (!existsSync(resolve(root, folder))) {
      throw new DiscoveryError(
        `there is no folder ${relative(root, resolve(root, folder)) || folder} in ${root}: put a workflow into ${join(folder, '<name>', 'workflow.ts')}, or name another folder: Workflows.fromFolder('…')`,
      );
    }
    return discovered({ root, folders: [folder], ...(only === undefined ? {} : { only }) });
  },
};

function discovered(props: DiscoverProps): Discovery {
  const args = ['--import', typescriptLoader(), programFile('lib/infra/discover-process')];
  const { stdout, stderr, status, error } = spawnSync(process.execPath, [...args, JSON.stringify(props)], {
    cwd: props.root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  // Modules may print lines of their own, so the last line is the answer.
  const answer = status === 0 ? stdout.trimEnd().split('\n').at(-1) : undefined;
  if (answer === undefined)
    throw new DiscoveryError(`cannot search for workflows: ${error?.message ?? stderr.trim()}`);
  const result = JSON.parse(answer) as Discovered;
  if ('problem' in result) throw new DiscoveryError(result.problem);
  return result.found;
}
