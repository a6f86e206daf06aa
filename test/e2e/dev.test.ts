/**
 * `npm start` as a newcomer uses it: the three printed commands, a killed agent, Ctrl-C, a second start. Real
 * processes and real time, so the project has only one example; it is synthesised twice. `npm run gallery --
 * --from-source` checks that all examples are bundled and run.
 */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ExecutionView, ListPage, Started } from '../../lib/api/answers.ts';
import { projectWithOneExample } from './one-example.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');

let project: string;
let data: string;
let running: ChildProcess | undefined;

beforeAll(() => {
  project = projectWithOneExample();
  data = mkdtempSync(join(tmpdir(), 'steadfast-e2e-dev-'));
});
afterAll(() => {
  running?.kill('SIGKILL');
  for (const folder of [data, project]) rmSync(folder, { recursive: true, force: true });
});

/** Starts `dev` on a free port. @returns its output, once all is printed */
async function startDev(): Promise<string> {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(ROOT, 'bin/steadfast.ts'), 'dev', '--port', '0', '--data', data],
    { cwd: project, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_OPTIONS: '' } },
  );
  running = child;
  let text = '';
  return new Promise((printed, failed) => {
    const hear = (chunk: Buffer): void => {
      text += chunk.toString('utf8');
      if (text.includes('Ctrl-C stops it.')) printed(text);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('exit', (code) => failed(new Error(`dev ended with ${code}:\n${text}`)));
  });
}

/** Interrupts `dev` as Ctrl-C does. @returns the exit code */
async function interrupt(): Promise<number | null> {
  const child = running as ChildProcess;
  const gone = new Promise<number | null>((exited) => child.once('exit', exited));
  child.kill('SIGINT');
  return gone;
}

function descendantsOf(pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number) as [number, number]);
  const found = [pid];
  for (const parent of found) {
    found.push(...pairs.filter(([, ppid]) => ppid === parent).map(([child]) => child));
  }
  return found.slice(1);
}

/** Whether the process is alive; a zombie is not. */
function isAlive(pid: number): boolean {
  try {
    const state = execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return state !== '' && !state.startsWith('Z');
  } catch {
    return false;
  }
}

const shell = (command: string): string => execFileSync('bash', ['-c', command], { encoding: 'utf8' });
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/^ {2}(curl .*)$/gm)].map(([, line]) => line ?? '');

/**
 * Runs the command, which waits for at most 20 s, until the execution is over, so that a slow machine does
 * not matter.
 */
function ended(show: string): ExecutionView {
  for (;;) {
    const view = JSON.parse(shell(show)) as ExecutionView;
    if (view.endedAt !== undefined) return view;
  }
}

test('dev prints three commands that work as they stand, stops with nothing left, and finds its data again', async () => {
  const [start = '', show = '', list = ''] = commandsIn(await startDev());
  const started = JSON.parse(shell(start)) as Started;
  const view = ended(show);
  expect(view.executionId).toBe(started.executionId);
  expect(view.status).toBe('succeeded');
  const listed = JSON.parse(shell(list)) as ListPage;
  expect(listed.items.map(({ executionId }) => executionId)).toEqual([started.executionId]);

  // The first project's failure, with an existing agent: its second write is the report.
  const url = /http:\/\/[\d.:]+/.exec(start)?.[0] ?? '';
  shell(`curl -s ${url}/_local/functions/charge-card/kill -d '{"beforeCall":2,"operation":"PutItem"}'`);
  const again = start
    .replace(/"idempotencyKey":"[^"]*"/, '"idempotencyKey":"killed"')
    .replace('order-1', 'order-2');
  const { executionId } = JSON.parse(shell(again)) as Started;
  const survived = ended(show.replace(started.executionId, executionId));
  expect(survived.status).toBe('succeeded');
  const charge = survived.steps?.find(({ name }) => name === 'charge');
  expect(charge?.attempts?.map(({ mode, outcome }) => [mode, outcome])).toEqual([
    ['execute', 'unknown'],
    ['probe', 'done'],
  ]);
  const listedThen = JSON.parse(shell(list)) as ListPage;

  const children = descendantsOf(running?.pid ?? 0);
  expect(children.length).toBeGreaterThan(2);
  expect(await interrupt()).toBe(0);
  expect(children.filter(isAlive)).toEqual([]);

  const [, , listAgain = ''] = commandsIn(await startDev());
  const found = JSON.parse(shell(listAgain)) as ListPage;
  expect(found.items).toEqual(listedThen.items);
  expect(await interrupt()).toBe(0);
});
