/** Which changed files restart `steadfast dev`; several files that change together restart it once. */

import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Changes, changesIn } from '../../cli/dev/changes.ts';

let root: string;
let changes: Changes;

function write(...files: string[]): void {
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), String(Math.random()));
  }
}

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'steadfast-changes-'));
  write('workflows/a/workflow.ts', 'lib/stack.ts', 'node_modules/zod/index.js');
  changes = await changesIn(root);
});
afterEach(async () => {
  await changes.stop();
  rmSync(root, { recursive: true, force: true });
});

it('is the first of the files that change together; built, installed or kept files do not count', async () => {
  write('node_modules/zod/index.js', 'cdk.out/a.ts', '.steadfast/b.ts', 'dist/c.js', 'notes.md');
  write('workflows/a/workflow.ts', 'workflows/a/agents/new.ts');
  expect((await changes.next()).toSorted()).toEqual(['workflows/a/agents/new.ts', 'workflows/a/workflow.ts']);
});

it('is not a change of a test, because nothing deployed is different', async () => {
  write('test/a.ts', 'workflows/a/workflow.test.ts', 'lib/__tests__/b.ts', 'lib/stack.spec.ts');
  write('lib/stack.ts');
  expect(await changes.next()).toEqual(['lib/stack.ts']);
});

it('is seen as well where an editor puts a new file in the place of the old one, again and again', async () => {
  for (const _ of [1, 2, 3]) {
    write('lib/.stack.ts.swp');
    renameSync(join(root, 'lib/.stack.ts.swp'), join(root, 'lib/stack.ts'));
    expect(await changes.next()).toEqual(['lib/stack.ts']);
  }
});

it('that came before the question is reported when it is asked', async () => {
  write('bin/app.ts');
  expect(await changes.next()).toEqual(['bin/app.ts']);
});

it('is not a change of files that do not count, unless one beside them does', async () => {
  const counts = (file: string): boolean => file.startsWith(join(root, 'lib'));
  write('notes/try.ts');
  const next = changes.next(counts);
  write('notes/try.ts', 'lib/stack.ts');
  expect(await next).toEqual(['lib/stack.ts']);
});
