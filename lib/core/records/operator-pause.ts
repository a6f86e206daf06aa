/**
 * A pause that an operator makes of more than one execution: who, since when, why.
 *
 * Owns: the shape. Does not own: what is paused (`operators/workflow-pause.ts`, `step/breaker.ts`).
 */

import type { Caller } from './caller.ts';
import { given } from './given.ts';

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
