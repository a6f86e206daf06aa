/**
 * Loads a project's workflows: from compiled files if possible, otherwise with the TypeScript loader.
 *
 * Owns: the order of these ways, and leaving failures to the loader, which names the author's own files. Does
 * not own: what is loaded (`workflows.ts`), how files are compiled and stored (`compiled/`).
 *
 * Before Node 22.15, a loader's hooks run in a separate thread. The hooks of tsx and of the shared entries
 * take two fifths of the time until a server answers; compiled files need neither.
 */

import { authoredFiles } from '../lib/infra/discover.ts';
import { loadInstead, loadTypescript, packageVersion } from '../lib/project/package-files.ts';
import { hookEntries, sharedEntries } from './author.ts';
import { compiledFor, type KeptOptions } from './compiled/kept.ts';
import { foldersOf, loadWorkflows, type Served } from './workflows.ts';

/** Loads esbuild only when called: a start needs it only after a change. */
const compile: KeptOptions['compile'] = async (files, options) =>
  (await import('./compiled/compile.ts')).compile(files, options);

/** @throws DiscoveryError with the fault and the file */
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
  // Loads the entries before installing the hooks, because modules loaded afterwards pass through the slow
  // hooks.
  hookEntries(shared);
  await loadTypescript();
  return await load();
}
