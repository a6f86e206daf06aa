/**
 * What is said between whoever starts simulating processes (`processes.ts`) and one of them (`worker.ts`).
 */

import type { FaultMode } from './faults.ts';

export interface Share {
  readonly seed: number;
  /** From one seed to the next: how many processes there are. */
  readonly stride: number;
  /** At least so many, if they are not counted in worlds. */
  readonly executions?: number;
  readonly worlds?: number;
  readonly mode: FaultMode;
  readonly overFile?: boolean;
}

/** From the process, when it has reported all of its share. */
export const OVER = 'over';
