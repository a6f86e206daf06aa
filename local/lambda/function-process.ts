/**
 * One process of a function: starts it, passes one event at a time, ends it at the timeout, kills, freezes
 * and thaws it. Does not own: which process gets which event (local-function.ts).
 *
 * Invariants
 * - I1 every event is answered exactly once: result, error, timeout or death.
 * - I2 a process whose event timed out is dead (SIGKILL, which also ends a stopped one) before the answer is
 *   given.
 */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Lambda's error shape. */
export interface FunctionError {
  readonly errorType: string;
  readonly errorMessage: string;
  readonly trace?: readonly string[];
}

export type InvocationResult =
  | { readonly ok: true; readonly payload: string }
  | {
      readonly ok: false;
      readonly kind: 'error' | 'timeout' | 'exit' | 'init' | 'throttled';
      readonly error: FunctionError;
    };

export interface ProcessOptions {
  /** Whether the process is killed when its start or an event takes too long. */
  readonly hasTimeLimits: boolean;
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
  readonly onExit: () => void;
}

/** The message that the process gets before its first event. */
export interface InitMessage {
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly handler: string;
}

/** The parts of the context object that never change. */
export interface ContextBasics {
  readonly functionName: string;
  readonly functionVersion: string;
  readonly invokedFunctionArn: string;
  readonly memoryLimitInMB: string;
  readonly logGroupName: string;
  readonly logStreamName: string;
  readonly timeoutMs: number;
}

type ChildMessage =
  | { readonly t: 'ready' }
  | { readonly t: 'initFailed'; readonly error: FunctionError }
  | { readonly t: 'done'; readonly id: string; readonly payload: string }
  | { readonly t: 'failed'; readonly id?: string; readonly fatal?: true; readonly error: FunctionError };

interface Running {
  readonly requestId: string;
  readonly event: string;
  readonly begin: () => void;
  readonly settle: (result: InvocationResult) => void;
  timer: NodeJS.Timeout | undefined;
}

const INIT_LIMIT_MS = 10_000;

export class FunctionProcess {
  readonly pid: number;
  readonly accessKeyId: string;
  /** Resolves when the process is gone. */
  readonly exited: Promise<void>;
  invocations = 0;
  #frozen = false;
  #onThaw: (() => void)[] = [];
  readonly #child: ChildProcess;
  readonly #context: ContextBasics;
  readonly #hasTimeLimits: boolean;
  #running: Running | undefined;
  #isReady = false;
  #isDead = false;
  /** Whether it was killed or is crashing, and so gets no further event. */
  #isEnding = false;
  #timedOut: InvocationResult | undefined;
  #lastError: FunctionError | undefined;

