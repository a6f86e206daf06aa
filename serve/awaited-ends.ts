/**
 * Wakes the callers in this process that wait for an execution to end, so that they need not poll.
 *
 * Owns: who waits for which execution. Does not own: the answer (`lib/scheduler/wait.ts`). It reads the
 * table, because an announcement may be repeated and is only a hint.
 */

import { Latch } from '../lib/agent/latch.ts';
import { EVENTS } from '../lib/aws/names.ts';
import type { Ends } from '../lib/core/ports.ts';
import type { Listener } from './announcer.ts';

export class AwaitedEnds implements Ends {
  readonly #waiting = new Map<string, Set<Latch>>();

  readonly of: Ends['of'] = (executionId) => {
    const waiting = this.#waiting.get(executionId) ?? new Set();
    this.#waiting.set(executionId, waiting);
    const own = new Latch();
    waiting.add(own);
    const release = (): void => {
      waiting.delete(own);
      if (waiting.size === 0) this.#waiting.delete(executionId);
    };
    return { signal: own, release };
  };

  readonly listener: Listener = ({ detailType, detail }) => {
    if (detailType !== EVENTS.end.detailType) return;
    for (const one of this.#waiting.get(String(detail['executionId'])) ?? []) one.end();
  };

  get size(): number {
    return this.#waiting.size;
  }
}
