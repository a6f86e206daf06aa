/**
 * A record's reference to a value stored outside the table. Does not own: the value's key
 * (`large-values.ts`).
 */

import type { Json } from '../values/json.ts';

/** Stands in a record for a value stored elsewhere. */
export interface ValueRef {
  /** The hash of the value's JSON text; checked on reading. */
  readonly hash: string;
  /** The fresh id of its put. */
  readonly id: string;
  /** The size of the JSON text, as UTF-8. */
  readonly bytes: number;
}

interface Output {
  readonly output?: Json;
  readonly outputAt?: ValueRef;
}

/** True if there is an output, in the record or outside the table. */
export const hasOutput = ({ output, outputAt }: Output): boolean =>
  output !== undefined || outputAt !== undefined;
