/**
 * Runs one function: its processes, their reuse, the callers that wait for one, the concurrency limit,
 * counters. Does not own: the sources of events.
 *
 * Invariants
 * - I1 a process has at most one event at a time.
 * - I2 there are never more live processes than the limit; further events wait in order.
 */
import { randomUUID } from 'node:crypto';
import type { FunctionSpec } from '../template/stack-model.ts';
import type { BlankProcesses } from './blank-processes.ts';
import { FunctionProcess, type InvocationResult } from './function-process.ts';
import { isWritten } from './log-level.ts';
import { platformLine } from './platform-line.ts';

/** The settings that a function needs to run. */
export interface FunctionSettings {
  readonly spec: FunctionSpec;
  /** The folder of its bundle. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly maxProcesses: number;
  readonly idleAfterMs: number;
  /**
   * The debugger's port. With it, the function has a single process, started at once and without a time
   * limit.
   */
  readonly inspectPort?: number;
  readonly onLine: (functionName: string, pid: number, stream: 'stdout' | 'stderr', line: string) => void;
  /** Called right before a ready process gets an event (for faults at the next event). */
  readonly onDelivered: (local: LocalFunction, process: FunctionProcess) => void;
  /** Called when an event has ended. @param ms since a process got it; 0 if none did */
  readonly onOver: (functionName: string, ms: number, ok: boolean) => void;
}

interface Waiting {
  readonly event: string;
  readonly requestId: string;
  readonly resolve: (result: InvocationResult) => void;
}

export class LocalFunction {
  readonly settings: FunctionSettings;
  readonly counters = { invocations: 0, errors: 0, timeouts: 0, coldStarts: 0, throttles: 0 };
  readonly #blanks: BlankProcesses;
  readonly #processes = new Set<FunctionProcess>();
  /** Idle processes. The last used is used next, so that the others can end. */
  readonly #idle: { readonly process: FunctionProcess; readonly since: number }[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #freeListeners = new Set<() => void>();
  #startedCount = 0;
  #reaper: NodeJS.Timeout | undefined;
  #stopped = false;
  #isThrottled = false;

  constructor(settings: FunctionSettings, blanks: BlankProcesses) {
    this.settings = settings;
    this.#blanks = blanks;
    // Starts the process now, so that a debugger can attach.
    if (settings.inspectPort !== undefined) this.#idle.push({ process: this.#start(), since: Date.now() });
  }

  get spec(): FunctionSpec {
    return this.settings.spec;
  }

