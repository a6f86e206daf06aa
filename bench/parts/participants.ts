/**
 * Our engine and the others, each in a process of its own with everything that it needs.
 *
 * Owns: the participants, their packages, the Node they run on, their processes and their end. Does not own:
 * how each is set up (`../peers/engines/`), the requests to them and the figures (`beside.ts`).
 */

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type { Asked, Ran, Told } from '../peers/contract.ts';
import { treePids } from './tree.ts';

export interface Participant {
  /** The name by which it is chosen. */
  readonly key: string;
  readonly name: string;
  /** Its name in `../peers/package.json`; ours is not there. */
  readonly package?: string;
  readonly module: string;
  readonly variant?: string;
}

export const OURS: readonly Participant[] = [
  { key: 'steadfast', name: 'Steadfast, one message an invocation', module: 'steadfast' },
  { key: 'steadfast', name: 'Steadfast, batches of 10', module: 'steadfast', variant: 'batched' },
  { key: 'serve', name: 'Steadfast serve, agents apart', module: 'serve', variant: 'workers' },
  { key: 'serve', name: 'Steadfast serve, in process', module: 'serve', variant: 'process' },
  { key: 'serve', name: 'Steadfast serve, over HTTP', module: 'serve', variant: 'http' },
];
export const PEERS: readonly Participant[] = [
  { key: 'dbos', name: 'DBOS', package: '@dbos-inc/dbos-sdk', module: 'dbos' },
  { key: 'restate', name: 'Restate', package: '@restatedev/restate-sdk', module: 'restate' },
  { key: 'openworkflow', name: 'openworkflow', package: 'openworkflow', module: 'openworkflow' },
  { key: 'bullmq', name: 'BullMQ flow', package: 'bullmq', module: 'bullmq' },
  {
    key: 'durable',
    name: 'Lambda durable SDK, local runner',
    package: '@aws/durable-execution-sdk-js',
    module: 'durable',
  },
];

/** The named variants of ours, or all if none is named; likewise for the others. */
export function participants(only: readonly string[]): readonly Participant[] {
  const named = (all: readonly Participant[]): readonly Participant[] =>
    all.filter(({ key }) => only.includes(key));
  const ours = named(OURS);
  return [...(ours.length === 0 ? OURS : ours), ...(only.length === 0 ? PEERS : named(PEERS))];
}

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'bench', 'peers');
const START_WITHIN_MS = 90_000;
const RUN_WITHIN_MS = 600_000;
const STOP_WITHIN_MS = 15_000;
/** From this version on, Node runs TypeScript and includes SQLite, both without a flag. */
const NODE = [22, 18] as const;

const manifestOf = (
  folder: string,
): { readonly version: string; readonly dependencies?: Record<string, string> } =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** The pinned version, which is the installed one. */
export const versionOf = (one: Participant): string =>
  one.package === undefined
    ? manifestOf(ROOT).version
    : (manifestOf(FOLDER).dependencies?.[one.package] ?? '');

const isInstalled = (): boolean =>
  Object.entries(manifestOf(FOLDER).dependencies ?? {}).every(([name, version]) => {
    const folder = join(FOLDER, 'node_modules', name);
    return existsSync(join(folder, 'package.json')) && manifestOf(folder).version === version;
  });

export const INSTALL = 'npm ci --prefix bench/peers';

/** @returns what went wrong, if anything did */
export async function installPeers(say: (text: string) => void): Promise<string | undefined> {
  if (isInstalled()) return undefined;
  say(`Other engines are installed into bench/peers (${INSTALL}) …`);
  const [command = '', ...args] = INSTALL.split(' ');
  const child = spawn(command, [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
  });
  const code = await new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', done);
  });
  return code === 0 && isInstalled() ? undefined : `"${INSTALL}" failed (${String(code)})`;
}

/**
 * One Node for all of them: this one if it is new enough, else the one in the peers' packages. All of them
 * get tsx: without it Node resolves `steadfast` to `dist/`, which a clean clone does not have, and which may
 * be older than the measured code.
 */
export function nodeOfAll(): { readonly path: string; readonly args: readonly string[] } {
  const quiet = [
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=DeprecationWarning',
    '--import',
    'tsx',
  ];
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NODE[0] || (major === NODE[0] && minor >= NODE[1]))
    return { path: process.execPath, args: quiet };
  const packaged = join(FOLDER, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node');
  if (existsSync(packaged)) return { path: packaged, args: quiet };
  return { path: process.execPath, args: ['--import', 'tsx'] };
}

export interface Running {
  readonly pid: number;
  readonly server?: string;
  readonly durableBy: string;
  readonly run: (count: number, inFlight: number) => Promise<Ran>;
  readonly stop: () => Promise<void>;
}

export interface Absent {
  readonly reason: string;
  readonly install?: string;
}

