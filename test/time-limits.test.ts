/**
 * No test sets its own time limit, because on a busy machine it would fail. For a test that hangs,
 * jest.config.js has a limit far above any test's need.
 */

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/**
 * Matches the third argument of a test or hook in formatted code, at the end of its line or on a separate
 * line.
 */
const LIMIT = /^ *(?:\}|(?:before|after)(?:All|Each)\(.*\)),\s+(?:\d[\d_]{3,}|[A-Z_]+_MS),?\s*\);$/gm;

const limitsIn = (text: string): string[] => [...text.matchAll(LIMIT)].map(([line]) => line.trim());

it('is given to no test', () => {
  const list = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'test', 'examples'], {
    cwd: ROOT,
  });
  const files = String(list)
    .split('\n')
    .filter((file) => file.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(200);
  expect(
    files.flatMap((file) => limitsIn(readFileSync(join(ROOT, file), 'utf8')).map((it) => `${file} ${it}`)),
  ).toEqual([]);
});

it.each([
  '  }, 60_000);',
  '}, 5000);',
  '}, LIMIT_MS);',
  '    },\n    LIMIT_MS,\n  );',
  'afterAll(() => stop(), 30_000);',
])('would be found: %s', (line) => {
  expect(limitsIn(`it('a', async () => {\n${line}\n`)).toEqual([line.trim()]);
});
