/**
 * The page's files, as they were built into the package.
 *
 * Owns: which there are, their types, how long a browser may keep them, what is written into the page. Does
 * not own: the page (`console/`), who gets it (`listener.ts`).
 */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { PACKAGE_ROOT } from '../../lib/project/package-files.ts';

export const CONSOLE_FOLDER: string = join(PACKAGE_ROOT, 'dist', 'console');

export const isBuilt = (folder: string): boolean => existsSync(join(folder, 'index.html'));

/** The page's address, or that it is not built yet, as in a fresh clone of the repository. */
export const consoleLine = (url: string, folder: string = CONSOLE_FOLDER): string =>
  `Console: ${isBuilt(folder) ? `${url}/console/` : 'not built yet; npm run build:console builds it, also while this runs'}`;

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/** The folder itself and `assets` in it: names without a slash, so no path leads out of it. */
const FILE = /^(?:assets\/)?\w[\w.~-]*$/;

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  /** Its name has a hash of its content. */
  readonly isHashed: boolean;
}

/** @param name below the folder, as `assets/index-Ab12Cd34.js` */
export async function fileOf(folder: string, name: string): Promise<PageFile | undefined> {
  const type = TYPES[extname(name)];
  if (type === undefined || !FILE.test(name)) return undefined;
  const body = await readFile(join(folder, name)).catch(() => undefined);
  return body && { type, body, isHashed: name.startsWith('assets/') };
}

/** What the server tells the page about itself. */
export interface Settings {
  readonly deployment: string;
  readonly readOnly: boolean;
  readonly local: boolean;
  /** The page learns of each write at once, at `writes` beside it. */
  readonly tellsWrites?: boolean;
  /** Log lines of an execution can be read, at `logs/<id>` beside it. */
  readonly hasLogs?: boolean;
  /** At `charts` beside it. */
  readonly hasCharts?: boolean;
}

export const pageWith = (page: string, token: string, settings: Settings): string =>
  page
    .replace('%STEADFAST_TOKEN%', () => escaped(token))
    .replace('%STEADFAST_SETTINGS%', () => escaped(JSON.stringify(settings)));

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => `&#${char.codePointAt(0)};`);
