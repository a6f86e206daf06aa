/**
 * Outages of a whole service: the store, the queues, one external service.
 *
 * Owns: their times, drawn at the start of a world; all end before it is healed. Does not own: faults of
 * single calls (`faults.ts`).
 */

import type { Faults } from './faults.ts';
import type { Choice } from './plans.ts';

/** A dead service answers at once that it does nothing, or breaks the connection. */
export type Death = 'refuses' | 'hangs-up';

export interface Outages {
  readonly storeIsAway: (now: number) => boolean;
  /** The least delay in ms of a message that is sent now. */
  readonly queueDelayMs: (now: number) => number;
  readonly deathOf: (agent: string, now: number) => Death | undefined;
}

export interface Span {
  readonly from: number;
  readonly until: number;
}

export const CALM: Outages = {
  storeIsAway: () => false,
  queueDelayMs: () => 0,
  deathOf: () => undefined,
};

export const isIn = (one: Span | undefined, now: number): one is Span =>
  one !== undefined && now >= one.from && now < one.until;

const LATEST_START_MS = 400_000;

/** @param from when the world begins. @param agents whose services may die */
export function drawOutages(
  choice: Choice,
  faults: Faults,
  from: number,
  agents: readonly string[],
): Outages {
  const span = (shortestMs: number, longestMs: number): Span => {
    const start = from + choice.between(0, LATEST_START_MS);
    return { from: start, until: start + choice.between(shortestMs, longestMs) };
  };
  const store = faults.injects('storeOutage') ? span(5_000, 240_000) : undefined;
  const queue = faults.injects('queueOutage') ? span(20_000, 400_000) : undefined;
  const dead = faults.injects('deadDependency')
    ? {
        ...span(30_000, 480_000),
        agent: choice.pick(agents),
        death: choice.pick(['refuses', 'hangs-up'] as const),
      }
    : undefined;
  return {
    storeIsAway: (now) => isIn(store, now),
    queueDelayMs: (now) => (isIn(queue, now) ? queue.until - now : 0),
    deathOf: (agent, now) => (dead?.agent === agent && isIn(dead, now) ? dead.death : undefined),
  };
}
