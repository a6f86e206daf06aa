/** `npx steadfast serve` is killed during work, stopped by signals, and blocked by a step. */

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../cli/main.ts';
import { createClient } from '../../lib/client.ts';
import { serveProcess, type ServeProcess } from './processes.ts';

const HELLO = join(import.meta.dirname, 'workflows', 'hello');
const ALONE = join(import.meta.dirname, 'workflows', 'alone');

let folder: string;
const started: ServeProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-serve-'));
});
afterEach(async () => {
  for (const one of started.splice(0)) await one.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const serve = async (...more: readonly string[]): Promise<ServeProcess> => {
  const one = await serveProcess([HELLO, '--data', join(folder, 'state.db'), ...more]);
  started.push(one);
  return one;
};

const start = (server: ServeProcess, name: string) =>
  createClient({ url: server.url }).start('hello', { input: { name } });

/** Resolves once this many steps are in progress. */
const atWork = (server: ServeProcess, count: number): Promise<void> =>
  server.wrote((lines) => lines.filter((line) => line.includes('"message":"sending"')).length >= count);

it('goes on after kill -9, and records the deaths of all attempts at once (S4, L2)', async () => {
  const first = await serve();
  const ids = await Promise.all(['one', 'two', 'three'].map((name) => start(first, `${name}, wait 60000`)));
  await atWork(first, 3);
  await first.kill('SIGKILL');
  const second = await serve();
  const client = createClient({ url: second.url });
  await atWork(second, 3);
  for (const { executionId } of ids) {
    const { steps } = await client.get(executionId);
    expect(steps.find(({ name }) => name === 'send')).toMatchObject({ status: 'running', attempt: 2 });
  }
});

it('finishes what is under way at SIGTERM, and ends with 0', async () => {
  const first = await serve();
  const { executionId } = await start(first, 'wait 300');
  await atWork(first, 1);
  expect(await first.kill('SIGTERM')).toBe(0);
  const second = await serve();
  expect(await createClient({ url: second.url }).get(executionId)).toMatchObject({ status: 'succeeded' });
});

it('goes on where the reader of its log has ended', async () => {
  const one = await serve();
  one.child.stdout?.destroy();
  one.child.stderr?.destroy();
  const client = createClient({ url: one.url });
  for (const name of ['one', 'two']) {
    const { executionId } = await start(one, name);
    expect(await client.waitForEnd(executionId)).toMatchObject({ status: 'succeeded' });
  }
});

it('ends where a file that it refuses holds on to the process', async () => {
  writeFileSync(join(folder, 'workflow.ts'), "setInterval(() => undefined, 1_000); throw new Error('mine');");
  await expect(serveProcess([folder])).rejects.toThrow('workflow.ts:1 cannot be loaded: mine');
});

it('ends when npx does, which passes on no SIGTERM', async () => {
  const npx = ['sh', '-c', '"$0" "$@" & wait'];
  const one = await serveProcess([HELLO, '--data', join(folder, 'state.db')], { npm_command: 'exec' }, npx);
  started.push(one);
  await one.kill('SIGKILL');
  // Programs that the shell has started write to the same pipes, which close when those programs end.
  expect(one.lines.at(-1)).toBe('Stopped. The next start continues from the same file.');
});

it('ends when the grace is over, with what ignores its abort: the next process takes it for dead', async () => {
  const first = await serve('--stop-within', '1');
  await start(first, 'wait 600000');
  await atWork(first, 1);
  const askedAt = Date.now();
  expect(await first.kill('SIGTERM')).toBe(0);
  expect(Date.now() - askedAt).toBeLessThan(10_000);
  expect(first.lines.at(-1)).toBe('Stopped. The next start continues from the same file.');
});

it('ends at once at a second signal', async () => {
  const server = await serve();
  await start(server, 'wait 600000');
  await atWork(server, 1);
  server.child.kill('SIGTERM');
  await server.wrote((lines) => lines.some((line) => line.startsWith('Stopping')));
  expect(await server.kill('SIGINT')).toBe(1);
});

it('takes no lease for lost while a step blocks the loop that is its own, and names the step (L2)', async () => {
  const server = await serve('--agents', 'in-process');
  const client = createClient({ url: server.url });
  // The block is so long that their leases end twice in it.
  const waiting = await Promise.all([1, 2, 3].map(() => start(server, 'wait 12000')));
  await atWork(server, 3);
  const blocking = await start(server, 'block 10000');
  for (const { executionId } of [blocking, ...waiting]) {
    const { status, steps } = await client.waitForEnd(executionId);
    expect({ status, attempt: steps.at(-1)?.attempt }).toEqual({ status: 'succeeded', attempt: 1 });
  }
  const lines = server.lines.filter((line) => line.includes('"message":"loop-blocked"'));
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { agent: 'send-greeting', step: 'send', executionId: blocking.executionId },
  ]);
  expect(server.lines.filter((line) => line.includes('lease-ended'))).toEqual([]);
});

