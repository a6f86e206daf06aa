/**
 * A project's workflows, loaded in the way that takes the least time.
 *
 * Owns: that order, and that what fails is said by the loader, with the author's own files. Does not own:
 * what is loaded (`workflows.ts`), how files are compiled and kept (`compiled/`).
 *
 * Hooks of a loader have a thread of their own before Node 22.15: that of tsx, and what shares the entries,
 * are two fifths of the time until a server answers. What is compiled needs neither.
 */

import { authoredFiles } from '../lib/infra/discover.ts';
import { loadInstead, loadTypescript, packageVersion } from '../lib/project/package-files.ts';
import { hookEntries, sharedEntries } from './author.ts';
import { compiledFor, type KeptOptions } from './compiled/kept.ts';
import { foldersOf, loadWorkflows, type Served } from './workflows.ts';

/** Loads esbuild, which a start needs only after a change. */
const compile: KeptOptions['compile'] = async (files, options) =>
  (await import('./compiled/compile.ts')).compile(files, options);

/** @throws DiscoveryError saying what is wrong where */
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
  // The entries were loaded before: what is loaded after the hooks takes the longer way through them.
  hookEntries(shared);
  await loadTypescript();
  return await load();
}
