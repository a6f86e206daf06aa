/**
 * Loads `steadfast` and `zod/mini` once in a published package: workflows get the entries that share their
 * files with the command line (`scripts/program.ts`). A project with its own copy of zod in another version
 * still loads that copy.
 *
 * Owns: which file a name resolves to in this process. Does not own: how a package is found, which is Node's
 * task. The repository has only one of each anyway.
 */

import { existsSync, realpathSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PACKAGE_ROOT, programFile } from '../lib/project/package-files.ts';
import type { SharedPackage } from './compiled/compile.ts';

/** Replacement files, by the address that Node finds. */
type Shared = Readonly<Record<string, string>>;

/**
 * A loader for a Node version whose hooks run in a thread of their own; text, so that it needs no file of a
 * certain format.
 */
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
 * Makes `require('steadfast')` in a CommonJS workflow return the same entry, instead of a second complete one
 * with the SDK's clients (some 50 files). Node documents that modules may be put into the cache.
 */
function shareRequired(entry: object): void {
  const file = join(PACKAGE_ROOT, 'dist', 'cjs', 'index.cjs');
  const shared = new module.Module(file);
  shared.exports = { __esModule: true, ...entry };
  shared.loaded = true;
  createRequire(file).cache[file] = shared;
}

/** The entries of this process. Nothing in the repository, which has one of each. */
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

/** Modules that are loaded from source after this call get these entries. */
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
