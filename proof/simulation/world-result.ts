/**
 * The options and the result of a world.
 *
 * Owns: the two shapes. Does not own: the world (`world.ts`), the sum of many (`totals.ts`).
 */

import type { FaultCounts, FaultKind, FaultMode } from './faults.ts';
import type { FileStore } from './file-store.ts';
import type { KindCounts } from './kinds.ts';

export interface WorldResult {
  readonly seed: number;
  readonly violations: readonly string[];
  /** How many starts the seed has drawn, whether or not they took place. */
  readonly starts: number;
  readonly executions: number;
  readonly simulatedMs: number;
  readonly faults: FaultCounts;
  readonly ends: Readonly<Record<string, number>>;
  readonly interventions: number;
  /** Pieces of work that were deferred because no agent had taken them for long. */
  readonly deferred: number;
  readonly kinds: KindCounts;
  readonly calls: number;
}

export interface WorldOptions {
  readonly seed: number;
  readonly mode: FaultMode;
  /** Only these kinds of faults, of those that the seed has switched on. */
  readonly only?: ReadonlySet<FaultKind>;
  /** Makes the store that answers the roles. @default the table in memory */
  readonly fileOf?: (...of: ConstructorParameters<typeof FileStore>) => FileStore;
  /** Only these of the starts that the seed has drawn, by their number. */
  readonly starts?: ReadonlySet<number>;
}
