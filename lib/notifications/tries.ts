/**
 * Decides when a notification that was not taken is tried again, and when it is given up.
 *
 * Owns: the pauses, and how many tries a day has. Does not own: who counts them: a queue on AWS
 * (`infra/notifications.ts`), the outbox of `serve`.
 */

const FIRST_GAP_MS = 1_000;
/** A receiver that asks for a longer pause is tried earlier: queues count tries, and a day is promised. */
const LONGEST_GAP_MS = 5 * 60_000;
/** A notification is given up after a day. */
export const GIVEN_UP_AFTER_MS = 24 * 3_600_000;

/**
 * The pause after the try of this number, from 1.
 * @param wishMs the pause that the receiver wants
 */
export const gapMs = (tries: number, wishMs = 0): number =>
  Math.min(Math.max(FIRST_GAP_MS * 2 ** Math.min(tries - 1, 20), wishMs), LONGEST_GAP_MS);

/** How many tries a day has, with the pauses between them. */
export const TRIES_OF_A_DAY = triesIn(GIVEN_UP_AFTER_MS);

function triesIn(ms: number): number {
  let tries = 1;
  for (let passed = 0; passed < ms; tries += 1) passed += gapMs(tries);
  return tries;
}
