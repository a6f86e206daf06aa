/** What began soon after other code began to run may well be its work: which that is, and how it is said. */

import { durationText, timeText } from '../core/values/text.ts';

const SOON_MS = 300_000;

/**
 * @param since when it began
 * @param startedAt when the code that runs began to, where that is known
 * @returns the latter, if the former followed soon
 */
export const startBehind = (since: number | undefined, startedAt: number | undefined): number | undefined =>
  since !== undefined && startedAt !== undefined && since >= startedAt && since - startedAt <= SOON_MS
    ? startedAt
    : undefined;

export const afterStart = (at: number, startedAt: number | undefined): string =>
  startedAt === undefined
    ? ''
    : `, ${durationText(at - startedAt)} after the start of ${timeText(startedAt)}`;
