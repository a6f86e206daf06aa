/**
 * The rate of an agent: how many of its claims a second may begin, over all processes.
 *
 * Owns: the record, and what a claim gets of it: slots now, or a turn later. Does not own: how a rate is
 * written (`values/rate.ts`), who reads and writes the record (`agent/process-rate.ts`), what becomes of a
 * step meanwhile (`step/defer.ts`).
 *
 * Slots follow each other at the rate, by the later of the last one's end and the writer's clock, so none
 * is given twice; one that is not used at its time is lost, and does not add to a later second. A turn is
 * a hint when to ask again and takes no slot: work that comes late for it asks like all others, so it
 * counts in the second of its use. Work without a turn goes behind all turns that are not due yet.
 */

/** If a slot begins within this time, the process that takes it waits for it. */
export const NEAR_MS = 2_000;
/** The part of a second that one process may take at once. */
const SHARE_MS = 50;
/** A slot of a slow rate is used soon after it begins: else two might come in one second. */
const SECOND_MS = 1_000;
/** How far behind the time of the next slot work that has a turn may still come. */
const IDLE_MS = 10_000;

export interface AgentRate {
  readonly agent: string;
  readonly version: number;
  readonly writeId: string;
  /** Slots are given until then; epoch ms. */
  readonly givenUntil: number;
  /** The latest turn. */
  readonly lastTurnAt: number;
}

/** Claims may begin from `fromAt` until `untilAt`: `count` of them. */
export interface Slots {
  readonly fromAt: number;
  readonly untilAt: number;
  readonly count: number;
}

/** The most slots that one process may take at once. */
export const shareOf = (perSecond: number): number => Math.max(1, Math.floor((perSecond * SHARE_MS) / 1_000));

/**
 * @param wanted slots; all or none are given
 * @param hasTurn the work was deferred for the rate, and its turn has come
 */
export function withSlots(
  before: AgentRate | undefined,
  agent: string,
  perSecond: number,
  { wanted, hasTurn }: { readonly wanted: number; readonly hasTurn: boolean },
  { now, writeId }: { readonly now: number; readonly writeId: string },
):
  | { readonly record: AgentRate; readonly slots: Slots }
  | { readonly record: AgentRate; readonly turnAt: number } {
  const { version = 0, givenUntil = 0, lastTurnAt = 0 } = before ?? {};
  const gapMs = 1_000 / perSecond;
  const fromAt = Math.max(givenUntil, now);
  // The turns of what was canceled are used by nobody: then those that come now are the first.
  const isIdle = givenUntil + gapMs + IDLE_MS < now;
  const turnsUntil = isIdle ? Math.min(lastTurnAt, now) : lastTurnAt;
  const next = { agent, version: version + 1, writeId, givenUntil, lastTurnAt: turnsUntil };
  if ((hasTurn || turnsUntil <= now) && fromAt - now <= NEAR_MS) {
    const untilAt = fromAt + wanted * gapMs;
    const usedBy = Math.min(untilAt, fromAt + SECOND_MS);
    return { record: { ...next, givenUntil: untilAt }, slots: { fromAt, untilAt: usedBy, count: wanted } };
  }
  const turnAt = Math.max(turnsUntil, fromAt) + gapMs;
  return { record: { ...next, lastTurnAt: turnAt }, turnAt: Math.ceil(turnAt) };
}
