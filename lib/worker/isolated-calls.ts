/**
 * What runs in a process for authors' code: the calls that it is given, side by side.
 *
 * Owns: the attempt's context as that code sees it, whose a fault is, and the thread that ends the process
 * with the one that calls. Does not own: claims, leases, reports: those are of the process that calls
 * (`isolated.ts`).
 *
 * What nothing caught, and `process.exit`, would end the process and all that is in it. The context in which
 * it came says whose it is: that attempt has failed, and the others go on.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { Worker as Thread } from 'node:worker_threads';
import type { AttemptContext, AttemptLog, Implementation, Verdict } from '../core/plan/agent.ts';
import type { Mode } from '../core/records/state.ts';
import { isAdvance } from '../core/step/lease.ts';
import { isError, markOf, TransientError } from '../core/values/errors.ts';
import { given } from '../core/values/given.ts';
import { BUG, bugText, isBug } from '../core/values/bug.ts';
import { failureOf } from '../core/values/failure.ts';
import { keptOf } from '../core/values/json.ts';
import { MARK } from './process-group.ts';
import {
  type Answered,
  type Call,
  diedOf,
  Outbox,
  PIPE_FD,
  PULSE_MS,
  type Said,
  type ToProcess,
  type Word,
} from './isolated-words.ts';

/**
 * Apart from the authors' code, which may keep the main thread busy. The pipe ends with the caller, which
 * asks by it which call the main thread has entered. What has left the group has kept its environment
 * (`process-group.ts`).
 */
const GUARD = `
const { workerData: { fd, shared, mark } } = require('node:worker_threads');
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
pipe.on('error', end).on('close', end).on('data', () => pipe.write(String(entered[0])));
`;

const unsent = (): void => undefined;
/** The one that calls may be gone. */
const outbox = new Outbox<Word>((all) => {
  if (process.connected) process.send?.(all, undefined, undefined, unsent);
});

/** An error of Node's, or another realm's, is one as well; what else may be thrown is said as it is. */
function thrownBy(error: unknown): Extract<Said, { kind: 'thrown' }> {
  // Neither its class nor its cause is sent: what follows from them is found here.
  if (isBug(error)) return { kind: 'thrown', name: error.name, message: bugText(error), code: BUG };
  const { name, code, retryAfter } = Object(error) as Record<string, unknown>;
  return {
    kind: 'thrown',
    ...given({ mark: markOf(error) }),
    name: typeof name === 'string' ? name : '',
    message: failureOf(error).message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof retryAfter === 'number' || typeof retryAfter === 'string' ? { retryAfter } : {}),
  };
}

/** An author may report progress in each turn of a loop: beyond this, the latest is sent with the pulse. */
const PROGRESS_EVERY_MS = 100;
/** Characters of what a line has beside its message, and cannot be sent. */
const MAX_SHOWN = 4_096;

/** A call under way, and what it says. */
class Running {
  readonly call: Call;
  readonly abort = new AbortController();
  /** What it would have ended the process by. */
  fault: string | undefined;
  #progress: string | number | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;

  constructor(call: Call) {
    this.call = call;
  }

  /** The highest number holds until it is sent. */
  progress(token: unknown): void {
    const kept = typeof token === 'number' ? token : String(token);
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

  /** A line never fails the code that logs it, and is sent before that code goes on. */
  log(
    level: keyof AttemptLog,
    message: string,
    fields: Readonly<Record<string, unknown>> | Error = {},
  ): void {
    const shown = (): void =>
      this.#say({
        kind: 'log',
        level,
        message: String(message),
        fields: { shown: inspect(fields).slice(0, MAX_SHOWN) },
      });
    this.#say({ kind: 'log', level, message, fields: isError(fields) ? thrownBy(fields) : fields }, shown);
    outbox.flush();
  }

  /** What an undo returns says nothing; nor does a verdict that cannot be sent. */
  answer(mode: Mode, answer: unknown): void {
    if (mode === 'undo') return this.#end({ kind: 'answer', answer: undefined });
    const unsendable = (error: unknown): void => {
      const isDone = mode === 'execute' || (answer as Verdict<unknown>).verdict === 'done';
      this.#end(isDone ? { kind: 'unsendable', message: String(error) } : thrownBy(error));
    };
    // Without what JSON leaves out, where that alone cannot be sent.
    this.#end({ kind: 'answer', answer }, () => {
      try {
        this.#end({ kind: 'answer', answer: keptOf(answer) }, unsendable);
      } catch (error) {
        unsendable(error);
      }
    });
  }

  threw(error: unknown): void {
    this.#end(thrownBy(error));
  }

  #end(said: Answered, onFailed?: (error: unknown) => void): void {
    this.flush();
    this.#say(this.fault === undefined ? said : diedOf(this.fault), onFailed);
  }

  #say(said: Said, onFailed: (error: unknown) => void = unsent): void {
    outbox.say({ ...said, of: this.call.number }, onFailed);
  }
}

function contextOf(running: Running): AttemptContext {
  const { ctx, timeLeftMs } = running.call;
  const untilAt = performance.now() + timeLeftMs;
  const line =
    (level: keyof AttemptLog): AttemptLog['info'] =>
    (message, fields) =>
      running.log(level, message, fields);
  return {
    ...ctx,
    signal: running.abort.signal as AttemptContext['signal'],
    timeLeftMs: () => Math.max(0, Math.round(untilAt - performance.now())),
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

/** In which call this code runs; its call may be over. */
const current = new AsyncLocalStorage<Running>();

/** Files that no author can mend. */
const NOT_THEIRS = /node:|node_modules|[\\/]lib[\\/]worker[\\/]isolated/;

/** The error, and the first line of the author's. */
function whyOf(error: unknown): string {
  const { name, message } = thrownBy(error);
  const { stack } = Object(error) as { readonly stack?: unknown };
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  const at = frames.find((line) => !NOT_THEIRS.test(line));
  const place = at === undefined ? undefined : /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(at)?.[1];
  const where = place === undefined ? '' : ` (${place.replace('file://', '')})`;
  return `${name === '' ? '' : `${name}: `}${message}${where}`;
}

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

/** What ends a process: within an attempt, it ends the attempt. */
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
  process.on('uncaughtException', (error) => faulted('nothing caught', error));
  process.on('unhandledRejection', (error) => faulted('nothing awaited', error));
}

/** The system ends this process before the one that calls, where memory is short. */
function offerToEnd(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // Linux alone has it.
  }
}

/**
 * From then on this process performs what it is called for.
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
  const guard = new Thread(GUARD, { eval: true, workerData: { fd: PIPE_FD, shared, mark }, execArgv: [] });
  guard.on('error', () => process.kill(process.pid, 'SIGKILL'));
  guardExits();
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
    // What it does before it first waits may keep the loop, and then the guard says whose that is.
    entered[0] = call.number;
    void current.run(running, perform, own, running).finally(() => underWay.delete(call.number));
    entered[0] = 0;
  };
  process.on('message', (all: unknown) => {
    // A program that it has started may say anything.
    if (!Array.isArray(all)) return;
    for (const told of all as readonly ToProcess[])
      if ('abort' in told) underWay.get(told.abort)?.abort.abort();
      else begin(told);
  });
  setInterval(() => {
    for (const running of underWay.values()) running.flush();
    outbox.say({ kind: 'alive', rssBytes: process.memoryUsage.rss() }, unsent);
  }, PULSE_MS);
  outbox.say({ kind: 'ready', failed }, unsent);
}
