/**
 * Kills a Python agent during its calls: the program, the process of its attempt, or their worker.
 *
 * Owns: finding the calls that are under way (from /proc, so only on Linux), and by the seed which of them
 * are killed, when and how. Does not own: what they do.
 */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type Draws, drawsOf } from '../../kit/cloud/random.ts';
import { processOf } from './remote-audit.ts';
import { PRINT_MS, type RemoteStage } from './remote-stage.ts';

export const TARGETS = ['program', 'attempt', 'worker'] as const;
export type Target = (typeof TARGETS)[number];

/** The targets of six kills. */
const WEIGHTED = ['program', 'program', 'program', 'attempt', 'attempt', 'worker'] as const;
const LOOK_EVERY_MS = 10;
/** The share of the seen calls that are killed. */
const KILLED_SHARE = 0.4;
/** The time that the program needs to start. */
const START_MS = 150;
/** The share of the killed calls that die between the label and its answer. */
const AFTER_SHARE = 0.5;

export interface Kill {
  readonly target: Target;
  /** The program of the call that the kill was aimed at. */
  readonly pid: number;
}

const fileOf = (pid: number, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
};

/** Whether the process is the program and not the shell that started it, which has the same name. */
function isProgram(pid: number, folder: string): boolean {
  const [program = '', ...args] = fileOf(pid, 'cmdline').split('\0');
  if (program === '/bin/sh' || !args.some((arg) => arg.endsWith('/main.py'))) return false;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === folder;
  } catch {
    return false;
  }
}

/** The process of the attempt, if it is one. */
function attemptOf(pid: number): number | undefined {
  const parent = Number(fileOf(pid, 'stat').split(') ')[1]?.split(' ')[1]);
  return fileOf(parent, 'cmdline').includes('attempt.mjs') ? parent : undefined;
}

export class RemoteKiller {
  readonly kills: Kill[] = [];
  readonly #stage: RemoteStage;
  readonly #draws: Draws;
  readonly #most: number;
  readonly #seen = new Set<number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Programs that are killed once they have printed. */
  readonly #after = new Map<number, () => void>();

  constructor(stage: RemoteStage, seed: number, most: number) {
    this.#stage = stage;
    this.#draws = drawsOf(seed, 1);
    this.#most = most;
  }

  begin(): void {
    this.#timers.add(setInterval(() => this.#look(), LOOK_EVERY_MS));
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers.clear();
  }

  /** How many calls were found. If there are none, this killer is blind. */
  get calls(): number {
    return this.#seen.size;
  }

  get isDone(): boolean {
    return this.kills.length >= this.#most;
  }

  #look(): void {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    for (const pid of pids) {
      if (this.#seen.has(pid) || !isProgram(pid, this.#stage.worker().folder)) continue;
      this.#seen.add(pid);
      const isAimedAt = this.#draws.chance(KILLED_SHARE);
      const isAfter = this.#draws.chance(AFTER_SHARE);
      const afterMs = this.#draws.between(0, isAfter ? PRINT_MS / 2 : START_MS + PRINT_MS);
      const target = this.#draws.pick<Target>(WEIGHTED);
      if (!isAimedAt) continue;
      const kill = (): void => void this.#timers.add(setTimeout(() => this.#kill(pid, target), afterMs));
      if (isAfter) this.#after.set(pid, kill);
      else kill();
    }
    if (this.#after.size === 0) return;
    for (const { label } of this.#stage.journal()) {
      const pid = label === undefined ? Number.NaN : processOf(label);
      this.#after.get(pid)?.();
      this.#after.delete(pid);
    }
  }

  /** Kills only if the call is still under way. */
  #kill(pid: number, target: Target): void {
    if (this.isDone || !isProgram(pid, this.#stage.worker().folder)) return;
    const attempt = attemptOf(pid);
    if (attempt === undefined) return;
    try {
      if (target === 'worker') this.#stage.killWorker();
      else process.kill(target === 'attempt' ? attempt : pid, 'SIGKILL');
    } catch {
      // The process has just ended by itself.
      return;
    }
    this.kills.push({ target, pid });
  }
}
