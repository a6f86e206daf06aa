/**
 * A process for authors' code, as the operating system sees it.
 *
 * Owns: starting it, sending to it, ending it with all that it has started. Does not own: the messages
 * (`isolated-words.ts`), calls and which one is at fault for an end (`isolated-process.ts`).
 *
 * I4 no process, and no program that it has started, outlives the caller: a thread in it ends them when the
 * pipe between them closes.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { AbortSignalLike } from '../core/plan/agent.ts';
import { Outbox, PIPE_FD, type ToProcess } from './isolated-words.ts';
import { endAll, killGroup, MARK } from './process-group.ts';

/** How a process is started; its entry calls `performCalls`. */
export interface Program {
  readonly entry: string;
  readonly args?: readonly string[];
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Limits all of its memory (`serve --worker-memory`). @default the machine's memory */
  readonly memoryMb?: number;
}

/** The share of its memory for objects; the rest is for buffers and code. */
const HEAP_PART = 0.75;
/** How long the guard may take to answer. */
const ASKED_MS = 1_000;

export class IsolatedChild {
  /** Resolves when the process has ended, even if programs that it started still run. */
  readonly ended: Promise<void>;
  /** Its exit code or signal, or why it could not be started. */
  exit = '';
  readonly #child: ChildProcess | undefined;
  readonly #mark = randomUUID();
  readonly #outbox = new Outbox<ToProcess>((all) => void this.#child?.send([...all], () => undefined));

  constructor(
    { entry, args = [], execArgv = [], env = {}, memoryMb }: Program,
    onSaid: (said: unknown) => void,
  ) {
    const heapMb = memoryMb === undefined ? undefined : Math.ceil(memoryMb * HEAP_PART);
    const bound = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
    // If the system cannot start another process, this throws, or the child has no id.
    try {
      this.#child = fork(entry, [...args], {
        env: { ...process.env, ...env, [MARK]: this.#mark },
        execArgv: [...bound, ...execArgv],
        stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
        // An input may contain a date, and the caller must see an answer that is not JSON.
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
        this.exit = signal === null ? `exit code ${code}` : `signal ${signal}${fullHeap(signal, heapMb)}`;
        over();
      });
    });
    this.#pipe?.on('error', () => undefined);
    child?.on('message', onSaid);
  }

  /** True if the system has started it. */
  get isStarted(): boolean {
    return this.#child?.pid !== undefined;
  }

  /** Sends together with all other words of this turn. @param onFailed is called if it cannot be sent */
  say(said: ToProcess, onFailed: (error: unknown) => void): void {
    this.#outbox.say(said, onFailed);
  }

  kill(): void {
    if (this.#child?.pid !== undefined) killGroup(this.#child.pid);
  }

  /** Kills the programs that it has started, too. @returns true if none of them is still running */
  async endPrograms(): Promise<boolean> {
    const pid = this.#child?.pid;
    return pid === undefined || (await endAll({ pid, mark: this.#mark }));
  }

  /**
   * Asks which call keeps the main thread busy (0 if unknown), and where in the author's code. The thread may
   * be stopped there: the process can only be killed afterwards.
   */
  atWork(): Promise<{ readonly number: number; readonly place?: string }> {
    return new Promise((answer) => {
      setTimeout(() => answer({ number: 0 }), ASKED_MS);
      this.#pipe?.once('data', (said) => {
        const [, number = '0', place = ''] = /^(\d+) ?(.*)$/.exec(String(said)) ?? [];
        answer({ number: Number(number), ...(place === '' ? {} : { place }) });
      });
      this.#pipe?.write('?');
    });
  }

  get #pipe(): Socket | undefined {
    // A process that could not be started has no streams.
    const all = this.#child?.stdio as ChildProcess['stdio'] | undefined;
    return all?.[PIPE_FD] as Socket | undefined;
  }
}

/**
 * Explains an end by V8 for lack of memory. Only 'probably': native code of a package may abort, too, and
 * V8's own message goes to the output, which is not read here.
 */
function fullHeap(signal: string | null, heapMb: number | undefined): string {
  if (signal !== 'SIGABRT') return '';
  const [of, more] =
    heapMb === undefined ? ['', ''] : [` of ${heapMb} MB`, '; --worker-memory gives it more'];
  return `: probably its heap${of} was full ('JavaScript heap out of memory' in the output)${more}`;
}

/** Resolves once all programs have ended; never resolves if one of them cannot be ended (I3). */
export const untilOver = async (gone: Promise<boolean>): Promise<void> => {
  if (!(await gone)) await new Promise(() => undefined);
};

export const abortOf = (signal: AbortSignalLike): Promise<void> =>
  new Promise((over) => {
    if (signal.aborted) over();
    else signal.addEventListener('abort', over);
  });
