/** Waits for a promise, but only for a limited time. Does not own: what happens to the work then. */

import { clock } from '../lib/aws/clock.ts';

export async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([work.finally(() => over.abort()), clock.sleep(ms, over.signal)]);
}
