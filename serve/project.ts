/**
 * Loads a project's workflows in the fastest possible way.
 *
 * Owns: the order of attempts, and that the loader reports failures, with the author's own files. Does not
 * own: what is loaded (`workflows.ts`), how files are compiled and stored (`compiled/`).
 *
 * Before Node 22.15, a loader's hooks have a thread of their own: tsx's hooks, and those that share the
 * entries, take two fifths of the time until a server answers. Compiled files need neither.
 */

import { authoredFiles } from '../lib/infra/discover.ts';
import { loadInstead, loadTypescript, packageVersion } from '../lib/project/package-files.ts';
import { hookEntries, sharedEntries } from './author.ts';
import { compiledFor, type KeptOptions } from './compiled/kept.ts';
import { foldersOf, loadWorkflows, type Served } from './workflows.ts';

/** Loads esbuild, which a start needs only after a change. */
const compile: KeptOptions['compile'] = async (files, options) =>
  (await import('./compiled/compile.ts')).compile(files, options);

/** @throws DiscoveryError that says what is wrong and where */
export async function loadProject(folder: string): Promise<Served> {
  const { root, folders, only } = foldersOf(folder);
  const load = (): Promise<Served> => loadWorkflows(root, folders, only);
  const shared = await sharedEntries();
  if (shared === undefined) return await load();
  const files = authoredFiles({ root, folders, ...(only === undefined ? {} : { only }) });
  const compiled = await compiledFor(files, { shared, by: packageVersion(), compile });
  if (compiled !== undefined) {
    process.setSourceMapsEnabled(true);
    loadInstead(compiled);
    try {
      return await load();
    } catch {
      loadInstead(new Map());
    }
  }
  // The entries are loaded first: modules loaded after the hooks take the longer way through them.
  hookEntries(shared);
  await loadTypescript();
  return await load();
}
