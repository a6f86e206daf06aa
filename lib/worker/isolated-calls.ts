/**
 * What runs in an agent's own process: its author's code, one call at a time.
 *
 * Owns: the attempt's context as that code sees it, and the thread that ends the process with the one that
 * calls. Does not own: claims, leases, reports: those are of the process that calls (`isolated.ts`).
 *
 * Calls and answers go by the channel.
 */

import { inspect } from 'node:util';
import { Worker as Thread } from 'node:worker_threads';
import type { AttemptContext, AttemptLog, Implementation, Verdict } from '../core/plan/agent.ts';
import type { Mode } from '../core/records/state.ts';
import { isAdvance } from '../core/step/lease.ts';
import { isError, markOf } from '../core/values/errors.ts';
import { given } from '../core/values/given.ts';
import { BUG, bugText, isBug } from '../core/values/bug.ts';
import { failureOf } from '../core/values/failure.ts';
import { keptOf } from '../core/values/json.ts';
import { type Call, type Said, type ToProcess, type Word, PIPE_FD, PULSE_MS } from './isolated.ts';

/** Apart from the author's code, which may keep the main thread busy. The pipe ends with the caller. */
const GUARD = `
const { workerData } = require('node:worker_threads');
const end = () => {
  try { process.kill(-process.pid, 'SIGKILL'); } catch { process.kill(process.pid, 'SIGKILL'); }
};
new (require('node:net').Socket)({ fd: workerData }).on('error', end).on('close', end).resume();
`;

const say = (word: Word): unknown => process.send?.(word);

/** An error of Node's, or another realm's, is one as well; what else may be thrown is said as it is. */
function thrownBy(error: unknown): Extract<Said, { kind: 'thrown' }> {
  // Neither its class nor its cause is sent: what follows from them is found here.
  if (isBug(error)) return { kind: 'thrown', name: error.name, message: bugText(error), code: BUG };
  const { name, code, retryAfterMs } = Object(error) as Record<string, unknown>;
  return {
    kind: 'thrown',
    ...given({ mark: markOf(error) }),
    name: typeof name === 'string' ? name : '',
    message: failureOf(error).message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
  };
}

/** An author may report progress in each turn of a loop: beyond this, the latest is sent with the pulse. */
const PROGRESS_EVERY_MS = 100;
/** Characters of what a line has beside its message, and cannot be sent. */
const MAX_SHOWN = 4_096;

/** What the call under way says. */
class Saying {
  readonly #of: number;
  #progress: string | number | undefined;
  #sentAt = 0;

  constructor(of: number) {
    this.#of = of;
  }

  say(said: Said): void {
    this.flush();
    say({ ...said, of: this.#of });
  }

  /** The highest number holds until it is sent. */
  progress(token: unknown): void {
    const kept = typeof token === 'number' ? token : String(token);
    if (typeof kept === 'number' && !Number.isFinite(kept)) return;
    if (typeof this.#progress === 'number' && !isAdvance(this.#progress, kept)) return;
    this.#progress = kept;
    if (Date.now() - this.#sentAt >= PROGRESS_EVERY_MS) this.flush();
  }

  flush(): void {
    const token = this.#progress;
    if (token === undefined) return;
    this.#progress = undefined;
    this.#sentAt = Date.now();
    say({ kind: 'progress', token, of: this.#of });
  }

  /** A line never fails the code that logs it. */
  log(
    level: keyof AttemptLog,
    message: string,
    fields: Readonly<Record<string, unknown>> | Error = {},
  ): void {
    try {
      this.say({ kind: 'log', level, message, fields: isError(fields) ? thrownBy(fields) : fields });
    } catch {
      this.say({
        kind: 'log',
        level,
        message: String(message),
        fields: { shown: inspect(fields).slice(0, MAX_SHOWN) },
      });
    }
  }

  /** Without what JSON leaves out, where that alone cannot be sent. @throws where it cannot be sent either */
  #sendable(answer: unknown): void {
    try {
      this.say({ kind: 'answer', answer });
    } catch {
      this.say({ kind: 'answer', answer: keptOf(answer) });
    }
  }

  /** What an undo returns says nothing; nor does a verdict that cannot be sent. */
  answer(mode: Mode, answer: unknown): void {
    if (mode === 'undo') return this.say({ kind: 'answer', answer: undefined });
    try {
      this.#sendable(answer);
    } catch (error) {
      const isDone = mode === 'execute' || (answer as Verdict<unknown>).verdict === 'done';
      this.say(isDone ? { kind: 'unsendable', message: String(error) } : thrownBy(error));
    }
  }
}

function contextOf({ ctx, timeLeftMs }: Call, saying: Saying, signal: AbortSignal): AttemptContext {
  const untilAt = Date.now() + timeLeftMs;
  const line =
    (level: keyof AttemptLog): AttemptLog['info'] =>
    (message, fields) =>
      saying.log(level, message, fields);
  return {
    ...ctx,
    signal: signal as AttemptContext['signal'],
    timeLeftMs: () => Math.max(0, untilAt - Date.now()),
    progress: (token) => saying.progress(token),
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
  };
}

async function perform(
  own: Implementation<unknown, unknown>,
  call: Call,
  saying: Saying,
  signal: AbortSignal,
): Promise<void> {
  const ctx = contextOf(call, saying, signal);
  try {
    const answer =
      call.mode === 'execute'
        ? await own.execute(ctx, call.input)
        : call.mode === 'probe'
          ? await own.probe?.(ctx, call.input)
          : await own.undo?.(ctx, call.input, call.output);
    saying.answer(call.mode, answer);
  } catch (error) {
    saying.say(thrownBy(error));
  }
}

/** From then on this process performs what it is called for. */
export function performCalls(own: Implementation<unknown, unknown>): void {
  const guard = new Thread(GUARD, { eval: true, workerData: PIPE_FD, execArgv: [] });
  guard.on('error', () => process.exit(1));
  let abort = new AbortController();
  let saying = new Saying(0);
  process.on('message', (told: ToProcess) => {
    if (told === 'abort') return abort.abort();
    abort = new AbortController();
    saying = new Saying(told.number);
    void perform(own, told, saying, abort.signal);
  });
  setInterval(() => {
    saying.flush();
    say({ kind: 'alive' });
  }, PULSE_MS);
  say({ kind: 'ready' });
}
