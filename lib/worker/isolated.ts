/**
 * Agents in processes of their own, which can be killed: for code that computes, or that may not come back.
 *
 * Owns: their start, their calls, one at a time each, and their end. Does not own: what runs in them
 * (`isolated-calls.ts`), leases and reports, which are those of the process that calls: the server's, or a
 * Lambda function's. To those a call is author code.
 *
 * I1 a process that is silent for as long as a lease is killed, as AWS's would have lost its lease; one that
 * starts has half a minute, because a busy machine loads code slowly. I2 one whose attempt was aborted has
 * two seconds, then it is killed with all that it has started. I3 a call whose process is dead ends when
 * nothing of it runs any more; its outcome is unknown. Where something of it cannot be ended, the call does
 * not end either, and the attempt's process deadline is waited for. I4 no process outlives the one that
 * calls: a thread in it ends its group when the pipe between them closes. S6 what died, or was aborted,
 * before the call was sent has certainly done nothing.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type {
  AbortSignalLike,
  Agent,
  AttemptContext,
  AttemptLog,
  Implementation,
  Verdict,
} from '../core/plan/agent.ts';
import { partsOf } from '../core/plan/agent-parts.ts';
import type { Mode } from '../core/records/state.ts';
import { type ErrorMark, marked } from '../core/values/errors.ts';
import { endAll, killGroup, MARK } from './process-group.ts';

/** Where the process finds the other end of its pipe: behind stdin, stdout, stderr and the channel. */
export const PIPE_FD = 4;
export const PULSE_MS = 500;
const ABORT_GRACE_MS = 2_000;
const STARTING_MS = 30_000;

