/**
 * Reads the files of the page from the package.
 *
 * Owns: which files may be read, their types and caching, the settings written into the page. Does not own:
 * the page (`console/`), who gets it (`listener.ts`).
 */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { PACKAGE_ROOT } from '../../lib/project/package-files.ts';

export const CONSOLE_FOLDER: string = join(PACKAGE_ROOT, 'dist', 'console');

export const isBuilt = (folder: string): boolean => existsSync(join(folder, 'index.html'));

/**
 * The line with the page's address, or a note that the page is not built, as in a fresh clone of the
 * repository.
 */
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

/**
 * Names of files in the folder and in `assets`. They contain no other slash, so no path leads out of the
 * folder.
 */
const FILE = /^(?:assets\/)?\w[\w.~-]*$/;

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  /** Whether the name contains a hash of the content. */
  readonly isHashed: boolean;
}

/** @param name relative to the folder, such as `assets/index-Ab12Cd34.js` */
export async function fileOf(folder: string, name: string): Promise<PageFile | undefined> {
  const type = TYPES[extname(name)];
  if (type === undefined || !FILE.test(name)) return undefined;
  const body = await readFile(join(folder, name)).catch(() => undefined);
  return body && { type, body, isHashed: name.startsWith('assets/') };
}

/** The server's settings, as written into the page. */
export interface Settings {
  readonly deployment: string;
  readonly readOnly: boolean;
  readonly local: boolean;
  /** Whether the server reports each write at once, at `writes` beside the page. */
  readonly tellsWrites?: boolean;
  /** Whether the server can read an execution's log lines, at `logs/<id>` beside the page. */
  readonly hasLogs?: boolean;
  /** Whether the server has charts, at `charts` beside the page. */
  readonly hasCharts?: boolean;
}

export const pageWith = (page: string, token: string, settings: Settings): string =>
  page
    .replace('%STEADFAST_TOKEN%', () => escaped(token))
    .replace('%STEADFAST_SETTINGS%', () => escaped(JSON.stringify(settings)));

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => `&#${char.codePointAt(0)};`);
