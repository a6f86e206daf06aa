/**
 * All programs of an attempt's process: its group, and what has left the group but not lost its environment.
 *
 * Owns: killing all of it, and whether anything of it is left. Does not own: when (`attempt-process.ts`).
 *
 * An agent's command has a group of its own (`lib/remote/command.ts`), and so may any program of an author's,
 * whose parent may be dead by then. Its environment says whose it is, on Linux, where others can read it.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { clock } from '../aws/clock.ts';

/** Set for an attempt's process, and inherited by everything it starts: a value of its own for each. */
export const MARK = 'STEADFAST_ATTEMPT_PROCESS';

/** SIGKILL is not instant: a program may be in the middle of a call that nothing interrupts. */
const GONE_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 20;

export interface Programs {
  /** Its first process, after which its group is named. */
  readonly pid: number;
  /** The value of `MARK` in its environment. */
  readonly mark: string;
}

/**
 * @param pid as of `Programs`; 1 and below are no group of ours, and a signal to their negation
 * goes to every process there is
 */
export function killGroup(pid: number): void {
  if (!(pid > 1)) throw new RangeError(`${pid} is the process of no attempt`);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // No such group: it is gone.
  }
}

/** Kills them all, and waits until none runs. @returns false when one still does after ten seconds */
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
      // It has ended since.
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

/** Nothing where the system does not list its processes as files. */
function runningOf(programs: Programs): number[] | undefined {
  try {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.length === 0 ? undefined : pids.filter((pid) => isOf(pid, programs)).map(Number);
  } catch {
    return undefined;
  }
}

/** A zombie acts no more, whether or not an init process asks how it ended. */
function isOf(pid: string, { pid: group, mark }: Programs): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Behind the name, which may hold anything, in brackets: state, parent, group.
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return false;
    if (Number(itsGroup) === group) return true;
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`${MARK}=${mark}`);
  } catch {
    // It has ended since, or is another user's.
    return false;
  }
}
