/**
 * The code inside an attempt's process: the agent's own handler, as in a Lambda function, one message at a
 * time.
 *
 * Owns: the handler's event and context, and the thread that kills the process in time. Does not own: the
 * attempt (`agent/message.ts`, behind the handler).
 */

import { pathToFileURL } from 'node:url';
import { Worker as Thread } from 'node:worker_threads';
import type { ClaimedAttempt } from '../core/decisions/events.ts';
import { failureOf } from '../core/values/failure.ts';
import { PIPE_FD, type Task, type Word } from './attempt-process.ts';

/** The part of an agent's handler that is needed here; Lambda calls the same handler. */
interface Handler {
  (event: unknown, context: unknown): Promise<{ readonly batchItemFailures: readonly unknown[] }>;
  readonly worker: {
    readonly agent: { readonly spec: { readonly name: string; readonly timeoutMs: number } };
    listener?: {
      readonly claimed: (attempt: ClaimedAttempt) => void;
      readonly leaseLost: () => void;
    };
  };
}

/**
 * Kills the process from a thread of its own, because the author's code may block the main thread for ever.
 * The pipe closes when the worker has died. It is text, so that it runs the same from TypeScript and from a
 * bundle.
 */
const WATCHDOG = `
const { parentPort, workerData } = require('node:worker_threads');
const end = () => {
  try { process.kill(-process.pid, 'SIGKILL'); } catch { process.kill(process.pid, 'SIGKILL'); }
};
const pipe = new (require('node:net').Socket)({ fd: workerData });
pipe.on('error', end).on('close', end).resume();
// Counts while the machine sleeps, too, and however its clock is set.
const { uptime } = require('node:os');
let killAt = Infinity;
parentPort.on('message', (inMs) => { killAt = uptime() * 1000 + inMs; });
setInterval(() => { if (uptime() * 1000 >= killAt) end(); }, 250);
`;

const send = process.send?.bind(process);
// The author's code must not have the channel: the caller takes every message on it for a `Word`.
delete process.send;
const say = (word: Word): unknown => send?.(word);

async function load(file: string): Promise<Handler> {
  const { handler } = (await import(pathToFileURL(file).href)) as { handler?: Handler };
  if (typeof handler !== 'function' || handler.worker === undefined)
    throw new Error(`${file} does not export 'handler'; write: export const handler = ….handler({ … })`);
  return handler;
}

async function perform(handler: Handler, { messageId, body, deadInMs }: Task): Promise<void> {
  const deadAt = performance.now() + deadInMs;
  const context = {
    awsRequestId: messageId,
    functionName: handler.worker.agent.spec.name,
    getRemainingTimeInMillis: () => deadAt - performance.now(),
  };
  const failed = await handler({ Records: [{ messageId, body }] }, context).then(
    ({ batchItemFailures }) => batchItemFailures.length > 0,
    () => true,
  );
  say({ kind: 'over', how: failed ? 'give-back' : 'handled' });
}

async function main(): Promise<void> {
  const watchdog = new Thread(WATCHDOG, { eval: true, workerData: PIPE_FD, execArgv: [] });
  // A thread's messages have no origin to be checked.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const killIn = (ms: number): void => watchdog.postMessage(ms);
  const handler = await load(process.argv[2] ?? '');
  process.on('message', (task: Task) => {
    killIn(task.killInMs);
    void perform(handler, task).then(() => killIn(Number.POSITIVE_INFINITY));
  });
  handler.worker.listener = {
    claimed: (attempt) => say({ kind: 'claimed', attempt }),
    leaseLost: () => say({ kind: 'lease-lost' }),
  };
  const { name, timeoutMs } = handler.worker.agent.spec;
  say({ kind: 'ready', agent: name, timeoutMs });
}

main().catch((error: unknown) => {
  const { message } = failureOf(error);
  send?.({ kind: 'refused', message } satisfies Word, () => process.exit(1));
});
