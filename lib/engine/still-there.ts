/**
 * Checks that an execution which a process read long ago still exists, before the process begins work for it.
 *
 * Owns: that no work begins for an execution that was erased meanwhile (F1). Any other write is conditional
 * on the record that it replaces. Does not own: how long an erasure waits (`scheduler/erase.ts`).
 *
 * Costs no call in a process that was not frozen.
 */

import type { Ports } from '../core/ports.ts';
import { READ_HOLDS_MS } from '../core/records/retention.ts';
import type { Execution } from '../core/records/state.ts';

/** @param readAt by this process's clock, when the execution was read or last known to exist */
export async function isStillThere(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  { id, startedAt }: Pick<Execution, 'id' | 'startedAt'>,
  readAt: number,
): Promise<boolean> {
  if (clock.now() - readAt <= READ_HOLDS_MS) return true;
  return (await store.readExecution(id))?.startedAt === startedAt;
}
