/** `steadfast erase`: its confirmation and its output. */

import { eachFakeApi, type Ran, steadfast } from './fake-api.ts';

const api = eachFakeApi();

const ID = '0f343b0931126a20f133d67c2b018a3b';
const there = { executionId: ID, workflow: 'order', status: 'succeeded', steps: [] };
const cli = (...args: string[]): Promise<Ran> => steadfast(['erase', ID, ...args, '--url', api.url]);

test('it calls again until nothing is left', async () => {
  api.answers.push(
    { status: 200, body: there },
    { status: 200, body: { executionId: ID, status: 'erasing' } },
    { status: 200, body: { executionId: ID, status: 'erased' } },
  );
  const { out, exitCode } = await cli('--yes');
  expect(exitCode).toBe(0);
  expect(out).toBe(`${ID} is erased. A backup of the table still has it until the backup expires.\n`);
  expect(api.asked.map(({ method, path }) => `${method} ${path}`)).toEqual([
    `GET /executions/${ID}`,
    `POST /executions/${ID}/erase`,
    `POST /executions/${ID}/erase`,
  ]);
});

const unknown = { status: 404, body: { error: { code: 'unknown-execution', message: 'there is none' } } };

test('what an interrupted call has left is erased, though the execution is not shown any more', async () => {
  const list = { status: 200, body: { items: [] } };
  api.answers.push(unknown, list, list, list, {
    status: 200,
    body: { executionId: ID, status: 'erased' },
  });
  const { out, exitCode } = await cli('--yes');
  expect([exitCode, out]).toEqual([0, expect.stringContaining(`${ID} is erased.`)]);
});

test('says that an unknown execution does not exist', async () => {
  const list = { status: 200, body: { items: [] } };
  api.answers.push(unknown, list, list, list, unknown, list, list, list);
  const { err, exitCode } = await cli('--yes');
  expect(exitCode).not.toBe(0);
  expect(err).toContain('there is none');
});

test('where another caller has taken the last of it, it is erased', async () => {
  api.answers.push(
    { status: 200, body: there },
    { status: 200, body: { executionId: ID, status: 'erasing' } },
    unknown,
  );
  const { out, exitCode } = await cli('--yes');
  expect([exitCode, out]).toEqual([0, expect.stringContaining(`${ID} is erased.`)]);
});

test('without a terminal and without --yes nothing is erased', async () => {
  api.answers.push({ status: 200, body: there });
  const { err, exitCode } = await cli();
  expect(exitCode).not.toBe(0);
  expect(err).toContain('nothing was erased: this is not a terminal');
  expect(api.asked).toHaveLength(1);
});

test('a refusal is said with its reason', async () => {
  const message = `${ID} is running: wait for its end, or cancel it`;
  api.answers.push(
    { status: 200, body: { ...there, status: 'running' } },
    { status: 409, body: { error: { code: 'not-erasable', message } } },
  );
  const { err, exitCode } = await cli('--yes');
  expect(exitCode).not.toBe(0);
  expect(err).toContain(message);
});
