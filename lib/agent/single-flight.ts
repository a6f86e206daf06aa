/**
 * Looks at one execution that follow from several messages of one process at the same time, made into few.
 *
 * Owns: who looks, and who waits for whose look. Does not own: what a look does (`engine/reconcile.ts`).
 *
 * The messages of a batch often are steps of one execution, and their reports are written within milliseconds. Were each
 * followed by a look of its own, each would read the execution whole, and where these were its last steps each would write its
 * end, which one may. A look that begins after a report was written covers it: so while one is under way, all that are wanted
 * become the next one. If the store does not answer the one before, they fail with it: each caller bounds its own tries.
 */

import type { Concern } from '../core/records/decision.ts';
import { joined } from '../engine/reconcile.ts';

interface Next {
  concern: Concern;
  readonly over: Promise<unknown>;
}

interface Turn {
  /** As the look ends. */
  readonly over: Promise<unknown>;
  next?: Next;
}

export class Turns {
  readonly #turns = new Map<string, Turn>();
  readonly #atWork: { messages: number };

  /** @param atWork the process's messages that may send something soon; who waits for a turn does not */
  constructor(atWork = { messages: 0 }) {
    this.#atWork = atWork;
  }

  /**
   * @param own what follows from the caller's write, when nobody else is looking
   * @param joint a look that reads first, for all that waited
   * @throws whatever the look throws that the caller's became part of, or waited for
   */
  async take(
    executionId: string,
    concern: Concern,
    own: () => Promise<unknown>,
    joint: (concern: Concern) => Promise<unknown>,
  ): Promise<void> {
    const turn = this.#turns.get(executionId);
    if (turn === undefined) {
      await this.#begin(executionId, own);
      return;
    }
    if (turn.next === undefined) turn.next = this.#after(turn, executionId, concern, joint);
    else turn.next.concern = joined(turn.next.concern, concern);
    this.#atWork.messages -= 1;
    try {
      await turn.next.over;
    } finally {
      this.#atWork.messages += 1;
    }
  }

  #after(
    turn: Turn,
    executionId: string,
    concern: Concern,
    joint: (concern: Concern) => Promise<unknown>,
  ): Next {
    const next: Next = {
      concern,
      over: turn.over.then(() => this.#begin(executionId, () => joint(next.concern))),
    };
    return next;
  }

  #begin(executionId: string, look: () => Promise<unknown>): Promise<unknown> {
    const leave = (): void => void this.#turns.delete(executionId);
    const turn: Turn = {
      over: look().then(
        () => {
          if (turn.next === undefined) leave();
        },
        (error: unknown) => {
          leave();
          throw error;
        },
      ),
    };
    this.#turns.set(executionId, turn);
    return turn.over;
  }
}
