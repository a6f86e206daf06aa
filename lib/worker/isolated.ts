/**
 * Runs agents' code outside the process that claims for them: code that computes for long, or ends its
 * process, harms no other agent.
 *
 * Owns: how many processes there are, and which one a call is given to. Does not own: a process and its calls
 * (`isolated-process.ts`), the code in it (`isolated-calls.ts`), leases and reports. Those belong to the
 * calling process, a server or a Lambda function, which treats a call as the author's code.
 *
 * S9 a process is ready before a message is claimed: if none can be started, the message is given back, and
 * no attempt is charged.
 */

import type { Agent, AttemptContext, Implementation } from '../core/plan/agent.ts';
import type { Verdict } from '../core/plan/answers.ts';
import { partsOf } from '../core/plan/agent-parts.ts';
import type { Mode } from '../core/records/state.ts';
import { InterruptedError, marked, Unsendable } from '../core/values/errors.ts';
import type { Program } from './isolated-child.ts';
import { OwnProcess, type ProcessOptions } from './isolated-process.ts';
import type { Caller, Trouble } from './isolated-words.ts';
import type { Call } from './isolated-words.ts';

export interface PoolOptions extends Pick<ProcessOptions, 'now' | 'isShared' | 'isPatient'> {
  /** The most processes at the same time if each has one call. @default as many as there are calls */
  readonly most?: number;
  readonly onTrouble?: (trouble: Trouble) => void;
}

const nothing = (): void => undefined;

/** Processes of one program: one for all calls, or one for each call. */
export class ProcessPool {
  readonly #program: Program;
  readonly #options: PoolOptions;
  /** Processes that may be given a call. */
  readonly #free: OwnProcess[] = [];
  /** Processes that are reserved for messages being claimed. */
  readonly #kept: OwnProcess[] = [];
  readonly #all = new Set<OwnProcess>();
  readonly #waiting: (() => void)[] = [];
  #entered = 0;
  #calling = 0;
  #isStopped = false;

  constructor(program: Program, options: PoolOptions) {
    this.#program = program;
    this.#options = options;
  }

  /** Starts a process before it is needed. */
  warm(): void {
    if (this.#all.size === 0) this.#free.push(this.#start());
  }

  /** Kills all processes. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#all].map((one) => one.end()));
  }

  /**
   * Gets a process ready for a message that is about to be claimed.
   * @returns a function to call when the message has been handled; undefined if no process can be started
   */
  async enter(): Promise<(() => void) | undefined> {
    if (this.#options.isShared) {
      const one = this.#shared();
      if (!one.isReady) await one.awaited();
      return one.isReady ? nothing : undefined;
    }
    const { most = Number.POSITIVE_INFINITY } = this.#options;
    while (this.#entered >= most) await new Promise<void>((turn) => this.#waiting.push(turn));
    this.#entered += 1;
    const one = this.#taken() ?? this.#start();
    await one.awaited();
    if ((await one.started) === 'not-started') return this.#leave();
    this.#kept.push(one);
    return () => this.#leave();
  }

  /** Call this after the clock was set forward, or after nothing ran for long. */
  timeSkipped(): void {
    for (const one of this.#all) one.timeSkipped();
  }

  async call(
    caller: Caller,
    mode: Mode,
    ctx: AttemptContext,
    given: Pick<Call, 'input' | 'output'>,
  ): Promise<unknown> {
    const { isShared } = this.#options;
    const own = isShared ? this.#shared() : (this.#taken() ?? this.#start());
    this.#calling += 1;
    const answer = await own.call(caller, mode, ctx, given);
    this.#calling -= 1;
    if (!isShared && own.isUsable) this.#free.push(own);
    switch (answer.kind) {
      case 'answer':
        return answer.answer;
      case 'unsendable': {
        const output = new Unsendable(answer.message);
        return mode === 'probe' ? { verdict: 'done', output } : output;
      }
      case 'interrupted':
        throw new InterruptedError(answer.message, answer.hasBegun);
      case 'thrown': {
        const { mark, name, message, code, retryAfter } = answer;
        throw Object.assign(marked(new Error(message), mark), { name, code, retryAfter });
      }
    }
  }

  #leave(): undefined {
    this.#entered -= 1;
    // Frees the process of a message that needed no call.
    while (this.#kept.length > Math.max(0, this.#entered - this.#calling)) {
      const one = this.#kept.pop();
      if (one?.isUsable === true) this.#free.push(one);
    }
    this.#waiting.shift()?.();
  }

  #taken(): OwnProcess | undefined {
    for (const some of [this.#kept, this.#free])
      for (let one = some.pop(); one !== undefined; one = some.pop()) if (one.isUsable) return one;
    return undefined;
  }

  #shared(): OwnProcess {
    const [last] = this.#free;
    if (last?.isUsable === true) return last;
    const one = this.#start();
    this.#free.splice(0, 1, one);
    return one;
  }

  #start(): OwnProcess {
    const { onTrouble = nothing, ...options } = this.#options;
    const one: OwnProcess = new OwnProcess(this.#program, {
      ...options,
      onTrouble,
      onClosed: (closed) => {
        // Starts the next process before it is needed.
        if (options.isShared && closed.wasReady && !this.#isStopped) this.#shared();
      },
      onGone: (gone) => this.#all.delete(gone),
    });
    this.#all.add(one);
    return one;
  }
}

/** The agent's code, for the performer of attempts: it runs in a process of the pool. */
export function performedIn(agent: Agent, pool: () => ProcessPool): Implementation<unknown, unknown> {
  const { name, leaseMs } = agent.spec;
  const caller = { name, leaseMs };
  const parts = partsOf(agent.spec);
  return {
    execute: (ctx, input) => pool().call(caller, 'execute', ctx, { input }),
    ...(parts.includes('probe')
      ? {
          probe: async (ctx, input) =>
            (await pool().call(caller, 'probe', ctx, { input })) as Verdict<unknown>,
        }
      : {}),
    ...(parts.includes('undo')
      ? { undo: (ctx, input, output) => pool().call(caller, 'undo', ctx, { input, output }) }
      : {}),
  };
}
