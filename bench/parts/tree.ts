/** Processor time and memory of a process and all its descendants, read from /proc (Linux). */

import { readdirSync, readFileSync } from 'node:fs';
import { cpuMsOf } from './meter.ts';

/** The ids of a process, by default this one, and its descendants. */
export function treePids(root = process.pid): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = parentOf(Number(name));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found = [root];
  for (let at = 0; at < found.length; at += 1) found.push(...(children.get(found[at] ?? 0) ?? []));
  return found;
}

/** Reads the parent: after the name, which may contain blanks, come the state and the parent. */
function parentOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** Includes processes that have ended in between: a server's processes come and go. */
export const treeCpuMs = (root = process.pid): number =>
  treePids(root).reduce((sum, pid) => sum + cpuMsOf(pid, true), 0);

const KILOBYTES_A_MEGABYTE = 1_024;

/** Memory that processes share is counted once (PSS). */
export function memoryMb(pids: readonly number[]): number {
  const kilobytes = pids.map((pid) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return Math.round(kilobytes.reduce((sum, each) => sum + each, 0) / KILOBYTES_A_MEGABYTE);
}
