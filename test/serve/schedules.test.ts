/** Schedules with time zones behave as in EventBridge Scheduler. */

import type { ScheduleTrigger } from '../../lib/author/triggers/trigger-declaration.ts';
import type { StartMessage } from '../../lib/scheduler/trigger.ts';
import { ManualClock, seededSource } from '../../lib/memory/world.ts';
import { plannedIn } from '../../serve/planned.ts';
import { compiledSchedule, keepSchedule, nextAfter, type Planned } from '../../serve/schedules.ts';
import { openDatabase, TABLE_NAME } from '../../serve/sqlite/client.ts';

const times = (schedule: string, from: string, timeZone?: string, count = 3): string[] => {
  const next = nextAfter({ schedule, input: {}, ...(timeZone === undefined ? {} : { timeZone }) });
  const found: string[] = [];
  for (let at = next(Date.parse(from)); at !== undefined && found.length < count; at = next(at))
    found.push(new Date(at).toISOString());
  return found;
};

it.each([
  ['rate(5 minutes)', undefined, ['2026-03-27T00:05', '2026-03-27T00:10', '2026-03-27T00:15']],
  ['rate(1 day)', undefined, ['2026-03-28T00:00', '2026-03-29T00:00', '2026-03-30T00:00']],
  ['cron(0 2 * * ? *)', undefined, ['2026-03-27T02:00', '2026-03-28T02:00', '2026-03-29T02:00']],
  // On the 29th there is no two o'clock.
  ['cron(30 2 * * ? *)', 'Europe/Berlin', ['2026-03-27T01:30', '2026-03-28T01:30', '2026-03-30T00:30']],
  ['cron(0 9 ? * 2-6 *)', undefined, ['2026-03-27T09:00', '2026-03-30T09:00', '2026-03-31T09:00']],
  ['cron(0/20 8 ? * MON *)', undefined, ['2026-03-30T08:00', '2026-03-30T08:20', '2026-03-30T08:40']],
  ['cron(0 2 L * ? *)', undefined, ['2026-03-31T02:00', '2026-04-30T02:00', '2026-05-31T02:00']],
  ['cron(15 10 ? * L *)', undefined, ['2026-03-28T10:15', '2026-04-04T10:15', '2026-04-11T10:15']],
  ['cron(15 10 ? * MON,L *)', undefined, ['2026-03-28T10:15', '2026-03-30T10:15', '2026-04-04T10:15']],
  ['cron(15 10 ? * 6L *)', undefined, ['2026-03-27T10:15', '2026-04-24T10:15', '2026-05-29T10:15']],
  ['cron(0 9 ? * 2#1 *)', undefined, ['2026-04-06T09:00', '2026-05-04T09:00', '2026-06-01T09:00']],
  ['cron(0 9 LW * ? *)', undefined, ['2026-03-31T09:00', '2026-04-30T09:00', '2026-05-29T09:00']],
  ['cron(0 9 15W * ? *)', undefined, ['2026-04-15T09:00', '2026-05-15T09:00', '2026-06-15T09:00']],
  ['cron(0 2 1 1 ? 2030)', undefined, ['2030-01-01T02:00']],
])('%s in %s', (schedule, timeZone, expected) => {
  expect(times(schedule, '2026-03-27T00:00:00Z', timeZone)).toEqual(
    expected.map((time) => `${time}:00.000Z`),
  );
});

it.each(['5 * * * *', 'rate(0 minutes)', 'cron(0 2 * * *)'])(
  'refuses %s, and says what is allowed',
  (text) => {
    expect(() => nextAfter({ schedule: text, input: {} })).toThrow('allowed: rate(5 minutes)');
  },
);

it('keeps the latest planned time of each, also where a clock was set back', async () => {
  const { client, close } = openDatabase();
  const planned = plannedIn(client, TABLE_NAME);
  expect(await planned.read('a')).toBeUndefined();
  await planned.write('a', 2_000);
  await planned.write('a', 1_000);
  await planned.write('b', 1_000);
  expect([await planned.read('a'), await planned.read('b')]).toEqual([1_000, 1_000]);
  close();
});

const nightly: ScheduleTrigger = {
  kind: 'steadfast:trigger',
  workflow: 'report',
  on: 'schedule',
  options: { schedule: 'cron(0 2 * * ? *)', input: { day: '$.time' } },
};

