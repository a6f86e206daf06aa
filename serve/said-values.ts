/**
 * Wraps large values to report their errors to the caller and to the server, in the file's words.
 *
 * Owns: reporting every value that was not stored. Does not own: the words (`sqlite/trouble.ts`), where
 * values are stored (`folder-values.ts`).
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

/** Removes the path from an error, because callers must not learn this machine's folders. */
function withoutPath(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? error : Object.assign(new Error(code), { code });
}
