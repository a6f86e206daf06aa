/** What docs/TESTING.md and the README show of tests has right types and runs, with the runner that is named. */

import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { DeclaredAgent, Workflow } from 'steadfast';
import { crashEverywhere, externalWorld } from 'steadfast/testing';

const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = 'examples/hello-greeting';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const guide = read('docs/TESTING.md');
const readme = read('README.md');

/** Path → content, of the blocks whose paragraph begins with the path of a file. */
const filesIn = (text: string): [string, string][] =>
  [...text.matchAll(/^`(examples\/[^`]+\.ts)`[^`]*(?:`[^`\n]+`[^`]*)*?\n```ts\n([\s\S]*?)^```$/gm)].map(
    ([, path = '', content = '']) => [path, content],
  );

/** Inside the project, where the packages are found; ignored by git. */
let root: string;
beforeAll(() => {
  mkdirSync(join(ROOT, '.steadfast'), { recursive: true });
  root = mkdtempSync(join(ROOT, '.steadfast', 'testing-'));
  const blocks = [...guide.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, content = '']) => content);
  const named = new Set(filesIn(guide).map(([, content]) => content));
  const others = blocks.filter((content) => !named.has(content));
  others.push(/^```ts\n((?:(?!^```)[\s\S])*?crashEverywhere[\s\S]*?)^```$/m.exec(readme)?.[1] ?? '');
  const scenarios = others.map((content, at): [string, string] => [`${FOLDER}/other-${at}.ts`, content]);
  for (const [path, content] of [...filesIn(readme), ...filesIn(guide), ...scenarios]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const config = { extends: '../../tsconfig.json', include: ['examples'] };
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

test('they pass under node:test', async () => {
  const environment = { ...process.env, NODE_OPTIONS: '' };
  const args = ['--import', 'tsx', '--test', ...tests, `${FOLDER}/other-0.ts`, `${FOLDER}/other-1.ts`];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env: environment });
  expect(stdout).toMatch(/^# fail 0$/m);
  expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(11);
});

test('the finding that is shown is what it finds', async () => {
  const load = (path: string): Promise<never> => import(join(root, FOLDER, path)) as Promise<never>;
  const { helloGreeting, deliverGreeting } = await load('workflow.ts');
  const { handler: compose } = await load('agents/compose-greeting.ts');
  const post = externalWorld();
  const careless = (deliverGreeting as DeclaredAgent<never>).handler({
    execute: async ({ effectKey }: { effectKey: string }) => ({ file: await post.act(effectKey, 'letter') }),
    undo: async ({ effectKey }: { effectKey: string }) => post.undo(effectKey),
  } as never);
  const agents = [compose, careless];
  const options = { input: { name: 'Ada' }, agents, world: post };
  const { text } = await crashEverywhere(helloGreeting as Workflow, options);
  const [, shown = 'nothing'] = /^```text\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  expect(text).toContain(shown.trimEnd());
});
