/**
 * What runs in an agent's own process: its author's code, one call at a time.
 *
 * Owns: the attempt's context as that code sees it, and the thread that ends the process with the server.
 * Does not own: claims, leases, reports: those are the server's (`isolated.ts`).
 *
 * Argument: the agent's file. Calls and answers go by the channel.
 */

import { pathToFileURL } from 'node:url';
import { Worker as Thread } from 'node:worker_threads';
import type { AgentHandler } from '../lib/agent/handler.ts';
import type { AttemptContext, AttemptLog, Implementation } from '../lib/core/plan/agent.ts';
import { type Call, type Told, type Word, PIPE_FD, PULSE_MS } from './isolated.ts';

/** Apart from the author's code, which may keep the main thread busy. The pipe closes with the server. */
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

const guard = new Thread(GUARD, { eval: true, workerData: PIPE_FD, execArgv: [] });
guard.on('error', () => process.exit(1));
const { handler } = (await import(pathToFileURL(process.argv[2] ?? '').href)) as { handler: AgentHandler };
let abort = new AbortController();
process.on('message', (told: Told) => {
  if (told === 'abort') return abort.abort();
  abort = new AbortController();
  void perform(handler.worker.implementation, told, abort.signal);
});
setInterval(() => say({ kind: 'alive' }), PULSE_MS);
say({ kind: 'ready' });
