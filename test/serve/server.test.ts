/** A server over a file: executions are started over HTTP, and continue after a stop. */

import { EventEmitter, once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerEvent } from '../../serve/announcer.ts';
import { fetchOf } from '../../serve/http.ts';
import type { Api } from '../../serve/server-options.ts';
import { Tokens } from '../../serve/tokens.ts';
import { clientOf, servedWith, testServer, type TestServer } from './served.ts';

let world: TestServer;
beforeEach(() => {
  world = testServer();
});
afterEach(() => world.end());

const echo = servedWith(async (input) => input);

it('performs a workflow that is started over HTTP, and announces its end', async () => {
  const events: ServerEvent[] = [];
  const server = await world.start({ served: echo, listeners: [(event) => void events.push(event)] });
  const client = clientOf(server);
  const { executionId } = await client.start('greeting', { input: { text: 'Ada' } });
  const { status, output } = await client.waitForEnd(executionId);
  expect({ status, output }).toEqual({ status: 'succeeded', output: { text: 'Hello, Ada' } });
  expect(events).toMatchObject([{ detailType: 'Steadfast Execution Ended', detail: { executionId } }]);
  expect(await client.list({ workflow: 'greeting' })).toMatchObject({ items: [{ executionId }] });
  expect(await client.health()).toMatchObject({ status: 'healthy', workflows: 1 });
});

it('announces again what a listener has refused', async () => {
  const heard = new EventEmitter();
  let calls = 0;
  const listener = (): void => {
    calls += 1;
    if (calls === 1) throw new Error('not now');
    heard.emit('heard');
  };
  const server = await world.start({ served: echo, listeners: [listener] });
  const again = once(heard, 'heard');
  const client = clientOf(server);
  const { executionId } = await client.start('greeting', { input: { text: 'Ada' } });
  await again;
  expect((await client.waitForEnd(executionId)).status).toBe('succeeded');
});

it('goes on with what an ended process has left, without waiting for its lease (S4, L2)', async () => {
  const began = new EventEmitter();
  const lost = servedWith(() => {
    began.emit('began');
    return new Promise(() => undefined);
  });
  const first = await world.start({ served: lost, stopWithinMs: 0 });
  const client = clientOf(first);
  const atWork = once(began, 'began');
  const { executionId } = await client.start('greeting', { input: { text: 'Ada' } });
  await atWork;
  await first.stop();
  const second = await world.start({ served: echo });
  expect(await second.resumed).toEqual({ executions: 1, attempts: 1, missing: new Map() });
  const view = await clientOf(second).waitForEnd(executionId);
  expect(view.status).toBe('succeeded');
  expect(view.steps.find(({ name }) => name === 'post')).toMatchObject({ status: 'done', attempt: 2 });
});

it('finds at its start which agents are missing, and for whom (N9)', async () => {
  const began = new EventEmitter();
  const lost = servedWith(() => {
    began.emit('began');
    return new Promise(() => undefined);
  });
  const first = await world.start({ served: lost, stopWithinMs: 0 });
  const atWork = once(began, 'began');
  const { executionId } = await clientOf(first).start('greeting', { input: { text: 'Ada' } });
  await atWork;
  await first.stop();
  const agents = new Map([...echo.agents].filter(([name]) => name !== 'post'));
  const second = await world.start({ served: { ...echo, agents } });
  const { missing } = await second.resumed;
  expect([...missing]).toEqual([['post', new Set([executionId])]]);
});

it('finishes what is under way when it is stopped', async () => {
  const began = new EventEmitter();
  let finish = (): void => undefined;
  const slow = servedWith(async (input) => {
    began.emit('began');
    await new Promise<void>((done) => {
      finish = done;
    });
    return input;
  });
  const first = await world.start({ served: slow });
  const atWork = once(began, 'began');
  const { executionId } = await clientOf(first).start('greeting', { input: { text: 'Ada' } });
  await atWork;
  const stopped = first.stop();
  finish();
  await stopped;
  const second = await world.start({ served: servedWith(() => Promise.reject(new Error('a second time'))) });
  expect((await clientOf(second).waitForEnd(executionId)).status).toBe('succeeded');
});

