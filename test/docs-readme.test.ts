/** What the README tells a newcomer to type is true. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { executionId } from '../lib/cli/dev/banner.ts';
import { discoverWorkflows } from '../lib/infra/discover.ts';

const ROOT = resolve(import.meta.dirname, '..');
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'docs/ARCHITECTURE.md', 'docs/TESTING.md'];
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const readme = read('README.md');

/** Path → content, of the blocks whose paragraph begins with the path of a file. */
const files = new Map(
  [...readme.matchAll(/^`(examples\/[^`]+\.ts)`[^`]*(?:`[^`\n]+`[^`]*)*?\n```ts\n([\s\S]*?)^```$/gm)].map(
    ([, path = '', content = '']) => [path, content],
  ),
);
const shellLines = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
);

/** Inside the project, where `steadfast` and the packages are found; ignored by git. */
let root: string;
beforeAll(() => {
  mkdirSync(join(ROOT, '.steadfast'), { recursive: true });
  root = mkdtempSync(join(ROOT, '.steadfast', 'readme-'));
  const devFile = /^```ts\n(export default async function startDev[\s\S]*?)^```$/m.exec(readme)?.[1] ?? '';
  const failures = /^### When it fails\n[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(readme)?.[1] ?? '';
  const kinds = /^### Steps that wait[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(readme)?.[1] ?? '';
  const others = [
    ['examples/hello-greeting/kinds.ts', kinds],
    ['examples/hello-greeting/dev.ts', devFile],
    ['examples/hello-greeting/failures.ts', failures],
  ];
  for (const [path, content] of [...files, ...others]) {
    mkdirSync(dirname(join(root, path ?? '')), { recursive: true });
    writeFileSync(join(root, path ?? ''), content ?? '');
  }
});
afterAll(() => rmSync(root, { recursive: true }));

test('the first workflow is a workflow and two agents, and nothing else', () => {
  expect([...files.keys()]).toEqual([
    'examples/hello-greeting/workflow.ts',
    'examples/hello-greeting/agents/compose-greeting.ts',
    'examples/hello-greeting/agents/deliver-greeting.ts',
  ]);
});

test('it is found as it stands', async () => {
  const { workflows, agents, warnings } = await discoverWorkflows({ root, folders: ['examples'] });
  expect(workflows.map(({ name, agents: used }) => [name, used])).toEqual([
    ['hello-greeting', ['compose-greeting', 'deliver-greeting']],
  ]);
  expect(agents.map(({ name }) => name)).toEqual(['compose-greeting', 'deliver-greeting']);
  expect(warnings).toEqual([]);
});

test('its types, and those of dev.ts and of what fails, are right', async () => {
  const config = { extends: '../../tsconfig.json', include: ['examples'] };
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify(config));
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const run = (): string => execFileSync(process.execPath, [tsc, '-p', root], { encoding: 'utf8' });
  expect(run).not.toThrow();
  const { sendParcels } = (await import(join(root, 'examples/hello-greeting/failures.ts'))) as Record<
    string,
    { agents: { spec: { name: string } }[] }
  >;
  expect(sendParcels?.agents.map(({ spec }) => spec.name)).toEqual(['book-parcel', 'book-courier']);
  const { delivery } = (await import(join(root, 'examples/hello-greeting/kinds.ts'))) as Record<
    string,
    { plan: { steps: { kind: string }[] } }
  >;
  expect(delivery?.plan.steps.map(({ kind }) => kind)).toEqual([
    'child',
    'map',
    'approval',
    'wait',
    'wait',
    'step',
  ]);
});

test('the id in the second command is the one that the first command starts', () => {
  const start = shellLines.find((line) => line.includes('/workflows/hello-greeting/executions')) ?? '';
  const body = JSON.parse(/-d '(.*)'$/.exec(start)?.[1] ?? '') as { idempotencyKey: string };
  const id = executionId('hello-greeting', body.idempotencyKey);
  expect(shellLines).toContain(`curl -s 'http://127.0.0.1:4510/executions/${id}?wait=20s'`);
  expect(shellLines).toContain(`npx steadfast show ${id}`);
});

test('the two commands stand on lines of their own', () => {
  expect(shellLines).toEqual(expect.arrayContaining(['npm ci && npm run demo', 'npm ci && npm run check']));
});

test.each(DOCUMENTS)('%s names only scripts, files and links that exist', (document) => {
  const text = read(document);
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const named = [...text.matchAll(/\bnpm run ([a-z:-]+)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path);
  expect(links.filter((path) => !existsSync(join(ROOT, dirname(document), path)))).toEqual([]);
  const paths = [...text.matchAll(/`((?:bin|lib|lambdas|test|scripts|docs)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  );
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
