/**
 * Checks that an execution which a process read long ago still exists, before something of it begins.
 *
 * Owns: that an execution which was erased meanwhile begins nothing anew (F1). Every other write replaces a
 * record, and that record is its condition. Does not own: how long an erasure waits (`scheduler/erase.ts`).
 *
 * A process that was not frozen makes no call.
 */

import type { Ports } from '../core/ports.ts';
import { READ_HOLDS_MS } from '../core/records/retention.ts';
import type { Execution } from '../core/records/state.ts';

/** @param readAt by this process's clock, when the execution was read or was last known to exist */
export async function isStillThere(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  { id, startedAt }: Pick<Execution, 'id' | 'startedAt'>,
  readAt: number,
): Promise<boolean> {
  if (clock.now() - readAt <= READ_HOLDS_MS) return true;
  return (await store.readExecution(id))?.startedAt === startedAt;
}
