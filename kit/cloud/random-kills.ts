/**
 * Kills processes by the plan of a seed, and counts those that died.
 *
 * Owns: the timers and the count. Does not own: choosing process and time (`kill-plan.ts`), killing (the
 * local cloud's control).
 *
 * A target has only one pending kill: otherwise, kills that found no event would accumulate and hit the next
 * ones in a row. A supervisor is killed only while it is at work: a kill that waits for the next supervisor
 * would hit each at its first call, and none would ever sweep.
 */

import type { FaultHit, FaultMoment } from '../../local/control/fault.ts';
import { type PlannedKill, plannedKill } from './kill-plan.ts';
import type { RandomKillOptions, RandomKills } from './local-cloud.ts';

/** The targets, and the function that kills one. */
export interface Killable {
  readonly agents: readonly string[];
  readonly kill: (name: string, when: FaultMoment) => { readonly hit: Promise<FaultHit> };
  readonly isAtWork: (name: string) => boolean;
  readonly clear: () => void;
}

const EVERY_MS = 1_000;
const SUPERVISOR = 'supervisor';
/** The scheduler is drawn three times as often as the supervisor. */
const ROLES = ['scheduler', 'scheduler', 'scheduler', SUPERVISOR];

export function killAtRandom(what: Killable, options: RandomKillOptions): RandomKills {
  const { seed, everyMs = EVERY_MS, functions } = options;
  const plan = {
    seed,
    everyMs,
    agents: functions ?? what.agents,
    roles: functions === undefined ? ROLES : [],
  };
  const killed: Record<string, number> = {};
  const beganAt = Date.now();
  let timer: NodeJS.Timeout | undefined;
  const waiting = new Set<string>();
  const strike = ({ target, moment }: PlannedKill): void => {
    if (waiting.has(target) || (target === SUPERVISOR && !what.isAtWork(SUPERVISOR))) return;
    waiting.add(target);
    void what.kill(target, moment).hit.then(({ outcome, pids }) => {
      waiting.delete(target);
      if (outcome === 'hit') killed[target] = (killed[target] ?? 0) + pids.length;
    });
  };
  const next = (index: number): void => {
    const planned = plannedKill(plan, index);
    timer = setTimeout(
      () => {
        strike(planned);
        next(index + 1);
      },
      Math.max(0, beganAt + planned.atMs - Date.now()),
    );
  };
  next(0);
  return {
    count: () => Object.values(killed).reduce((sum, count) => sum + count, 0),
    byFunction: () => ({ ...killed }),
    stop: () => {
      clearTimeout(timer);
      what.clear();
    },
  };
}
