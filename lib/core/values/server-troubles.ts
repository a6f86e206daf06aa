/** Troubles of a server's own process: known on one machine only. */

import type { Failure } from './failure.ts';

/** The reason why writes are not kept now. */
export interface StorageTrouble {
  /** When the first write was not kept. */
  readonly since: number;
  readonly failure: Failure;
}

/** Connections that were refused, because the process may have no more. */
export interface ConnectionTrouble {
  readonly since: number;
  readonly refused: number;
}
