/**
 * Gives simulated processes their reads of supervisors' presence, which warm processes cache.
 *
 * Owns: which processes share a cache. Does not own: the result of a call for a supervisor
 * (`supervisors.ts`).
 */

import type { WakeUps } from '../../lib/core/ports.ts';
import type { External } from './external.ts';
import type { Choice } from './plans.ts';

/** The most warm processes of all functions. */
const MOST_KNOWN = 4;

interface Reached {
  readonly choice: Choice;
  readonly known: WakeUps['known'][];
  readonly external: External;
}

/** @param reach makes a call to the store. @param call makes any other call */
export function wakeUpsOf(
  { choice, known, external }: Reached,
  reach: <Answer>(execute: () => Promise<Answer>) => Promise<Answer>,
  call: (execute: () => void) => Promise<void>,
): WakeUps {
  const isWarm = known.length > 0 && choice.chance(0.8);
  const own = isWarm ? choice.pick(known) : { untilAt: 0 };
  if (!isWarm) known.push(own);
  if (known.length > MOST_KNOWN) known.shift();
  return {
    read: () => reach(() => external.presences.read()),
    write: (presence) => reach(() => external.presences.write(presence)),
    call: (presence) => call(() => external.wake(presence)),
    known: own,
  };
}
