/**
 * Changes of a project's code while `steadfast dev` runs.
 *
 * Owns: which files count, and that the files of one change (a switch of branches, a formatter) are one. Does not own: what
 * follows from it (`command.ts`).
 */

import { extname, relative } from 'node:path';
import { watch } from 'chokidar';

export interface Changes {
  /** Resolves with the first file of the next change, from the project's folder. */
  readonly next: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** What is built, installed or kept there is not written by authors. Folders with a dot are not either. */
const NOT_CODE = new Set(['node_modules', 'cdk.out', 'dist', 'coverage']);
const ENDINGS = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json']);
/** So long nothing more may change. */
const QUIET_MS = 300;

const isLeftOut = (path: string): boolean =>
  path.split(/[\\/]/).some((part) => part.startsWith('.') || NOT_CODE.has(part));

/** @param root the project's folder. @returns once it is watched: what changes from then on is told */
export async function changesIn(root: string): Promise<Changes> {
  let first: string | undefined;
  let isQuiet = true;
  let heard: ((file: string) => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    if (heard === undefined || first === undefined || !isQuiet) return;
    heard(first);
    heard = undefined;
    first = undefined;
  };
  const watcher = watch(root, {
    ignoreInitial: true,
    ignored: (path, stats) => {
      const own = relative(root, path);
      return own !== '' && (isLeftOut(own) || (stats?.isFile() === true && !ENDINGS.has(extname(own))));
    },
  });
  watcher.on('all', (_, path) => {
    first ??= relative(root, path);
    isQuiet = false;
    clearTimeout(timer);
    timer = setTimeout(() => {
      isQuiet = true;
      tell();
    }, QUIET_MS);
  });
  await new Promise<void>((resolve) => {
    watcher.once('ready', () => resolve());
  });
  return {
    next: () =>
      new Promise((resolve) => {
        heard = resolve;
        // What has changed meanwhile is told at once.
        tell();
      }),
    stop: async () => {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}
