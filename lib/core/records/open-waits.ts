/**
 * Open waits: which callers hold a process of the API while they wait for an execution's end.
 *
 * Owns: the shape of the one record, and when another caller may wait. Does not own: who waits and for how
 * long (`scheduler/wait.ts`). No execution is ever decided by it.
 *
 * An API's process answers one request at a time, so each open wait takes one away from every other call, and
 * processes share nothing but the table. A wait whose process died is over by its own time.
 */

export interface OpenWait {
  readonly id: string;
  /** Epoch ms; from then on it counts no more. */
  readonly untilAt: number;
}

export interface OpenWaits {
  readonly version: number;
  readonly writeId: string;
  readonly waits: readonly OpenWait[];
}

/**
 * Half of the ten processes that a new AWS account runs at the same time: the
 * other half is for all other calls.
 */
export const DEFAULT_MOST_WAITS = 5;

const openAt = (stored: OpenWaits | undefined, now: number): readonly OpenWait[] =>
  (stored?.waits ?? []).filter(({ untilAt }) => untilAt > now);

const after = (stored: OpenWaits | undefined, writeId: string, waits: readonly OpenWait[]): OpenWaits => ({
  version: (stored?.version ?? 0) + 1,
  writeId,
  waits,
});

/** @returns the record's next version; nothing where as many wait as may */
export function withWait(
  stored: OpenWaits | undefined,
  wait: OpenWait,
  { now, most, writeId }: { readonly now: number; readonly most: number; readonly writeId: string },
): OpenWaits | undefined {
  const open = openAt(stored, now);
  return open.length >= most ? undefined : after(stored, writeId, [...open, wait]);
}

/** @returns the record's next version; nothing where the wait is no longer in it */
export function withoutWait(
  stored: OpenWaits | undefined,
  id: string,
  { now, writeId }: { readonly now: number; readonly writeId: string },
): OpenWaits | undefined {
  const open = openAt(stored, now);
  return open.some((wait) => wait.id === id)
    ? after(
        stored,
        writeId,
        open.filter((wait) => wait.id !== id),
      )
    : undefined;
}
