/**
 * A signal among our own sleepers: once ended it stays ended, and wakes its listeners.
 *
 * Owns: the part of an AbortSignal that the heartbeats and the time limit of an attempt need. The platform's
 * own, with its events and its registry, costs many times as much, and an attempt needs several; only the
 * author's code gets that one.
 */

import type { AbortSignalLike } from '../core/plan/agent.ts';

export class Latch implements AbortSignalLike {
  aborted = false;
  #listeners: (() => void)[] = [];

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  end(): void {
    if (this.aborted) return;
    this.aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