  get processes(): FunctionProcess[] {
    return [...this.#processes];
  }

  /** How many more events could start at once. */
  get freeSlots(): number {
    if (this.#stopped) return 0;
    // A mapping's pollers receive although the function refuses events.
    if (this.#isThrottled) return this.settings.maxProcesses;
    let occupied = this.#waiting.length;
    for (const each of this.#processes) if (each.busy || each.frozen) occupied += 1;
    return Math.max(0, this.settings.maxProcesses - occupied);
  }

  /** Calls back whenever a slot became free. */
  onFree(listener: () => void): () => void {
    this.#freeListeners.add(listener);
    return () => this.#freeListeners.delete(listener);
  }

  get isThrottled(): boolean {
    return this.#isThrottled;
  }

  /**
   * Makes the function refuse every event, as with a reserved concurrency of 0; work in progress continues.
   */
  throttle(on: boolean): void {
    this.#isThrottled = on;
    for (const listener of this.#freeListeners) listener();
  }

  /** Resumes a stopped process; its slot counts again. */
  thaw(process: FunctionProcess): void {
    process.thaw();
    for (const listener of this.#freeListeners) listener();
  }

  /** The living process with this access key. */
  processOf(accessKeyId: string): FunctionProcess | undefined {
    for (const each of this.#processes) if (each.accessKeyId === accessKeyId) return each;
    return undefined;
  }

  /** Runs one event (JSON text) in a warm or new process; waits while all are busy. */
  async invoke(event: string, requestId: string = randomUUID()): Promise<InvocationResult> {
    if (this.#stopped) return stoppedResult;
    if (this.#isThrottled) {
      this.counters.throttles += 1;
      return throttledResult;
    }
    this.counters.invocations += 1;
    const free = this.#takeProcess();
    const result =
      free === undefined
        ? await new Promise<InvocationResult>((resolve) => this.#waiting.push({ event, requestId, resolve }))
        : await this.#run(free, event, requestId);
    if (!result.ok) this.counters.errors += 1;
    if (!result.ok && result.kind === 'timeout') this.counters.timeouts += 1;
    return result;
  }

  /** Kills every process and refuses further events. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#reaper);
    for (const each of this.#waiting.splice(0)) each.resolve(stoppedResult);
    await Promise.all(this.processes.map(async (each) => await each.kill()));
  }

  async #run(process: FunctionProcess, event: string, requestId: string): Promise<InvocationResult> {
    let deliveredAt: number | undefined;
    const result = await process.invoke(requestId, event, () => {
      deliveredAt = performance.now();
      this.settings.onDelivered(this, process);
    });
    const ms = deliveredAt === undefined ? 0 : performance.now() - deliveredAt;
    this.settings.onOver(this.spec.functionName, ms, result.ok);
    const line = this.#stopped ? undefined : platformLine(result, requestId, new Date());
    if (line !== undefined) this.settings.onLine(this.spec.functionName, process.pid, 'stdout', line);
    // After a failed start the process is ending, and gets no second event.
    if (!result.ok && result.kind === 'init') void process.kill();
    else if (!process.dead) this.#release(process);
    return result;
  }

  #takeProcess(): FunctionProcess | undefined {
    for (let index = this.#idle.length - 1; index >= 0; index -= 1) {
      const candidate = this.#idle[index]?.process;
      if (candidate === undefined || candidate.frozen) continue;
      this.#idle.splice(index, 1);
      if (!candidate.dead) return candidate;
    }
    return this.#processes.size < this.settings.maxProcesses ? this.#start() : undefined;
  }

  #release(process: FunctionProcess): void {
    const next = this.#waiting.shift();
    if (next !== undefined) {
      void this.#run(process, next.event, next.requestId).then(next.resolve);
      return;
    }
    this.#idle.push({ process, since: Date.now() });
    this.#armReaper();
    for (const listener of this.#freeListeners) listener();
  }

  #start(): FunctionProcess {
    const { spec, directory, environment, onLine } = this.settings;
    this.#startedCount += 1;
    this.counters.coldStarts += 1;
    const accessKeyId = `${spec.logicalId}-${this.#startedCount}`;
    const { inspectPort } = this.settings;
    const child = inspectPort === undefined ? this.#blanks.take() : this.#blanks.inspected(inspectPort);
    const logStreamName = `local/[$LATEST]${child.pid ?? 0}`;
    const started: FunctionProcess = new FunctionProcess(
      child,
      accessKeyId,
      {
        env: { ...environment, AWS_ACCESS_KEY_ID: accessKeyId, AWS_LAMBDA_LOG_STREAM_NAME: logStreamName },
        directory,
        handler: spec.handler,
      },
      {
        functionName: spec.functionName,
        functionVersion: '$LATEST',
        invokedFunctionArn: spec.arn,
        memoryLimitInMB: String(spec.memoryMb),
        logGroupName: spec.logGroupName,
        logStreamName,
        timeoutMs: spec.timeoutMs,
      },
      {
        hasTimeLimits: inspectPort === undefined,
        onLine: (stream, line) => {
          if (isWritten(spec.logLevel, stream, line)) onLine(spec.functionName, child.pid ?? 0, stream, line);
        },
        onExit: () => this.#gone(started),
      },
    );
    this.#processes.add(started);
    return started;
  }

  #gone(process: FunctionProcess): void {
    this.#processes.delete(process);
    const index = this.#idle.findIndex((each) => each.process === process);
    if (index >= 0) this.#idle.splice(index, 1);
    if (this.#stopped) return;
    const next = this.#waiting.shift();
    if (next !== undefined) void this.#run(this.#start(), next.event, next.requestId).then(next.resolve);
    else for (const listener of this.#freeListeners) listener();
  }

  #armReaper(): void {
    if (this.settings.inspectPort !== undefined) return;
    this.#reaper ??= setTimeout(() => {
      this.#reaper = undefined;
      const endBefore = Date.now() - this.settings.idleAfterMs;
      for (const each of this.#idle)
        if (each.since <= endBefore && !each.process.frozen) void each.process.kill();
      if (this.#idle.length > 0) this.#armReaper();
    }, this.settings.idleAfterMs);
  }
}

const stoppedResult: InvocationResult = {
  ok: false,
  kind: 'exit',
  error: { errorType: 'LocalCloud.Stopped', errorMessage: 'the local cloud is stopping' },
};

/** https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html */
const throttledResult: InvocationResult = {
  ok: false,
  kind: 'throttled',
  error: { errorType: 'TooManyRequestsException', errorMessage: 'Rate Exceeded.' },
};
