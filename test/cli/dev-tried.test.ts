/**
 * `steadfast dev`: the folders whose outside world it starts, and its messages about its trial execution and
 * changed files.
 */

import { join } from 'node:path';
import { changedText, tryOne } from '../../cli/dev/banner.ts';
import { foldersIn, projectFolders, type WorkflowFolder } from '../../cli/dev/workflow-folders.ts';
import { ioOf } from '../../cli/io.ts';
import { fakeApi } from './fake-api.ts';
import { eachFolder, writeFiles } from '../fresh-folder.ts';

let root: string;
let said: string;
const io = ioOf({ out: (text) => (said += text), err: () => {}, env: {}, isTTY: false });

eachFolder('tried', (path) => (root = path));
beforeEach(() => {
  said = '';
});

const write = (files: Readonly<Record<string, string>>): void => writeFiles(root, files);

const foldersAt = (): WorkflowFolder[] => projectFolders({ root, context: {} });

test('only folders with a workflow in the stack have their services started', () => {
  write({
    'workflows/orders/workflow.ts': '',
    'workflows/other-name/workflow.ts': '',
    'workflows/other-name/agents/charge.ts': '',
    'workflows/elsewhere/workflow.ts': '',
    'workflows/elsewhere/agents/unused.ts': '',
    'cdk.out/bundles/Shop-1/scheduler/forms.json': '{"orders":{},"payments":{}}',
    'cdk.out/bundles/Shop-1/agents/charge/index.mjs': '',
  });
  const folders = foldersIn(join(root, 'cdk.out'), foldersAt());
  expect(folders.map(({ name }) => name)).toEqual(['orders', 'other-name']);
});

test.each([
  ['succeeded', 0],
  ['compensated', 4],
])('one that was tried and ends %s has the exit code %d', async (status, code) => {
  write({ 'examples/a/workflow.ts': '', 'examples/a/example-input.json': '{}' });
  const api = await fakeApi();
  const executionId = 'e-1';
  const view = { executionId, workflow: 'a', status, startedAt: 1, endedAt: 2, steps: [] };
  const next = { who: 'none', what: 'nothing' };
  const why = { executionId, status, past: [], steps: [], next, warnings: [], commands: [] };
  const items = [{ workflow: 'a', plan: 'p', withinMs: 1, steps: [] }];
  for (const body of [{ items }, { executionId, status: 'running' }, view, why])
    api.answers.push({ status: 200, body });
  const exitCode = await tryOne(api.url, foldersAt(), io);
  await api.stop();
  expect([exitCode, said.includes(`It ended: ${status}.`)]).toEqual([code, true]);
});

test('after a change of dev.ts a message says that it is not run again', () => {
  write({ 'examples/a/workflow.ts': '', 'examples/a/dev.ts': '' });
  const devFiles = new Set([join(root, 'examples/a/dev.ts')]);
  expect(changedText(['lib/a.ts'], devFiles, root)).toBe('\nlib/a.ts has changed.\n');
  expect(changedText(['lib/a.ts', 'examples/a/dev.ts'], devFiles, root)).toBe(
    '\nlib/a.ts has changed.\nWhat examples/a/dev.ts started keeps running unchanged: press Ctrl-C and start again to apply the change.\n',
  );
});
