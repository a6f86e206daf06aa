/**
 * Probes that take long; some freeze once they know the outcome and report it when another one is already
 * asking.
 *
 * Owns: how long a probe takes in a world that has this trait. Does not own: which worlds have it
 * (`traits.ts`), what is judged (`oracle-writers.ts`). It draws from its own random stream, so other worlds
 * are unchanged.
 */

import { clockOf, type Host, type Process } from './process.ts';

const SLOW_SHARE = 0.7;
const SLOW_MS = [2_000, 9_000] as const;
const FROZEN_SHARE = 0.4;
/** Longer than most leases. */
const FROZEN_MS = [8_000, 45_000] as const;

/** Waits before the service is asked. */
export async function thinkFirst(host: Host, process: Process): Promise<void> {
  const { probing } = host;
  if (probing === undefined || !probing.chance(SLOW_SHARE)) return;
  await clockOf(host, process).sleep(probing.between(...SLOW_MS));
}

/** Freezes while its answer is under way. */
export function freezeThen(host: Host, process: Process): void {
  const { probing, events, faults } = host;
  if (probing === undefined || faults.healed() || !probing.chance(FROZEN_SHARE)) return;
  process.frozenUntil = events.now + probing.between(...FROZEN_MS);
}