  constructor(
    child: ChildProcess,
    accessKeyId: string,
    init: InitMessage,
    context: ContextBasics,
    options: ProcessOptions,
  ) {
    this.pid = child.pid ?? 0;
    this.accessKeyId = accessKeyId;
    this.#child = child;
    this.#context = context;
    this.#hasTimeLimits = options.hasTimeLimits;
    for (const stream of ['stdout', 'stderr'] as const) {
      const input = child[stream];
      if (input !== null) createInterface({ input }).on('line', (line) => options.onLine(stream, line));
    }
    child.on('message', (message) => this.#receive(message as ChildMessage));
    child.on('error', () => {});
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#isDead = true;
        this.#died(code, signal);
        options.onExit();
        resolve();
      });
    });
    if (child.exitCode !== null || child.signalCode !== null) this.#isDead = true;
    this.#send({ t: 'init', ...init });
  }

  get busy(): boolean {
    return this.#running !== undefined;
  }

  get dead(): boolean {
    return this.#isDead || this.#isEnding;
  }

  get frozen(): boolean {
    return this.#frozen && !this.#isDead;
  }

  get requestId(): string | undefined {
    return this.#running?.requestId;
  }

  /** The event in progress, as JSON text. */
  get event(): string | undefined {
    return this.#running?.event;
  }

  /**
   * Runs one event (JSON text). The process must be idle. `onBegin` is called just before the handler gets
   * the event, in a new process after the import.
   */
  async invoke(requestId: string, event: string, onBegin: () => void): Promise<InvocationResult> {
    this.invocations += 1;
    return await new Promise<InvocationResult>((resolve) => {
      const running: Running = {
        requestId,
        event,
        timer: undefined,
        begin: () => this.#begin(running, onBegin),
        settle: (result) => {
          if (this.#running !== running) return;
          clearTimeout(running.timer);
          this.#running = undefined;
          resolve(result);
        },
      };
      this.#running = running;
      if (this.#isDead) this.#died(null, null);
      else if (this.#isReady) running.begin();
      else running.timer = this.#timeoutAfter(INIT_LIMIT_MS, 'Init', running);
    });
  }

  #begin(running: Running, onBegin: () => void): void {
    const { requestId, event } = running;
    const { timeoutMs } = this.#context;
    clearTimeout(running.timer);
    running.timer = this.#timeoutAfter(timeoutMs, 'Task', running);
    // Applies faults before the event is sent: a process killed or frozen here has not seen it.
    onBegin();
    const traceId = `Root=1-${requestId.slice(0, 8)}-${requestId.replaceAll('-', '').slice(8)};Sampled=0`;
    const deadlineAt = Date.now() + timeoutMs;
    this.#send({ t: 'invoke', id: requestId, event, deadlineAt, traceId, context: this.#context });
  }

  /** Kills it (-9). Resolves when the process is gone. */
  async kill(): Promise<void> {
    // Waits for the exit event, also of a process that is already dead.
    this.#isEnding = true;
    if (!this.#isDead) this.#child.kill('SIGKILL');
    await this.exited;
  }

  /** Stops the process (SIGSTOP) without ending it. */
  freeze(): void {
    this.#frozen = true;
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#frozen = false;
    this.#child.kill('SIGCONT');
    for (const resolve of this.#onThaw.splice(0)) resolve();
  }

  /** Waits while the process is frozen, until it is thawed or gone. */
  async awakeOrDead(): Promise<'awake' | 'dead'> {
    if (this.#frozen) {
      const thawed = new Promise<void>((resolve) => this.#onThaw.push(resolve));
      await Promise.race([thawed, this.exited]);
    }
    return this.#isDead ? 'dead' : 'awake';
  }

  #timeoutAfter(delayMs: number, what: 'Init' | 'Task', running: Running): NodeJS.Timeout | undefined {
    if (!this.#hasTimeLimits) return undefined;
    return setTimeout(() => {
      const seconds = (delayMs / 1000).toFixed(2);
      const { requestId } = running;
      const errorMessage = `RequestId: ${requestId} Error: ${what} timed out after ${seconds} seconds`;
      const result: InvocationResult = {
        ok: false,
        kind: 'timeout',
        error: { errorType: 'Sandbox.Timedout', errorMessage },
      };
      // The exit handler answers with this result, so that the exit does not count as a crash.
      this.#timedOut = result;
      void this.kill();
    }, delayMs);
  }

  #receive(message: ChildMessage): void {
    const running = this.#running;
    if (message.t === 'ready') {
      this.#isReady = true;
      running?.begin();
    } else if (message.t === 'initFailed') {
      this.#lastError = message.error;
      running?.settle({ ok: false, kind: 'init', error: message.error });
    } else if (message.t === 'done') {
      if (running?.requestId === message.id) running.settle({ ok: true, payload: message.payload });
    } else {
      if (message.fatal === true) this.#isEnding = true;
      if (message.id === undefined || running?.requestId !== message.id) return;
      running.settle({ ok: false, kind: 'error', error: message.error });
    }
  }

  #died(code: number | null, signal: NodeJS.Signals | null): void {
    const running = this.#running;
    if (running === undefined) return;
    if (this.#timedOut !== undefined) return running.settle(this.#timedOut);
    const how = signal === 'SIGKILL' ? 'signal: killed' : `exit status ${code ?? signal ?? 'unknown'}`;
    const error = this.#lastError ?? {
      errorType: 'Runtime.ExitError',
      errorMessage: `RequestId: ${running.requestId} Error: Runtime exited with error: ${how}`,
    };
    running.settle({ ok: false, kind: 'exit', error });
  }

  #send(message: object): void {
    // If the process has just died, the send fails; its exit event answers.
    if (this.#child.connected) this.#child.send(message, () => {});
  }
}
