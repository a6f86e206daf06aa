/**
 * Builds the console and tests it in a real browser.
 *
 *     npm run test:browser [-- --json] [-- --screenshots] [-- <a part of a test file's path>]
 *
 * Needs Chromium; if there is none, it says so.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { browserPath, NO_BROWSER } from './browser.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MAX_KB = 150;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, screenshots: { type: 'boolean' }, help: { type: 'boolean' } },
});

const HELP = `Builds the console and tests it in a real browser: npm run test:browser -- [options] [part of a file's path ...]
  --json         end with one line of JSON
  --screenshots  take the pictures of README and docs instead
A file alone: npm run test:browser -- on-call`;

const say = (text: string): boolean => process.stdout.write(`${text}\n`);

/** The size of all that the page loads, in KB of 1,000 bytes. */
function bundleKB(): number {
  const folder = join(ROOT, 'dist', 'console');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.\w+$/.test(name),
  );
  const bytes = files.reduce(
    (sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length,
    0,
  );
  return Math.round(bytes / 100) / 10;
}

function built(): void {
  const { status } = spawnSync('npm', ['run', '--silent', 'build:console'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error('the console could not be built');
}

function tested(folder: string): { failed: number; tests: number; counts: string[] } {
  const counts = join(folder, 'counts');
  writeFileSync(counts, '');
  const results = join(folder, 'results.json');
  const only = values.screenshots === true ? ['screenshots'] : positionals;
  spawnSync(
    process.execPath,
    [
      join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'),
      ...only,
      '--config',
      join(import.meta.dirname, 'jest.config.js'),
      '--json',
      '--outputFile',
      results,
      ...(values.screenshots === true ? [] : ['--testPathIgnorePatterns=screenshots']),
    ],
    {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        STEADFAST_BROWSER_COUNTS: counts,
      },
    },
  );
  const { numTotalTests, numFailedTests, numFailedTestSuites, success } = JSON.parse(
    readFileSync(results, 'utf8'),
  ) as { numTotalTests: number; numFailedTests: number; numFailedTestSuites: number; success: boolean };
  const failed = Math.max(numFailedTests, numFailedTestSuites, success && numTotalTests > 0 ? 0 : 1);
  return { tests: numTotalTests, failed, counts: readFileSync(counts, 'utf8').split('\n').filter(Boolean) };
}

if (values.help === true) {
  say(HELP);
  process.exit(0);
}
if (browserPath() === undefined) {
  say(NO_BROWSER);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'steadfast-browser-'));
built();
const { tests, failed, counts } = tested(folder);
rmSync(folder, { recursive: true, force: true });
const kb = bundleKB();
const [axe, csp] = ['axe', 'csp'].map((what) => counts.filter((one) => one === what).length);
say(
  `${tests} tests, ${failed} failed; axe found ${axe}, broken of the policy ${csp}; ${kb} KB gzipped of ${MAX_KB}`,
);
if (values.json === true) say(JSON.stringify({ browser: { tests, failed, axe, csp, bundleKB: kb } }));
process.exitCode = failed === 0 && axe === 0 && csp === 0 && kb <= MAX_KB ? 0 : 1;
