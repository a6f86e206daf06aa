/**
 * Kills processes by the plan of a seed, and counts those that died.
 *
 * Owns: the timers and the count. Does not own: which process is killed when (`kill-plan.ts`), how (the local
 * cloud's control).
 *
 * A target waits for one kill at a time. Otherwise kills that found no event would strike the following ones
 * in a row. A supervisor is killed only while one is at work: a fault that waits for the next one would
 * strike each at its first call, and none would ever sweep.
 */

import type { FaultHit, FaultMoment } from '../../local/control/fault.ts';
import { type PlannedKill, plannedKill } from './kill-plan.ts';
import type { RandomKillOptions, RandomKills } from './local-cloud.ts';

/** The processes that can be killed, and the function that kills one. */
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
