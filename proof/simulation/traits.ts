/**
 * The traits of a world, besides its faults: drawn from its seed by separate random streams, so that they are
 * independent of each other.
 *
 * Owns: the share of worlds that has each trait. Does not own: what a trait does (`world.ts`, `process.ts`),
 * the faults (`faults.ts`), what an emphasis is (`emphasis.ts`).
 */

import { seededRandom } from '../../lib/memory/world.ts';
import { ASKING } from './cast.ts';
import { type Emphasis, EMPHASES } from './emphasis.ts';
import { KEY_MODES, type KeyMode } from './ledger.ts';
import { choiceOf } from './plans.ts';
import { TOLERANT } from './tolerance.ts';

export interface Traits {
  /** Ended executions expire, and every start comes once more: no process lives that long. */
  readonly livesTwice: boolean;
  /** Every step with predecessors is claimed on a part of its execution, as in a long one. */
  readonly readsInPart: boolean;
  /** The world runs until nothing of it is left. */
  readonly isRetained: boolean;
  /** Pages of the wake index contain few items. */
  readonly hasSmallPages: boolean;
  /** How its services treat a key that they know. */
  readonly keyMode: KeyMode;
  /** Its clients start executions at the same few moments, which the list of executions cannot tell apart. */
  readonly startsTogether: boolean;
  /** Its workflows have steps that may fail. */
  readonly tolerates: boolean;
  /** Its approvals must come from another person. */
  readonly asksAnother: boolean;
  /** Its workflows have steps with a time of their own. */
  readonly hasTimes: boolean;
  /** Its workflows have groups of steps that are tried again as a whole. */
  readonly groups: boolean;
  /** Its workflows have steps that follow an end without success. */
  readonly followsUp: boolean;
  /** Its workflows have steps that go on in another way after a crash. */
  readonly changesStages: boolean;
  /** Its agents run in containers, whose workers record that attempts have died. */
  readonly hasContainers: boolean;
  /** Some of its workflows are paused for a while. */
  readonly pausesWhole: boolean;
  /** Whoever is asked about a step of its workflows may be reminded. */
  readonly reminds: boolean;
  /** Its probes take long. */
  readonly probesSlowly: boolean;
  /** Its external parties send heartbeats and hardly ever an answer. */
  readonly beats: boolean;
  /** Its agents sometimes answer with something that is not an output, although their work is done. */
  readonly answersWrongly: boolean;
  /** Its services accept work and do it by themselves. */
  readonly accepts: boolean;
  /** Its agents begin only this many attempts a second. */
  readonly hasRates: boolean;
  /** Its workflows have steps that are repeated. */
  readonly repeats: boolean;
  /** Its workflows have lanes. */
  readonly hasLanes: boolean;
  /** Its values are stored outside the table. */
  readonly keepsApart: boolean;
  /** Its operators act in bulk. */
  readonly actsInBulk: boolean;
  /** Its workflows have waits that are shorter than any lease. */
  readonly waitsShortly: boolean;
  /** The machines of its processes have clocks that are set. */
  readonly clocksJump: boolean;
  /** Its agents share a function, which carries executions on by itself. */
  readonly carriesOn: boolean;
  /** The ends of its workflows' executions are not announced. */
  readonly endsSilently: boolean;
  /** Its workflows have steps that take messages. */
  readonly sends: boolean;
  /** Its workflows have options that few steps have. */
  readonly hasRareOptions: boolean;
  /** The frequent events in it. */
  readonly emphasis: Emphasis | undefined;
}

/** Worlds about steps that may fail, and about people: they show what few others show. */
const TOLERANT_SHARE = 0.33;
const ASKING_SHARE = 0.09;

/** A random stream other than the world's own. */
const OWN_STREAM = 0x5eed_7a17;

export function traitsOf(seed: number): Traits {
  const choice = choiceOf(seededRandom(seed ^ OWN_STREAM));
  const drawn = {
    livesTwice: choice.chance(0.25),
    readsInPart: choice.chance(0.25),
    isRetained: choice.chance(0.25),
    hasSmallPages: choice.chance(0.33),
    keyMode: choice.pick(KEY_MODES),
    emphasis: choice.chance(0.25) ? choice.pick(EMPHASES) : undefined,
    startsTogether: choice.chance(0.33),
    tolerates: choice.chance(0.33),
    groups: choice.chance(0.45),
  };
  const about = choice.random();
  const isTolerant = about < TOLERANT_SHARE;
  const asksAnother = about > 1 - ASKING_SHARE;
  return {
    ...drawn,
    ...(isTolerant ? { tolerates: true, emphasis: TOLERANT } : {}),
    ...(asksAnother ? { emphasis: ASKING } : {}),
    asksAnother,
    hasTimes: choice.chance(0.25),
    followsUp: choice.chance(0.45),
    changesStages: choice.chance(0.32),
    hasContainers: choice.chance(0.3),
    pausesWhole: choice.chance(0.25),
    reminds: choice.chance(0.4),
    probesSlowly: choice.chance(0.2),
    beats: choice.chance(0.12),
    answersWrongly: choice.chance(0.45),
    actsInBulk: choice.chance(0.45),
    waitsShortly: choice.chance(0.5),
    accepts: choice.chance(0.36),
    hasRates: choice.chance(0.15),
    repeats: choice.chance(0.42),
    keepsApart: choice.chance(0.3),
    hasLanes: choice.chance(0.42),
    clocksJump: choice.chance(0.3),
    carriesOn: choice.chance(0.5),
    endsSilently: !choice.chance(0.5),
    sends: choice.chance(0.5),
    hasRareOptions: choice.chance(0.3),
  };
}
