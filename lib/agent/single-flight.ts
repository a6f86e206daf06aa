/**
 * Joins the evaluations of one execution that several messages of one process want at the same time.
 *
 * Owns: which caller evaluates, and which waits for another's evaluation. Does not own: what an evaluation does
 * (`engine/reconcile.ts`).
 *
 * The messages of a batch often are steps of one execution, and their reports are written within milliseconds. If each
 * evaluated by itself, each would read the whole execution, and after its last steps each would try to write its end, in
 * which one succeeds. An evaluation that begins after a report was written covers it: so while one is under way, all further
 * ones become the next one. If the store does not answer the one before, they fail with it: each caller bounds its own tries.
 */

import { type AffectedSteps, joined } from '../core/records/decision.ts';

interface Next {
  affected: AffectedSteps;
  readonly over: Promise<unknown>;
}

interface Flight {
  /** Ends as the evaluation does. */
  readonly over: Promise<unknown>;
  next?: Next;
}

export class SingleFlight {
  readonly #singleFlight = new Map<string, Flight>();
  readonly #atWork: { messages: number };

  /** @param atWork the process's messages that may send something soon; one that waits for another's evaluation does not */
  constructor(atWork = { messages: 0 }) {
    this.#atWork = atWork;
  }

  /**
   * @param own the caller's evaluation, for when no other is under way
   * @param joint an evaluation that reads first, for all that waited
   * @throws what the evaluation throws that the caller's became part of, or waited for
   */
  async take(
    executionId: string,
    affected: AffectedSteps,
    own: () => Promise<unknown>,
    joint: (affected: AffectedSteps) => Promise<unknown>,
  ): Promise<void> {
    const flight = this.#singleFlight.get(executionId);
    if (flight === undefined) {
      await this.#begin(executionId, own);
      return;
    }
    if (flight.next === undefined) flight.next = this.#after(flight, executionId, affected, joint);
    else flight.next.affected = joined(flight.next.affected, affected);
    this.#atWork.messages -= 1;
    try {
      await flight.next.over;
    } finally {
      this.#atWork.messages += 1;
    }
  }

  #after(
    flight: Flight,
    executionId: string,
    affected: AffectedSteps,
    joint: (affected: AffectedSteps) => Promise<unknown>,
  ): Next {
    const next: Next = {
      affected,
      over: flight.over.then(() => this.#begin(executionId, () => joint(next.affected))),
    };
    return next;
  }

  #begin(executionId: string, evaluate: () => Promise<unknown>): Promise<unknown> {
    const leave = (): void => void this.#singleFlight.delete(executionId);
    const flight: Flight = {
      over: evaluate().then(
        () => {
          if (flight.next === undefined) leave();
        },
        (error: unknown) => {
          leave();
          throw error;
        },
      ),
    };
    this.#singleFlight.set(executionId, flight);
    return flight.over;
  }
}