it('refuses a file that another server has open', async () => {
  await world.start({ served: echo });
  await expect(world.start({ served: echo })).rejects.toThrow(/open/);
});

it('refuses another program’s file, and leaves it unchanged', async () => {
  writeFileSync(world.file, 'a letter');
  await expect(world.start({ served: echo })).rejects.toThrow(world.file);
  expect(readFileSync(world.file, 'utf8')).toBe('a letter');
});

it('says that it is down while the disk is full, and healthy with the next write that is kept', async () => {
  let isFull = false;
  // SQLite's error.
  const onCommit = (): void => {
    if (isFull) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  };
  const server = await world.start({ served: echo, onCommit });
  const start = () =>
    server.answer({
      method: 'POST',
      path: '/workflows/greeting/executions',
      body: { input: { text: 'Ada' } },
    });
  isFull = true;
  expect(await start()).toMatchObject({ status: 503, body: { error: { code: 'not-kept', message: FULL } } });
  expect(await start()).toMatchObject({ status: 503 });
  const failure = { code: 'DiskFull', message: 'the disk is full' };
  const since = expect.any(Number);
  expect(await server.answer({ path: '/health' })).toMatchObject({
    status: 503,
    body: { status: 'down', findings: [{ kind: 'storage', since, failure }] },
  });
  expect((await server.answer({ path: '/overview' })).body).toMatchObject({ health: { status: 'down' } });
  isFull = false;
  const { executionId } = (await start()).body as { readonly executionId: string };
  expect(await server.answer({ path: '/health' })).toMatchObject({
    status: 200,
    body: { status: 'healthy', findings: [] },
  });
  expect((await clientOf(server).waitForEnd(executionId)).status).toBe('succeeded');
});

const FULL = 'the disk is full: nothing of this was written. Make room and ask again';

