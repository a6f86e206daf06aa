/** Makes a new folder for each test of a file, and writes files into it. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** @param use gets the folder's real path before each test */
export function eachFolder(name: string, use: (path: string) => void): void {
  let path: string;
  beforeEach(() => {
    path = realpathSync(mkdtempSync(join(tmpdir(), `steadfast-${name}-`)));
    use(path);
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));
}

/** Writes files by their paths in the folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}
