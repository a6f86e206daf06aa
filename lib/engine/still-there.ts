/**
 * Whether an execution that a process has read long ago is still there, before something of it begins.
 *
 * Owns: that nothing of an execution which was erased meanwhile begins anew (F1). Every other write has a
 * record that it replaces as its condition. Does not own: how long an erasure waits (`scheduler/erase.ts`).
 *
 * A process that was not frozen asks nothing.
 */

import type { Ports } from '../core/ports.ts';
import { READ_HOLDS_MS } from '../core/records/retention.ts';
import type { Execution } from '../core/records/state.ts';

/** @param readAt by this process's clock, when it was read, or was last known to be there */
export async function isStillThere(
  { store, clock }: Pick<Ports, 'store' | 'clock'>,
  { id, startedAt }: Pick<Execution, 'id' | 'startedAt'>,
  readAt: number,
): Promise<boolean> {
  if (clock.now() - readAt <= READ_HOLDS_MS) return true;
  return (await store.readExecution(id))?.startedAt === startedAt;
}
