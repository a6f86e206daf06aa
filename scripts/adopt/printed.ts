/**
 * Follows README and docs/FIRST-PROJECT.md: runs each shell block as printed, in a clean clone.
 *
 * Owns: where each block is run, and the expected output. Does not own: running a line (`steps.ts`). Leaves
 * out what CI itself runs on a clean checkout: `npm ci`, whose packages the clone uses, and `npm test`, which
 * would run within itself.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { check, declares, folder, ROOT, run, runUntil } from './steps.ts';

const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, block = '']) =>
    block.trim(),
  );
const INSTALL = 'npm ci && ';
const TESTS = `${INSTALL}npm test`;

/**
 * A clone of what would be committed: tracked files, and new files that are not ignored, in their present
 * state.
 */
function cloned(): string {
  const clone = folder(join('printed', 'steadfast'));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  for (const path of listed.split('\0').filter((each) => each !== '')) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    cpSync(join(ROOT, path), join(clone, path), { errorOnExist: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  return clone;
}

/** The words of a line without its figures, which differ from run to run. */
const wordsOf = (line: string): string => line.replaceAll(/\d+(?:\.\d+)?/g, '#').trim();

/** @throws Failed if the page shows a line that was not printed */
function said(shown: string, seen: string, page: string): void {
  const lines = new Set(seen.split('\n').map(wordsOf));
  const missing = shown.split('\n').filter((line) => !lines.has(wordsOf(line)));
  check(
    missing.length === 0,
    `${page} shows what was not said:\n${missing.join('\n')}\n\n${seen.slice(-4_000)}`,
  );
}

/** Writes the three files of the first workflow as a reader of the page does. */
export function followFirstProject(cwd: string): void {
  const page = readFileSync(join(ROOT, 'docs', 'FIRST-PROJECT.md'), 'utf8');
  const shown = /^`(workflows\/[^`]+\.ts)`[^`]*(?:`[^`\n]+`[^`]*)*?\n```ts\n([\s\S]*?)^```$/gm;
  const files = [...page.matchAll(shown)];
  check(files.length === 3, `docs/FIRST-PROJECT.md shows ${files.length} files of the first workflow, not 3`);
  for (const [, path = '', content = ''] of files) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), content);
  }
}

/** Runs README's blocks, from the first on. @returns the folder of the created project */
async function followReadme(clone: string): Promise<string> {
  const readme = readFileSync(join(clone, 'README.md'), 'utf8');
  const [demo = '', own = '', ...rest] = blocksOf(readme, 'sh');
  check(rest.join('\n') === TESTS, `the last block of README is ${rest.join('\n')}, and not ${TESTS}`);
  check(demo.startsWith(INSTALL), `the first block of README does not begin with ${INSTALL}`);
  const [shown = ''] = blocksOf(readme, 'text');
  said(shown, await run(clone, demo.slice(INSTALL.length)), 'README.md');
  await runUntil(clone, own, /It ended: succeeded\.[\s\S]*Ctrl-C/);
  return join(dirname(clone), 'my-app');
}

/** Runs FIRST-PROJECT's blocks: the system in one terminal, the calls in another. */
async function followPage(cwd: string): Promise<void> {
  followFirstProject(cwd);
  const page = readFileSync(join(ROOT, 'docs', 'FIRST-PROJECT.md'), 'utf8');
  const [begin = '', ...calls] = blocksOf(page, 'sh');
  const [shown = ''] = blocksOf(page, 'text');
  await runUntil(cwd, begin, /Ctrl-C/, async () => {
    let seen = '';
    for (const block of calls) seen = await run(cwd, block);
    said(withoutTimes(shown), withoutTimes(seen), 'docs/FIRST-PROJECT.md');
  });
  await declares(cwd);
}

/** `why` prints how long each line took, in the unit that fits. */
const withoutTimes = (text: string): string =>
  text.replaceAll(/\+?\d+(?:\.\d+)? ?(?:ms|s)(?:\d+ms)?\b/g, '#').replaceAll(/ +/g, ' ');

/**
 * The local system runs on its default port, as printed, so that port must be free.
 * @param packed called with the clone once it is built; the clone contains its tarball
 */
export async function followPages(packed: (clone: string) => Promise<void>): Promise<void> {
  const clone = cloned();
  const cwd = await followReadme(clone);
  await Promise.all([packed(clone), followPage(cwd)]);
}
