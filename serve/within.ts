/** The end of a work, or of the time that it is given. Does not own: what becomes of the work then. */

import { clock } from '../lib/aws/clock.ts';

export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([work.finally(() => over.abort()), clock.sleep(ms, over.signal)]);
}
