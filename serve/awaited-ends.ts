/**
 * Wakes the callers in this process that wait for an execution to end, so that they need not poll.
 *
 * Owns: who waits for which execution. Does not own: the answer (`lib/scheduler/wait.ts`). It reads the
 * table, because an announcement may be repeated and is only a hint. Thousands may wait for one execution,
 * and each reads it: a turn of the event loop answers some of them, so that all other calls go on meanwhile.
 */

import { Latch } from '../lib/agent/latch.ts';
import { EVENTS } from '../lib/aws/names.ts';
import type { Ends } from '../lib/core/ports.ts';
import type { Listener } from './announcer.ts';

/** How many waiting callers go on in one turn of the event loop. */
const MOST_A_TURN = 50;

export class AwaitedEnds implements Ends {
  readonly #waiting = new Map<string, Set<Latch>>();
  readonly #turning: (() => void)[] = [];

  readonly of: Ends['of'] = (executionId) => {
    const waiting = this.#waiting.get(executionId) ?? new Set();
    this.#waiting.set(executionId, waiting);
    const own = new Latch();
    waiting.add(own);
    const release = (): void => {
      waiting.delete(own);
      if (waiting.size === 0) this.#waiting.delete(executionId);
    };
    return { signal: own, release, turn: this.#turn };
  };

  readonly listener: Listener = ({ detailType, detail }) => {
    if (detailType !== EVENTS.end.detailType) return;
    for (const one of this.#waiting.get(String(detail['executionId'])) ?? []) one.end();
  };

  readonly #turn = (): Promise<void> =>
    new Promise((goOn) => {
      if (this.#turning.push(goOn) === 1) setImmediate(this.#next);
    });

  readonly #next = (): void => {
    for (const goOn of this.#turning.splice(0, MOST_A_TURN)) goOn();
    if (this.#turning.length > 0) setImmediate(this.#next);
  };

  get size(): number {
    return this.#waiting.size;
  }
}
