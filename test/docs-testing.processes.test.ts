/** The tests in docs/TESTING.md pass with the runner named there. */

import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { read, written } from './snippets/blocks.ts';
import { FOLDER } from './snippets/readme.ts';
import { shownTests, testingFiles } from './snippets/testing.ts';

const guide = read('docs/TESTING.md');
const tests = [...shownTests.keys()];

let root: string;
beforeAll(() => {
  root = written('testing', testingFiles);
});
afterAll(() => rmSync(root, { recursive: true }));

test('four files of tests are shown', () => {
  expect(tests).toEqual(
    ['workflow', 'people', 'answers', 'crash'].map((name) => `${FOLDER}/${name}.test.ts`),
  );
});

async function node(...args: readonly string[]): Promise<string> {
  const environment = { ...process.env, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env: environment });
  return stdout;
}

test('they pass under node:test', async () => {
  // In one process: by itself the runner starts one for each file, and each loads the package anew.
  writeFileSync(join(root, 'all.test.ts'), tests.map((path) => `import './${path}';\n`).join(''));
  const stdout = await node('--import', 'tsx', '--test', 'all.test.ts');
  expect(stdout).toMatch(/^# fail 0$/m);
  expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThanOrEqual(12);
});

/** Runs the page's second crash test in a process that resolves modules as an author's project does. */
const FINDING = `import { crashEverywhere, externalWorld } from 'steadfast/testing';
import { handler as compose } from './agents/write-greeting.js';
import { deliverGreeting, firstGreeting } from './workflow.js';
const post = externalWorld();
const careless = deliverGreeting.handler({
  execute: async ({ idempotencyKey }) => ({ file: await post.act(idempotencyKey, 'letter') }),
  undo: ({ idempotencyKey }) => post.undo(idempotencyKey),
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
