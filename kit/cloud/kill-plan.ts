/**
 * Which process is killed when, drawn from a seed before anything is. Pure.
 *
 * Owns: the moments of faults, and how often each function is their target. Does not
 * own: doing it (`random-kills.ts`).
 */

import type { FaultMoment } from '../../local/control/fault.ts';
import { type Draws, drawsOf } from './random.ts';

export interface PlannedKill {
  /** Ms since the start. */
  readonly atMs: number;
  readonly target: string;
  readonly moment: FaultMoment;
}

export interface KillPlan {
  readonly seed: number;
  readonly everyMs: number;
  readonly agents: readonly string[];
  readonly roles: readonly string[];
}

/** A part of all kills; agents share the rest. */
const OF_ROLES = 0.2;

/** The kill of that number, from 0: one somewhere in each interval. */
export function plannedKill({ seed, everyMs, agents, roles }: KillPlan, index: number): PlannedKill {
  const draws = drawsOf(seed, index);
  const atMs = Math.floor((index + draws.random()) * everyMs);
  const [first = '', ...others] =
    roles.length > 0 && (agents.length === 0 || draws.chance(OF_ROLES)) ? roles : agents;
  return { atMs, target: draws.pick([first, ...others]), moment: strikeMoment(draws) };
}

/**
 * One moment somewhere in each interval of the mean length: random, but never
 * none in a run that is long enough.
 */
export function moments(
  draws: Draws,
  { everyMs, durationMs, firstAtMs }: Readonly<Record<'everyMs' | 'durationMs' | 'firstAtMs', number>>,
): { atMs: number; draws: Draws }[] {
  const span = durationMs - firstAtMs;
  const count = Math.max(0, Math.round(span / everyMs));
  return Array.from({ length: count }, (_, at) => ({
    atMs: Math.floor(firstAtMs + ((at + draws.random()) * span) / count),
    draws,
  }));
}

/** While it works, at once, or exactly before or after a call to the store or to a queue. */
export function strikeMoment(draws: Draws): FaultMoment {
  const kind = draws.random();
  if (kind < 0.4) return { nextEvent: true, afterMs: draws.between(0, 600) };
  if (kind < 0.6) return 'now';
  return callMoment(draws, 5);
}

/** Before or after one of its next calls. */
export const callMoment = (draws: Draws, most: number): FaultMoment => {
  const nth = draws.between(1, most);
  return draws.chance(0.5) ? { beforeCall: nth } : { afterCall: nth };
};
