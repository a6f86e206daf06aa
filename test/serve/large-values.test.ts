/** Large values on a server: they are stored beside the file, equally durable. */

import {
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { folderValues } from '../../serve/folder-values.ts';
import { saidValues } from '../../serve/said-values.ts';
import { clientOf, servedWith, testServer, type TestServer } from './served.ts';

let world: TestServer;
beforeEach(() => {
  world = testServer();
});
afterEach(() => world.end());

/** A claim is written within this time of the read on which it is based (`CLAIM_READ_HOLDS_MS`). */
const WRITTEN_MS = 3_100;
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

it('an input of 3 MB runs through the steps, and is read back after a restart', async () => {
  const text = 'ä'.repeat(1_500_000);
  const served = servedWith(async (_input) => ({ text: _input.text.slice(0, 100_000) }));
  const first = await world.start({ served });
  const { executionId } = await clientOf(first).start('greeting', { input: { text } });
  const ended = await clientOf(first).get(executionId, { wait: '20s' });
  expect(ended.status).toBe('succeeded');
  await first.stop();
  expect(filesIn(`${world.file}-values`).length).toBeGreaterThanOrEqual(3);
  const second = await world.start({ served });
  const { input } = await clientOf(second).get(executionId);
  expect(input).toEqual({ text });
  const { steps } = await clientOf(second).get(executionId, { step: 'post' });
  expect(steps[0]?.output).toEqual({ text: `Hello, ${text}`.slice(0, 100_000) });
});

it('an execution that is erased leaves no record and no file', async () => {
  const served = servedWith(async (_input) => ({ text: _input.text.slice(0, 100_000) }));
  const server = await world.start({ served });
  const client = clientOf(server);
  const { executionId } = await client.start('greeting', { input: { text: 'ä'.repeat(50_000) } });
  const other = await client.start('greeting', { input: { text: 'ä'.repeat(50_000) } });
  for (const id of [executionId, other.executionId]) await client.waitForEnd(id);
  const files = filesIn(`${world.file}-values`).length;
  // Too early: a claim of one of its steps may still be written.
  await expect(client.erase(executionId)).rejects.toMatchObject({ code: 'not-erasable' });
  await new Promise((next) => setTimeout(next, WRITTEN_MS));
  expect(await client.erase(executionId)).toEqual({ executionId, status: 'erased' });
  expect(filesIn(`${world.file}-values`).length).toBe(files / 2);
  await expect(client.get(executionId)).rejects.toMatchObject({ code: 'unknown-execution' });
  expect((await client.list()).items.map((one) => one.executionId)).toEqual([other.executionId]);
  expect(await client.get(other.executionId)).toMatchObject({ status: 'succeeded' });
});

it('what is erased is not in the file either, once its process has ended', async () => {
  const SECRET = 'a name that nobody else has';
  const isIn = (file: string): boolean => existsSync(file) && readFileSync(file).includes(SECRET);
  const server = await world.start({ served: servedWith(async (_input) => ({ text: _input.text })) });
  const client = clientOf(server);
  const ids: string[] = [];
  for (const times of [5, 100, 1_000]) {
    const { executionId } = await client.start('greeting', { input: { text: SECRET.repeat(times) } });
    await client.waitForEnd(executionId);
    ids.push(executionId);
  }
  await new Promise((next) => setTimeout(next, WRITTEN_MS));
  for (const id of ids) {
    expect(isIn(world.file) || isIn(`${world.file}-wal`)).toBe(true);
    await client.erase(id);
  }
  await server.stop();
  expect(isIn(world.file) || isIn(`${world.file}-wal`)).toBe(false);
});

it('a body beyond 4 MB is refused before it is parsed', async () => {
  const server = await world.start({ served: servedWith(async (input) => input) });
  const body = `{"input":{"text":"${'x'.repeat(4 * 1024 * 1024)}"}`;
  const answer = await fetch(`${server.url}/workflows/greeting/executions`, { method: 'POST', body });
  expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
    413,
    'too-large',
  ]);
});

