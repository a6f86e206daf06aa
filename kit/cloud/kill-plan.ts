/**
 * Computes from a seed which process is killed when. Pure.
 *
 * Owns: the moments of faults, and how often each function is a target. Does not own: causing faults
 * (`random-kills.ts`).
 */

import type { FaultMoment } from '../../local/control/fault.ts';
import { type Draws, drawsOf } from './random.ts';

export interface PlannedKill {
  /** The time since the start, in ms. */
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

/** The fraction of kills that hit roles; the others hit agents. */
const OF_ROLES = 0.2;

/** The kill with this number, from 0. Each interval has one, at a random time. */
export function plannedKill({ seed, everyMs, agents, roles }: KillPlan, index: number): PlannedKill {
  const draws = drawsOf(seed, index);
  const atMs = Math.floor((index + draws.random()) * everyMs);
  const [first = '', ...others] =
    roles.length > 0 && (agents.length === 0 || draws.chance(OF_ROLES)) ? roles : agents;
  return { atMs, target: draws.pick([first, ...others]), moment: strikeMoment(draws) };
}

/** Random moments, one in each interval of the mean length, so that every sufficiently long run has some. */
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

/**
 * Draws the moment of a kill: during work, at once, or just before or after a call of the store or a queue.
 */
export function strikeMoment(draws: Draws): FaultMoment {
  const kind = draws.random();
  if (kind < 0.4) return { nextEvent: true, afterMs: draws.between(0, 600) };
  if (kind < 0.6) return 'now';
  return callMoment(draws, 5);
}

/** Draws a moment before or after one of its next calls. */
export const callMoment = (draws: Draws, most: number): FaultMoment => {
  const nth = draws.between(1, most);
  return draws.chance(0.5) ? { beforeCall: nth } : { afterCall: nth };
};
