/**
 * The folder of `steadfast dev`: the assembly, the local cloud's data, and the data of `dev.ts` files.
 *
 * Owns: the marker file, which is also the lock. D1 it writes and deletes only in a folder that is empty or
 * marked. D2 one `dev` per folder.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CliError, messageOf } from '../io.ts';

export interface DevFolder {
  readonly path: string;
  readonly assembly: string;
  /** Makes a new folder for an assembly beside the current one. */
  readonly nextAssembly: () => string;
  /** Removes all assemblies except this one. */
  readonly dropOthers: (assembly: string) => void;
  readonly logs: string;
  /** The data folder for a workflow folder's `dev.ts`; created if missing. */
  readonly external: (name: string) => string;
  /** Records the API's address, so that commands in this folder find it. */
  readonly announce: (apiUrl: string) => void;
  readonly release: () => void;
}

/** The data folder, unless `--data` names another. */
export const DEFAULT_DATA = '.steadfast/data';

/** @param directory the value of `--data` */
export const logsIn = (directory: string): string => resolve(directory, 'cloud', 'logs');

const MARKER = 'steadfast-dev.json';

/** @throws CliError `not-ours`, `in-use`, `bad-data` */
export function openDevFolder(directory: string, fresh: boolean): DevFolder {
  const path = resolve(directory);
  try {
    return openAt(path, fresh);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (error instanceof CliError || !/^E[A-Z]+$/.test(code)) throw error;
    throw new CliError(
      'bad-data',
      `the data cannot be stored in ${path}: ${WHY[code] ?? messageOf(error)}; choose another folder with --data`,
    );
  }
}

const WHY: Readonly<Record<string, string>> = {
  EEXIST: 'a file is in the way',
  ENOTDIR: 'a file is in the way',
  EACCES: 'it is not writable',
  EPERM: 'it is not writable',
  EROFS: 'its disk is read-only',
  ENOSPC: 'the disk is full',
};

function openAt(path: string, fresh: boolean): DevFolder {
  mkdirSync(path, { recursive: true });
  const marker = join(path, MARKER);
  const content = readdirSync(path);
  if (content.length > 0 && !content.includes(MARKER)) {
    throw new CliError(
      'not-ours',
      `${path} contains other files; choose an empty or a new folder with --data`,
    );
  }
  takeLock(marker, path);
  // Removes old assemblies, because a new one is made at each start.
  const outdated = content.filter((name) => (fresh ? name !== MARKER : isAssembly(name)));
  for (const name of outdated) rmSync(join(path, name), { recursive: true, force: true });
  let assemblies = 0;
  return {
    path,
    assembly: join(path, 'cdk.out'),
    nextAssembly: () => {
      assemblies += 1;
      return join(path, `cdk.out.${assemblies}`);
    },
    dropOthers: (assembly) => {
      for (const name of readdirSync(path).filter(isAssembly))
        if (join(path, name) !== assembly) rmSync(join(path, name), { recursive: true, force: true });
    },
    logs: logsIn(path),
    external: (name) => {
      const folder = join(path, 'outside', name);
      mkdirSync(folder, { recursive: true });
      return folder;
    },
    announce: (apiUrl) => writeFileSync(marker, `${JSON.stringify({ pid: process.pid, apiUrl })}\n`),
    release: () => writeFileSync(marker, '{}\n'),
  };
}

const isAssembly = (name: string): boolean => name.startsWith('cdk.out');

function takeLock(marker: string, path: string): void {
  const pid = existsSync(marker) ? holderOf(marker) : undefined;
  if (pid !== undefined && isAlive(pid)) {
    throw new CliError(
      'in-use',
      `another steadfast dev (process ${pid}) uses ${path}; stop it, or choose another folder with --data and another port with --port`,
    );
  }
  writeFileSync(marker, `${JSON.stringify({ pid: process.pid })}\n`);
}

function holderOf(marker: string): number | undefined {
  const { pid } = marked(marker);
  return typeof pid === 'number' && pid !== process.pid ? pid : undefined;
}

function marked(marker: string): { readonly pid?: unknown; readonly apiUrl?: unknown } {
  try {
    return Object(JSON.parse(readFileSync(marker, 'utf8'))) as { pid?: unknown };
  } catch {
    return {};
  }
}

/** The API address of the `steadfast dev` whose data is in the default folder, here or in a parent folder. */
export function runningApi(from: string): string | undefined {
  for (let at = resolve(from); ; at = dirname(at)) {
    const { pid, apiUrl } = marked(join(at, DEFAULT_DATA, MARKER));
    if (typeof pid === 'number' && typeof apiUrl === 'string' && isAlive(pid)) return apiUrl;
    if (at === dirname(at)) return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
