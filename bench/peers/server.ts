/**
 * Servers that an engine needs: on loopback, on a free port, as children of the engine's process.
 *
 * Owns: finding, starting and ending them. Does not own: their settings.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { Missing } from './contract.ts';

export const HOST = '127.0.0.1';
const START_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 5_000;
const POLL_EVERY_MS = 20;
const KEPT_CHARACTERS = 2_000;

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, HOST, done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}

export interface Settings {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** The user that it runs as, if not the current one. */
  readonly owner?: Owner | undefined;
  readonly port: number;
}

export interface Server {
  readonly stop: () => Promise<void>;
}

/** Waits until the server accepts connections. @throws Error with its last output if it ends before */
export async function startServer(
  binary: string,
  args: readonly string[],
  settings: Settings,
): Promise<Server> {
  const { cwd, owner, port, env = process.env } = settings;
  const child = spawn(binary, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], ...owner });
  let said = '';
  let failed: Error | undefined;
  child.on('error', (error) => {
    failed = error;
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-KEPT_CHARACTERS);
    });
  const giveUpAt = Date.now() + START_WITHIN_MS;
  while (!(await accepts(port))) {
    const isGone = failed !== undefined || child.exitCode !== null || child.signalCode !== null;
    if (isGone || Date.now() > giveUpAt) {
      await stop(child);
      throw new Error(`${binary} did not start: ${failed?.message ?? said.trim()}`);
    }
    await pause(POLL_EVERY_MS);
  }
  return { stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  // PostgreSQL's fast end is SIGINT; the others treat it like SIGTERM.
  child.kill('SIGINT');
  const limit = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(limit);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** An unprivileged user, if this process is root: PostgreSQL refuses to run as root. */
export function ordinaryUser(): Owner | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const found = ['postgres', 'nobody'].map((name) => users.find(([each]) => each === name)).find(Boolean);
  if (found === undefined)
    throw new Missing('PostgreSQL does not run as root, and there is no user nobody', 'useradd postgres');
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

/** The program with that name on the search path. */
export const onPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(isProgram);

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder of an installed package. */
export function folderOf(name: string): string | undefined {
  const { resolve } = createRequire(import.meta.url);
  for (const base of resolve.paths(name) ?? []) {
    const manifest = join(base, name, 'package.json');
    try {
      accessSync(manifest);
      return dirname(manifest);
    } catch {
      // Tries the next folder up.
    }
  }
  return undefined;
}
