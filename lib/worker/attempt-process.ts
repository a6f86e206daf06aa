/**
 * A process that performs one attempt at a time, and its end.
 *
 * Owns: starting it, when it is killed, and that no program it started is left. Does not own: the code inside
 * (`attempt.ts`), which message it gets (`worker.ts`), what follows from its death (`death.ts`).
 *
 * `processDeadline` promises that the process is dead by then. Two independent timers keep that promise: one
 * here, and one in a separate thread inside the process. An author's endless loop does not stop that thread,
 * and it also ends the process when the worker has died. Both kill the whole process group, so programs that
 * the author's code started end too. The process is also killed soon after its lease is lost. An attempt is
 * reported dead only when none of its programs is running.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { clock } from '../aws/clock.ts';
import type { Received } from '../aws/sqs-inbox.ts';
import type { ClaimedAttempt, DeadAttempt } from '../core/decisions/events.ts';
import { defined } from '../core/values/defined.ts';
import { endAll, killGroup, MARK, type Programs } from './process-group.ts';

/** Added to the author's own limit: time for the abort, and to send the report and repeat it. */
export const SPARE_MS = 10_000;
/** A kill is not instant, and two clocks may differ. */
const KILL_MARGIN_MS = 1_000;
/**
 * Time between the abort of an attempt that lost its lease and the kill: the author's code may return, and a
 * late success may be reported.
 */
export const LOST_GRACE_MS = 2_000;
/** How long to wait for the last messages of a dead process. */
const HEARD_WITHIN_MS = 1_000;
/** Time to load the agent's code. */
const START_WITHIN_MS = 60_000;
/** Where the process finds the other end of its pipe: behind stdin, stdout, stderr and the channel. */
export const PIPE_FD = 4;

/** A message to the process. */
export interface Task {
  readonly messageId: string;
  readonly body: string;
  /** Counted from when the task is given: clocks may be set, so two processes cannot share an instant. */
  readonly killInMs: number;
  readonly deadInMs: number;
}
/**
 * Messages from the process: first its agent, or why that cannot be loaded; then, for each task, the attempt
 * that it claims and how the task ended.
 */
export type Word =
  | { readonly kind: 'ready'; readonly agent: string; readonly timeoutMs: number }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'claimed'; readonly attempt: ClaimedAttempt }
  | { readonly kind: 'lease-lost' }
  | { readonly kind: 'over'; readonly how: 'handled' | 'give-back' };

export interface Ran {
  readonly how: 'handled' | 'give-back' | 'died';
  /** The attempt of a process that is dead, with all programs that it started. */
  readonly dead?: DeadAttempt;
  /** The process was killed, but a program that it started still runs. */
  readonly lingers?: true;
}

export interface AttemptProcess {
  readonly isAlive: boolean;
  /** Performs one message at a time. Never rejects. */
  readonly run: (message: Received) => Promise<Ran>;
  /** Kills the process; resolves when it is dead. */
  readonly kill: () => Promise<void>;
}

export interface ProcessSettings {
  /** The path of `attempt.ts`, or of its bundle. */
  readonly entry: string;
  /** The file that exports the agent's `handler`. */
  readonly module: string;
  /**
   * Kills all programs of a process.
   * @returns true if all of them have ended
   * @default as `process-group.ts` does
   */
  readonly endPrograms?: (programs: Programs) => Promise<boolean>;
}

interface Performed {
  readonly how: Ran['how'];
  readonly attempt: ClaimedAttempt | undefined;
  readonly isLost: boolean;
}

type Ready = Extract<Word, { kind: 'ready' }>;

export class ForkedProcess implements AttemptProcess {
  /** Rejects when the agent's code cannot be loaded. */
  readonly ready: Promise<Ready>;
  readonly #child: ChildProcess;
  /** Resolves when the process is dead; true if none of the programs it started is still running. */
  readonly #gone: Promise<boolean>;
  #isGone = false;
  /** Its exit code or signal, as text. */
  #exit: string | undefined;
  #onWord: (word: Word | undefined) => void = () => undefined;

