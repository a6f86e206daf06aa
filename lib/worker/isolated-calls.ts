/**
 * The code inside a process for authors' code: it performs the calls that it is given, side by side.
 *
 * Owns: the attempt's context as that code sees it, which call a fault belongs to, and the thread that ends
 * the process when its caller ends. Does not own: claims, leases, reports: those belong to the calling
 * process (`isolated.ts`).
 *
 * An uncaught error or `process.exit` would end the process and all calls in it. Its async context shows
 * which call it belongs to: that attempt has failed, and the others go on.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import { Worker as Thread } from 'node:worker_threads';
import type { AttemptContext, AttemptLog, Implementation } from '../core/plan/agent.ts';
import type { Verdict } from '../core/plan/answers.ts';
import type { Mode } from '../core/records/state.ts';
import { isAdvance } from '../core/step/lease.ts';
import { TransientError } from '../core/values/errors.ts';
import { failureOf, readable } from '../core/values/failure.ts';
import { keptOf } from '../core/values/json.ts';
import { Lines, short, thrownBy } from './isolated-lines.ts';
import { MARK } from './process-group.ts';
import {
  type Answered,
  type Call,
  diedOf,
  Outbox,
  PIPE_FD,
  PULSE_MS,
  readBack,
  type Said,
  type ToProcess,
  type Word,
} from './isolated-words.ts';

/**
 * The global name of the function that the guard calls in a thread it has stopped: which call runs, and
 * where.
 */
const AT_WORK = 'steadfast.at-work';
/** How long the guard waits for the thread to stop: in native code it cannot be stopped. */
const STOPPED_WITHIN_MS = 700;

/**
 * Runs in a thread of its own, because the authors' code may block the main thread. When the pipe to the
 * caller closes, it ends the process and every program it started: those that left the process group still
 * have its environment (`process-group.ts`). When the caller asks which call keeps the process busy, it stops
 * the main thread as a debugger does and calls `atWork` there, which is right even after an `await`. If the
 * thread cannot be stopped, it knows only a call that has not waited yet.
 */
const GUARD = `
const { workerData: { fd, shared, mark, atWork, withinMs } } = require('node:worker_threads');
const { readdirSync, readFileSync } = require('node:fs');
const entered = new Int32Array(shared);
const endMarked = (pid) => {
  try {
    if (!/^[0-9]+$/.test(pid) || Number(pid) === process.pid) return;
    if (readFileSync('/proc/' + pid + '/environ', 'utf8').split('\\0').includes(mark)) process.kill(Number(pid), 'SIGKILL');
  } catch {}
};
const end = () => {
  try { readdirSync('/proc').forEach(endMarked); } catch {}
  try { process.kill(-process.pid, 'SIGKILL'); } catch { process.kill(process.pid, 'SIGKILL'); }
};
const pipe = new (require('node:net').Socket)({ fd });
const asked = () => {
  let isAnswered = false;
  const answer = (text) => {
    if (!isAnswered) pipe.write(text);
    isAnswered = true;
  };
  setTimeout(() => answer(String(entered[0])), withinMs);
  try {
    const session = new (require('node:inspector').Session)();
    session.connectToMainThread();
    session.on('Debugger.paused', () =>
      session.post('Runtime.evaluate', { expression: atWork }, (error, said) => answer(String(said?.result?.value ?? entered[0]))));
    session.post('Debugger.enable', () => session.post('Debugger.pause'));
  } catch {}
};
pipe.on('error', end).on('close', end).on('data', asked);
`;

const unsent = (): void => undefined;
const send = process.send?.bind(process);
// Authors' code must not have the channel: the caller takes every message on it for a `Word`.
delete process.send;
/** Sends nothing once the calling process is gone. */
const outbox = new Outbox<Word>((all) => {
  if (process.connected) send?.(all, undefined, undefined, unsent);
});

/**
 * Progress is sent at most this often; an author may report it in each turn of a loop. The rest waits for the
 * pulse.
 */
const PROGRESS_EVERY_MS = 100;
const timeOverAt = ({ timeLeftMs }: { readonly timeLeftMs: number }): number =>
  performance.now() + timeLeftMs;

/** A call under way, and its messages. */
class Running {
  readonly call: Call;
  readonly abort = new AbortController();
  /** When the call's time is over, by `performance.now()`. */
  untilAt: number;
  /** Why the process would have ended, had it not been guarded. */
  fault: string | undefined;
  #progress: string | number | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  readonly lines: Lines;

