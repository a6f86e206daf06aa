/**
 * The unit file and the Containerfile of docs/SERVE.md: what they start serves, comes back after a kill with
 * what it had, and stops within its time. What only systemd and a builder of images do is read, not run.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bearer, createClient } from '../../lib/client.ts';
import { blocksOf, read, ROOT, written } from '../snippets/blocks.ts';

const PAGE = read('docs/SERVE.md');
const [UNIT = ''] = blocksOf(PAGE, 'ini');
const [IMAGE = ''] = blocksOf(PAGE, 'dockerfile');
/** By default attempts go on for so long after SIGTERM. */
const STOP_WITHIN_S = 20;

let root: string;
let running: ChildProcess[] = [];
beforeEach(() => {
  root = written('service', new Map());
  cpSync(join(import.meta.dirname, 'workflows/hello'), join(root, 'workflows/hello'), { recursive: true });
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true });
  symlinkSync(join(ROOT, 'bin/steadfast.cjs'), join(root, 'node_modules/.bin/steadfast'));
});
afterEach(() => {
  for (const one of running) one.kill('SIGKILL');
  running = [];
  rmSync(root, { recursive: true, force: true });
});

/** Starts it as its file says, and resolves with its address. */
async function served([program = '', ...args]: readonly string[]): Promise<{
  child: ChildProcess;
  url: string;
}> {
  const child = spawn(program, [...args, '--port', '0'], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  for await (const line of createInterface({ input: child.stdout! })) {
    const url = /^Steadfast serves at (\S+)/.exec(line)?.[1];
    if (url === undefined) continue;
    child.stdout!.resume();
    return { child, url };
  }
  throw new Error(`${program} has ended before it served`);
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  const gone = once(child, 'exit');
  child.kill(signal);
  const [code] = (await gone) as [number | null];
  return code;
}

/** Starts an execution, ends the server by force, starts it again and stops it. */
async function livesOn(command: readonly string[], token?: string): Promise<void> {
  const own = token === undefined ? {} : { authorization: bearer(token) };
  const first = await served(command);
  expect((await fetch(`${first.url}/live`)).status).toBe(200);
  const { executionId } = await createClient({ url: first.url, ...own }).start('hello', {
    input: { name: 'Ada' },
  });
  await ended(first.child, 'SIGKILL');
  const second = await served(command);
  const end = await createClient({ url: second.url, ...own }).waitForEnd(executionId);
  expect(end.status).toBe('succeeded');
  expect(await ended(second.child, 'SIGTERM')).toBe(0);
}

test('what the unit file starts serves, comes back with its data, and stops in time', async () => {
  const settings = new Map(
    [...UNIT.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
  );
  expect(Object.fromEntries(settings)).toMatchObject({
    WorkingDirectory: '/srv/orders',
    Restart: 'always',
    WantedBy: 'multi-user.target',
  });
  expect(Number(settings.get('TimeoutStopSec'))).toBeGreaterThan(STOP_WITHIN_S);
  expect(read('cli/serve/command.ts')).toContain(`after SIGTERM', wholeNumber, ${STOP_WITHIN_S})`);
  // After five starts in ten seconds systemd makes no sixth.
  expect(5 * Number(settings.get('RestartSec'))).toBeGreaterThan(10);
  const state = `/var/lib/${settings.get('StateDirectory')}`;
  const command = settings.get('ExecStart') ?? '';
  expect(command).toContain(`--data ${state}/`);
  await livesOn(
    command.split(' ').map((word) => word.replace('/srv/orders', root).replace(state, join(root, 'state'))),
  );
});

test('systemd reads the unit file without a complaint, where there is one', () => {
  const file = join(root, 'orders.service');
  writeFileSync(file, UNIT.replaceAll('/srv/orders', root));
  const { error, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  expect(error === undefined ? stderr : (error as NodeJS.ErrnoException).code).toBe(
    error === undefined ? '' : 'ENOENT',
  );
});

test('what the image starts serves callers with tokens, and keeps its data in the volume', async () => {
  const lines = IMAGE.trim()
    .split('\n')
    .map((line) => line.split(/ (.*)/s));
  const [from, volume, command] = ['FROM', 'VOLUME', 'CMD'].map(
    (key) => lines.find(([word]) => word === key)?.[1] ?? '',
  );
  const node = Number(/^node:(\d+)-/.exec(from ?? '')?.[1]);
  expect(node).toBeGreaterThanOrEqual(
    Number(/>=(\d+)/.exec(read('package.json').split('"engines"')[1] ?? '')?.[1]),
  );
  const token = '0123456789abcdef0123456789abcdef';
  writeFileSync(join(root, 'tokens'), `ann ${token}\n`);
  const words = JSON.parse(command ?? '') as string[];
  expect(words).toContain(`${volume}/orders.db`);
  await livesOn(
    words.map((word) =>
      word
        .replace(/^node_modules/, join(root, 'node_modules'))
        .replace(`${volume}/`, `${root}/data/`)
        .replace('/run/secrets/tokens', join(root, 'tokens'))
        .replace('0.0.0.0', '127.0.0.1'),
    ),
    token,
  );
});
