/**
 * Checks a schedule by the rules of EventBridge Scheduler, before anything is deployed or served.
 *
 * Owns: the fields of `cron(…)` and `rate(…)`, the time zone, and the messages. Does not own: when a
 * schedule is due (`serve/schedules.ts`; on AWS the service).
 *
 * https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
 */

import type { ScheduleSource } from './trigger-declaration.ts';

const ALLOWED =
  'allowed: rate(5 minutes), in minutes, hours or days, and cron(0 2 * * ? *) with six fields: minute, hour, day of the month, month, day of the week, year';
const RATE = /^rate\([1-9]\d{0,8} (?:minute|hour|day)s?\)$/;
const CRON = /^cron\(((?:\S+ ){5}\S+)\)$/;

interface Field {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Names for the numbers, beginning with `from`. */
  readonly names?: readonly string[];
  /** Other forms that an item may have, with their description. */
  readonly special?: RegExp;
  readonly also?: string;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const WEEKDAY = `(?:[1-7]|${WEEKDAYS.join('|')})`;
const DAY_OF_MONTH: Field = {
  name: 'the day of the month',
  from: 1,
  to: 31,
  special: /^(?:L|LW|WL|(?:[1-9]|[12]\d|3[01])W)$/,
  also: 'L (the last), LW (the last weekday), 15W (the weekday nearest to the 15th)',
};
const DAY_OF_WEEK: Field = {
  name: 'the day of the week',
  from: 1,
  to: 7,
  names: WEEKDAYS,
  special: new RegExp(`^(?:L|${WEEKDAY}L|${WEEKDAY}#[1-5])$`),
  also: 'L (Saturday), 6L (the last Friday of the month), 6#3 (the third Friday)',
};
const FIELDS: readonly Field[] = [
  { name: 'the minute', from: 0, to: 59 },
  { name: 'the hour', from: 0, to: 23 },
  DAY_OF_MONTH,
  { name: 'the month', from: 1, to: 12, names: MONTHS },
  DAY_OF_WEEK,
  { name: 'the year', from: 1970, to: 2199 },
];
const [DAY_AT, WEEKDAY_AT] = [2, 4];

/** Returns the mistake in a schedule; undefined if AWS accepts it. */
export const scheduleProblem = ({ schedule, timeZone }: ScheduleSource): string | undefined =>
  expressionProblem(schedule) ?? (timeZone === undefined ? undefined : zoneProblem(timeZone));

function expressionProblem(schedule: unknown): string | undefined {
  if (typeof schedule !== 'string') return `schedule must be a text; ${ALLOWED}`;
  if (RATE.test(schedule)) return undefined;
  const fields = cronFields(schedule);
  if (fields === undefined) return `schedule is '${schedule}'; ${ALLOWED}`;
  for (const [at, field] of FIELDS.entries()) {
    const problem = fieldProblem(field, fields[at] ?? '', at === DAY_AT || at === WEEKDAY_AT);
    if (problem !== undefined) return `schedule is '${schedule}': ${problem}`;
  }
  const given = [DAY_AT, WEEKDAY_AT].filter((at) => fields[at] !== '?').length;
  if (given === 1) return undefined;
  const how = given === 0 ? 'neither is' : 'both are';
  return `schedule is '${schedule}': of the day of the month and the day of the week ${how} given; write ? for exactly one of them`;
}

/** Returns the six fields as texts. */
export const cronFields = (schedule: string): readonly string[] | undefined =>
  CRON.exec(schedule)?.[1]?.split(' ');

function fieldProblem(field: Field, text: string, mayBeAny: boolean): string | undefined {
  if (mayBeAny && text === '?') return undefined;
  const wrong = text.split(',').find((item) => !isItem(field, item));
  if (wrong === undefined) return undefined;
  const { name, from, to, names, also } = field;
  const words = names === undefined ? '' : ` or ${names[0]} to ${names.at(-1)}`;
  const more = also === undefined ? '' : `, ${also}`;
  return `${name} is '${text}'; allowed: ${from} to ${to}${words}, *, lists 1,2, ranges 1-5 that go up, steps 0/15${more}${mayBeAny ? ', or ?' : ''}`;
}

function isItem(field: Field, item: string): boolean {
  if (field.special?.test(item.toUpperCase()) === true) return true;
  const [, range = '', step] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(item) ?? [];
  if (step !== undefined && !(Number(step) >= 1 && Number(step) <= field.to - field.from + 1)) return false;
  if (range === '*') return true;
  const [first = '', last = first, ...more] = range.split('-');
  const [low, high] = [numberIn(field, first), numberIn(field, last)];
  return more.length === 0 && low <= high;
}

/** Returns the number that a text stands for; NaN if the field does not allow it. */
function numberIn({ from, to, names = [] }: Field, text: string): number {
  const named = names.indexOf(text.toUpperCase());
  const value = named >= 0 ? from + named : /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= from && value <= to ? value : Number.NaN;
}

function zoneProblem(timeZone: unknown): string | undefined {
  try {
    if (typeof timeZone !== 'string' || !/^[A-Za-z]/.test(timeZone)) throw new Error('no name');
    Intl.DateTimeFormat('en', { timeZone });
    return undefined;
  } catch {
    return `timeZone is '${String(timeZone)}'; allowed: a name of the IANA database, such as 'Europe/Berlin' or 'Etc/UTC'`;
  }
}
