/**
 * Waits for the server's reports of writes, so that the page on a laptop is updated at once.
 *
 * Owns: when it asks the server, and the pause before it asks again. Does not own: the reads that follow
 * (`live.ts`).
 */

import { writesPast } from './api.ts';

/** The shortest time between two reads, because a busy system writes all the time. */
const CALM_MS = 500;
const RETRY_MS = 3_000;

const pause = (ms: number): Promise<void> => new Promise((over) => setTimeout(over, ms));

const seen = (): Promise<void> =>
  new Promise((over) => document.addEventListener('visibilitychange', () => over(), { once: true }));

/** Calls `tell` after each write, until a new server at the address refuses this page. */
export async function hearWrites(tell: () => void): Promise<void> {
  let known = -1;
  for (;;) {
    if (document.hidden) await seen();
    const now = await writesPast(known).catch(() => undefined);
    if (now === 'forbidden') return;
    if (now !== undefined && now !== known && known >= 0) tell();
    await pause(now === undefined ? RETRY_MS : CALM_MS);
    known = now ?? known;
  }
}
