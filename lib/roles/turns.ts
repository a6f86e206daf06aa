/**
 * Looks at one execution that follow from several messages of one process at the same time, made into few.
 *
 * Owns: who looks, and who waits for whose look. Does not own: what a look does (`advance.ts`).
 *
 * The messages of a batch often are steps of one execution, and their reports are written within milliseconds. Were each
 * followed by a look of its own, each would read the execution whole, and where these were its last steps each would write its
 * end, which one may. A look that begins after a report was written covers it: so while one is under way, all that are wanted
 * become the next one. They fail with it, and are then made one by one, as if there were no turns (S14).
 */

import type { Concern } from '../core/decision.ts';
import { joined } from './advance.ts';

interface Next {
  concern: Concern;
  readonly over: Promise<unknown>;
}

interface Turn {
  /** Settles with the look; never rejects. */
  readonly over: Promise<unknown>;
  next?: Next;
}

export class Turns {
  readonly #turns = new Map<string, Turn>();

  /**
   * @param own what follows from the caller's write, when nobody else is looking
   * @param joint a look that reads first, for all that waited
   * @throws whatever the look throws that the caller's became part of
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
    await turn.next.over;
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
    const looking = look();
    const turn: Turn = {
      over: looking
        .catch(() => undefined)
        .then(() => {
          if (turn.next === undefined) this.#turns.delete(executionId);
        }),
    };
    this.#turns.set(executionId, turn);
    return looking;
  }
}
