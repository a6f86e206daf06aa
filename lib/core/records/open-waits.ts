/**
 * Open waits: which callers occupy a process of the API while they wait for an execution's end.
 *
 * Owns: the shape of the one record, and when another caller may wait. Does not own: who waits and for how
 * long (`scheduler/wait.ts`). No decision about an execution uses it.
 *
 * A process of the API answers one request at a time, so each open wait keeps one process from all other
 * calls, and processes share only the table. The entry of a wait whose process died expires.
 */

import { defined } from '../values/defined.ts';

export interface OpenWait {
  readonly id: string;
  /** Epoch ms; from then on it no longer counts. */
  readonly untilAt: number;
}

export interface OpenWaits {
  readonly version: number;
  readonly writeId: string;
  readonly waits: readonly OpenWait[];
  /** Since when there has been at least one wait. */
  readonly since?: number;
  readonly refused?: RefusedWaits;
}

/** Calls that were answered at once because the limit of waits was reached. The count is a lower bound. */
export interface RefusedWaits {
  readonly calls: number;
  /** When the first of them was refused. */
  readonly since: number;
  /** When the latest was refused. */
  readonly at: number;
}

/** For operators: how many callers wait now. */
export interface WaitsNow {
  readonly count: number;
  readonly since?: number;
  /** The refused calls of the last minute. */
  readonly refused?: RefusedWaits;
}

/**
 * Half of the ten processes that a new AWS account runs at the same time; the others are for all other calls.
 */
export const DEFAULT_MOST_WAITS = 5;

/** After this time without a refused call, counting starts again. */
const REFUSED_FOR_MS = 60_000;

const openAt = (stored: OpenWaits | undefined, now: number): readonly OpenWait[] =>
  (stored?.waits ?? []).filter(({ untilAt }) => untilAt > now);

const refusedAt = (stored: OpenWaits | undefined, now: number): RefusedWaits | undefined =>
  stored?.refused !== undefined && now - stored.refused.at < REFUSED_FOR_MS ? stored.refused : undefined;

interface Write {
  readonly now: number;
  readonly writeId: string;
}

function after(
  stored: OpenWaits | undefined,
  { now, writeId }: Write,
  { waits = openAt(stored, now), refused = refusedAt(stored, now) }: Partial<OpenWaits>,
): OpenWaits {
  const since = openAt(stored, now).length === 0 ? now : stored?.since;
  return {
    version: (stored?.version ?? 0) + 1,
    writeId,
    waits,
    ...defined({ since: waits.length === 0 ? undefined : since, refused }),
  };
}

/** @returns the record's next version; undefined if the limit is reached */
export function withWait(
  stored: OpenWaits | undefined,
  wait: OpenWait,
  { most, ...write }: Write & { readonly most: number },
): OpenWaits | undefined {
  const open = openAt(stored, write.now);
  return open.length >= most ? undefined : after(stored, write, { waits: [...open, wait] });
}

/** @returns the record's next version; undefined if it does not have the wait */
export function withoutWait(stored: OpenWaits | undefined, id: string, write: Write): OpenWaits | undefined {
  const open = openAt(stored, write.now);
  return open.some((wait) => wait.id === id)
    ? after(stored, write, { waits: open.filter((wait) => wait.id !== id) })
    : undefined;
}

/** @param calls that were refused since the caller's last write */
export const withRefused = (stored: OpenWaits | undefined, calls: number, write: Write): OpenWaits => {
  const { calls: before = 0, since = write.now } = refusedAt(stored, write.now) ?? {};
  return after(stored, write, { refused: { calls: before + calls, since, at: write.now } });
};

/** The open waits; undefined if none waits and none was refused. */
export function waitsAt(stored: OpenWaits | undefined, now: number): WaitsNow | undefined {
  const count = openAt(stored, now).length;
  const refused = refusedAt(stored, now);
  if (count === 0 && refused === undefined) return undefined;
  return { count, ...defined({ since: count === 0 ? undefined : stored?.since, refused }) };
}
