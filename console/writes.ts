/**
 * Learns of each write at once, if the server reports them, so that the page on a laptop is always up to
 * date.
 *
 * Owns: when it asks the server, and the pause before it asks again. Does not own: what is read then
 * (`live.ts`).
 */

import { writesPast } from './api.ts';

/** The shortest time between two reads: a busy system writes all the time. */
const CALM_MS = 500;
const RETRY_MS = 3_000;

const pause = (ms: number): Promise<void> => new Promise((over) => setTimeout(over, ms));

const seen = (): Promise<void> =>
  new Promise((over) => document.addEventListener('visibilitychange', () => over(), { once: true }));

/** Calls back after each write, until another server answers, which this page may not ask. */
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
