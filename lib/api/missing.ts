/** Which agents are missing, as supervisors have met what waits for them of late. */

import { missingAgents, type MissingCount, type ShardReceipt } from '../core/records/receipts.ts';
import type { Scheduler } from '../scheduler/start.ts';

/** As the supervisors have met them of late, without those that have been deployed since. */
export function missingNow(
  { ports: { queue } }: Scheduler,
  receipts: readonly ShardReceipt[],
  now: number,
): ReadonlyMap<string, MissingCount> {
  const met = [...missingAgents(receipts, now)];
  return new Map(met.filter(([agent]) => queue.reaches?.(agent) === false));
}
