/**
 * Detects changes of a project's code while `steadfast dev` runs.
 *
 * Owns: which files are observed, and combining files changed together (by a branch switch, a formatter) into
 * one change. Does not own: which files matter (`sources.ts`), the reaction (`command.ts`).
 */

import { extname, join, relative } from 'node:path';
import { watch } from 'chokidar';

export interface Changes {
  /**
   * Waits for the next change that matters, and resolves with its files, relative to the project's folder, in
   * the order in which they were seen.
   * @param counts whether a changed file matters. @default all do
   */
  readonly next: (counts?: (file: string) => boolean) => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

/** Folders of built or installed files. Folders with a dot are left out as well. */
const NOT_CODE = new Set(['node_modules', 'cdk.out', 'dist', 'coverage']);
/** Folders of tests, which are not deployed. */
const TESTS = new Set(['test', 'tests', '__tests__']);
const TEST_FILE = /\.(?:test|spec)\.\w+$/;
const ENDINGS = new Set(['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json']);
/** A change is complete if no other file changes for this long. */
const QUIET_MS = 300;

const isLeftOut = (path: string): boolean =>
  TEST_FILE.test(path) ||
  path.split(/[\\/]/).some((part) => part.startsWith('.') || NOT_CODE.has(part) || TESTS.has(part));

/**
 * @param root the project's folder.
 * @returns once the folder is observed; every later change is reported
 */
export async function changesIn(root: string): Promise<Changes> {
  let files = new Set<string>();
  let isQuiet = true;
  let counts = (_file: string): boolean => true;
  let heard: ((files: readonly string[]) => void) | undefined;
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    if (heard === undefined || !isQuiet) return;
    const counting = [...files].filter((file) => counts(join(root, file)));
    files = new Set();
    if (counting.length === 0) return;
    heard(counting);
    heard = undefined;
  };
  const watcher = watch(root, {
    ignoreInitial: true,
    ignored: (path, stats) => {
      const own = relative(root, path);
      return own !== '' && (isLeftOut(own) || (stats?.isFile() === true && !ENDINGS.has(extname(own))));
    },
  });
  watcher.on('all', (event, path) => {
    // Ignores events of folders, because their files are reported one by one.
    if (event.endsWith('Dir')) return;
    files.add(relative(root, path));
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
    next: (isMeant = () => true) =>
      new Promise((resolve) => {
        [heard, counts] = [resolve, isMeant];
        // Reports earlier changes at once.
        tell();
      }),
    stop: async () => {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}