export interface Home {
  readonly start: (one: Participant) => Promise<Running | Absent>;
  /** The folder for everyone's data. */
  readonly folder: string;
  /** Ends all of them and removes their files. */
  readonly close: () => Promise<void>;
  readonly isClosed: () => boolean;
}

/** Makes the folder, and removes all of it however this process ends. */
export function openHome(): Home {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-peers-'));
  // Servers that run as another user must be able to reach their own folders.
  chmodSync(folder, 0o711);
  const children = new Set<ChildProcess>();
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const atExit = (): void => {
    for (const child of children) killTree(child);
    remove();
  };
  const onSignal = (): void => {
    void close().finally(() => process.exit(130));
  };
  let closed = false;
  const close = async (): Promise<void> => {
    closed = true;
    await Promise.all([...children].map(ended));
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
    process.off('exit', atExit);
    remove();
  };
  process.on('exit', atExit);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  let started = 0;
  const start = async (one: Participant): Promise<Running | Absent> => {
    started += 1;
    const own = join(folder, String(started));
    mkdirSync(own, { mode: 0o711 });
    const child = launch(one, own);
    children.add(child);
    child.once('exit', () => {
      children.delete(child);
      killGroup(child);
    });
    return await begun(child);
  };
  return { folder, start, close, isClosed: () => closed };
}

/** Below the package's folder, because the compiled file searches upward for it. */
const COMPILED = join(ROOT, '.steadfast', 'bench');

/**
 * Our engine in its published form, like the others: what tsx adds to each function for its name costs a
 * fifth of the processor time. The local cloud starts its processes by path, and compiles what they run.
 *
 * @returns the engine's file
 */
function engineFile({ module }: Participant): string {
  const file = join(FOLDER, 'engines', `${module}.ts`);
  if (module !== 'serve') return file;
  const outfile = join(COMPILED, `${module}.mjs`);
  const target = { platform: 'node', format: 'esm', packages: 'external' } as const;
  buildSync({ entryPoints: [file], outfile, bundle: true, ...target });
  return outfile;
}

function launch(one: Participant, own: string): ChildProcess {
  const { path, args } = nodeOfAll();
  const { variant } = one;
  return fork(join(FOLDER, 'child.ts'), [engineFile(one), own, ...(variant === undefined ? [] : [variant])], {
    cwd: ROOT,
    execPath: path,
    execArgv: [...args],
    env: { ...process.env, TMPDIR: own },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    // A separate process group, so that only this process receives Ctrl-C and ends the others in order.
    detached: true,
  });
}

async function begun(child: ChildProcess): Promise<Running | Absent> {
  let first: Told;
  try {
    first = await told(child, START_WITHIN_MS);
  } catch (error) {
    killTree(child);
    return { reason: error instanceof Error ? error.message : String(error) };
  }
  if (first.told === 'missing') return { reason: first.reason, install: first.install };
  if (first.told !== 'started')
    return { reason: first.told === 'failed' ? first.reason : 'it did not start' };
  const { server, durableBy } = first;
  return {
    pid: child.pid ?? 0,
    ...(server === undefined ? {} : { server }),
    durableBy,
    run: async (count, inFlight) => {
      const answer = told(child, RUN_WITHIN_MS);
      child.send({ count, inFlight } satisfies Asked);
      const ran = await answer;
      if (ran.told !== 'ran') throw new Error(ran.told === 'failed' ? ran.reason : 'it gave no answer');
      return ran;
    },
    stop: () => ended(child),
  };
}

/** Its next message. @throws Error if it ends before, or sends nothing for that long */
function told(child: ChildProcess, withinMs: number): Promise<Told> {
  return new Promise((resolve, reject) => {
    const clear = (): void => {
      clearTimeout(limit);
      child.off('message', onMessage).off('exit', onExit).off('error', onError);
    };
    const onMessage = (message: unknown): void => {
      clear();
      resolve(message as Told);
    };
    const failed = (reason: string): void => {
      clear();
      reject(new Error(reason));
    };
    const onExit = (code: number | null, signal: string | null): void =>
      failed(`its process ended (${code ?? signal})`);
    const onError = (error: Error): void => failed(error.message);
    const limit = setTimeout(() => failed(`it said nothing for ${withinMs / 1_000} s`), withinMs);
    child.on('message', onMessage).on('exit', onExit).on('error', onError);
  });
}

/** Asks the process to end in order; then kills it with everything that it started. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const limit = setTimeout(() => killTree(child), STOP_WITHIN_MS);
  await gone;
  clearTimeout(limit);
}

function killTree(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  for (const pid of treePids(child.pid)) kill(pid);
}

/** Kills servers whose process ended without ending them: they have lost their parent, but not its group. */
function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) kill(-pid);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
