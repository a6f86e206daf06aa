/**
 * After a cloud was killed together with its guardian, the next start on the same data removes what they left
 * behind.
 */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDataDirectory } from '../../local/data-directory.ts';

/** A process id that no process has. */
const DEAD = 2 ** 30;
let data: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'steadfast-data-'));
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

async function leftBy(codeFolder: string): Promise<boolean> {
  const killed = await openDataDirectory(data, false);
  killed.guardedBy({ pid: DEAD, codeFolder });
  const { pid } = process;
  try {
    Object.defineProperty(process, 'pid', { value: DEAD, configurable: true });
    killed.guardedBy({ pid: DEAD, codeFolder });
  } finally {
    Object.defineProperty(process, 'pid', { value: pid, configurable: true });
  }
  (await openDataDirectory(data, false)).release();
  return existsSync(codeFolder);
}

test('the folder of its code, and no other folder', async () => {
  const code = mkdtempSync(join(tmpdir(), 'steadfast-code-'));
  expect(await leftBy(code)).toBe(false);
  const other = mkdtempSync(join(tmpdir(), 'steadfast-other-'));
  expect(await leftBy(other)).toBe(true);
  rmSync(other, { recursive: true });
});
