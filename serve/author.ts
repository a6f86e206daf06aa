/**
 * Makes workflows share the command line's copy of `steadfast` and `zod/mini` in a published package, so that
 * each is loaded once (`scripts/program.ts`). A project with its own copy of zod in another version still
 * loads that copy.
 *
 * Owns: which file a name resolves to in this process. Does not own: finding a package (Node does). In the
 * repository, each exists only once.
 */

import { existsSync, realpathSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PACKAGE_ROOT, programFile } from '../lib/project/package-files.ts';
import type { SharedPackage } from './compiled/compile.ts';

/** Replacement files, by the URL to which Node resolves the import. */
type Shared = Readonly<Record<string, string>>;

/** The loader for Node versions that run hooks in a separate thread. It is text, so that it needs no file. */
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
 * Makes `require('steadfast')` in a CommonJS workflow return the same entry, instead of loading a second one
 * with the SDK's clients (some 50 files). Node documents that code may add modules to the cache.
 */
function shareRequired(entry: object): void {
  const file = join(PACKAGE_ROOT, 'dist', 'cjs', 'index.cjs');
  const shared = new module.Module(file);
  shared.exports = { __esModule: true, ...entry };
  shared.loaded = true;
  createRequire(file).cache[file] = shared;
}

/** The entries of this process; undefined in the repository, where each exists only once. */
export async function sharedEntries(): Promise<Readonly<Record<string, SharedPackage>> | undefined> {
  const entry = programFile('bin/author');
  if (!existsSync(entry)) return undefined;
  const zod = createRequire(entry).resolve('zod/package.json');
  const shared = {
    steadfast: { folder: realpathSync(PACKAGE_ROOT), url: pathToFileURL(entry).href },
    'zod/mini': { folder: realpathSync(dirname(zod)), url: pathToFileURL(programFile('bin/zod')).href },
  };
  const [author] = await Promise.all(Object.values(shared).map(({ url }) => import(url) as Promise<object>));
  shareRequired(author as object);
  return shared;
}

/** Gives these entries to all modules that are loaded from source after this call. */
export function hookEntries({ steadfast, 'zod/mini': zod }: Readonly<Record<string, SharedPackage>>): void {
  const shared: Shared = {
    ...(steadfast && { [pathToFileURL(programFile('lib/index')).href]: steadfast.url }),
    ...(zod && { [import.meta.resolve('zod/mini')]: zod.url }),
  };
  const { registerHooks } = module as Partial<Pick<typeof module, 'registerHooks'>>;
  if (registerHooks === undefined) {
    module.register(`data:text/javascript,${encodeURIComponent(HOOK)}`, { data: shared });
    return;
  }
  registerHooks({
    resolve: (name, context, next) => {
      const found = next(name, context);
      const url = shared[found.url];
      return url === undefined ? found : { ...found, url };
    },
  });
}
