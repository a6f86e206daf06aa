/**
 * Draws the faults and their times from the seed, before the run begins.
 *
 * Owns: the kinds of faults, their rates and moments. Pure. Does not own: executing it (`saboteur.ts`), what
 * the outside world does wrong (`order-plan.ts`).
 *
 * The supervisor is struck at any time of its minute, like every other function, but less often: the other
 * supervisor takes over, and after both are dead nothing sweeps until the next tick, so supervisors killed
 * every few seconds would never work. It is struck at its next calls, which come every two seconds: that hits
 * one process, while 'now' would hit all of them.
 */

import type { FaultMoment } from '../../local/control/fault.ts';
import { type Draws, drawsOf } from '../../kit/cloud/random.ts';
import { callMoment, moments as momentsFrom, strikeMoment } from '../../kit/cloud/kill-plan.ts';

export const AGENTS = ['charge-card', 'reserve-stock', 'schedule-shipping', 'notify-customer'] as const;
/** All functions that can be killed. */
export const FUNCTIONS = ['scheduler', ...AGENTS, 'supervisor'] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

export type Fault =
  | { readonly kind: 'kill'; readonly target: FunctionName; readonly moment: FaultMoment }
  | {
      readonly kind: 'freeze';
      readonly target: FunctionName;
      readonly moment: FaultMoment;
      readonly forMs: number;
      /** Its connections are cut before it continues. */
      readonly cut?: true;
    }
  /** kill -9 of DynamoDB. */
  | { readonly kind: 'store-restart'; readonly downMs: number }
  /**
   * late-index: it answers with the state of a few seconds ago. refused-index: it has no capacity for a
   * write.
   */
  | {
      readonly kind: 'ambiguous' | 'throttle' | 'late-index' | 'refused-index';
      readonly target: FunctionName;
      readonly calls: number;
    }
  /** Its messages are received and refused. */
  | { readonly kind: 'no-concurrency'; readonly target: FunctionName; readonly forMs: number };

export interface PlannedFault {
  /** Ms from the start of the run. */
  readonly atMs: number;
  readonly fault: Fault;
}

/** Mean time from one fault of a kind to the next. */
const EVERY_MS = {
  kill: 1_500,
  freeze: 6_000,
  supervisorKill: 100_000,
  supervisorFreeze: 120_000,
  storeRestart: 25_000,
  recoveryRestart: 45_000,
  ambiguous: 2_500,
  throttle: 2_500,
  longFreeze: 15_000,
  lateIndex: 4_000,
  refusedIndex: 4_000,
  noConcurrency: 20_000,
} as const;

/** Longer than a lease. */
export const LONG_FREEZE_MS = 6_000;

/** The earliest fault, when the system is working. */
const FIRST_AT_MS = 4_000;
/** The time after a kill in which its recovery runs. */
const RECOVERY_AFTER_MS = [5_500, 9_000] as const;

/** All faults of a run, in order of time. */
export function faultPlan(seed: number, durationMs: number): readonly PlannedFault[] {
  const kills = moments(drawsOf(seed, 1), EVERY_MS.kill, durationMs).map(({ atMs, draws }) =>
    planned(atMs, { kind: 'kill', target: busyTarget(draws), moment: strikeMoment(draws) }),
  );
  const freezes = moments(drawsOf(seed, 2), EVERY_MS.freeze, durationMs).map(({ atMs, draws }) =>
    planned(atMs, {
      kind: 'freeze',
      target: busyTarget(draws),
      moment: strikeMoment(draws),
      forMs: draws.between(1_000, 20_000),
    }),
  );
  const calls = (['ambiguous', 'throttle'] as const).flatMap((kind, at) =>
    moments(drawsOf(seed, 3 + at), EVERY_MS[kind], durationMs).map(({ atMs, draws }) =>
      planned(atMs, { kind, target: draws.pick(FUNCTIONS), calls: draws.between(1, 4) }),
    ),
  );
  const all = [
    ...kills,
    ...freezes,
    ...calls,
    ...supervisorFaults(seed, durationMs),
    ...blindSpots(seed, durationMs),
  ];
  const restarts = storeRestarts(seed, durationMs, kills);
  return [...all, ...restarts].sort((one, other) => one.atMs - other.atMs);
}

