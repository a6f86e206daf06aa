/**
 * Ends a process that survived an earlier local cloud because its guardian was killed, too.
 *
 * Invariants
 * - I1 it ends only a process that was started with the expected file as an argument, because the process id
 *   may have been reused.
 * - I2 when this resolves, no such process lives.
 */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';

const END_LIMIT_MS = 2000;
const POLL_EVERY_MS = 5;

/**
 * @param pidPath the file with the process id
 * @param filePath the file that the process has open; its command line names it
 * @param end sends SIGKILL.
 * @returns whether the process may be signalled
 * @throws Error if the process lives and cannot be ended, or if it may be another one
 */
export async function endLeftBehind(
  pidPath: string,
  filePath: string,
  end: (pid: number) => boolean = kill,
): Promise<void> {
  const pid = pidIn(pidPath);
  if (pid === undefined) return;
  for (const giveUpAt = Date.now() + END_LIMIT_MS; ; ) {
    const commandLine = isAlive(pid) ? await commandLineOf(pid) : '';
    if (commandLine === undefined) {
      throw new Error(
        `process ${pid} may be left over from an earlier local cloud, with ${filePath} open: end it, or if it is ` +
          `something else delete ${pidPath}`,
      );
    }
    if (!commandLine.includes(filePath)) break;
    if (Date.now() > giveUpAt || !end(pid)) {
      throw new Error(
        `process ${pid} of an earlier local cloud still has ${filePath} open and cannot be ended from here: end it, or ` +
          'use another data directory',
      );
    }
    await new Promise((done) => setTimeout(done, POLL_EVERY_MS));
  }
  rmSync(pidPath, { force: true });
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists, under another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function pidIn(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8').trim());
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Kills the process (-9). No acknowledged write is lost, because SQLite's log has them.
 * @returns whether it may be signalled
 */
function kill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** The command line; empty for a zombie process, undefined if it cannot be read. */
async function commandLineOf(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return (await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout;
  } catch {
    return isAlive(pid) ? undefined : '';
  }
}
