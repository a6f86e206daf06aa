/**
 * Messages between the code that starts simulating processes (`processes.ts`) and one of them (`worker.ts`).
 */

import type { FaultMode } from './faults.ts';

export interface Share {
  readonly seed: number;
  /** The distance from one seed to the next: how many processes there are. */
  readonly stride: number;
  /** At least this many, if they are not counted in worlds. */
  readonly executions?: number;
  readonly worlds?: number;
  readonly mode: FaultMode;
  readonly overFile?: boolean;
}

/** From the process, when it has reported its whole share. */
export const OVER = 'over';
