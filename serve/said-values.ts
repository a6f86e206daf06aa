/**
 * Large values whose errors are reported in the words of the file, to the caller and to the server.
 *
 * Owns: that every value that was not stored is reported. Does not own: the words (`sqlite/trouble.ts`),
 * where values are stored (`folder-values.ts`).
 */

import type { LargeValues } from '../lib/core/ports.ts';
import { troubleOf } from './sqlite/trouble.ts';
import type { UnkeptWrites } from './unkept-writes.ts';

/** @param worded makes the error that the caller gets */
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
      const trouble = troubleOf(withoutPath(error));
      onFailed({
        code: trouble.error.name,
        message: `large values: ${trouble.state ?? trouble.error.message}`,
      });
      throw worded(trouble.error);
    }
    onCommitted();
  },
});

/** The system's own message names a folder of this machine, which a caller must not learn. */
function withoutPath(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? error : Object.assign(new Error(code), { code });
}
