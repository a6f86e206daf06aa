/**
 * One process for authors' code, and its calls: one, or several side by side.
 *
 * Owns: its start, its calls, which call is at fault for its end, and its end. Does not own: the code in it
 * (`isolated-calls.ts`), which process a call is given to (`isolated.ts`).
 *
 * I1 a process that is silent for as long as a lease of its calls is killed: a Lambda function would have
 * lost its lease.
 * I2 an aborted attempt has two seconds; then its process is killed with everything that it has started. If
 * other calls are in the process, it gets no more calls and is killed when those are over, at the latest by
 * the attempt's process deadline.
 * I3 a call whose process is dead ends when none of that process's programs is running. If one cannot be
 * ended, the call does not end either, and the attempt's process deadline counts.
 * I5 a call is at fault if it had the process alone or is known to have ended it; others are interrupted.
 * S6 a call that died or was aborted before it was sent has certainly done nothing.
 */

import { type AbortSignalLike, type AttemptContext, PROCESS_TIME_LEFT_MS } from '../core/plan/agent.ts';
import type { Mode } from '../core/records/state.ts';
import { defined } from '../core/values/defined.ts';
import { abortOf, IsolatedChild, type Program, untilOver } from './isolated-child.ts';
import {
  type Answered,
  BLOCKED_MS,
  type Call,
  type Caller,
  diedOf,
  neverBegan,
  PULSE_MS,
  type Said,
  type Trouble,
  unsendableInput,
  type Word,
} from './isolated-words.ts';

const ABORT_GRACE_MS = 2_000;
/** How long a start may be silent: a busy machine loads code slowly. */
const STARTING_MS = 30_000;
/** An error that a module leaves ends no younger process: the next would leave it, too. */
const SPARED_MS = 30_000;
/** A kill is not instant. */
const KILL_MARGIN_MS = 1_000;
/** A pause extends a call's time; the call's process is informed of an extension of this much or more. */
const GIVEN_BACK_MS = 100;
const MB = 1_048_576;

export interface ProcessOptions {
  /** Calls of several agents run in the process at the same time. */
  readonly isShared: boolean;
  /** A call's silence does not end the process: it may last as long as the call. */
  readonly isPatient?: boolean | undefined;
  /** For how many ms the caller has run, by no wall clock: not while it is stopped, or reads nothing. */
  readonly now: () => number;
  readonly onTrouble: (trouble: Trouble) => void;
  /** Called when the process takes no more calls. */
  readonly onClosed: (one: OwnProcess) => void;
  /** Called when the process is dead. */
  readonly onGone: (one: OwnProcess) => void;
}

type Values = Pick<Call, 'input' | 'output'>;

interface UnderWay {
  readonly number: number;
  readonly caller: Caller;
  readonly ctx: AttemptContext;
  readonly settle: (answer: Answered) => void;
  /** When the call's time is over as the process knows it, by `performance.now()`. */
  untilAt: number;
  /** Set if the process is ended because of this call: why. */
  fault?: string;
  timer?: NodeJS.Timeout;
}

export type Started = 'ready' | 'died' | 'not-started';

export class OwnProcess {
  /** Resolves when the process is ready for calls, or never will be. */
  readonly started: Promise<Started>;
  readonly #child: IsolatedChild;
  readonly #options: ProcessOptions;
  readonly #memoryMb: number;
  /** Resolves when the process is dead; true if none of the programs it started is still running. */
  readonly #gone: Promise<boolean>;
  readonly #underWay = new Map<number, UnderWay>();
  #watching: NodeJS.Timeout | undefined;
  readonly #bornAt: number;
  #spared: NodeJS.Timeout | undefined;
  #startedAs: Started | undefined;
  #aliveAt: number;
  #calls = 0;
  #awaitedBy = 0;
  /** Why the process is ended. */
  #why: string | undefined;
  #isTold = false;
  #isClosed = false;
  #isEnding = false;
  #isDead = false;

