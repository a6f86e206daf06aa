/**
 * How far this process's clock is from the store's, the only clock that all processes see.
 *
 * Owns: the allowance; beyond it the note, and the correction of this process's clock. It measures by the
 * `Date` header of an answer that has come anyway: it makes no call, and between two measurements it makes no
 * more than one comparison. Does not own: what a clock does with the correction (`clock.ts`).
 *
 * The header is in whole seconds, cut off (RFC 9110, 6.6.1 and 5.6.7), and the answer was made some time
 * between request and arrival. So only the certain part of the skew is noted and corrected: the real skew may
 * be larger by a second and the duration of the call.
 */

import type { Log } from '../core/ports.ts';

/**
 * How far each clock may be wrong: every wake time is met as long as no clock is further off
 * (docs/ARCHITECTURE.md, Clocks).
 */
export const CLOCK_ALLOWANCE_MS = 2_000;
/** How often each process measures. */
const MEASURED_EVERY_MS = 60_000;
const NOTED_EVERY_MS = 900_000;
/** The header may be behind by this much, because it is cut off to whole seconds. */
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
   * @param steps how often this process's clock has followed the machine's: after each such step it measures
   */
  constructor(log: Log, correct?: (byMs: number) => void, steps: () => number = () => 0) {
    this.#log = log;
    this.#correct = correct;
    this.#steps = steps;
  }

  /** Whether to measure with an answer that comes now. */
  isDue(now: number): boolean {
    return now >= this.#measureAt || this.#steps() !== this.#stepsKnown;
  }

  /**
   * @param sentAt, receivedAt this process's clock, epoch ms
   * @param date the answer's header; without a date there is no measurement
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

/** Measures by the answers to calls that go the SDK's way; each attempt of a call is one measurement. */
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
