/** `bulk`: its API calls, its confirmation, and its output. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../cli/main.ts';
import { eachFakeApi, type Ran, steadfast } from './fake-api.ts';

const api = eachFakeApi();

const view = (status: string, more: object = {}) => ({
  bulkId: 'b1',
  action: 'retry',
  status,
  count: 12,
  leftOut: 2,
  createdAt: 1_795_000_000_000,
  ...more,
});
const example = {
  executionId: 'e1',
  workflow: 'pay',
  plan: 'p',
  status: 'failed',
  startedAt: 1_795_000_000_000,
  code: 'no\u001b',
};
const found = view('collected', { examples: [example] });
const acting = view('acting', {
  executionId: 'x1',
  executionStatus: 'running',
  progress: { acted: 0, applied: 0, refused: [] },
});
const done = view('done', {
  executionId: 'x1',
  progress: {
    acted: 12,
    applied: 11,
    refused: [
      { code: 'not-retryable', count: 1, examples: [{ executionId: 'e2', message: 'it is running' }] },
    ],
  },
});
const answers = (...bodies: object[]): void => {
  api.answers.push(...bodies.map((body) => ({ status: 200, body })));
};
const cli = (...args: string[]): Promise<Ran> => steadfast([...args, '--url', api.url]);
const paths = (): string[] => api.asked.map(({ method, path }) => `${method} ${path}`);

test('--dry-run collects, says how many and which, confirms nothing and says how to', async () => {
  answers(view('collecting', { examples: [] }), found);
  const { out, exitCode } = await cli(
    'bulk',
    'retry',
    '--status',
    'failed',
    '--code',
    'no',
    '--dry-run',
    '--reason',
    'r',
  );
  expect(exitCode).toBe(0);
  expect(out).toContain('To retry: 12 executions\nLeft out: 2;');
  expect(out).toContain('e1         pay       failed  2026-11-18 11:06:40Z  no\\u001b\nand 11 more\n');
  expect(out).toContain(
    `Nothing was done. Confirm within a day: npx steadfast bulk confirm b1 --url ${api.url}`,
  );
  expect(paths()).toEqual(['POST /bulk', 'POST /bulk/b1/collect']);
  expect(api.asked[0]?.body).toEqual({
    action: 'retry',
    reason: 'r',
    filter: { status: 'failed', code: 'no' },
  });
});

test('where nobody can be asked it refuses, and says how to confirm', async () => {
  answers(found);
  const { err, exitCode } = await cli('bulk', 'retry', '--status', 'failed');
  expect(exitCode).toBe(2);
  expect(err).toContain(
    'this is not a terminal, so you cannot be asked. Confirm with: npx steadfast bulk confirm b1, or add --yes',
  );
  expect(paths()).toEqual(['POST /bulk']);
});

test.each([
  ['y', ['POST /bulk', 'POST /bulk/b1/confirm'], 'See its progress: npx steadfast bulk show b1 --watch'],
  ['n', ['POST /bulk'], 'Nothing was done.'],
])('a person is asked, and %j is taken for what it says', async (typed, asked, said) => {
  answers(found, acting);
  const out: string[] = [];
  const questions: string[] = [];
  const io = {
    out: (text: string) => out.push(text),
    err: () => undefined,
    env: {},
    isTTY: false,
    ask: async (question: string) => {
      questions.push(question);
      return typed;
    },
  };
  expect(await run(['bulk', 'retry', '--status', 'failed', '--url', api.url], io)).toBe(0);
  expect(questions).toEqual(['retry these 12 executions? [y/N] ']);
  expect(out.join('')).toContain(said);
  expect(paths()).toEqual(asked);
});

test('--yes --watch tells how far it is until it is done, and what has refused why', async () => {
  answers(found, done);
  const { out, exitCode } = await cli('bulk', 'retry', '--ids', 'e1,e2', '--yes', '--watch');
  expect(exitCode).toBe(0);
  expect(api.asked[0]?.body).toEqual({ action: 'retry', ids: ['e1', 'e2'] });
  expect(out).toBe(
    'retry: done, 12 of 12 processed, 11 applied\nIt does not apply, or no longer applies, to:\n  1 × not-retryable\n    e2: it is running\n',
  );
});

test('one that was stopped is bad news, and --json is a line for each change', async () => {
  answers(view('stopped', { executionId: 'x1', progress: { acted: 3, applied: 3, refused: [] } }));
  const { out, exitCode } = await cli('bulk', 'show', 'b1', '--watch', '--json');
  expect(exitCode).toBe(4);
  expect(JSON.parse(out)).toMatchObject({ bulkId: 'b1', status: 'stopped' });
});

test('one that approves is confirmed by the route for answers; ids are read from a file', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'steadfast-cli-bulk-')), 'ids.txt');
  writeFileSync(file, 'e1\ne2, e3\n');
  answers({ ...found, action: 'approve' }, { ...acting, action: 'approve' });
  const { exitCode } = await cli('bulk', 'approve', '--ids', `@${file}`, '--step', 'release', '--yes');
  expect(exitCode).toBe(0);
  expect(api.asked[0]?.body).toEqual({ action: 'approve', step: 'release', ids: ['e1', 'e2', 'e3'] });
  expect(paths()).toEqual(['POST /bulk', 'POST /bulk/b1/answer']);
});

test.each([
  [['bulk', 'confirm'], 'the id of the bulk action is missing: npx steadfast bulk confirm <id>'],
  [['bulk', 'retry', 'e1'], 'for a single execution: npx steadfast retry e1'],
  [['bulk', 'mend'], 'Allowed choices are retry'],
])('%j is refused with the next command', async (args, said) => {
  const { err, exitCode } = await cli(...args);
  expect([exitCode, err]).toEqual([2, expect.stringContaining(said)]);
  expect(api.asked).toEqual([]);
});
