/**
 * Opens, locks and removes the data folder of a local cloud, and names the paths in it.
 *
 * Invariants
 * - I1 it deletes and writes only in a folder that is empty or marked as ours.
 * - I2 one cloud per folder: a second is refused while the first lives. The lock of a dead cloud is taken
 *   over after its guardian has ended its children.
 * - I3 if a guardian was killed with its cloud, their database may still run. It is ended first, so that
 *   two databases never open one file. The folder of their code is removed.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { databaseFilesIn } from './dynamodb/database-files.ts';
import { CODE_FOLDER } from './processes/guardian.ts';
import { endLeftBehind, isAlive } from './processes/left-behind.ts';

const MARKER = '.local-cloud';
const LOCK = 'lock';
const DYNAMODB = 'dynamodb';
const MARKER_TEXT = 'This folder belongs to a local cloud. Starting it fresh deletes everything in here.\n';

export interface DataDirectory {
  readonly path: string;
  readonly dynamodb: string;
  readonly queues: string;
  readonly objects: string;
  readonly logs: string;
  /** The metrics of the last hours. */
  readonly metrics: string;
  /** Writes the guardian's pid and its folder into the lock, for the process that takes it over. */
  guardedBy(guardian: { readonly pid: number | undefined; readonly codeFolder: string }): void;
  release(): void;
}

interface Lock {
  readonly pid: number;
  readonly guardianPid?: number | undefined;
  readonly codeFolder?: string | undefined;
}

/** Opens the folder for one cloud. @throws Error if the folder is not ours, or is in use */
export async function openDataDirectory(directory: string, fresh: boolean): Promise<DataDirectory> {
  mkdirSync(resolve(directory), { recursive: true });
  // Resolves links, so that the folder has one name.
  const path = realpathSync(resolve(directory));
  const content = readdirSync(path);
  if (content.length > 0 && !content.includes(MARKER)) {
    throw new Error(
      `${path} is not empty and no local cloud made it: choose an empty or new folder for the data`,
    );
  }
  writeFileSync(join(path, MARKER), MARKER_TEXT);
  const lockPath = join(path, LOCK);
  await takeLock(lockPath, path);
  try {
    const { pid, database } = databaseFilesIn(join(path, DYNAMODB));
    await endLeftBehind(pid, database);
  } catch (error) {
    unlinkSync(lockPath);
    throw error;
  }
  if (fresh) {
    for (const name of readdirSync(path)) {
      if (name !== MARKER && name !== LOCK) rmSync(join(path, name), { recursive: true, force: true });
    }
  }
  const folder = (name: string) => {
    mkdirSync(join(path, name), { recursive: true });
    return join(path, name);
  };
  return {
    path,
    dynamodb: folder(DYNAMODB),
    queues: folder('queues'),
    objects: folder('objects'),
    logs: folder('logs'),
    metrics: join(path, 'metrics.jsonl'),
    guardedBy: ({ pid: guardianPid, codeFolder }) =>
      writeLock(lockPath, { pid: process.pid, guardianPid, codeFolder }, 'w'),
    release: () => {
      if (existsSync(lockPath)) unlinkSync(lockPath);
    },
  };
}

const GUARDIAN_LIMIT_MS = 2000;

async function takeLock(lockPath: string, path: string): Promise<void> {
  if (writeLock(lockPath, { pid: process.pid }, 'wx')) return;
  const holder = readLock(lockPath);
  if (holder !== undefined && isAlive(holder.pid)) {
    throw new Error(
      `a local cloud (process ${holder.pid}) is running on ${path}: stop it or use another data directory ` +
        `(if that process is something else, delete ${lockPath})`,
    );
  }
  // The dead cloud's guardian may still be ending its database, which has the same file open.
  await untilGone(holder?.guardianPid ?? 0, Date.now() + GUARDIAN_LIMIT_MS);
  const { codeFolder = '' } = holder ?? {};
  // Checks the name, because the lock file may have been edited.
  if (basename(codeFolder).startsWith(CODE_FOLDER)) rmSync(codeFolder, { recursive: true, force: true });
  writeLock(lockPath, { pid: process.pid }, 'w');
}

async function untilGone(pid: number, giveUpAt: number): Promise<void> {
  if (pid <= 0 || !isAlive(pid) || Date.now() >= giveUpAt) return;
  await new Promise((done) => setTimeout(done, 5));
  await untilGone(pid, giveUpAt);
}

function writeLock(lockPath: string, lock: Lock, flag: 'w' | 'wx'): boolean {
  try {
    writeFileSync(lockPath, `${JSON.stringify(lock)}\n`, { flag });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readLock(lockPath: string): Lock | undefined {
  try {
    return JSON.parse(readFileSync(lockPath, 'utf8')) as Lock;
  } catch {
    return undefined;
  }
}
