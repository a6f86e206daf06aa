/**
 * A process for authors' code, as the system has it: started, spoken to, ended with all that it has started.
 *
 * Owns: that. Does not own: what is said (`isolated-words.ts`), calls and whose fault an end is
 * (`isolated-process.ts`).
 *
 * I4 no process, and no program that it has started, outlives the one that calls: a thread in it ends them
 * when the pipe between them closes.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { Outbox, PIPE_FD, type ToProcess } from './isolated-words.ts';
import { endAll, killGroup, MARK } from './process-group.ts';

/** How one is started; it ends in `performCalls`. */
export interface Program {
  readonly entry: string;
  readonly args?: readonly string[];
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The bound of all its memory; without it there is none but the machine's. */
  readonly memoryMb?: number;
}

/** The part of its memory for objects; the rest is for buffers and code. */
const HEAP_PART = 0.75;
/** For the guard's answer. */
const ASKED_MS = 250;

export class IsolatedChild {
  /** Resolves when it has ended, whatever it has started may still run. */
  readonly ended: Promise<void>;
  /** How it ended. */
  exit = '';
  readonly #child: ChildProcess | undefined;
  readonly #mark = randomUUID();
  readonly #outbox = new Outbox<ToProcess>((all) => void this.#child?.send([...all], () => undefined));

  constructor(
    { entry, args = [], execArgv = [], env = {}, memoryMb }: Program,
    onSaid: (said: unknown) => void,
  ) {
    const bound = memoryMb === undefined ? [] : [`--max-old-space-size=${Math.ceil(memoryMb * HEAP_PART)}`];
    // Where the system has nothing left to start a process with, this throws, or the child has no id.
    try {
      this.#child = fork(entry, [...args], {
        env: { ...process.env, ...env, [MARK]: this.#mark },
        execArgv: [...bound, ...execArgv],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
        // An input may be a date, and an answer what is no JSON: which it is, the caller checks.
        serialization: 'advanced',
        // A group of its own, so that all of it can be killed.
        detached: true,
      });
    } catch (error) {
      this.exit = String(error);
    }
    const child = this.#child;
    this.ended = new Promise<void>((over) => {
      if (child === undefined) return over();
      child.on('error', (error) => {
        if (child.pid !== undefined) return;
        this.exit = String(error);
        over();
      });
      child.once('exit', (code, signal) => {
        this.exit = signal === null ? `exit code ${code}` : `signal ${signal}`;
        over();
      });
    });
    this.#pipe?.on('error', () => undefined);
    child?.on('message', onSaid);
  }

  /** Whether the system has started it. */
  get isStarted(): boolean {
    return this.#child?.pid !== undefined;
  }

  /** With what else is said in this turn. @param onFailed is called where it cannot be sent */
  say(said: ToProcess, onFailed: (error: unknown) => void): void {
    this.#outbox.say(said, onFailed);
  }

  kill(): void {
    if (this.#child?.pid !== undefined) killGroup(this.#child.pid);
  }

  /** Kills what it has started, too. @returns whether nothing of it runs any more */
  async endPrograms(): Promise<boolean> {
    const pid = this.#child?.pid;
    return pid === undefined || (await endAll({ pid, mark: this.#mark }));
  }

  /** Which call its main thread has entered and not left; 0 where that is not known. */
  entered(): Promise<number> {
    return new Promise((answer) => {
      setTimeout(() => answer(0), ASKED_MS);
      this.#pipe?.once('data', (said) => answer(Number(String(said))));
      this.#pipe?.write('?');
    });
  }

  get #pipe(): Socket | undefined {
    // One that could not be started has none.
    const all = this.#child?.stdio as ChildProcess['stdio'] | undefined;
    return all?.[PIPE_FD] as Socket | undefined;
  }
}

/** Resolves once it is over; where something of it cannot be ended, never (I3). */
export const untilOver = async (gone: Promise<boolean>): Promise<void> => {
  if (!(await gone)) await new Promise(() => undefined);
};
