/**
 * What is published loads `steadfast` once: workflows get the entry that shares its files with the command
 * line (`scripts/program.ts`), not the one of many modules.
 *
 * Owns: which file that name becomes in this process. Does not own: how a package is found, which is Node's.
 * In the repository there is one of each anyway.
 */

import { existsSync } from 'node:fs';
import module from 'node:module';
import { pathToFileURL } from 'node:url';
import { programFile } from '../lib/project/package-files.ts';

interface Files {
  readonly from: string;
  readonly to: string;
}

/** For a Node whose hooks are in a thread of their own; text, so that it is a file of no format. */
const HOOK = `
let files;
export const initialize = (given) => { files = given; };
export const resolve = async (name, context, next) => {
  const found = await next(name, context);
  return found.url === files.from ? { ...found, url: files.to } : found;
};
`;

/** Workflows that are loaded from then on have it. */
export async function shareEntry(): Promise<void> {
  const entry = programFile('bin/author');
  if (!existsSync(entry)) return;
  const files: Files = {
    from: pathToFileURL(programFile('lib/index')).href,
    to: pathToFileURL(entry).href,
  };
  // First: whatever comes after the hooks takes the longer way through them.
  await import(files.to);
  const { registerHooks } = module as Partial<Pick<typeof module, 'registerHooks'>>;
  if (registerHooks === undefined)
    return module.register(`data:text/javascript,${encodeURIComponent(HOOK)}`, { data: files });
  registerHooks({
    resolve: (name, context, next) => {
      const found = next(name, context);
      return found.url === files.from ? { ...found, url: files.to } : found;
    },
  });
}
