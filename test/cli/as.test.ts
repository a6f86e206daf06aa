/**
 * `--as` only names the person in a local deployment's records. Also: what `show` prints about the people who
 * acted.
 */

import type { ExecutionView } from '../../lib/api/answers.ts';
import { eachFakeApi, steadfast } from './fake-api.ts';

const api = eachFakeApi();

test('says as whom, on this machine', async () => {
  api.answers.push({ status: 200, body: { executionId: 'e1', status: 'compensating' } });
  const { exitCode } = await steadfast(['cancel', 'e1', '--as', 'ann', '--url', api.url]);
  expect(exitCode).toBe(0);
  expect(api.asked).toMatchObject([{ path: '/executions/e1/cancel', as: 'ann' }]);
});

test('is refused for an API elsewhere, before anything is sent', async () => {
  const { exitCode, err } = await steadfast(['cancel', 'e1', '--as', 'ann', '--url', 'https://api.example']);
  expect([exitCode, err]).toMatchObject([
    2,
    expect.stringContaining('--as works only with an API on this machine'),
  ]);
});

test.each(['', 'ann b', 'ann/b', 'x'.repeat(65)])('takes no %j', async (name) => {
  const { exitCode, err } = await steadfast(['cancel', 'e1', '--as', name, '--url', api.url]);
  expect([exitCode, err]).toMatchObject([2, expect.stringContaining('--as takes a name')]);
  expect(api.asked).toEqual([]);
});

test('an answer that must be another person’s names the next step', async () => {
  const error = { code: 'not-another', message: 'takes only the answer of another person' };
  api.answers.push({ status: 403, body: { error } });
  const { exitCode, err } = await steadfast(['complete', 'e1.ok.k', '--url', api.url]);
  expect([exitCode, err]).toEqual([
    1,
    `${error.message}\nOn this machine, --as NAME acts as another person\n`,
  ]);
});

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const ann = { kind: 'local', name: 'ann' } as const;
const bob = { kind: 'jwt', name: 'https://login.example bob' } as const;
const acted: ExecutionView = {
  executionId: 'e1',
  workflow: 'flow',
  status: 'failed',
  startedAt: AT,
  startedBy: { kind: 'trigger', name: 'nightly' },
  endedAt: AT + 60_000,
  cause: { kind: 'cancel', at: AT, failure: { code: 'canceled', message: 'enough' }, by: ann },
  plan: 'p1',
  deadlineAt: AT + 900_000,
  input: {},
  retries: [{ at: AT + 1_000, reason: 'again', by: bob }],
  people: { 'local:ann': 'started' },
  incidents: [
    {
      number: 1,
      kind: 'recovery',
      step: 'a',
      stepVersion: 1,
      failure: { code: 'x', message: 'y' },
      openedAt: AT,
      deadlineAt: AT,
      otherwise: 'keep',
      reminders: 0,
      closedAt: AT,
      choice: 'retry',
      closedBy: 'answer',
      caller: { kind: 'local', name: 'local' },
    },
  ],
  steps: [{ name: 'ok', kind: 'approval', after: [], status: 'done', by: bob, attempts: [] }],
};

test('show prints who has acted', async () => {
  api.answers.push({ status: 200, body: acted });
  const { out } = await steadfast(['show', 'e1', '--url', api.url]);
  for (const line of [
    'started      2026-01-02 03:04:05Z by trigger:nightly',
    'cause        cancel: enough by local:ann',
    'tried again  2026-01-02 03:04:06Z by jwt:https://login.example bob: again',
    'incident 1   local chose retry',
    'answered     ok by jwt:https://login.example bob',
    'four eyes    not by local:ann (started)',
  ])
    expect(out.split('\n')).toContain(line);
});

test('show prints who holds an execution', async () => {
  const pauses = [{ number: 1, at: AT, reason: 'lunch', withinMs: 1, by: ann }];
  const { endedAt: _ended, cause: _cause, ...rest } = acted;
  const failed = { name: 'b', kind: 'agent', agent: 'x', after: [], status: 'retrying', attempts: [] };
  const body = { ...rest, status: 'paused', deadlineAt: AT + 7_200_000, pauses, steps: [failed] };
  api.answers.push({ status: 200, body });
  const { out } = await steadfast(['show', 'e1', '--url', api.url]);
  expect(out).toMatch(/paused +for .* by local:ann: lunch/);
  expect(out).toMatch(/deadline +2 h after the pause ends\n/);
  expect(out).toMatch(/b +retrying +x +goes on after the pause/);
});
