/**
 * Converts options that are times to instants by the API's clock.
 *
 * Owns: counting a time such as '2h' (ago) from the API's clock, because this machine's may differ. Does not
 * own: parsing a time (`lib/view/text.ts`), the difference of the clocks (`server-time.ts`).
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

/** Refuses a text that is not a time. */
export function writtenTime(text: string): string {
  if (Number.isFinite(instantOf(text, Date.now()))) return text;
  throw new InvalidArgumentError(
    'give a time: 2h (ago), 09:30 (the latest), 2026-01-31 or 2026-01-31T09:30Z.',
  );
}

/** Gets the API's time if an option depends on it. */
export async function timesOf(command: Command, { since, until }: WrittenTimes): Promise<Times> {
  if ([since, until].some(dependsOnNow)) {
    const { url } = command.optsWithGlobals<{ readonly url: string }>();
    // Any answer contains the time. If there is none, the command will report that.
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
