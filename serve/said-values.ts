/**
 * Large values whose store is in trouble: that is said in the words of the file, to caller and server.
 *
 * Owns: that nothing of it is passed by. Does not own: the words (`sqlite/trouble.ts`), where values are
 * (`folder-values.ts`).
 */

import type { LargeValues } from '../lib/core/ports.ts';
import { troubleOf } from './sqlite/trouble.ts';
import type { UnkeptWrites } from './unkept-writes.ts';

/** @param worded what the caller gets for a trouble */
export const saidValues = <V extends LargeValues>(
  values: V,
  { onFailed, onCommitted }: Pick<UnkeptWrites, 'onFailed' | 'onCommitted'>,
  worded: (trouble: Error) => Error,
): V => ({
  ...values,
  put: async (key, json) => {
    try {
      await values.put(key, json);
    } catch (error) {
      const trouble = troubleOf(error);
      onFailed({ code: trouble.error.name, message: `large values: ${trouble.state ?? String(error)}` });
      throw worded(trouble.error);
    }
    onCommitted();
  },
});
