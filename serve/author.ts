/**
 * What is published loads `steadfast` and `zod/mini` once: workflows get the entries that share their files
 * with the command line (`scripts/program.ts`), not those of many modules. A project's own copy of zod in
 * another version stays what it loads.
 *
 * Owns: which file a name becomes in this process. Does not own: how a package is found, which is Node's.
 * In the repository there is one of each anyway.
 */

import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PACKAGE_ROOT, programFile } from '../lib/project/package-files.ts';

/** By the address that Node finds, the one that is loaded. */
type Shared = Readonly<Record<string, string>>;

/** For a Node whose hooks are in a thread of their own; text, so that it is a file of no format. */
const HOOK = `
let shared;
export const initialize = (given) => { shared = given; };
export const resolve = async (name, context, next) => {
  const found = await next(name, context);
  const url = shared[found.url];
  return url === undefined ? found : { ...found, url };
};
`;

/**
 * `require('steadfast')` of a CommonJS workflow gives the same entry, in place of a second whole one with the
 * SDK's clients (some 50 files). Node documents that modules may be put into the cache.
 */
function shareRequired(entry: object): void {
  const file = join(PACKAGE_ROOT, 'dist', 'cjs', 'index.cjs');
  const shared = new module.Module(file);
  shared.exports = { __esModule: true, ...entry };
  shared.loaded = true;
  createRequire(file).cache[file] = shared;
}

/** Workflows that are loaded from then on have them. */
export async function shareEntries(): Promise<void> {
  const entry = programFile('bin/author');
  if (!existsSync(entry)) return;
  shareRequired((await import(pathToFileURL(entry).href)) as object);
  const shared: Shared = {
    [pathToFileURL(programFile('lib/index')).href]: pathToFileURL(entry).href,
    [import.meta.resolve('zod/mini')]: pathToFileURL(programFile('bin/zod')).href,
  };
  // First: whatever comes after the hooks takes the longer way through them.
  await Promise.all(Object.values(shared).map((url) => import(url)));
  const { registerHooks } = module as Partial<Pick<typeof module, 'registerHooks'>>;
  if (registerHooks === undefined)
    return module.register(`data:text/javascript,${encodeURIComponent(HOOK)}`, { data: shared });
  registerHooks({
    resolve: (name, context, next) => {
      const found = next(name, context);
      const url = shared[found.url];
      return url === undefined ? found : { ...found, url };
    },
  });
}
