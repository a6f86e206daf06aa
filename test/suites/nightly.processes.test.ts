/** `.ci/nightly` continues after a failure, reports each result, and fails if any part failed. */

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const SCRIPT = join(import.meta.dirname, '..', '..', '.ci', 'nightly');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-nightly-'));
  // Replaces npm: everything that is called model fails.
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "ran $*"\ncase "$*" in *model*) exit 3;; esac\n');
  chmodSync(join(folder, 'npm'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

function nightly(...names: string[]): { status: number | null; stdout: string; stderr: string } {
  const PATH = `${folder}${delimiter}${process.env['PATH'] ?? ''}`;
  return spawnSync('bash', [SCRIPT, ...names], { encoding: 'utf8', env: { ...process.env, PATH } });
}

test('a failure stops none of the others, and is the exit code', () => {
  const { status, stdout } = nightly('model', 'mutants');
  expect(status).toBe(1);
  expect(stdout).toMatch(
    /== model: npm run model\nran run model\n\n== mutants: npm run mutants\nran run mutants\n/,
  );
  expect(stdout).toMatch(
    /== nightly\nmodel +FAILED +\d+ s +npm run model\nmutants +passed +\d+ s +npm run mutants\n$/,
  );
});

test('what passes is an exit code of 0, and a name that is not there is refused with those that are', () => {
  expect(nightly('mutants').status).toBe(0);
  expect(nightly('mutant')).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(/^there is no mutant; there are crowds slow /),
  });
});

test('all of them are run where none is named', () => {
  const { stdout } = nightly();
  const [, summary = ''] = stdout.split('== nightly\n');
  expect(summary.trim().split('\n')).toHaveLength(stdout.match(/^ran /gm)?.length ?? 0);
  expect(summary).toContain('CROWD=10000 npm test -- test/proof/simulation/crowd.test.ts');
});