  constructor(program: Program, options: ProcessOptions) {
    this.#options = options;
    this.#bornAt = options.now();
    this.#aliveAt = this.#bornAt;
    this.#memoryMb = program.memoryMb ?? Number.POSITIVE_INFINITY;
    this.started = new Promise((over) => {
      this.#onStarted = over;
    });
    this.#child = new IsolatedChild(program, (all) => this.#heard(all));
    this.#gone = this.#child.ended.then(() => this.#died());
  }

  #onStarted: (how: Started) => void = () => undefined;

  /** True if it may be given another call. */
  get isUsable(): boolean {
    return !this.#isClosed;
  }

  get isReady(): boolean {
    return this.#startedAs === 'ready' && !this.#isClosed;
  }

  get wasReady(): boolean {
    return this.#startedAs === 'ready';
  }

  /** Waits until the process takes calls or never will. Its silence counts from now: it may have frozen. */
  async awaited(signal?: AbortSignalLike): Promise<void> {
    if (this.#startedAs !== undefined) return;
    if (this.#awaitedBy === 0) this.#aliveAt = this.#options.now();
    this.#awaitedBy += 1;
    // Ends a start that hangs.
    this.#watch();
    await (signal === undefined ? this.started : Promise.race([this.started, abortOf(signal)]));
    this.#awaitedBy -= 1;
  }

  /** Kills the process. Resolves when it is dead; true if none of its programs is still running. */
  end(): Promise<boolean> {
    this.#isEnding = true;
    this.#close();
    if (!this.#isDead) this.#child.kill();
    return this.#gone;
  }

  /** Returns the call's answer, or, if the process died, the failure that it died of. Never rejects. */
  async call(caller: Caller, mode: Mode, ctx: AttemptContext, values: Values): Promise<Answered> {
    const { signal } = ctx;
    if (this.#underWay.size === 0) this.#aliveAt = this.#options.now();
    if (!this.isReady) await this.awaited(signal);
    if (signal.aborted) return neverBegan({ code: 'not-begun', message: 'it was aborted before it began' });
    if (this.#isEnding) {
      await untilOver(this.#gone);
      return this.#notBegun();
    }
    const answer = await this.#performed(caller, mode, ctx, values);
    // Programs that its author's code has started must not go on without a lease.
    if (signal.aborted && !this.#options.isShared) await untilOver(this.end());
    return answer;
  }

  #notBegun(): Answered {
    const message = `the process of the attempt died before it began: ${this.#exit}`;
    if (this.#options.isShared) return { kind: 'interrupted', message, hasBegun: false };
    return neverBegan({ code: 'process-died', message });
  }

  async #performed(caller: Caller, mode: Mode, ctx: AttemptContext, values: Values): Promise<Answered> {
    const { executionId, step, attempt, idempotencyKey, accepted, signal } = ctx;
    const number = (this.#calls += 1);
    let settle: (answer: Answered) => void = () => undefined;
    const answered = new Promise<Answered>((answer) => (settle = answer));
    const timeLeftMs = ctx.timeLeftMs();
    const one: UnderWay = { number, caller, ctx, settle, untilAt: performance.now() + timeLeftMs };
    this.#underWay.set(number, one);
    this.#watch();
    const known = { executionId, step, attempt, idempotencyKey, ...defined({ accepted }) };
    const call = { number, agent: caller.name, mode, ctx: known, timeLeftMs, ...values };
    this.#child.say(call satisfies Call, (error) => settle(unsendableInput(error)));
    const abort = (): void => {
      this.#child.say({ abort: number }, () => undefined);
      one.timer ??= setTimeout(() => this.#ignored(one), ABORT_GRACE_MS);
    };
    signal.addEventListener('abort', abort);
    const answer = await answered;
    signal.removeEventListener('abort', abort);
    clearTimeout(one.timer);
    this.#underWay.delete(number);
    if (this.#isClosed) this.#endIfAlone();
    return answer;
  }

  /** Handles a call that goes on without a lease, or after its time. */
  #ignored(one: UnderWay): void {
    // While the event loop is blocked, no call can obey, and only one of them blocks it.
    if (this.#options.now() - this.#aliveAt > BLOCKED_MS) return this.#blocked();
    this.#faulted(one, 'it ignored the end of its signal', one.ctx.timeLeftMs() <= 0);
  }

  /** Ends the process because of this call: at once, or when the others are over. */
  #faulted(one: UnderWay, why: string, isNews = true): void {
    one.fault = why;
    this.#close();
    if (isNews) this.#trouble(one.caller.name, why);
    if (this.#endIfAlone()) return;
    const { [PROCESS_TIME_LEFT_MS]: leftMs = () => 0 } = one.ctx as {
      readonly [PROCESS_TIME_LEFT_MS]?: () => number;
    };
    clearTimeout(one.timer);
    one.timer = setTimeout(() => void this.end(), Math.max(0, leftMs() - KILL_MARGIN_MS));
  }

  /** Call after a jump of the clock: calls that have ignored their abort get no more time. */
  timeSkipped(): void {
    if ([...this.#underWay.values()].some(({ fault }) => fault !== undefined)) void this.end();
  }

  /** Ends the process if all of its calls are at fault. */
  #endIfAlone(): boolean {
    const isAlone = [...this.#underWay.values()].every(({ fault }) => fault !== undefined);
    if (isAlone) void this.end();
    return isAlone;
  }

  /** @param agent the one at fault, if that is known */
  #trouble(agent: string | undefined, why: string, isBlock?: true): void {
    this.#isTold = true;
    this.#options.onTrouble({ atWork: this.#atWork(), why, ...defined({ agent, isBlock }) });
  }

  #atWork(): readonly string[] {
    return [...new Set([...this.#underWay.values()].map(({ caller }) => caller.name))];
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.onClosed(this);
  }

  #heard(all: unknown): void {
    this.#aliveAt = this.#options.now();
    // The author's code, or one of its libraries, may send anything.
    if (!Array.isArray(all)) return;
    for (const word of all as readonly Word[]) this.#said(word);
  }

  #said(word: Word): void {
    switch (word.kind) {
      case 'ready':
        this.#begun('ready');
        for (const [agent, why] of Object.entries(word.failed))
          this.#options.onTrouble({
            agent,
            atWork: [],
            why: `its code cannot be loaded: ${why}`,
            isLoad: true,
          });
        break;
      case 'alive':
        if (word.rssBytes <= this.#memoryMb * MB || this.#isEnding) break;
        this.#why = `it took more than the ${this.#memoryMb} MB of memory that it may have (--worker-memory)`;
        this.#ended();
        void this.end();
        break;
      case 'fault': {
        const one = word.of === undefined ? undefined : this.#underWay.get(word.of);
        if (one !== undefined) this.#outOfHand(one, word.why);
        else this.#leftOver(word.agent, word.why);
        break;
      }
      default: {
        const one = this.#underWay.get(word.of);
        if (one !== undefined) this.#answered(one, word);
      }
    }
  }

  /** Handles an uncaught error: the attempt has failed, and has as long to return as an aborted one. */
  #outOfHand(one: UnderWay, why: string): void {
    one.fault = why;
    this.#close();
    this.#trouble(one.caller.name, why);
    if (this.#endIfAlone()) return;
    one.timer ??= setTimeout(() => this.#faulted(one, why, false), ABORT_GRACE_MS);
  }

  /** Handles a fault of a call that is over, or of no call. */
  #leftOver(agent: string | undefined, why: string): void {
    const sparedMs = this.#bornAt + SPARED_MS - this.#options.now();
    if (agent === undefined && this.#options.isShared && sparedMs > 0 && !this.#isClosed) {
      this.#spared ??= setTimeout(() => this.#leftOver(agent, why), sparedMs).unref();
      return;
    }
    this.#close();
    this.#trouble(agent, why);
    this.#endIfAlone();
  }

  #answered(one: UnderWay, said: Said): void {
    if (said.kind === 'progress') one.ctx.progress(said.token);
    else if (said.kind === 'log') one.ctx.log[said.level](said.message, said.fields);
    else one.settle(said);
  }

  #begun(how: Started): void {
    if (this.#startedAs !== undefined) return;
    this.#startedAs = how;
    this.#onStarted(how);
  }

  /** Checks after the messages that have arrived meanwhile: this process may have been blocked. */
  #watch(): void {
    this.#watching ??= setInterval(() => setImmediate(() => this.#pulse()), PULSE_MS);
  }

  #pulse(): void {
    for (const one of this.#underWay.values()) {
      const timeLeftMs = one.ctx.timeLeftMs();
      const untilAt = performance.now() + timeLeftMs;
      if (timeLeftMs === 0 || untilAt < one.untilAt + GIVEN_BACK_MS) continue;
      one.untilAt = untilAt;
      this.#child.say({ timed: one.number, timeLeftMs }, () => undefined);
    }
    this.#endIfSilent();
  }

  #endIfSilent(): void {
    if (this.#isEnding) return;
    const isAwaited = this.#startedAs === undefined && this.#awaitedBy > 0;
    if (this.#underWay.size === 0 && !isAwaited) {
      clearInterval(this.#watching);
      this.#watching = undefined;
      return;
    }
    if (this.#options.isPatient === true && !isAwaited) return;
    const leases = [...this.#underWay.values()].map(({ caller }) => caller.leaseMs);
    const mayBeSilentMs = isAwaited ? STARTING_MS : Math.min(...leases);
    if (this.#options.now() - this.#aliveAt > mayBeSilentMs) this.#blocked();
  }

  /** Kills the process once its guard has said which call keeps it busy, and where. */
  #blocked(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#close();
    const silent = `it was silent for ${Math.round((this.#options.now() - this.#aliveAt) / 1_000)} s`;
    this.#why = silent;
    void this.#child.atWork().then(({ number, place }) => {
      if (place !== undefined) this.#why = `${silent}, busy at ${place}`;
      const agent = this.#underWay.get(number)?.caller.name ?? this.#onlyAgent();
      this.#trouble(agent, this.#end, true);
      void this.end();
    });
  }

  #onlyAgent(): string | undefined {
    const [name, ...others] = this.#atWork();
    return others.length === 0 ? name : undefined;
  }

  async #died(): Promise<boolean> {
    this.#isDead = true;
    if (!this.#isEnding && !this.#isTold) this.#ended();
    this.#isEnding = true;
    this.#close();
    clearInterval(this.#watching);
    clearTimeout(this.#spared);
    const isOver = await this.#child.endPrograms();
    this.#options.onGone(this);
    this.#begun(this.#child.isStarted ? 'died' : 'not-started');
    if (isOver) for (const one of this.#underWay.values()) one.settle(this.#endOf(one));
    return isOver;
  }

  get #exit(): string {
    return this.#why ?? this.#child.exit;
  }

  get #end(): string {
    return `its process ended: ${this.#exit}`;
  }

  /** Reports a process that ended unasked, or because of its memory limit. */
  #ended(): void {
    this.#trouble(this.#options.isShared ? undefined : this.#onlyAgent(), this.#end);
  }

  #endOf({ fault }: UnderWay): Answered {
    if (fault !== undefined) return diedOf(fault);
    if (!this.#options.isShared) return diedOf(this.#exit);
    const message = `the process of the attempt ended, by no fault of its own that is known: ${this.#exit}`;
    return { kind: 'interrupted', message, hasBegun: true };
  }
}
