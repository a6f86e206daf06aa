/** Schedules that EventBridge Scheduler accepts and refuses. */

import { scheduleProblem } from '../../lib/author/triggers/schedule-check.ts';

it.each([
  'rate(1 minute)',
  'rate(5 minutes)',
  'rate(7 days)',
  'cron(0 2 * * ? *)',
  'cron(0/15 9-17 ? * MON-FRI *)',
  'cron(*/5 * ? * * 2026-2030)',
  'cron(15 10 ? * L *)',
  'cron(15 10 ? * 6L *)',
  'cron(15 10 ? * FRIL *)',
  'cron(0 9 ? * 2#1 *)',
  'cron(0 9 ? * MON#5 *)',
  'cron(0 9 L * ? *)',
  'cron(0 9 LW * ? *)',
  'cron(0 9 1W,15W * ? *)',
  'cron(0 8 1 jan,JUL ? 1970-2199)',
])('takes %s', (schedule) => {
  expect(scheduleProblem({ schedule })).toBeUndefined();
});

it.each([
  ['cron(60 9 * * ? *)', "the minute is '60'; allowed: 0 to 59"],
  ['cron(0 25 * * ? *)', "the hour is '25'"],
  ['cron(0 9 32 * ? *)', "the day of the month is '32'"],
  ['cron(0 9 L-3 * ? *)', "the day of the month is 'L-3'"],
  ['cron(0 9 32W * ? *)', "the day of the month is '32W'"],
  ['cron(0 9 1 13 ? *)', "the month is '13'; allowed: 1 to 12 or JAN to DEC"],
  ['cron(0 9 ? * 8 *)', "the day of the week is '8'; allowed: 1 to 7 or SUN to SAT"],
  ['cron(0 9 ? * 0 *)', "the day of the week is '0'"],
  ['cron(0 9 ? * 2#6 *)', "the day of the week is '2#6'"],
  ['cron(0 9 * * ? 1969)', "the year is '1969'"],
  ['cron(0 22-2 * * ? *)', 'ranges 1-5 that go up'],
  ['cron(0/0 9 * * ? *)', "the minute is '0/0'"],
  ['cron(0/61 9 * * ? *)', "the minute is '0/61'"],
  ['cron(1,,2 9 * * ? *)', "the minute is '1,,2'"],
  ['cron(? 9 * * ? *)', "the minute is '?'"],
  ['cron(0 9 1 * 2 *)', 'both are given; write ? for exactly one of them'],
  ['cron(0 9 * * * *)', 'both are given'],
  ['cron(0 9 ? * ? *)', 'neither is given'],
  ['cron(0 2 * * *)', 'with six fields'],
  ['5 * * * *', 'allowed: rate(5 minutes)'],
  ['rate(0 minutes)', 'allowed: rate(5 minutes)'],
  ['rate(5 seconds)', 'allowed: rate(5 minutes)'],
])('refuses %s', (schedule, said) => {
  expect(scheduleProblem({ schedule })).toContain(said);
});

it.each(['CEST', 'Middle-earth/Shire', '+02:00', ''])('refuses the time zone "%s"', (timeZone) => {
  expect(scheduleProblem({ schedule: 'rate(1 day)', timeZone })).toContain(
    `timeZone is '${timeZone}'; allowed: a name of the IANA database`,
  );
});
