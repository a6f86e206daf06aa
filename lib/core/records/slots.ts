/**
 * The rate of an agent: how many of its claims may begin in a second, over all processes.
 *
 * Owns: the record, and the answer to a claim: slots now, or a turn later. Does not own: the spelling of a
 * rate (`values/rate.ts`), reading and writing the record (`agent/process-rate.ts`), the step meanwhile
 * (`step/defer.ts`).
 *
 * Slots follow each other at the rate, beginning at the later of the last slot's end and the writer's clock,
 * so that none is given twice. A slot that is not used in its time is lost, and adds nothing to a later
 * second. A turn is a time to ask again, and takes no slot: late work asks like all other work, so it counts
 * in the second in which it is used. Work without a turn comes after all future turns of its own group
 * (`fairBy`), but not after those of other groups: a group of one does not wait for another group's three
 * hundred.
 */

/** A process waits for a slot that begins within this time. */
export const NEAR_MS = 2_000;
/**
 * A group without turns takes at most this much of the rate at once, so the next group waits no longer …
 */
const FIRST_MS = 1_000;
/** … and, while other groups have turns, gets a slot within this time. */
const BESIDE_MS = 3_000;
/** How many groups have turns of their own; the rest share those of work without a group. */
const MOST_GROUPS = 100;
const NOBODY = '-';
/** The difference of two clocks that are each 2 s wrong. */
const CLOCKS_DIFFER_MS = 4_000;
/** The part of a second that one process may take at once. */
const SHARE_MS = 50;
/** Slots of a slow rate end this soon after they begin: otherwise two might be used in one second. */
const SECOND_MS = 1_000;
/** How late work with a turn may come after the time of the next slot. */
const IDLE_MS = 10_000;

export interface AgentRate {
  readonly agent: string;
  readonly version: number;
  readonly writeId: string;
  /** The rate at the time of writing. */
  readonly perSecond?: number;
  /** Slots have been given up to this time; epoch ms. */
  readonly givenUntil: number;
  /** By group, the latest of its turns that is still to come. */
  readonly lastTurnOf: Readonly<Record<string, number>>;
}

/** `count` claims may begin from `fromAt` until `untilAt`. */
export interface Slots {
  readonly fromAt: number;
  readonly untilAt: number;
  readonly count: number;
}

export interface SlotsAsked {
  readonly wanted: number;
  readonly hasTurn: boolean;
  readonly group?: string | undefined;
}

/** The most slots that one process may take at once. */
export const shareOf = (perSecond: number): number => Math.max(1, Math.floor((perSecond * SHARE_MS) / 1_000));

/**
 * @param wanted how many slots; all or none are given
 * @param hasTurn true if the work was deferred for the rate and its turn has come
 * @param group of the work
 */
export function withSlots(
  before: AgentRate | undefined,
  agent: string,
  perSecond: number,
  { wanted, hasTurn, group }: SlotsAsked,
  { now, writeId }: { readonly now: number; readonly writeId: string },
):
  | { readonly record: AgentRate; readonly slots: Slots }
  | { readonly record: AgentRate; readonly turnAt: number } {
  const gapMs = 1_000 / perSecond;
  const { version = 0 } = before ?? {};
  // Ignores slots this far ahead: only a process with a wrong clock can have given them.
  const farthestAt = now + BESIDE_MS + Math.max(SHARE_MS, gapMs) + CLOCKS_DIFFER_MS;
  const { givenUntil = 0, lastTurnOf = {} } = (before?.givenUntil ?? 0) > farthestAt ? {} : (before ?? {});
  const fromAt = Math.max(givenUntil, now);
  // The turns stayed unused, because their work was canceled: new work comes first.
  const isIdle = givenUntil + gapMs + IDLE_MS < now;
  const turns = isIdle ? {} : turnsAfter(lastTurnOf, now);
  const isKnown = group !== undefined && (group in turns || Object.keys(turns).length < MOST_GROUPS);
  const name = isKnown ? group : NOBODY;
  const { [name]: own, ...others } = turns;
  const beside = Object.keys(others).length;
  const next = { agent, version: version + 1, writeId, perSecond, givenUntil, lastTurnOf: turns };
  const nearMs = hasTurn || name === NOBODY ? NEAR_MS : beside > 0 ? BESIDE_MS : FIRST_MS;
  if ((hasTurn || own === undefined) && fromAt - now <= nearMs) {
    const untilAt = fromAt + wanted * gapMs;
    const usedBy = Math.min(untilAt, fromAt + SECOND_MS);
    return { record: { ...next, givenUntil: untilAt }, slots: { fromAt, untilAt: usedBy, count: wanted } };
  }
  // Its group gets turns as often as each of the others.
  const turnAt = Math.max((own ?? 0) + gapMs * (beside + 1), fromAt + gapMs);
  return { record: { ...next, lastTurnOf: { ...turns, [name]: turnAt } }, turnAt: Math.ceil(turnAt) };
}

/** Work that waits for the rate of its agent. */
export interface RateQueue {
  /** The rate: claims a second. */
  readonly perSecond: number;
  /** About how many attempts wait for their turn. */
  readonly waiting: number;
  /** The last turn that was given. */
  readonly lastTurnAt: number;
}

/** The turns that are still to come; each group has one as often as the others. */
export function rateQueueOf(record: AgentRate | undefined, now: number): RateQueue | undefined {
  if (record?.perSecond === undefined) return undefined;
  const turns = Object.values(turnsAfter(record.lastTurnOf, now));
  if (turns.length === 0) return undefined;
  const waitMs = turns.reduce((sum, at) => sum + at - now, 0) / turns.length;
  const waiting = Math.max(turns.length, Math.ceil((waitMs * record.perSecond) / 1_000));
  return { perSecond: record.perSecond, waiting, lastTurnAt: Math.ceil(Math.max(...turns)) };
}

const turnsAfter = (turns: AgentRate['lastTurnOf'], now: number): AgentRate['lastTurnOf'] =>
  Object.fromEntries(Object.entries(turns).filter(([, at]) => at > now));
