/**
 * Each test file is in exactly one suite; CI runs two suites, `.ci/nightly` the third. A test of `npm test`
 * that starts a process fails.
 */

import { execFile, execFileSync, fork, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { build, buildSync } from 'esbuild';
import { MUTANTS } from '../../proof/mutants/catalogue.ts';

type Suite = 'logic' | 'processes' | 'nightly' | 'browser';
interface Suites {
  readonly END_TO_END: string;
  readonly FOLDERS: readonly string[];
  readonly NIGHTLY: string;
  readonly suiteOf: (path: string) => Suite;
}
type Filter = (paths: readonly string[]) => Promise<{ readonly filtered: readonly string[] }>;

const ROOT = join(import.meta.dirname, '..', '..');
const load = createRequire(import.meta.url);
const { END_TO_END, FOLDERS, NIGHTLY, suiteOf } = load('./suites.cjs') as Suites;
const filterOf = (suite: Suite): Filter => load(`./${suite}.cjs`) as Filter;
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'test', 'examples'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path.endsWith('.test.ts') && existsSync(join(ROOT, path)));
const absolute = files.map((path) => join(ROOT, path));

/** Matches lines of `.ci/run` that run a script, perhaps only if nothing failed before. */
const CALLED = /^ *(?:\[ .* \|\| )?npm run ([\w:]+) \|\|/gm;
/** Matches a script that only runs other scripts in turn. */
const CHAIN = /^npm (?:test|run [\w:]+)(?: && npm (?:test|run [\w:]+))+$/;

/** Resolves chains of scripts. @returns the commands that a script finally runs */
function partsOf(name: string): string[] {
  const script = scripts[name] ?? '';
  if (!CHAIN.test(script)) return [name === 'test' ? 'npm test' : `npm run ${name}`];
  return script.split(' && ').flatMap((part) => partsOf(part.replace(/^npm (?:run )?/, '')));
}

describe('the suites', () => {
  test('have each test file in exactly one', async () => {
    const [logic, processes, nightly] = await Promise.all(
      (['logic', 'processes', 'nightly'] as const).map(
        async (suite) => (await filterOf(suite)(absolute)).filtered,
      ),
    );
    expect([...logic!, ...processes!, ...nightly!].toSorted()).toEqual(absolute.toSorted());
    expect(logic!.length).toBeGreaterThan(250);
    expect(processes!.length).toBeGreaterThan(50);
    expect(nightly!.length).toBeGreaterThan(1);
  });

  test('are distinguished by folder and name alone; one end-to-end test is with the logic', () => {
    expect(files.filter((path) => FOLDERS.some((folder) => path.startsWith(folder)))).toContain(END_TO_END);
    const odd = files.filter((path) => path.startsWith('test/e2e/') && suiteOf(path) === 'logic');
    expect(odd).toEqual([END_TO_END]);
    expect(suiteOf('test/core/a.processes.test.ts')).toBe('processes');
    expect(suiteOf('test/core/a.test.ts')).toBe('logic');
    expect(suiteOf('test/browser/a.browser.ts')).toBe('browser');
    expect(suiteOf('test/e2e/a.nightly.test.ts')).toBe('nightly');
    expect(suiteOf('test/core/a.nightly.test.ts')).toBe('nightly');
    expect(suiteOf(join(ROOT, 'test', 'infra', 'a.test.ts'))).toBe('processes');
  });

  test('are run by npm test and by npm run test:processes, and both by what CI runs', () => {
    expect(scripts['test']).toContain('--filter ./test/suites/logic.cjs');
    expect(scripts['test:processes']).toContain('--filter ./test/suites/processes.cjs');
    const parts = partsOf('check');
    for (const part of ['format:check', 'lint', 'types', 'test:processes'])
      expect(parts).toContain(`npm run ${part}`);
    expect(parts).toContain('npm test');
    const ran = [...readFileSync(join(ROOT, '.ci', 'run'), 'utf8').matchAll(CALLED)];
    const byRun = ran.flatMap(([, name = '']) => partsOf(name));
    expect([...parts, 'npm run test:browser'].filter((part) => !byRun.includes(part))).toEqual([]);
  });

  test('leave to the night what has a thinner test of its name in each commit, and no judge of a planted bug', () => {
    const nightly = files.filter((path) => suiteOf(path) === 'nightly');
    const thinner = (path: string): boolean =>
      ['.test.ts', '.processes.test.ts'].some((ending) => files.includes(path.replace(NIGHTLY, ending)));
    expect(nightly.filter((path) => !thinner(path))).toEqual([]);
    const judges = MUTANTS.flatMap(({ killer }) => (killer.kind === 'jest' ? [killer.path] : []));
    expect(judges.filter((path) => suiteOf(path) === 'nightly')).toEqual([]);
    expect(scripts['test:nightly']).toContain('--filter ./test/suites/nightly.cjs');
    expect(readFileSync(join(ROOT, '.ci', 'nightly'), 'utf8')).toContain(' npm run test:nightly');
  });

  test('leave to the night what .ci/nightly runs: all that CONTRIBUTING calls nightly', () => {
    const nightly = readFileSync(join(ROOT, '.ci', 'nightly'), 'utf8');
    const rows = [
      ...readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').matchAll(/^\| `(.+?)`.* \| nightly/gm),
    ];
    expect(rows.length).toBeGreaterThan(6);
    expect(rows.filter(([, command = '']) => !nightly.includes(`  ${command}`))).toEqual([]);
  });

  test('run a file that is named alone, whichever it is of', async () => {
    expect(await filterOf('logic')([join(ROOT, FOLDERS[0]!, 'a.test.ts')])).toEqual({
      filtered: [join(ROOT, FOLDERS[0]!, 'a.test.ts')],
    });
  });
});

/**
 * Such a file is evaluated once for a worker (`test/runtime.cjs`), so only the first test file would get its
 * hooks.
 */
test('what test files import has no tests and no hooks of its own', () => {
  const shared = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'test', 'examples'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter(
      (path) => path.endsWith('.ts') && !/\.(test|browser)\.ts$/.test(path) && existsSync(join(ROOT, path)),
    );
  expect(shared.length).toBeGreaterThan(100);
  const own = /^(?:(?:before|after)(?:All|Each)|describe|test|it)(?:\.\w+)?\(/m;
  expect(shared.filter((path) => own.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});

test('a client of the SDK that is mocked as a class is one again after the file', () => {
  const texts = files.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')] as const);
  const mocking = texts.filter(([, text]) => /\bmockClient\([A-Z]/.test(text));
  expect(mocking.length).toBeGreaterThan(3);
  expect(mocking.filter(([, text]) => !text.includes('.restore()')).map(([path]) => path)).toEqual([]);
});

/** This file belongs to `npm test`, so it can test the refusal of its own processes. */
describe('in npm test', () => {
  const refused = /^test\/suites\/suites\.test\.ts starts `.*\n.*npm run test:processes runs it\.$/;
  const entry = { entryPoints: [join(ROOT, 'lib/core/decide.ts')], write: false };

  test.each<[string, () => unknown]>([
    ['a local cloud', () => spawn(process.execPath, ['local/lambda/bootstrap.mjs'])],
    ['synthesis', () => spawnSync('npx', ['cdk', 'synth'])],
    ['a fork', () => fork('worker.mjs')],
    ['a browser', () => promisify(execFile)('chromium', ['--headless'])],
    ['a bundle', () => build(entry)],
    ['a bundle in a thread', () => buildSync(entry)],
    ['a thread', () => new Worker('worker.mjs')],
    ['the CDK', () => import('aws-cdk-lib/core')],
  ])('%s is refused, with where its test belongs', async (_, start) => {
    const said = await Promise.resolve()
      .then(start)
      .then(
        () => 'started',
        (error: Error) => error.message,
      );
    expect(said).toMatch(refused);
  });
});