/** Runs a schedule until this many starts were tried. */
async function kept(from: string, known: string | undefined, outcomes: ('started' | Error)[]) {
  const clock = new ManualClock(Date.parse(from));
  const stopping = new AbortController();
  const tried: string[] = [];
  const logged: string[] = [];
  let latest = known === undefined ? undefined : Date.parse(known);
  const planned: Planned = {
    read: async () => latest,
    write: async (_, at) => {
      latest = at;
    },
  };
  const keeping = keepSchedule(nightly, {
    clock,
    random: seededSource(1),
    planned,
    stopping: stopping.signal,
    log: (what) => void logged.push(what),
    start: async (_, { body }: StartMessage) => {
      tried.push((JSON.parse(body) as { time: string }).time);
      const outcome = outcomes.shift();
      if (outcomes.length === 0) stopping.abort();
      if (outcome instanceof Error) throw outcome;
      return { kind: 'started', executionId: 'e-1' };
    },
  });
  while (!stopping.signal.aborted) {
    await new Promise(setImmediate);
    const at = clock.nextWakeAt();
    if (at !== undefined) clock.advanceTo(at);
  }
  await keeping;
  return { tried, logged, latest };
}

it('starts at each planned time', async () => {
  const { tried } = await kept('2026-03-27T01:59:00Z', undefined, ['started', 'started']);
  expect(tried).toEqual(['2026-03-27T02:00:00Z', '2026-03-28T02:00:00Z']);
});

it('makes up the latest that was missed, once', async () => {
  const { tried } = await kept('2026-03-27T12:00:00Z', '2026-03-20T02:00:00Z', ['started', 'started']);
  expect(tried).toEqual(['2026-03-27T02:00:00Z', '2026-03-28T02:00:00Z']);
});

it('plans from now what a clock that was years ahead had planned', async () => {
  const { tried, latest } = await kept('2026-03-27T01:59:00Z', '2028-03-27T02:00:00Z', [
    'started',
    'started',
  ]);
  expect(tried).toEqual(['2026-03-27T02:00:00Z', '2026-03-28T02:00:00Z']);
  expect(latest).toBe(Date.parse('2026-03-28T02:00:00Z'));
});

it('tries a start again that failed, for the same planned time (S11)', async () => {
  const outcomes = [new Error('the file is full'), 'started' as const];
  const { tried, logged } = await kept('2026-03-27T01:59:00Z', undefined, outcomes);
  expect(tried).toEqual(['2026-03-27T02:00:00Z', '2026-03-27T02:00:00Z']);
  expect(logged).toEqual(['schedule-failed']);
});

it('logs of a start that is refused what was wrong with it', async () => {
  const stopping = new AbortController();
  const logged: unknown[] = [];
  const at = Date.parse('2026-03-27T02:00:00Z');
  const message = "the input does not fit workflow 'report': n is missing";
  await keepSchedule(nightly, {
    clock: { now: () => at, sleep: async () => stopping.abort() },
    random: seededSource(1),
    planned: { read: async () => at - 1, write: async () => undefined },
    stopping: stopping.signal,
    log: (what, fields) => void logged.push({ what, ...fields }),
    start: async () => ({ kind: 'refused', code: 'bad-input', message }),
  });
  const time = '2026-03-27T02:00:00Z';
  const trigger = 'report-schedule';
  expect(logged).toEqual([{ what: 'start-refused', trigger, code: 'bad-input', time, error: message }]);
});

it('says of a schedule that cannot be read what is wrong with it, and ends nothing', async () => {
  const stopping = new AbortController();
  const logged: unknown[] = [];
  const broken: ScheduleTrigger = { ...nightly, options: { schedule: 'cron(60 2 * * ? *)', input: {} } };
  await keepSchedule(broken, {
    clock: {
      now: () => 0,
      sleep: async () => stopping.abort(),
    },
    random: seededSource(1),
    planned: { read: async () => undefined, write: async () => undefined },
    stopping: stopping.signal,
    log: (what, fields) => void logged.push([what, fields['detail']]),
    start: () => Promise.reject(new Error('it has no time')),
  });
  expect(logged).toEqual([['schedule-failed', expect.stringContaining("the minute is '60'")]]);
});

it('compiles a trigger as a stack does', () => {
  expect(compiledSchedule(nightly)).toEqual({
    name: 'report-schedule',
    workflow: 'report',
    from: 'event',
    input: { day: { $ref: 'input', path: ['time'] } },
    key: [{ $ref: 'input', path: ['time'] }],
  });
});