const planned = (atMs: number, fault: Fault): PlannedFault => ({ atMs, fault });

function supervisorFaults(seed: number, durationMs: number): PlannedFault[] {
  const kills = moments(drawsOf(seed, 5), EVERY_MS.supervisorKill, durationMs).map(({ atMs, draws }) =>
    planned(atMs, {
      kind: 'kill',
      target: 'supervisor',
      moment: callMoment(draws, 8),
    }),
  );
  const freezes = moments(drawsOf(seed, 6), EVERY_MS.supervisorFreeze, durationMs).map(({ atMs, draws }) =>
    planned(atMs, {
      kind: 'freeze',
      target: 'supervisor',
      moment: callMoment(draws, 8),
      forMs: draws.between(1_000, 8_000),
    }),
  );
  return [...kills, ...freezes];
}

/** Faults that AWS has and a local cloud does not have by itself. */
function blindSpots(seed: number, durationMs: number): PlannedFault[] {
  const each = (stream: number, everyMs: number, faultOf: (draws: Draws) => Fault): PlannedFault[] =>
    moments(drawsOf(seed, stream), everyMs, durationMs).map(({ atMs, draws }) =>
      planned(atMs, faultOf(draws)),
    );
  return [
    ...each(9, EVERY_MS.lateIndex, (draws) => ({
      kind: 'late-index',
      target: 'supervisor',
      calls: draws.between(1, 3),
    })),
    ...each(10, EVERY_MS.refusedIndex, (draws) => ({
      kind: 'refused-index',
      target: draws.pick(FUNCTIONS),
      calls: draws.between(1, 3),
    })),
    ...each(11, EVERY_MS.longFreeze, (draws) => ({
      kind: 'freeze',
      target: busyTarget(draws),
      moment: strikeMoment(draws),
      forMs: draws.between(LONG_FREEZE_MS, 20_000),
      cut: true,
    })),
    ...each(12, EVERY_MS.noConcurrency, (draws) => ({
      kind: 'no-concurrency',
      target: draws.pick<FunctionName>(AGENTS),
      forMs: draws.between(3_000, 10_000),
    })),
  ];
}

/** Restarts of the store: some at random times, some during the recovery from a kill. */
function storeRestarts(
  seed: number,
  durationMs: number,
  kills: readonly PlannedFault[],
): readonly PlannedFault[] {
  const restart = (atMs: number, draws: Draws): PlannedFault =>
    planned(atMs, { kind: 'store-restart', downMs: draws.chance(0.5) ? 0 : draws.between(100, 2_500) });
  const random = moments(drawsOf(seed, 7), EVERY_MS.storeRestart, durationMs);
  const aimed = moments(drawsOf(seed, 8), EVERY_MS.recoveryRestart, durationMs).flatMap(({ atMs, draws }) => {
    const kill = kills.findLast((each) => each.atMs <= atMs);
    const at = (kill?.atMs ?? atMs) + draws.between(...RECOVERY_AFTER_MS);
    return at < durationMs ? [{ atMs: at, draws }] : [];
  });
  return [...random, ...aimed].map(({ atMs, draws }) => restart(atMs, draws));
}

const moments = (draws: Draws, everyMs: number, durationMs: number): { atMs: number; draws: Draws }[] =>
  momentsFrom(draws, { everyMs, durationMs, firstAtMs: FIRST_AT_MS });

const busyTarget = (draws: Draws): FunctionName =>
  draws.chance(0.2) ? 'scheduler' : draws.pick<FunctionName>(AGENTS);
