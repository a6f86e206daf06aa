/**
 * The times that options say: which instant each is, by the clock of the API that is asked.
 *
 * Owns: that a time such as '2h' (ago) is reckoned from there, for the clock of a terminal may be another.
 * Does not own: how a person writes one (`lib/view/text.ts`), what the clocks differ by (`server-time.ts`).
 */

import { type Command, InvalidArgumentError } from 'commander';
import { instantOf } from '../lib/view/text.ts';
import { serverTime } from './server-time.ts';

export interface WrittenTimes {
  readonly since?: string;
  readonly until?: string;
}

export interface Times {
  readonly since?: number;
  readonly until?: number;
}

/** Refuses what no clock makes an instant of. */
export function writtenTime(text: string): string {
  if (Number.isFinite(instantOf(text, Date.now()))) return text;
  throw new InvalidArgumentError(
    'give a time: 2h (ago), 09:30 (the latest), 2026-01-31 or 2026-01-31T09:30Z.',
  );
}

/** Asks the API for its time where one of them depends on that. */
export async function timesOf(command: Command, { since, until }: WrittenTimes): Promise<Times> {
  if ([since, until].some(dependsOnNow)) {
    const { url } = command.optsWithGlobals<{ readonly url: string }>();
    // Whatever it answers says the time; where it does not answer, the command says so.
    await serverTime
      .through(fetch)(`${url.replace(/\/$/, '')}/live`)
      .catch(() => undefined);
  }
  const now = serverTime.now();
  return {
    ...(since === undefined ? {} : { since: instantOf(since, now) }),
    ...(until === undefined ? {} : { until: instantOf(until, now) }),
  };
}

const SHIFT_MS = 36 * 3_600_000;
const dependsOnNow = (text: string | undefined): boolean =>
  text !== undefined && instantOf(text, 0) !== instantOf(text, SHIFT_MS);
