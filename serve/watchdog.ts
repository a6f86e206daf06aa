/**
 * Kills this process, from a thread, if an attempt continues past its process deadline.
 *
 * Owns: the deadlines of the attempts in progress, in memory that the thread shares. Does not own: which
 * attempts there are (`agents.ts`), how long they may take (`core/plan/agent.ts`).
 *
 * `processDeadline` is a promise that an attempt no longer acts. Code that ignores its abort, or blocks the
 * event loop, can be ended only with its process. On AWS, Lambda does that. The next process records the
 * deaths of all attempts and continues.
 */

import { Worker as Thread } from 'node:worker_threads';

/**
 * The thread's code, as text so that it works in TypeScript and in a bundle. The first number is how long
 * this process has run: changes of the clock and pauses do not count as an attempt's time.
 */
export const WATCH = `
const { workerData: { shared, names } } = require('node:worker_threads');
const slots = new Float64Array(shared);
let turnedAt = performance.now();
setInterval(() => {
  const now = performance.now();
  slots[0] += Math.min(now - turnedAt, 1000);
  turnedAt = now;
  for (let at = 1; at < slots.length; at += 2) {
    if (slots[at] === 0 || slots[at] > slots[0]) continue;
    const agent = names[slots[at + 1]];
    const line = { level: 'ERROR', message: 'process-deadline-passed', timestamp: new Date().toISOString(), agent };
    require('node:fs').writeSync(2, JSON.stringify(line) + '\\n');
    process.kill(process.pid, 'SIGKILL');
  }
}, 250);
`;

export class Watchdog {
  readonly #slots: Float64Array;
  readonly #free: number[];
  readonly #names: readonly string[];
  readonly #thread: Thread;

  /** @param most the most attempts at the same time */
  constructor(names: readonly string[], most: number) {
    const shared = new SharedArrayBuffer((1 + most * 2) * Float64Array.BYTES_PER_ELEMENT);
    this.#slots = new Float64Array(shared);
    this.#free = Array.from({ length: most }, (_, at) => 1 + at * 2);
    this.#names = names;
    this.#thread = new Thread(WATCH, { eval: true, workerData: { shared, names }, execArgv: [] });
    this.#thread.unref();
  }

  /** @returns the function to call when the attempt has ended */
  until(agent: string, forMs: number): () => void {
    const slot = this.#free.pop();
    if (slot === undefined) throw new Error('more attempts are under way than there may be');
    this.#slots[slot + 1] = this.#names.indexOf(agent);
    this.#slots[slot] = (this.#slots[0] ?? 0) + forMs;
    return () => {
      this.#slots[slot] = 0;
      this.#free.push(slot);
    };
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