it('what a person gives for a step may hold as much as its agent may answer', async () => {
  const server = await world.start({ served: servedWith(async (input) => input) });
  const output = Array.from({ length: 70_000 }, (_, n) => n);
  const body = JSON.stringify({ choice: 'give-output', output });
  const resolve = `${server.url}/executions/none/incidents/1/resolve`;
  const answer = await fetch(resolve, { method: 'POST', body });
  expect(((await answer.json()) as { error: { code: string } }).error.code).toBe('unknown-execution');
});

it('one that the disk has no room for is said to its caller and by /health, and leaves nothing', async () => {
  const server = await world.start({ served: servedWith(async (_input) => ({ text: 'short' })) });
  const start = (text: string) =>
    server.answer({ method: 'POST', path: '/workflows/greeting/executions', body: { input: { text } } });
  const values = `${world.file}-values`;
  // Replaces the folder, so that the disk refuses.
  writeFileSync(values, '');
  const message = expect.stringContaining('nothing of this was written (ENOTDIR');
  const refused = await start('ä'.repeat(50_000));
  expect(refused).toMatchObject({ status: 503, body: { error: { message } } });
  // No caller learns the file's path.
  expect(JSON.stringify([refused, await server.answer({ path: '/health' })])).not.toContain(values);
  // A small value can still be written, which does not show that there is room for a large one.
  expect(await start('small')).toMatchObject({ status: 202 });
  const failure = { code: 'FileTrouble', message: expect.stringContaining('large values: ') };
  expect(await server.answer({ path: '/health' })).toMatchObject({
    status: 503,
    body: { status: 'down', findings: [{ kind: 'storage', failure }] },
  });
  rmSync(values);
  expect(await start('ö'.repeat(50_000))).toMatchObject({ status: 202 });
  expect(await server.answer({ path: '/health' })).toMatchObject({ status: 200 });
});

it('one that cannot be placed leaves no draft, which would take the room that is missing', async () => {
  const folder = `${world.file}-values`;
  mkdirSync(folder);
  writeFileSync(join(folder, 'a'), '');
  await expect(folderValues(folder).put('a/b', '"large"')).rejects.toThrow();
  expect(filesIn(folder)).toEqual(['a']);
});

it('a full disk is said in the words of the file', async () => {
  const failed: unknown[] = [];
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  const put = async (_key: string, _json: string): Promise<never> => {
    throw full;
  };
  const events = { onFailed: failed.push.bind(failed), onCommitted: () => undefined };
  const values = saidValues({ ...folderValues('nowhere'), put }, events, (error) => error);
  await expect(values.put('a/b', '""')).rejects.toThrow('the disk is full: nothing of this was written');
  expect(failed).toEqual([{ code: 'DiskFull', message: 'large values: the disk is full' }]);
});

it('makes files that this user alone may read', async () => {
  const served = servedWith(async (input) => input);
  const server = await world.start({ served });
  await clientOf(server).start('greeting', { input: { text: 'x'.repeat(500_000) } });
  const folder = dirname(world.file);
  const modes = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
    return entry.isDirectory() ? mode === 0o700 : mode === 0o600;
  });
  expect(modes.length).toBeGreaterThan(5);
  expect(modes.every(Boolean)).toBe(true);
});

it('syncs each name that a put makes, and that a remove takes', async () => {
  const folder = join(dirname(world.file), 'kept-values');
  const handle = await open(dirname(world.file));
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const synced = new Set<number>();
  const own = Object.getOwnPropertyDescriptor(prototype, 'sync');
  Object.defineProperty(prototype, 'sync', {
    ...own,
    value: async function (this: FileHandle) {
      synced.add(fstatSync(this.fd).ino);
    },
  });
  const values = folderValues(folder);
  await values.put('e-1/life/step', '"a"');
  for (const path of [dirname(folder), folder, `${folder}/e-1`, `${folder}/e-1/life`])
    expect([path, synced.has(statSync(path).ino)]).toEqual([path, true]);
  synced.clear();
  await values.remove(['e-1/life/step']);
  expect([...synced]).toEqual([statSync(folder).ino]);
  Object.defineProperty(prototype, 'sync', own ?? {});
});