  constructor({ entry, module, endPrograms = endAll }: ProcessSettings) {
    // Own process group: it can be killed as a whole, and a terminal's Ctrl-C reaches only the worker.
    const mark = randomUUID();
    this.#child = fork(entry, [module], {
      env: { ...process.env, [MARK]: mark },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
      detached: true,
    });
    this.#child.on('message', (word) => this.#onWord(word as Word));
    this.#child.on('error', () => undefined);
    const { pid } = this.#child;
    const silent = new Promise((over) => this.#child.once('disconnect', over));
    this.#gone = new Promise<void>((exit) => {
      this.#child.once('exit', (code, signal) => {
        this.#exit = signal === null ? `exit code ${code}` : `signal ${signal}`;
        exit();
      });
      // A process that could not be started never exits.
      if (pid === undefined) this.#child.once('error', () => exit());
    }).then(async () => {
      this.#isGone = true;
      const isOver = pid === undefined || (await endPrograms({ pid, mark }));
      await Promise.race([silent, clock.sleep(HEARD_WITHIN_MS)]);
      this.#onWord(undefined);
      return isOver;
    });
    this.ready = this.#started();
    this.ready.catch(() => undefined);
  }

  get isAlive(): boolean {
    return !this.#isGone;
  }

  async run(message: Received): Promise<Ran> {
    const timeoutMs = await this.ready.then((ready) => ready.timeoutMs).catch(() => undefined);
    if (timeoutMs === undefined || this.#isGone) return { how: 'died' };
    const { messageId, body } = message;
    const killInMs = timeoutMs + SPARE_MS;
    const task: Task = { messageId, body, killInMs, deadInMs: killInMs + KILL_MARGIN_MS };
    const kill = this.#killedAfter(killInMs);
    const { how, attempt, isLost } = await this.#perform(task);
    kill.cancel();
    if (how !== 'died' && !isLost) return { how };
    // Programs that the author's code started would go on without a lease, even after it has returned.
    const isOver = await this.#end();
    if (!isOver) return { how, lingers: true };
    return { how, ...defined({ dead: attempt && { ...attempt, ...defined({ exit: this.#exit }) } }) };
  }

  async kill(): Promise<void> {
    await this.#end();
  }

  #end(): Promise<boolean> {
    if (this.#child.pid !== undefined && !this.#isGone) killGroup(this.#child.pid);
    return this.#gone;
  }

  #killedAfter(ms: number): { readonly cancel: () => void } {
    const timer = setTimeout(() => void this.#end(), ms);
    return { cancel: () => clearTimeout(timer) };
  }

  #perform(task: Task): Promise<Performed> {
    let attempt: ClaimedAttempt | undefined;
    let abandoned: { readonly cancel: () => void } | undefined;
    return new Promise((over) => {
      const end = (how: Ran['how']): void => {
        abandoned?.cancel();
        over({ how, attempt, isLost: abandoned !== undefined });
      };
      this.#onWord = (word) => {
        if (word?.kind === 'claimed') attempt = word.attempt;
        else if (word?.kind === 'lease-lost') abandoned = this.#killedAfter(LOST_GRACE_MS);
        else end(word?.kind === 'over' ? word.how : 'died');
      };
      if (this.#isGone) end('died');
      else this.#child.send(task, () => undefined);
    });
  }

  async #started(): Promise<Ready> {
    const kill = this.#killedAfter(START_WITHIN_MS);
    const word = await this.#next();
    kill.cancel();
    if (word?.kind === 'ready') return word;
    await this.kill();
    throw new Error(word?.kind === 'refused' ? word.message : 'the process ended before it was ready');
  }

  /** The next message of the process; undefined if it has died. */
  #next(): Promise<Word | undefined> {
    return new Promise((heard) => {
      this.#onWord = heard;
      if (this.#isGone) heard(undefined);
    });
  }
}