  constructor(call: Call) {
    this.call = call;
    this.untilAt = timeOverAt(call);
    this.lines = new Lines(call.agent, (said, onFailed) => {
      this.#say(said, onFailed);
      outbox.flush();
    });
  }

  /** Keeps the highest number until it is sent. */
  progress(token: unknown): void {
    const kept = typeof token === 'number' ? token : short(String(token));
    if (typeof kept === 'number' && !Number.isFinite(kept)) return;
    if (typeof this.#progress === 'number' && !isAdvance(this.#progress, kept)) return;
    this.#progress = kept;
    if (performance.now() - this.#sentAt >= PROGRESS_EVERY_MS) this.flush();
  }

  flush(): void {
    const token = this.#progress;
    if (token === undefined) return;
    this.#progress = undefined;
    this.#sentAt = performance.now();
    this.#say({ kind: 'progress', token });
  }

  /** Sends no result for an undo. A verdict that cannot be sent counts as thrown. */
  answer(mode: Mode, answer: unknown): void {
    if (mode === 'undo') return this.#end({ kind: 'answer', answer: undefined });
    const unsendable = (error: unknown): void => {
      const isDone = mode === 'execute' || (answer as Verdict<unknown>).verdict === 'done';
      this.#end(isDone ? { kind: 'unsendable', message: failureOf(error).message } : thrownBy(error));
    };
    const end = (given: () => unknown, onFailed: (error: unknown) => void): void => {
      try {
        this.#end({ kind: 'answer', answer: readBack(given()) }, onFailed);
      } catch (error) {
        onFailed(error);
      }
    };
    // If the answer cannot be sent as it is, send it without what JSON leaves out.
    end(
      () => answer,
      () => end(() => keptOf(answer), unsendable),
    );
  }

  threw(error: unknown): void {
    this.#end(thrownBy(error));
  }

  #end(said: Answered, onFailed?: (error: unknown) => void): void {
    this.flush();
    this.lines.end();
    this.#say(this.fault === undefined ? said : diedOf(this.fault), onFailed);
  }

  #say(said: Said, onFailed: (error: unknown) => void = unsent): void {
    outbox.say({ ...said, of: this.call.number }, onFailed);
  }
}

function contextOf(running: Running): AttemptContext {
  const { ctx } = running.call;
  const line =
    (level: keyof AttemptLog): AttemptLog['info'] =>
    (message, fields) =>
      running.lines.log(level, message, fields);
  return {
    ...ctx,
    signal: running.abort.signal as AttemptContext['signal'],
    timeLeftMs: () => Math.max(0, Math.round(running.untilAt - performance.now())),
    progress: (token) => running.progress(token),
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
  };
}

type Own = Implementation<unknown, unknown>;

async function perform(own: Own, running: Running): Promise<void> {
  const { mode, input, output } = running.call;
  const ctx = contextOf(running);
  try {
    const answer =
      mode === 'execute'
        ? await own.execute(ctx, input)
        : mode === 'probe'
          ? await own.probe?.(ctx, input)
          : await own.undo?.(ctx, input, output);
    running.answer(mode, answer);
  } catch (error) {
    running.threw(error);
  }
}

/** The call whose code runs; it may already be over. */
const current = new AsyncLocalStorage<Running>();

/** Stack lines outside the author's code. */
const NOT_THEIRS = /node:|node_modules|<anonymous>:|[\\/]lib[\\/]worker[\\/]isolated/;

/** The first stack line in the author's code. */
function placeIn(stack: unknown): string | undefined {
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  const at = frames.find((line) => !NOT_THEIRS.test(line));
  const place = at === undefined ? undefined : /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(at)?.[1];
  return place?.replace('file://', '');
}

/** The error as text, with its place in the author's code. */
function whyOf(error: unknown): string {
  const { name, message } = thrownBy(error);
  const place = placeIn((Object(readable(error)) as { readonly stack?: unknown }).stack);
  const where = place === undefined ? '' : ` (${place})`;
  return `${name === '' ? '' : `${name}: `}${message}${where}`;
}

/** The number of the call that runs, or 0, and its place in the author's code. */
const atWork = (): string => `${current.getStore()?.call.number ?? 0} ${placeIn(new Error().stack) ?? ''}`;

