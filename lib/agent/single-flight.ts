/**
 * Joins the evaluations of one execution that several messages of a process ask for at the same time.
 *
 * Owns: which caller evaluates, and which waits for another's evaluation. Does not own: an evaluation
 * (`engine/reconcile.ts`).
 *
 * Messages of a batch often are steps of one execution, and their reports are written within milliseconds. If
 * each evaluated by itself, each would read the whole execution, and after the last steps each would try to
 * write its end, though only one can succeed. An evaluation that begins after a report was written covers
 * that report, so while one is under way all further requests share the next one. If the store does not
 * answer, they fail together: each caller limits its own tries.
 */

import { type AffectedSteps, joined } from '../core/decisions/decision.ts';

type Evaluate = (affected: AffectedSteps) => Promise<unknown>;

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
  readonly #flights = new Map<string, Flight>();
  readonly #atWork: { messages: number };

  /**
   * @param atWork counts messages of this process that may soon send something; one that waits for another's
   * evaluation does not count
   */
  constructor(atWork = { messages: 0 }) {
    this.#atWork = atWork;
  }

  /**
   * Evaluates, or waits for an evaluation that covers this call.
   * @param evaluate reads first. It runs for this caller alone if no other evaluation is under way, else once
   * for all waiting callers
   * @throws the error of the evaluation that covered, or preceded, the caller's
   */
  async take(executionId: string, affected: AffectedSteps, evaluate: Evaluate): Promise<void> {
    const flight = this.#flights.get(executionId);
    if (flight === undefined) {
      await this.#begin(executionId, () => evaluate(affected));
      return;
    }
    if (flight.next === undefined) {
      const next: Next = {
        affected,
        over: flight.over.then(() => this.#begin(executionId, () => evaluate(next.affected))),
      };
      flight.next = next;
    } else flight.next.affected = joined(flight.next.affected, affected);
    this.#atWork.messages -= 1;
    try {
      await flight.next.over;
    } finally {
      this.#atWork.messages += 1;
    }
  }

  #begin(executionId: string, evaluate: () => Promise<unknown>): Promise<unknown> {
    const leave = (): void => void this.#flights.delete(executionId);
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
    this.#flights.set(executionId, flight);
    return flight.over;
  }
}