/** To the process. */
export type ToProcess = Call | 'abort';
export interface Call {
  /** Among those of its process: what an earlier one still says is not taken for this one's. */
  readonly number: number;
  readonly mode: Mode;
  readonly ctx: Pick<AttemptContext, 'executionId' | 'step' | 'attempt' | 'effectKey' | 'accepted'>;
  readonly timeLeftMs: number;
  readonly input: unknown;
  readonly output?: unknown;
}
/** From the process. */
export type Word = { readonly kind: 'ready' } | { readonly kind: 'alive' } | (Said & { readonly of: number });
export type Said =
  | { readonly kind: 'progress'; readonly token: string | number }
  | {
      readonly kind: 'log';
      readonly level: keyof AttemptLog;
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | Answered;
type Answered =
  | { readonly kind: 'answer'; readonly answer: unknown }
  /** The work is done, and its output cannot leave the process. */
  | { readonly kind: 'unsendable'; readonly message: string }
  | {
      readonly kind: 'thrown';
      readonly mark?: ErrorMark;
      readonly name: string;
      readonly message: string;
      readonly code?: string;
      readonly retryAfterMs?: number;
    };

/** How one is started; it ends in `performCalls`. */
export interface Program {
  readonly entry: string;
  readonly args?: readonly string[];
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The processes of one agent. */
export class IsolatedAgent {
  readonly #program: Program;
  readonly #now: () => number;
  readonly #leaseMs: number;
  readonly #idle: OwnProcess[] = [];
  readonly #all = new Set<OwnProcess>();
  readonly implementation: Implementation<unknown, unknown>;

  /** @param now stands still while this process is blocked, and hears nothing */
  constructor(agent: Agent, program: Program, now: () => number) {
    this.#program = program;
    this.#now = now;
    this.#leaseMs = agent.spec.leaseMs;
    const parts = partsOf(agent.spec);
    this.implementation = {
      execute: (ctx, input) => this.#call('execute', ctx, { input }),
      ...(parts.includes('probe')
        ? { probe: async (ctx, input) => (await this.#call('probe', ctx, { input })) as Verdict<unknown> }
        : {}),
      ...(parts.includes('undo')
        ? { undo: (ctx, input, output) => this.#call('undo', ctx, { input, output }) }
        : {}),
    };
  }

  /** Starts one before it is needed. */
  warm(): void {
    if (this.#all.size === 0) this.#idle.push(this.#start());
  }

  /** Kills them. */
  async stop(): Promise<void> {
    await Promise.all([...this.#all].map((one) => one.end()));
  }

  async #call(mode: Mode, ctx: AttemptContext, given: Pick<Call, 'input' | 'output'>): Promise<unknown> {
    let one = this.#idle.pop();
    while (one?.isAlive === false) one = this.#idle.pop();
    const own = one ?? this.#start();
    const answer = await own.call(mode, ctx, given);
    if (own.isAlive) this.#idle.push(own);
    if (answer.kind === 'answer') return answer.answer;
    if (answer.kind === 'unsendable') {
      // No schema takes it, and no JSON does: a wrong answer.
      const output = Symbol(answer.message);
      return mode === 'probe' ? { verdict: 'done', output } : output;
    }
    const { mark, name, message, code, retryAfterMs } = answer;
    throw Object.assign(marked(new Error(message), mark), { name, code, retryAfterMs });
  }

  #start(): OwnProcess {
    const one = new OwnProcess(this.#program, { leaseMs: this.#leaseMs, now: this.#now }, () =>
      this.#all.delete(one),
    );
    this.#all.add(one);
    return one;
  }
}

const thrown = (mark: ErrorMark | undefined, code: string, message: string): Answered => ({
  kind: 'thrown',
  ...(mark === undefined ? {} : { mark }),
  name: 'Error',
  code,
  message,
});

class OwnProcess {
  readonly #child: ChildProcess;
  readonly #now: () => number;
  readonly #leaseMs: number;
  /** It is dead; whether nothing of it runs any more. */
  readonly #gone: Promise<boolean>;
  readonly #ready: Promise<void>;
  #onSaid: (said: Said) => void = () => undefined;
  /** Ends the call under way. A promise for each call would keep its answer as long as the process lives. */
  #onOver: () => void = () => undefined;
  #aliveAt: number;
  #calls = 0;
  #exit = '';
  #isReady = false;
  /** Nothing of it runs any more. */
  #isOver = false;
  isAlive = true;

  constructor(
    { entry, args = [], execArgv = [], env = {} }: Program,
    { leaseMs, now }: { leaseMs: number; now: () => number },
    onGone: () => void,
  ) {
    this.#leaseMs = leaseMs;
    this.#now = now;
    this.#aliveAt = now();
    const mark = randomUUID();
    this.#child = fork(entry, [...args], {
      env: { ...process.env, ...env, [MARK]: mark },
      execArgv: [...execArgv],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
      // An input may be a date, and an answer what is no JSON: which it is, the caller checks.
      serialization: 'advanced',
      // A group of its own, so that all of it can be killed.
      detached: true,
    });
    const { pid } = this.#child;
    const ended = new Promise<void>((over) => {
      this.#child.on('error', () => over());
      this.#child.once('exit', (code, signal) => {
        this.#exit = signal === null ? `exit code ${code}` : `signal ${signal}`;
        over();
      });
    });
    this.#gone = ended.then(async () => {
      this.isAlive = false;
      this.#isOver = pid === undefined || (await endAll({ pid, mark }));
      onGone();
      if (this.#isOver) this.#onOver();
      return this.#isOver;
    });
    this.#ready = new Promise((ready) => {
      this.#child.on('message', (word: unknown) => {
        this.#aliveAt = now();
        // The author's code, or a library of it, may say anything.
        if (!isWord(word)) return;
        if (word.kind === 'ready') {
          this.#isReady = true;
          ready();
        } else if (word.kind !== 'alive' && word.of === this.#calls) this.#onSaid(word);
      });
    });
  }

  /** @returns whether nothing of it runs any more */
  end(): Promise<boolean> {
    if (this.isAlive && this.#child.pid !== undefined) killGroup(this.#child.pid);
    return this.#gone;
  }

  /** Its answer, or what it died of. Never rejects. */
  async call(mode: Mode, ctx: AttemptContext, given: Pick<Call, 'input' | 'output'>): Promise<Answered> {
    const { signal } = ctx;
    this.#aliveAt = this.#now();
    // After what has come meanwhile: this process may have been blocked.
    const watching = setInterval(() => setImmediate(() => this.#endIfSilent()), PULSE_MS);
    // Not before all of it is over; where something cannot be ended, never (I3).
    const over = new Promise<'over'>((resolve) => {
      this.#onOver = () => resolve('over');
      if (this.#isOver) this.#onOver();
    });
    const earlier = this.#calls;
    try {
      if (!this.#isReady) await Promise.race([this.#ready, over, abortOf(signal)]);
      if (signal.aborted) return thrown('transient', 'not-begun', 'it was aborted before it began');
      const answer = await Promise.race([this.#performed(mode, ctx, given), over]);
      // What the author's code has started may go on without a lease.
      if (signal.aborted) {
        void this.end();
        await over;
      }
      return answer === 'over' ? this.#death(this.#calls > earlier) : answer;
    } finally {
      clearInterval(watching);
    }
  }

  #death(hasBegun: boolean): Answered {
    const when = hasBegun ? '' : ' before it began';
    const message = `the process of the attempt died${when}: ${this.#exit}`;
    return thrown(hasBegun ? undefined : 'transient', 'process-died', message);
  }

  #endIfSilent(): void {
    const mayBeSilentMs = this.#isReady ? this.#leaseMs : Math.max(this.#leaseMs, STARTING_MS);
    if (this.#now() - this.#aliveAt > mayBeSilentMs) void this.end();
  }

  /** What it answers; a process that dies answers nothing. */
  async #performed(
    mode: Mode,
    ctx: AttemptContext,
    given: Pick<Call, 'input' | 'output'>,
  ): Promise<Answered> {
    const { executionId, step, attempt, effectKey, accepted, signal } = ctx;
    const number = this.#calls + 1;
    const known = { executionId, step, attempt, effectKey, ...(accepted === undefined ? {} : { accepted }) };
    const call: Call = { number, mode, ctx: known, timeLeftMs: ctx.timeLeftMs(), ...given };
    let killing: NodeJS.Timeout | undefined;
    const abort = (): void => {
      if (this.isAlive) this.#child.send('abort' satisfies ToProcess, () => undefined);
      killing = setTimeout(() => void this.end(), ABORT_GRACE_MS);
    };
    const answered = new Promise<Answered>((answer) => {
      this.#onSaid = (said) => {
        if (said.kind === 'progress') ctx.progress(said.token);
        else if (said.kind === 'log') ctx.log[said.level](said.message, said.fields);
        else answer(said);
      };
    });
    try {
      if (this.isAlive) this.#child.send(call satisfies ToProcess, () => undefined);
      if (this.isAlive) this.#calls = number;
    } catch (error) {
      // What its schema has made of the input is nothing that another process can be given.
      return thrown('permanent', 'input-unsendable', `its input cannot be sent: ${String(error)}`);
    }
    signal.addEventListener('abort', abort);
    const answer = await answered;
    signal.removeEventListener('abort', abort);
    clearTimeout(killing);
    return answer;
  }
}

const isWord = (word: unknown): word is Word => typeof word === 'object' && word !== null && 'kind' in word;

const abortOf = (signal: AbortSignalLike): Promise<void> =>
  new Promise((over) => {
    if (signal.aborted) over();
    else signal.addEventListener('abort', over);
  });
