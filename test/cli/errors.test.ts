import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Command } from 'commander';
import { ApiError, createClient } from '../../lib/api/client.ts';
import { invocation, RUNNING } from '../../cli/io.ts';
import { eachFakeApi, steadfast } from './fake-api.ts';

const api = eachFakeApi();

/** A port that was free a moment ago. */
async function deadUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return `http://127.0.0.1:${port}`;
}

test('when nothing answers the message says how to start something; exit code 3', async () => {
  const url = await deadUrl();
  const { exitCode, err } = await steadfast(['list', '--url', url]);
  expect(exitCode).toBe(3);
  expect(err).toBe(
    `no Steadfast API at ${url} (the connection was refused); start one with: npx steadfast dev\n`,
  );
  const json = await steadfast(['list', '--url', url, '--json']);
  expect(JSON.parse(json.err)).toMatchObject({ error: { code: 'no-answer' } });
});

test('the URL comes from --url, else from STEADFAST_URL', async () => {
  api.answers.push({ status: 200, body: { items: [] } });
  expect((await steadfast(['list'], { STEADFAST_URL: `${api.url}/` })).exitCode).toBe(0);
  const bad = await steadfast(['list', '--url', 'localhost:4510'], { STEADFAST_URL: api.url });
  expect([bad.exitCode, bad.err]).toEqual([
    2,
    "'localhost:4510' is not the URL of an API, such as http://127.0.0.1:4510\n",
  ]);
});

test('an empty STEADFAST_URL counts as none', async () => {
  const help = (await steadfast(['--help'], { STEADFAST_URL: '' })).out;
  expect(help).toMatch(/\(default:\s+"http:\/\/127\.0\.0\.1:4510"\)/);
});

describe('a command to type next', () => {
  const asked = (url: string): Command => new Command().option('--url <url>', '', url);
  const at = (url: string): string => invocation(asked(url), 'show e1');

  test('names the API only where it is not the default one, quoted where the shell needs it', () => {
    expect(at('http://127.0.0.1:4510')).toBe('npx steadfast show e1');
    expect(at('http://127.0.0.1:4600')).toBe('npx steadfast show e1 --url http://127.0.0.1:4600');
    const found = asked('').setOptionValueWithSource('url', 'http://127.0.0.1:4600', RUNNING);
    expect(invocation(found, 'show e1')).toBe('npx steadfast show e1');
    expect(at("http://a/?b&c'd")).toBe("npx steadfast show e1 --url 'http://a/?b&c'\\''d'");
  });
});

test.each([
  [['start'], "error: missing required argument 'workflow'"],
  [['show'], "error: missing required argument 'id'"],
  [['shw', 'e1'], "error: unknown command 'shw'\n(Did you mean show?)"],
  [['list', '--limit', '0'], "error: option '--limit <count>' argument '0' is invalid. give 1 to 1000."],
  [
    ['list', '--status', 'done'],
    "error: option '--status <status>' argument 'done' is invalid. Allowed choices are open, bad, running, waiting, paused, compensating, following-up, succeeded, compensated, failed, canceled.",
  ],
  [['dev', '--port', '99999'], "error: option '--port <port>' argument '99999' is invalid. give 0 to 65535."],
  [['list', '--colour'], "error: unknown option '--colour'"],
])('wrong usage: %j is exit code 2 and points to the help', async (args, message) => {
  const { exitCode, err, out } = await steadfast(args);
  expect([exitCode, out]).toEqual([2, '']);
  expect(err).toBe(`${message}\n(add --help for the options and for examples)\n`);
});

test('help, and help of a command, print the same as --help', async () => {
  for (const command of [[], ['list'], ['serve']]) {
    const { exitCode, out } = await steadfast(['help', ...command]);
    expect([exitCode, out]).toEqual([0, (await steadfast([...command, '--help'])).out]);
  }
});

test('no command at all prints the help, as an error', async () => {
  const { exitCode, err } = await steadfast([]);
  expect(exitCode).toBe(2);
  expect(err).toMatch(/^Usage: steadfast /);
});

