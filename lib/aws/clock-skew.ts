/**
 * How far this process's clock is from the store's, which is the one clock that all processes see.
 *
 * Owns: the allowance; beyond it the note, and the correction of this process's clock. Measured by the `Date`
 * header of an answer that has come anyway: no call, and between two measurements no more than one
 * comparison. Does not own: what a clock does with the correction (`clock.ts`).
 *
 * The header is in whole seconds, cut off (RFC 9110, 6.6.1 and 5.6.7), and the answer was made some time
 * between request and arrival. So only what is certain is noted and corrected: a clock may be wrong by a
 * second and the call's time more than is said here.
 */

import type { Log } from '../core/ports.ts';

/** What each clock may be wrong by: up to there every wake time is met (docs/ARCHITECTURE.md, Clocks). */
export const CLOCK_ALLOWANCE_MS = 2_000;
/** How often each process measures. */
const MEASURED_EVERY_MS = 60_000;
const NOTED_EVERY_MS = 900_000;
/** What the header is cut off by. */
const RESOLUTION_MS = 1_000;

export class ClockSkew {
  readonly #log: Log;
  readonly #correct: ((byMs: number) => void) | undefined;
  readonly #steps: () => number;
  #stepsKnown = 0;
  #measureAt = 0;
  #noteAt = 0;

  /**
   * @param correct sets this process's clock, forward or (below zero) back
   * @param steps how often this process's clock has followed the machine's: after each it is measured
   */
  constructor(log: Log, correct?: (byMs: number) => void, steps: () => number = () => 0) {
    this.#log = log;
    this.#correct = correct;
    this.#steps = steps;
  }

  /** Whether an answer that comes now is to be measured. */
  isDue(now: number): boolean {
    return now >= this.#measureAt || this.#steps() !== this.#stepsKnown;
  }

  /**
   * @param sentAt, receivedAt this process's clock, epoch ms
   * @param date the answer's header; another thing than a date is no measurement
   * @returns whether the clock was corrected
   */
  measure(sentAt: number, receivedAt: number, date: string | undefined): boolean {
    const cutAt = date === undefined ? Number.NaN : Date.parse(date);
    if (Number.isNaN(cutAt)) return false;
    this.#measureAt = receivedAt + MEASURED_EVERY_MS;
    this.#stepsKnown = this.#steps();
    const aheadMs = sentAt - (cutAt + RESOLUTION_MS);
    const behindMs = cutAt - receivedAt;
    const ms = Math.max(aheadMs, behindMs);
    if (ms <= CLOCK_ALLOWANCE_MS) return false;
    const byMs = Math.round(cutAt + RESOLUTION_MS / 2 - (sentAt + receivedAt) / 2);
    this.#correct?.(byMs);
    const now = this.#correct === undefined ? receivedAt : receivedAt + byMs;
    this.#measureAt = now + MEASURED_EVERY_MS;
    if (now >= this.#noteAt) {
      this.#noteAt = now + NOTED_EVERY_MS;
      this.#log.note({ what: 'clock-skewed', detail: aheadMs > behindMs ? 'ahead' : 'behind', ms });
    }
    return true;
  }
}

interface Answered {
  readonly response: unknown;
}
type Handler = (given: never) => Promise<Answered>;
interface Stacked {
  readonly middlewareStack: {
    readonly add: (
      middleware: (next: Handler) => Handler,
      options: { step: 'deserialize'; name: string },
    ) => void;
  };
}

/** Measures by the answers of calls that go the SDK's way; each attempt of a call is one. */
export function measured<Client>(client: Client, skew: ClockSkew, now: () => number): Client {
  const { middlewareStack } = client as Stacked;
  middlewareStack.add(
    (next) => async (given) => {
      const sentAt = now();
      const answered = await next(given);
      if (skew.isDue(sentAt)) skew.measure(sentAt, now(), dateOf(answered.response));
      return answered;
    },
    { step: 'deserialize', name: 'steadfastClockSkew' },
  );
  return client;
}

function dateOf(response: unknown): string | undefined {
  const { headers } = (response ?? {}) as { readonly headers?: Readonly<Record<string, string>> };
  return headers?.['date'];
}
