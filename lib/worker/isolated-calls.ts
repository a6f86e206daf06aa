/**
 * What runs in an agent's own process: its author's code, one call at a time.
 *
 * Owns: the attempt's context as that code sees it, and the thread that ends the process with the one that
 * calls. Does not own: claims, leases, reports: those are of the process that calls (`isolated.ts`).
 *
 * Calls and answers go by the channel.
 */

import { Worker as Thread } from 'node:worker_threads';
import type { AttemptContext, AttemptLog, Implementation } from '../core/plan/agent.ts';
import { type Call, type ToProcess, type Word, PIPE_FD, PULSE_MS } from './isolated.ts';

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
function thrownBy(error: unknown): Extract<Word, { kind: 'thrown' }> {
  const { name, message, code, retryAfterMs } = Object(error) as Record<string, unknown>;
  return {
    kind: 'thrown',
    name: typeof name === 'string' ? name : '',
    message: typeof message === 'string' ? message : String(error),
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
  };
}

function contextOf({ ctx, timeLeftMs }: Call, signal: AbortSignal): AttemptContext {
  const untilAt = Date.now() + timeLeftMs;
  const line =
    (level: keyof AttemptLog): AttemptLog['info'] =>
    (message, fields = {}) =>
      say({ kind: 'log', level, message, fields: fields instanceof Error ? thrownBy(fields) : fields });
  return {
    ...ctx,
    signal: signal as AttemptContext['signal'],
    timeLeftMs: () => Math.max(0, untilAt - Date.now()),
    progress: (token) => say({ kind: 'progress', token }),
    log: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') },
  };
}

async function perform(
  own: Implementation<unknown, unknown>,
  call: Call,
  signal: AbortSignal,
): Promise<void> {
  const ctx = contextOf(call, signal);
  try {
    const answer =
      call.mode === 'execute'
        ? await own.execute(ctx, call.input)
        : call.mode === 'probe'
          ? await own.probe?.(ctx, call.input)
          : await own.undo?.(ctx, call.input, call.output);
    // As JSON, which is what an answer becomes: what is none is refused where it is checked.
    say({ kind: 'answer', answer });
  } catch (error) {
    say(thrownBy(error));
  }
}

/** From then on this process performs what it is called for. */
export function performCalls(own: Implementation<unknown, unknown>): void {
  const guard = new Thread(GUARD, { eval: true, workerData: PIPE_FD, execArgv: [] });
  guard.on('error', () => process.exit(1));
  let abort = new AbortController();
  process.on('message', (told: ToProcess) => {
    if (told === 'abort') return abort.abort();
    abort = new AbortController();
    void perform(own, told, abort.signal);
  });
  setInterval(() => say({ kind: 'alive' }), PULSE_MS);
  say({ kind: 'ready' });
}
