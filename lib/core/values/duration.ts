/**
 * Durations as people write them ('30s', '2m', '1h30m') and as the plan keeps them (milliseconds).
 *
 * Owns: the spelling and its limits. Does not own: any instant, any clock.
 */

import { refuse } from './errors.ts';
import type { Json } from './json.ts';

/** A length of time: '500ms', '30s', '2m', '1h', '7d', '1h30m'; other texts are refused (`bad-duration`). */
export type Duration = string;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A year: no wait may be longer, so that arithmetic on instants neither overflows nor loses precision. */
export const MAX_DURATION_MS: number = 366 * 86_400_000;

const MAX_CHARS = 60;

/** Parses a duration into whole milliseconds; undefined for text in another form, or for more than a year. */
function spelledMs(given: Duration): number | undefined {
  // Longer text is not a duration, and the search below takes quadratic time on many digits in a row.
  const text = typeof given === 'string' && given.length <= MAX_CHARS ? given : '';
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  const ms = parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0);
  return Math.round(ms) <= MAX_DURATION_MS ? Math.round(ms) : undefined;
}

/**
 * @returns whole milliseconds, > 0
 * @throws SteadfastError `bad-duration` naming the text, what it is for, and the accepted form
 */
export function parseDuration(given: Duration, what: string): number {
  const ms = spelledMs(given);
  if (ms !== undefined && ms > 0) return ms;
  throw refuse(
    'bad-duration',
    `${what} is ${JSON.stringify(given)?.slice(0, MAX_CHARS)}; allowed: a duration such as '500ms', '30s', '2m', '1h30m', at most 366d`,
  );
}

/** The shortest exact spelling: 90000 → '1m30s'. */
export function formatDuration(ms: number): string {
  let rest = Math.round(ms);
  if (rest <= 0) return '0s';
  let text = '';
  for (const unit of ['d', 'h', 'm', 's', 'ms'] as const) {
    const size = UNIT_MS[unit] ?? 1;
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text;
}

/**
 * Converts a number of seconds, or a duration such as '90s', to milliseconds (0 is allowed); undefined for
 * anything else.
 */
export function lengthMsOf(given: Json | undefined): number | undefined {
  if (typeof given === 'string') return spelledMs(given);
  if (typeof given !== 'number') return undefined;
  const ms = Math.max(0, Math.round(given * 1_000));
  return ms <= MAX_DURATION_MS ? ms : undefined;
}

/** Why a value is not a duration, and what is allowed. */
export const lengthProblem = (given: Json | undefined, what = "'for'"): string =>
  `${what} is ${JSON.stringify(given)?.slice(0, MAX_CHARS) ?? 'absent'}; allowed: a number of seconds, or a duration such as '30s', '2m', '1h30m', at most 366d`;

/** True if a plan may contain it as a time: finite, positive, at most a year. */
export const isDurationMs = (ms: number): boolean => Number.isFinite(ms) && ms > 0 && ms <= MAX_DURATION_MS;

const ISO = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/** Smaller numbers are mistakes: seconds read as milliseconds give a time in January 1970. */
export const EARLIEST_TIME: number = Date.UTC(2001, 0, 1);

/** Larger numbers are mistakes, too: ISO dates end with the year 9999. */
const LATEST_TIME = 253_402_300_799_999;

/** Epoch ms of a time from data or an author; undefined if it is not a time. */
export function timeOf(until: Json | undefined): number | undefined {
  if (typeof until === 'string')
    return ISO.test(until) && isDay(until.slice(0, 10)) ? Date.parse(until) : undefined;
  if (typeof until === 'number' && until > LATEST_TIME) return undefined;
  return typeof until === 'number' && Number.isFinite(until) && until >= EARLIEST_TIME ? until : undefined;
}

const OTHER_UNITS = [
  { unit: 'seconds', factor: 1e3, remedy: 'multiply it by 1000' },
  { unit: 'microseconds', factor: 1e-3, remedy: 'divide it by 1000' },
  { unit: 'nanoseconds', factor: 1e-6, remedy: 'divide it by 1000000' },
];
const isoOf = (at: number): string => new Date(at).toISOString();

/** Why a value is not a time, and what is allowed. */
export function timeProblem(until: Json | undefined): string {
  if (typeof until !== 'number') return "'until' is neither epoch ms nor a date in ISO form with its zone";
  const [found] = OTHER_UNITS.filter(({ factor }) => timeOf(until * factor) !== undefined);
  const meant = found && `; in ${found.unit} it would be ${isoOf(until * found.factor)}: ${found.remedy}`;
  return `'until' is ${until}, as epoch ms a time ${until > LATEST_TIME ? 'after 9999' : 'before 2001'}${meant ?? ''}`;
}

/** True if the day exists: the 30th of February would become the 2nd of March. */
function isDay(day: string): boolean {
  const at = Date.parse(day);
  return Number.isFinite(at) && new Date(at).toISOString().startsWith(day);
}
