/**
 * A process that performs one attempt at a time, and its end.
 *
 * Owns: starting it, the time at which it is killed, and that nothing of it is left. Does not own: what it does
 * (`attempt.ts`), which message it is given (`worker.ts`).
 *
 * `processDeadline` is a promise that the process is dead by then. Two keep it, each alone: a timer here, and inside the process
 * a thread of its own, which an author's endless loop does not stop and which also ends the process when this one has
 * died. Both kill the whole process group, so that no program that the author's code has started goes on.
 */

import { type ChildProcess, fork } from 'node:child_process';
import type { Received } from '../aws/sqs-inbox.ts';

/** For the abort, the report and its repetition, beyond the author's own limit. */
export const SPARE_MS = 10_000;
/** A kill is not instant, and two clocks may differ. */
const KILL_MARGIN_MS = 1_000;
/** For loading the agent's code. */
const START_WITHIN_MS = 60_000;
/** Where the process finds the other end of its pipe: behind stdin, stdout, stderr and the channel. */
export const PIPE_FD = 4;

/** To the process. */
export interface Task {
  readonly messageId: string;
  readonly body: string;
  readonly killAt: number;
  readonly processDeadlineAt: number;
}
/** From the process: first what it is, then how each task went. */
export type Word =
  | { readonly kind: 'ready'; readonly agent: string; readonly timeoutMs: number }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'over'; readonly how: 'handled' | 'give-back' };

export type How = 'handled' | 'give-back' | 'died';

export interface AttemptProcess {
  readonly isAlive: boolean;
  /** Performs what the message hints at; one at a time. Never rejects. */
  readonly run: (message: Received) => Promise<How>;
  /** Resolves when it is dead. */
  readonly kill: () => Promise<void>;
}

export interface ProcessSettings {
  /** `attempt.ts`, or what it was bundled to. */
  readonly entry: string;
  /** The file that exports the agent's `handler`. */
  readonly module: string;
}

type Ready = Extract<Word, { kind: 'ready' }>;

export class ForkedProcess implements AttemptProcess {
  /** Rejects when the agent's code cannot be loaded. */
  readonly ready: Promise<Ready>;
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #isGone = false;
  #onWord: (word: Word | undefined) => void = () => undefined;

  constructor({ entry, module }: ProcessSettings) {
    // A group of its own, so that all of it can be killed, and a terminal's Ctrl-C goes to the worker alone.
    this.#child = fork(entry, [module], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
      detached: true,
    });
    this.#child.on('message', (word) => this.#onWord(word as Word));
    this.#child.on('error', () => undefined);
    this.#gone = new Promise((gone) => {
      const end = (): void => {
        this.#isGone = true;
        killGroup(this.#child);
        this.#onWord(undefined);
        gone();
      };
      this.#child.once('exit', end);
      // A process that could not be started has no exit.
      if (this.#child.pid === undefined) this.#child.once('error', end);
    });
    this.ready = this.#started();
    this.ready.catch(() => undefined);
  }

  get isAlive(): boolean {
    return !this.#isGone;
  }

  async run(message: Received): Promise<How> {
    const timeoutMs = await this.ready.then((ready) => ready.timeoutMs).catch(() => undefined);
    if (timeoutMs === undefined || this.#isGone) return 'died';
    const { messageId, body } = message;
    const killAt = Date.now() + timeoutMs + SPARE_MS;
    const task: Task = { messageId, body, killAt, processDeadlineAt: killAt + KILL_MARGIN_MS };
    const timer = setTimeout(() => killGroup(this.#child), timeoutMs + SPARE_MS);
    const word = await this.#next(() => this.#child.send(task, () => undefined));
    clearTimeout(timer);
    if (word?.kind === 'over') return word.how;
    await this.kill();
    return 'died';
  }

  async kill(): Promise<void> {
    killGroup(this.#child);
    await this.#gone;
  }

  async #started(): Promise<Ready> {
    const timer = setTimeout(() => killGroup(this.#child), START_WITHIN_MS);
    const word = await this.#next();
    clearTimeout(timer);
    if (word?.kind === 'ready') return word;
    await this.kill();
    throw new Error(word?.kind === 'refused' ? word.message : 'the process ended before it was ready');
  }

  /** The next thing it says; nothing when it has died. */
  #next(ask: () => unknown = () => undefined): Promise<Word | undefined> {
    return new Promise((heard) => {
      this.#onWord = heard;
      if (this.#isGone) heard(undefined);
      else ask();
    });
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // No such group: it is gone, or the platform has none.
    child.kill('SIGKILL');
  }
}
