/**
 * All programs of an attempt's process: its process group, and programs that left the group but still have
 * its environment.
 *
 * Owns: killing all of them, and finding those that still run. Does not own: when (`attempt-process.ts`).
 *
 * An agent's command has a process group of its own (`lib/remote/command.ts`), and so may any program that an
 * author's code starts, even when its parent is dead. On Linux, if its environment can be read, that tells
 * which attempt it belongs to.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { clock } from '../aws/clock.ts';

/** Set for an attempt's process, with a unique value for each, and inherited by everything it starts. */
export const MARK = 'STEADFAST_ATTEMPT_PROCESS';

/** SIGKILL is not instant: a program may be in the middle of a system call that cannot be interrupted. */
const GONE_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 20;

export interface Programs {
  /** The id of its first process, which is also the group's. */
  readonly pid: number;
  /** The value of `MARK` in its environment. */
  readonly mark: string;
}

/**
 * Kills the group.
 * @param pid as in `Programs`; must be above 1, because a signal to -1 goes to every process on the machine
 */
export function killGroup(pid: number): void {
  if (!(pid > 1)) throw new RangeError(`${pid} is the process of no attempt`);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // There is no such group: it is gone.
  }
}

/** Kills them all, and waits until none runs. @returns false if one still runs after ten seconds */
export async function endAll(programs: Programs): Promise<boolean> {
  const untilAt = clock.now() + GONE_WITHIN_MS;
  killGroup(programs.pid);
  while (isAnyLeft(programs)) {
    if (clock.now() >= untilAt) return false;
    await clock.sleep(ASK_EVERY_MS);
  }
  return true;
}

function isAnyLeft(programs: Programs): boolean {
  const left = runningOf(programs);
  if (left === undefined) return isGroup(programs.pid);
  for (const pid of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended since.
    }
  }
  return left.length > 0;
}

function isGroup(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** The programs that still run; undefined if the system does not list its processes as files. */
function runningOf(programs: Programs): number[] | undefined {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.length === 0 ? undefined : pids.filter((pid) => isOf(pid, programs)).map(Number);
  } catch {
    return undefined;
  }
}

/** True if the process is one of the group's programs and runs; a zombie no longer acts. */
function isOf(pid: string, { pid: group, mark }: Programs): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in brackets and may contain anything; after it come state, parent, group.
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return false;
    if (Number(itsGroup) === group) return true;
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`${MARK}=${mark}`);
  } catch {
    // The process has ended since, or belongs to another user.
    return false;
  }
}
