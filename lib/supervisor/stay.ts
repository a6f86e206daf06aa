/**
 * Decides how long a supervisor stays, and records that so that other roles call no second one.
 *
 * Owns: the promises of a tick and of a called supervisor, and when each ends. Does not own: the sweeps
 * (`sweep.ts`), who calls (`engine/wake-up.ts`).
 *
 * A promise is a conditional write of one record. A called supervisor that loses this write to another ends,
 * so at most one of them is at work, and none for long beside a tick that stays. It keeps its promise: before
 * it ends, it sweeps once after the promised time, late enough for a lagging index and for clocks that
 * differ.
 */

import { type Presence, presenceAfter } from '../core/supervision/presence.ts';
import type { Ports, Presences } from '../core/ports.ts';
import { changeRecord } from '../engine/change-record.ts';
import { errorName } from '../core/values/errors.ts';

/** Calls that a supervisor makes during its sweeps. None of them rejects. */
export interface Stay {
  /** Call this before evaluating an execution that is due before the supervisor's time is over. */
  readonly found: () => Promise<void>;
  /** No evaluation of a sweep begins after this time. */
  readonly evaluatesUntilAt: () => number;
  /**
   * True if the supervisor should sweep again.
   * @param busy true if an execution is due before its time is over: in this sweep, in any of its sweeps
   */
  readonly stays: (busy: Busy) => Promise<boolean>;
  /** True if another supervisor of its tick keeps all shards, so that this one may end. */
  readonly isSecond?: () => boolean;
}

export interface Busy {
  readonly now: boolean;
  readonly ever: boolean;
  /** When any of its sweeps last found an overdue execution. */
  readonly overdueAt?: number;
}

type World = Pick<Ports, 'clock' | 'random' | 'log'>;

/**
 * The longest time from the end of one tick to the first sweep of the next; the rest of the minute allows for
 * clocks that differ.
 */
const NEXT_TICK_MS = 2_000;
/** After this time the index shows every earlier write, even if the writer's clock is 2 s behind. */
const INDEX_LAG_MS = 4_000;
/** How many sweeps a called supervisor promises at a time: few, so that it ends soon when nothing is due. */
const SWEEPS_A_PROMISE = 5;
/** How many sweeps it promises first: a tick may be about to promise as well. */
const FIRST_SWEEPS = 2;
/** The time that a promise leaves for the call that renews it. */
const RENEW_WITHIN_MS = 1_000;
/**
 * Two supervisors of one tick promise the same. The other's promise counts if it differs by no more than
 * this.
 */
const AS_GOOD_MS = 2_000;

/** How long a second supervisor stays after it last found an overdue execution. */
const HELPS_FOR_MS = 10_000;

const NO_LIMIT = (): number => Number.POSITIVE_INFINITY;

/** For a supervisor without promises: it stays once it has found a due execution. */
export const STAYS_WHEN_BUSY: Stay = {
  found: async () => undefined,
  evaluatesUntilAt: NO_LIMIT,
  stays: async ({ ever }) => ever,
};

/**
 * The stay of a tick. Once a supervisor finds a due execution, it promises to stay: it or the next tick sees
 * all that is written from then on. Among several supervisors of one tick, the first to promise keeps all
 * shards. Another one stays while it finds overdue executions, so that it can take over if the first dies
 * (L5), and ends after a while without any.
 * @param untilAt when its time is over
 */
export function tickStay(presences: Presences, world: World, untilAt: number): Stay {
  let said: Promise<'mine' | 'another'> | undefined;
  let isSecond = false;
  return {
    ...STAYS_WHEN_BUSY,
    found: async () => {
      said ??= promise(presences, world, untilAt + NEXT_TICK_MS);
      isSecond = (await said) === 'another';
    },
    stays: async ({ ever, overdueAt = Number.NEGATIVE_INFINITY }) =>
      isSecond ? world.clock.now() < overdueAt + HELPS_FOR_MS : ever,
    isSecond: () => isSecond,
  };
}

async function promise(
  presences: Presences,
  { random, log }: World,
  untilAt: number,
): Promise<'mine' | 'another'> {
  let promised: 'mine' | 'another' = 'mine';
  const writeId = random.id();
  try {
    await changeRecord(presences, [], (stored) => {
      const isAsGood = stored !== undefined && stored.untilAt >= untilAt - AS_GOOD_MS;
      // It is its own promise if the answer to its write was lost.
      promised = isAsGood && stored.writeId !== writeId ? 'another' : 'mine';
      return isAsGood ? undefined : presenceAfter(stored ?? { version: 0 }, writeId, untilAt);
    });
  } catch (error) {
    // Stays anyway. At worst another supervisor is called in vain.
    log.note({ what: 'presence-failed', detail: errorName(error) });
    return 'mine';
  }
  return promised;
}

/** @param untilAt when the called supervisor's time is over */
interface Limits {
  readonly untilAt: number;
  readonly sweepEveryMs: number;
}

/**
 * Takes over the presence that a caller has promised.
 * @returns undefined if another supervisor has done so, or a tick has come
 */
export async function takeOver(
  presences: Presences,
  world: World,
  called: Pick<Presence, 'version' | 'untilAt'>,
  limits: Limits,
): Promise<Stay | undefined> {
  const one = new Called(presences, world, called, limits);
  return (await one.renew(FIRST_SWEEPS * limits.sweepEveryMs)) === 'lost' ? undefined : one;
}

class Called implements Stay {
  readonly found = STAYS_WHEN_BUSY.found;
  readonly #presences: Presences;
  readonly #world: World;
  readonly #limits: Limits;
  /** Write ids of this process, with or without an answer. */
  readonly #ids = new Set<string>();
  #mine: Pick<Presence, 'version' | 'untilAt'>;

  constructor(
    presences: Presences,
    world: World,
    called: Pick<Presence, 'version' | 'untilAt'>,
    limits: Limits,
  ) {
    this.#presences = presences;
    this.#world = world;
    this.#limits = limits;
    this.#mine = called;
  }

  evaluatesUntilAt(): number {
    return this.#mine.untilAt - RENEW_WITHIN_MS;
  }

  async stays({ now: busy }: { readonly now: boolean }): Promise<boolean> {
    const { sweepEveryMs } = this.#limits;
    const now = this.#world.clock.now();
    if (!busy) return now < this.#mine.untilAt + INDEX_LAG_MS;
    if (now + sweepEveryMs + RENEW_WITHIN_MS < this.#mine.untilAt) return true;
    return (await this.renew(SWEEPS_A_PROMISE * sweepEveryMs)) !== 'lost';
  }

  /**
   * Renews the promise, early enough for a last sweep after the promise's end and within the supervisor's
   * time.
   */
  async renew(forMs: number): Promise<'mine' | 'lost' | 'unsure'> {
    const { clock, random, log } = this.#world;
    const { untilAt: endAt, sweepEveryMs } = this.#limits;
    const lastAt = endAt - INDEX_LAG_MS - sweepEveryMs;
    const untilAt = Math.max(this.#mine.untilAt, Math.min(lastAt, clock.now() + forMs));
    try {
      for (;;) {
        const wanted = presenceAfter(this.#mine, random.id(), untilAt);
        this.#ids.add(wanted.writeId);
        if ((await this.#presences.write(wanted)) === 'written') {
          this.#mine = wanted;
          return 'mine';
        }
        const stored = await this.#presences.read();
        if (stored === undefined || !this.#ids.has(stored.writeId)) return 'lost';
        this.#mine = stored;
      }
    } catch (error) {
      log.note({ what: 'presence-failed', detail: errorName(error) });
      return 'unsure';
    }
  }
}