function faulted(what: string, error?: unknown): void {
  const running = current.getStore();
  const why = error === undefined ? what : `${what}: ${whyOf(error)}`;
  const of = running && { of: running.call.number, agent: running.call.agent };
  outbox.say({ kind: 'fault', ...of, why }, unsent);
  outbox.flush();
  if (running === undefined || running.fault !== undefined) return;
  running.fault = why;
  running.abort.abort();
}

/** Makes code that would end the process end only its attempt. */
function guardExits(): void {
  const own = {
    exit: process.exit.bind(process),
    abort: process.abort.bind(process),
    kill: process.kill.bind(process),
  };
  const refused = (what: string): never => {
    faulted(what);
    throw new Error(`${what}, which is not its process: throw an error instead`);
  };
  process.exit = (code) =>
    current.getStore() === undefined ? own.exit(code) : refused(`it called process.exit(${code ?? ''})`);
  process.abort = () =>
    current.getStore() === undefined ? own.abort() : refused('it called process.abort()');
  process.kill = (pid, signal) =>
    current.getStore() === undefined || signal === 0 || Math.abs(pid) !== process.pid
      ? own.kill(pid, signal)
      : refused('it killed its own process');
  process.disconnect = () => void refused('it called process.disconnect()');
}

/** Listens on, although an author's code removes all listeners of the process. */
function listenAlways(message: (all: unknown) => void): void {
  const own = {
    message,
    uncaughtException: (error: unknown) => faulted('nothing caught', error),
    unhandledRejection: (error: unknown) => faulted('nothing awaited', error),
  };
  const listen = (): void => {
    for (const [event, heard] of Object.entries(own))
      if (!process.listeners(event as 'message').includes(heard)) process.on(event, heard);
  };
  const removeAll = process.removeAllListeners.bind(process);
  process.removeAllListeners = (...of) => {
    removeAll(...of);
    listen();
    return process;
  };
  listen();
}

/** Makes the system end this process before the calling one when memory runs short. */
function offerToEnd(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // Only Linux has it.
  }
}

/**
 * Makes this process perform the calls that it gets.
 * @param agents their code, by name
 * @param failed by agent, why its code cannot be loaded
 */
export function performCalls(
  agents: ReadonlyMap<string, Own>,
  failed: Readonly<Record<string, string>> = {},
): void {
  const shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const entered = new Int32Array(shared);
  const mark = `${MARK}=${process.env[MARK]}`;
  Object.assign(globalThis, { [Symbol.for(AT_WORK)]: atWork });
  const asking = { atWork: `globalThis[Symbol.for('${AT_WORK}')]()`, withinMs: STOPPED_WITHIN_MS };
  const workerData = { fd: PIPE_FD, shared, mark, ...asking };
  const guard = new Thread(GUARD, { eval: true, workerData, execArgv: [] });
  guard.on('error', () => process.kill(process.pid, 'SIGKILL'));
  guardExits();
  // A line that cannot be written is not the fault of the code that logs it.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', unsent);
  offerToEnd();
  const underWay = new Map<number, Running>();
  const begin = (call: Call): void => {
    const running = new Running(call);
    const own = agents.get(call.agent);
    if (own === undefined)
      return running.threw(
        new TransientError(
          `the code of ${call.agent} cannot be loaded: ${failed[call.agent] ?? 'there is none'}`,
        ),
      );
    underWay.set(call.number, running);
    // The guard reads this if it cannot stop the thread: the call whose code runs and has not waited yet.
    entered[0] = call.number;
    void current.run(running, perform, own, running).finally(() => underWay.delete(call.number));
    entered[0] = 0;
  };
  listenAlways((all) => {
    // A program that the author's code has started may send anything.
    if (!Array.isArray(all)) return;
    for (const told of all as readonly ToProcess[]) {
      if ('abort' in told) underWay.get(told.abort)?.abort.abort();
      else if ('timed' in told) {
        const running = underWay.get(told.timed);
        if (running !== undefined) running.untilAt = timeOverAt(told);
      } else begin(told);
    }
  });
  let rssBytes = 0;
  setInterval(() => {
    for (const running of underWay.values()) {
      running.flush();
      running.lines.flush();
    }
    try {
      rssBytes = process.memoryUsage.rss();
    } catch {
      // Measuring opens a file, and an agent may have used up the descriptors: keep the last measure.
    }
    outbox.say({ kind: 'alive', rssBytes }, unsent);
  }, PULSE_MS);
  outbox.say({ kind: 'ready', failed }, unsent);
}