it('says in a sentence that another process has the file', async () => {
  await serve();
  await expect(serve()).rejects.toThrow(/state\.db.*open/);
});

it('says in a sentence what is wrong, and starts nothing', async () => {
  // In this process: each problem is found before anything of the server begins.
  const said = async (args: readonly string[], env = {}): Promise<unknown[]> => {
    let text = '';
    const say = (part: string): void => void (text += part);
    return [await run(['serve', ...args, '--port', '0'], { out: say, err: say, env, isTTY: false }), text];
  };
  const wrong = (sentence: string): unknown[] => [1, expect.stringContaining(sentence)];
  expect(await said([folder])).toEqual(wrong('there is no workflow in'));
  const none = join(folder, 'none');
  expect(await said([HELLO, '--data', none, '--tokens', none])).toEqual([
    1,
    expect.stringMatching(/the tokens in .*none cannot be read/),
  ]);
  const blank = join(folder, 'blank');
  writeFileSync(blank, '# none yet\n');
  const noToken =
    'the tokens are empty, so every caller would be let in: give at least one line "<name> <token>"';
  expect(await said([HELLO, '--data', none, '--tokens', blank])).toEqual(wrong(noToken));
  expect(await said([HELLO, '--data', none], { STEADFAST_TOKENS: '' })).toEqual(wrong(noToken));
  expect(existsSync(none)).toBe(false);
});

describe('an agent in a process of its own', () => {
  const isolated = async (): Promise<ServeProcess> => {
    const one = await serveProcess([HELLO, '--data', join(folder, 'state.db'), '--isolate', 'send-greeting']);
    started.push(one);
    return one;
  };

  it('has one where its declaration says so, for several attempts', async () => {
    const server = await serveProcess([ALONE, '--data', join(folder, 'state.db')]);
    started.push(server);
    const client = createClient({ url: server.url });
    const pids: unknown[] = [];
    for (const ms of [1, 2]) {
      const { executionId } = await client.start('alone', { input: { ms } });
      const { status, output } = await client.waitForEnd(executionId);
      expect(status).toBe('succeeded');
      pids.push((output as { readonly pid: number }).pid);
    }
    expect(pids[0]).toBe(pids[1]);
    expect(pids[0]).not.toBe(server.child.pid);
    expect(server.lines.filter((line) => line.includes('"message":"computing"'))).toHaveLength(2);
  });

  it('is killed where it is silent for longer than its lease, and blocks nobody meanwhile', async () => {
    const server = await isolated();
    const client = createClient({ url: server.url });
    const { executionId } = await start(server, 'block 600000');
    await atWork(server, 2);
    const { steps } = await client.get(executionId);
    // At least the second attempt: on a busy machine that one may be over by now.
    expect(steps.find(({ name }) => name === 'send')?.attempt).toBeGreaterThanOrEqual(2);
    expect(server.lines.filter((line) => line.includes('loop-blocked'))).toEqual([]);
  });
});
