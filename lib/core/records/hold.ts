/**
 * A hold: an operator's pause of more than one execution, for example of a workflow's starts or an agent's
 * calls.
 *
 * Owns: who, since when and why; how a hold begins and ends in its record. Does not own: its effects
 * (`holds/workflow-pause.ts`, `step/breaker.ts`).
 */

import type { Caller } from '../values/caller.ts';
import { defined } from '../values/defined.ts';

export interface Hold {
  readonly at: number;
  /** Absent if the gateway does not say who calls. */
  readonly by?: Caller;
  readonly reason: string;
}

export interface EndedHold extends Hold {
  readonly endedAt: number;
  readonly endedBy?: Caller;
}

/** A record that a hold can be in. */
interface Holdable {
  readonly version: number;
  readonly writeId: string;
  /** Absent while there is none. */
  readonly pause?: Hold;
  /** The latest hold that is over. */
  readonly lastPause?: EndedHold;
}

interface When {
  readonly now: number;
  readonly writeId: string;
}

/** The record with a hold; undefined if it has one already. */
export const withHold = <Kept extends Holdable>(
  before: Kept,
  asked: Omit<NonNullable<Kept['pause']>, 'at'>,
  { now: at, writeId }: When,
): Kept | undefined =>
  before.pause === undefined
    ? { ...before, version: before.version + 1, writeId, pause: { at, ...asked } }
    : undefined;

/** The record after the end of its hold; undefined if it has none. */
export function withoutHold<Kept extends Holdable>(
  before: Kept | undefined,
  by: Caller | undefined,
  { now: endedAt, writeId }: When,
): Kept | undefined {
  if (before?.pause === undefined) return undefined;
  const { pause, ...rest } = before;
  const lastPause = { ...pause, endedAt, ...defined({ endedBy: by }) };
  return { ...rest, version: before.version + 1, writeId, lastPause } as Kept;
}
