/**
 * The kinds of faults of a simulated world, and their rates.
 *
 * Owns: the kinds, the swarm (each seed switches each kind on or off and draws its rate), the counts. The
 * counts are part of every result, because a run without a kind proves nothing about it.
 */

import type { Emphasis } from './emphasis.ts';
import type { Choice } from './plans.ts';

/** Acts of people, and faults of a whole world. */
const OF_PEOPLE_AND_WORLDS = [
  'canceled',
  'paused',
  'retried',
  'canceledChild',
  'earlyAnswer',
  'repeatedAnswer',
  'noAnswer',
  'rejected',
  'twoOperators',
  'repeatedStart',
  'storeOutage',
  'queueOutage',
  'deadDependency',
  'lateAnswer',
  'largeOutput',
  'strangeText',
] as const;

/** The order of drawing the rates; another order would change the world of every seed. */
const DRAWN_KINDS = [
  'crashBefore',
  'crashAfter',
  'lostMessage',
  'duplicatedMessage',
  'delayedMessage',
  'forgedMessage',
  'throttled',
  'ambiguous',
  'staleIndex',
  'skewedClock',
  'frozenAgent',
  'lostReply',
  'hungService',
  'slowService',
  'wedgedAgent',
  'transientFailure',
  'permanentFailure',
  'permanentUndoFailure',
  'transientUndoFailure',
  'noSupervisor',
  ...OF_PEOPLE_AND_WORLDS,
] as const;
/** All kinds. Those with their own random stream come last, so that existing seeds' worlds do not change. */
export const FAULT_KINDS = [
  ...DRAWN_KINDS,
  'refusedIndex',
  'lostValue',
  'jumpedClock',
  'deadSender',
  'unreached',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];
type DrawnKind = (typeof DRAWN_KINDS)[number];
export type FaultCounts = Record<FaultKind, number>;

/** The faults of one call to AWS. */
const CALL_FAULTS = ['crashBefore', 'crashAfter', 'frozenAgent', 'throttled', 'ambiguous'] as const;
type CallFault = (typeof CALL_FAULTS)[number];

export interface Faults {
  /** Whether this fault occurs now, and counts it; never after the heal. */
  readonly injects: (kind: DrawnKind) => boolean;
  /** The same for a fault with its own random stream. */
  readonly strikes: (kind: Exclude<FaultKind, DrawnKind>) => boolean;
  /** The fault of a call, at most one. It takes only one random number, because there are many calls. */
  readonly ofCall: () => CallFault | undefined;
  readonly counts: FaultCounts;
  readonly heal: () => void;
  readonly healed: () => boolean;
}

export const noCounts = (): FaultCounts =>
  Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as FaultCounts;

/** The highest rate for one call, message or attempt. */
const HIGHEST_RATE: Readonly<Record<DrawnKind, number>> = {
  crashBefore: 0.06,
  crashAfter: 0.06,
  lostMessage: 0.15,
  duplicatedMessage: 0.2,
  delayedMessage: 0.2,
  forgedMessage: 0.05,
  throttled: 0.1,
  ambiguous: 0.1,
  staleIndex: 0.5,
  skewedClock: 0.8,
  frozenAgent: 0.05,
  lostReply: 0.2,
  hungService: 0.1,
  slowService: 0.1,
  wedgedAgent: 0.1,
  transientFailure: 0.25,
  permanentFailure: 0.15,
  permanentUndoFailure: 0.1,
  transientUndoFailure: 0.3,
  noSupervisor: 0.3,
  canceled: 0.15,
  paused: 0.1,
  retried: 0.8,
  canceledChild: 0.2,
  earlyAnswer: 0.5,
  repeatedAnswer: 0.5,
  noAnswer: 0.9,
  rejected: 0.3,
  twoOperators: 0.5,
  repeatedStart: 0.3,
  // The chances of these faults are for each world.
  storeOutage: 0.6,
  queueOutage: 0.6,
  deadDependency: 0.8,
  // The chances of these faults are for each act of a person or service.
  lateAnswer: 0.3,
  largeOutput: 0.03,
  strangeText: 0.2,
};

/** Kinds that are not made rarer in mild worlds. */
const NOT_MILDER: ReadonlySet<FaultKind> = new Set(['permanentUndoFailure', ...OF_PEOPLE_AND_WORLDS]);

/**
 * 'all' is the swarm; 'none' has no fault; 'masked' has only faults that must cost no intervention (C2);
 * 'crowded' is the swarm in which other executions have filled the supervisors' queues, and agents take
 * messages in batches.
 */
export type FaultMode = 'all' | 'none' | 'masked' | 'crowded';

const MASKED: ReadonlySet<FaultKind> = new Set([
  'duplicatedMessage',
  'delayedMessage',
  'staleIndex',
  'repeatedStart',
]);

/**
 * @param only the kinds that may occur; random numbers are drawn for all kinds, so that the world is the same
 * until the first left-out fault
 * @param often highest rates that replace the drawn ones
 */
export function swarm(
  choice: Choice,
  mode: FaultMode,
  only?: ReadonlySet<FaultKind>,
  often: Emphasis['rates'] = {},
): Faults {
  const counts = noCounts();
  // Most worlds are mild: they find bugs that need a single fault; stormy ones find those that need many at
  // once.
  const intensity = choice.random() ** 2;
  const rates = Object.fromEntries(
    DRAWN_KINDS.map((kind) => {
      const on = choice.chance(0.6);
      const drawn = choice.random();
      const rate = drawn * HIGHEST_RATE[kind] * (NOT_MILDER.has(kind) ? 1 : intensity);
      const allowed = mode === 'all' || mode === 'crowded' || (mode === 'masked' && MASKED.has(kind));
      const highest = often[kind];
      if (allowed && highest !== undefined) return [kind, highest * (0.5 + drawn / 2)];
      return [kind, on && allowed ? rate : 0];
    }),
  ) as Record<DrawnKind, number>;
  let healed = false;
  const isLeftOut = (kind: FaultKind): boolean => only !== undefined && !only.has(kind);
  return {
    injects: (kind) => {
      if (healed || rates[kind] === 0 || !choice.chance(rates[kind]) || isLeftOut(kind)) return false;
      counts[kind] += 1;
      return true;
    },
    strikes: (kind) => {
      if (healed || isLeftOut(kind) || (mode !== 'all' && mode !== 'crowded')) return false;
      counts[kind] += 1;
      return true;
    },
    ofCall: () => {
      if (healed) return undefined;
      let drawn = choice.random();
      for (const kind of CALL_FAULTS) {
        drawn -= rates[kind];
        if (drawn >= 0) continue;
        if (isLeftOut(kind)) return undefined;
        counts[kind] += 1;
        return kind;
      }
      return undefined;
    },
    counts,
    heal: () => {
      healed = true;
    },
    healed: () => healed,
  };
}