test.each([
  [],
  ['dev'],
  ['start'],
  ['show'],
  ['why'],
  ['list'],
  ['cancel'],
  ['incidents'],
  ['resolve'],
  ['workflows'],
  ['health'],
])('steadfast %s --help has examples and the shared options', async (...command) => {
  const { exitCode, out } = await steadfast([...command, '--help']);
  expect(exitCode).toBe(0);
  expect(out).toContain('Examples:\n  $ npx steadfast');
  expect(out).toContain('--url <url>');
});

test('--version prints the version', async () => {
  const { exitCode, out } = await steadfast(['--version']);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

describe('the client', () => {
  const failure = async (status: number, body: unknown): Promise<ApiError> => {
    api.answers.push({ status, body });
    const error: unknown = await createClient({ url: api.url })
      .get('e1')
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    return error as ApiError;
  };

  test('an error of the API keeps its code, message, status and details', async () => {
    const error = { code: 'key-reused', message: 'another body', details: { executionId: 'e1' } };
    expect(await failure(409, { error })).toMatchObject({ ...error, status: 409 });
  });

  test('what is not an answer of the contract is named for what it is', async () => {
    expect((await failure(403, { message: 'Forbidden' })).code).toBe('forbidden');
    expect(await failure(503, { message: 'the local cloud is starting' })).toMatchObject({
      code: 'unavailable',
      message: `${api.url} cannot answer now (503: the local cloud is starting); try again in a moment`,
    });
    expect((await failure(200, '<html>')).code).toBe('not-steadfast');
    expect((await failure(200, { hello: 'world' })).code).toBe('not-steadfast');
    expect((await failure(404, [])).code).toBe('not-steadfast');
  });

  test('ids and names are sent as one part of the path', async () => {
    api.answers.push({ status: 202, body: { executionId: 'e1', status: 'compensating' } });
    await createClient({ url: `${api.url}/stage/` }).cancel('../health', { commandId: 'c1' });
    expect(api.asked[0]).toMatchObject({
      path: '/stage/executions/..%2Fhealth/cancel',
      body: { commandId: 'c1' },
    });
  });
});

test.each([
  [
    ['start', 'x'],
    'unknown-workflow',
    "there is no workflow 'x'",
    'See the workflows: npx steadfast workflows',
  ],
  [
    ['pause-agent', 'x', '--reason', 'y'],
    'unknown-agent',
    "there is no agent 'x'",
    'See the agents: npx steadfast agents',
  ],
  [
    ['cancel', 'e1'],
    'not-cancelable',
    'execution e1 cannot be canceled: it has ended',
    'See it: npx steadfast show e1',
  ],
  [
    ['resume', 'e1'],
    'not-resumable',
    'execution e1.a.0 cannot be resumed: it is running',
    'See it: npx steadfast show e1.a.0',
  ],
  [
    ['resolve', 'e1', '9', '--choice', 'retry'],
    'unknown-incident',
    'execution e1 has no incident 9',
    'See it: npx steadfast show e1',
  ],
  [
    ['bulk', 'show', 'x'],
    'unknown-bulk',
    "there is no bulk action 'x'",
    'See the earlier bulk actions: npx steadfast list --workflow steadfast-bulk',
  ],
])('a refusal names the next command: %j', async (args, code, message, next) => {
  api.answers.push({ status: 409, body: { error: { code, message } } });
  const { exitCode, err } = await steadfast([...args, '--url', api.url]);
  expect([exitCode, err]).toEqual([1, `${message}\n${next} --url ${api.url}\n`]);
});

test('help names the arguments of a command, not the queries of the API', async () => {
  const refused = (code: string, message: string): void => {
    api.answers.push({ status: 400, body: { error: { code, message } } });
  };
  refused('bad-request', 'since must be before until');
  expect((await steadfast(['list', '--url', api.url])).err).toBe(
    'since must be before until\nSee its options: npx steadfast list --help\n',
  );
  refused('unknown-step', "execution e1 has no step 'x'; without ?step= it shows all of them");
  expect((await steadfast(['show', 'e1', '--step', 'x', '--url', api.url])).err).toBe(
    `execution e1 has no step 'x'\nSee it: npx steadfast show e1 --url ${api.url}\n`,
  );
});
