/** What docs/TESTING.md shows of tests has right types and runs, with the runner that is named. */

import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = 'workflows/first-greeting';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const guide = read('docs/TESTING.md');
const firstProject = read('docs/FIRST-PROJECT.md');

/** Path → content, of the blocks whose paragraph begins with the path of a file. */
const filesIn = (text: string): [string, string][] =>
  [...text.matchAll(/^`(workflows\/[^`]+\.ts)`[^`]*(?:`[^`\n]+`[^`]*)*?\n```ts\n([\s\S]*?)^```$/gm)].map(
    ([, path = '', content = '']) => [path, content],
  );

/** Inside the project, where the packages are found; ignored by git. */
let root: string;
beforeAll(() => {
  mkdirSync(join(ROOT, '.steadfast'), { recursive: true });
  root = mkdtempSync(join(ROOT, '.steadfast', 'testing-'));
  for (const [path, content] of [...filesIn(firstProject), ...filesIn(guide)]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const config = { extends: '../../tsconfig.json', include: ['workflows'] };
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(config));
});
afterAll(() => rmSync(root, { recursive: true }));

const tests = filesIn(guide).map(([path]) => path);

test('four files of tests are shown', () => {
  expect(tests).toEqual(
    ['workflow', 'people', 'answers', 'crash'].map((name) => `${FOLDER}/${name}.test.ts`),
  );
});

test('their types are right', () => {
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const run = (): string => execFileSync(process.execPath, [tsc, '-p', root], { encoding: 'utf8' });
  expect(run).not.toThrow();
});

async function node(...args: readonly string[]): Promise<string> {
  const environment = { ...process.env, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env: environment });
  return stdout;
}

test('they pass under node:test', async () => {
  const stdout = await node('--import', 'tsx', '--test', ...tests);
  expect(stdout).toMatch(/^# fail 0$/m);
  expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(12);
});

/** As the page's second test of a crash, in a process that resolves modules as an author's does. */
const FINDING = `import { crashEverywhere, externalWorld } from 'steadfast/testing';
import { handler as compose } from './agents/write-greeting.js';
import { deliverGreeting, firstGreeting } from './workflow.js';
const post = externalWorld();
const careless = deliverGreeting.handler({
  execute: async ({ effectKey }) => ({ file: await post.act(effectKey, 'letter') }),
  undo: ({ effectKey }) => post.undo(effectKey),
});
const options = { input: { name: 'Ada' }, agents: [compose, careless], world: post };
console.log((await crashEverywhere(firstGreeting, options)).text);
`;

test('the finding that is shown is what it finds', async () => {
  writeFileSync(join(root, FOLDER, 'finding.ts'), FINDING);
  const text = await node('--import', 'tsx', `${FOLDER}/finding.ts`);
  const [, shown = 'nothing'] = /^```text\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  expect(text).toContain(shown.trimEnd());
});
