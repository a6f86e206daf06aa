/**
 * A pause that an operator makes of more than one execution: who, since when, why.
 *
 * Owns: the shape. Does not own: what is paused (`holds/workflow-pause.ts`, `step/breaker.ts`).
 */

import type { Caller } from '../values/caller.ts';
import { given } from '../values/given.ts';

export interface OperatorPause {
  readonly at: number;
  /** Absent if the gateway does not say who calls. */
  readonly by?: Caller;
  readonly reason: string;
}

export interface EndedOperatorPause extends OperatorPause {
  readonly endedAt: number;
  readonly endedBy?: Caller;
}

export const endedBy = <Pause extends OperatorPause>(
  pause: Pause,
  endedAt: number,
  by: Caller | undefined,
): Pause & EndedOperatorPause => ({ ...pause, endedAt, ...given({ endedBy: by }) });
