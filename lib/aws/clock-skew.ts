/**
 * How far this process's clock is from the store's, the only clock that all processes see.
 *
 * Owns: how large a difference is allowed, and noting and correcting a larger one. It reads the `Date` header
 * of answers that arrive anyway: it makes no call, and between two measurements it costs one comparison. Does
 * not own: the use of the correction (`clock.ts`).
 *
 * The header is cut off to whole seconds (RFC 9110, 6.6.1 and 5.6.7), and the answer was made at some time
 * between request and arrival. So only the certain part of the skew is noted and corrected: the real skew may
 * be larger by a second and the duration of the call.
 */

import type { Log } from '../core/ports.ts';

/** How far each clock may be wrong: up to this, every wake time is met (docs/ARCHITECTURE.md, Clocks). */
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
   * @param steps counts how often this process's clock has followed the machine's; each step causes a
   * measurement
   */
  constructor(log: Log, correct?: (byMs: number) => void, steps: () => number = () => 0) {
    this.#log = log;
    this.#correct = correct;
    this.#steps = steps;
  }

  /** True if the next answer should be measured. */
  isDue(now: number): boolean {
    return now >= this.#measureAt || this.#steps() !== this.#stepsKnown;
  }

  /**
   * Notes and corrects a difference above the allowance.
   * @param sentAt, receivedAt this process's clock, epoch ms
   * @param date the answer's header; without it nothing is measured
   * @returns true if the clock was corrected
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

/** Makes an SDK client measure with each answer, one for each attempt of a call. */
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