describe('who may call', () => {
  const SECRET = 'an-unguessable-token';
  const asked = async (url: string, init?: RequestInit): Promise<{ status: number; text: string }> => {
    const answer = await fetch(url, init);
    return { status: answer.status, text: await answer.text() };
  };

  it('lets a token in, whose name is the caller in history', async () => {
    const tokens = Tokens.read(`# callers\nshop ${SECRET}\n`);
    const { url } = await world.start({ served: echo, tokens });
    expect(await asked(`${url}/live`)).toMatchObject({ status: 200, text: 'ok' });
    expect(await asked(`${url}/health`)).toMatchObject({ status: 401 });
    const wrong = { authorization: `Bearer ${SECRET}x` };
    expect(await asked(`${url}/health`, { headers: wrong })).toMatchObject({ status: 401 });
    const headers = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ input: { text: 'Ada' } });
    const started = await asked(`${url}/workflows/greeting/executions`, { method: 'POST', headers, body });
    expect(started.status).toBe(202);
    const { text } = await asked(`${url}/executions`, { headers });
    expect(JSON.parse(text)).toMatchObject({ items: [{ startedBy: { kind: 'local', name: 'shop' } }] });
  });

  it('lets a token do what its line says, and says what a call needs', async () => {
    const reader = 'a-token-that-only-reads';
    const tokens = Tokens.read(`shop ${SECRET}\nboard ${reader} read,callback`);
    const { url } = await world.start({ served: echo, tokens });
    const as = (token: string, method = 'GET'): RequestInit => ({
      method,
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await asked(`${url}/executions?limit=1`, as(reader))).toMatchObject({ status: 200 });
    const post = as(reader, 'POST');
    expect(await asked(`${url}/workflows/greeting/executions`, post)).toMatchObject({
      status: 403,
      text: expect.stringContaining(
        'needs a token of this server for start; that of board is for read, callback',
      ),
    });
    for (const path of [
      'executions/a/erase',
      'executions/a/cancel',
      'executions/a/%65rase',
      'executions/a/erase/',
    ])
      expect(await asked(`${url}/${path}`, post)).toMatchObject({ status: 403 });
    expect(await asked(`${url}/callbacks/a/complete`, post)).not.toMatchObject({ status: 403 });
    expect(await asked(`${url}/executions/a/cancel`, as(SECRET, 'POST'))).not.toMatchObject({ status: 403 });
    expect(await asked(`${url}/console/`)).toMatchObject({
      status: 401,
      text: expect.stringContaining('npx steadfast console --url'),
    });
  });

  it('a line with an unknown scope is refused', () => {
    expect(() => Tokens.read(`shop ${SECRET} read,write`)).toThrow(
      'line 1 of the tokens is not valid: behind a token come the calls that it is for, with commas between them, such as start,read; allowed: read, start, run, operate, erase, callback',
    );
  });

  it('lets the console in as the caller that it names', async () => {
    let api: Api | undefined;
    const beside = (given: Api): Record<string, never> => {
      api = given;
      return {};
    };
    const { url } = await world.start({ served: echo, beside });
    const ask = fetchOf(api as Api);
    const body = JSON.stringify({ input: { text: 'Ada' } });
    const as = (name: string): RequestInit => ({ method: 'POST', headers: { 'x-local-user': name }, body });
    expect((await ask(`${url}/workflows/greeting/executions`, as('ann'))).status).toBe(202);
    expect((await ask(`${url}/workflows/greeting/executions`, as('ann lee'))).status).toBe(400);
    const { text } = await asked(`${url}/executions`);
    expect(JSON.parse(text)).toMatchObject({ items: [{ startedBy: { kind: 'local', name: 'ann' } }] });
  });

  it('listens elsewhere only with tokens', async () => {
    await expect(world.start({ served: echo, host: '0.0.0.0' })).rejects.toThrow('needs tokens');
  });

  it('refuses a page of elsewhere, and a body that is too long, before it is read', async () => {
    const { url } = await world.start({ served: echo });
    const start = `${url}/workflows/greeting/executions`;
    const of = (origin: string): RequestInit => ({ method: 'POST', headers: { origin }, body: '{}' });
    expect(await asked(start, of('https://elsewhere.example'))).toMatchObject({ status: 403 });
    const long = 'x'.repeat(4_300_000);
    expect(await asked(start, { method: 'POST', body: long })).toMatchObject({ status: 413 });
  });

  it.each([
    ['a token that is guessed', 'shop 1234'],
    ['a third word', `shop ${SECRET} more`],
    ['a token that no header can have', `shop ${'ä'.repeat(20)}`],
  ])('refuses %s, without saying it', (_, line) => {
    expect(() => Tokens.read(line)).toThrow('line 1 of the tokens is not valid');
  });

  it('refuses one token of two names: history would name one of them', () => {
    expect(() => Tokens.read(`shop ${SECRET}\nbob ${SECRET}`)).toThrow(
      'line 2 of the tokens has the token of',
    );
  });
});

it('answers in this process what it answers over HTTP', async () => {
  const server = await world.start({ served: echo });
  const path = '/workflows/greeting/executions';
  const began = await server.answer({ method: 'POST', path, body: { input: { text: 'Ada' } } });
  expect(began).toMatchObject({ status: 202, body: { status: 'running' } });
  const { executionId } = began.body as { readonly executionId: string };
  await clientOf(server).waitForEnd(executionId);
  const here = await server.answer({ path: `/executions/${executionId}` });
  expect(here).toMatchObject({ status: 200, body: { status: 'succeeded', output: { text: 'Hello, Ada' } } });
  const refused = await server.answer({ method: 'POST', path, body: { input: 1 } });
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'bad-input' } } });
  expect((await server.answer({ path: '/openapi.json' })).body).toMatchObject({
    openapi: expect.any(String),
  });
});
