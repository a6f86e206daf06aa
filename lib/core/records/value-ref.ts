/** The name of a value that lies beside the table, in a record. Does not own: its key (`large-values.ts`). */

import type { Json } from '../values/json.ts';

/** What a record keeps of a value that is not in it. */
export interface ValueRef {
  /** The hash of the value's JSON text; checked on reading. */
  readonly hash: string;
  /** The put's, fresh. */
  readonly id: string;
  /** The size of the JSON text, as UTF-8. */
  readonly bytes: number;
}

interface Output {
  readonly output?: Json;
  readonly outputAt?: ValueRef;
}

/** Whether it is in the record or beside the table. */
export const hasOutput = ({ output, outputAt }: Output): boolean =>
  output !== undefined || outputAt !== undefined;
