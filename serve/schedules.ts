/**
 * The schedules of a single-process server: starts an execution at each planned time, as EventBridge
 * Scheduler would.
 *
 * Owns: the next time by the machine's clock, making up the latest start that was missed while no process
 * ran, and retrying a failed start. Does not own: the start (`lib/scheduler/starter.ts`), parsing an
 * expression (croner), the record of the latest time (`planned.ts`).
 *
 * The key of a start is the planned time, so a start that is repeated after a crash is the same (S11).
 */

import { Cron } from 'croner';
import type { Clock, RandomSource } from '../lib/core/ports.ts';
import { cronFields, scheduleProblem } from '../lib/author/triggers/schedule-check.ts';
import type { DeclaredTrigger, ScheduleTrigger } from '../lib/author/triggers/trigger-declaration.ts';
import type { Trigger } from '../lib/scheduler/trigger.ts';
import { refuse, sayable } from '../lib/core/values/errors.ts';
import { compiledTrigger, SCHEDULE } from '../lib/infra/event-shapes.ts';
import type { StartMessage } from '../lib/scheduler/trigger.ts';
import type { StartOutcome } from '../lib/scheduler/starter.ts';

const MINUTE_MS = 60_000;
const UNITS: Readonly<Record<string, number>> = { minute: 1, hour: 60, day: 1_440 };
/** The longest sleep: the clock may be set meanwhile, so the time is checked again. */
const LONGEST_SLEEP_MS = MINUTE_MS;
const AGAIN_MS = 5_000;
/** Starts that were missed longer ago are not made up. */
const MADE_UP_MS = 24 * 3_600_000;

/** The first planned time after `at`, in epoch ms; undefined if there is none. */
export type NextAfter = (at: number) => number | undefined;

/** @throws Error with what is allowed */
export function nextAfter({ schedule, timeZone = 'Etc/UTC' }: ScheduleTrigger['options']): NextAfter {
  const problem = scheduleProblem({ schedule, timeZone });
  if (problem !== undefined) throw refuse('bad-trigger', problem);
  const [, count, unit = ''] = /^rate\(([1-9]\d*) (minute|hour|day)s?\)$/.exec(schedule) ?? [];
  if (count !== undefined) {
    const everyMs = Number(count) * (UNITS[unit] ?? 1) * MINUTE_MS;
    return (at) => (Math.floor(at / everyMs) + 1) * everyMs;
  }
  // `L` alone as the weekday means Saturday; croner needs its number.
  const fields = cronFields(schedule)?.map((field, at) =>
    at === WEEKDAY_AT ? lastIsSaturday(field) : field,
  );
  // AWS's days of the week: 1 is Sunday. Its ranges may begin with a number: 0/15.
  const options = { timezone: timeZone, paused: true, alternativeWeekdays: true, sloppyRanges: true };
  const cron = new Cron(`0 ${fields?.join(' ')}`, options);
  return (at) => {
    for (let next = cron.nextRun(new Date(at)); next !== null; next = cron.nextRun(next)) {
      // croner moves a time that the change to summer time skips; AWS leaves it out, and so does this.
      if (cron.match(next)) return next.getTime();
    }
    return undefined;
  };
}

const WEEKDAY_AT = 4;
const lastIsSaturday = (field: string): string => field.replaceAll(/(?<=^|,)L(?=,|$)/gi, 'SAT');

/** The latest planned time that was started, by trigger. */
export interface Planned {
  readonly read: (trigger: string) => Promise<number | undefined>;
  readonly write: (trigger: string, at: number) => Promise<void>;
}

export interface ScheduleParts {
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly planned: Planned;
  readonly start: (trigger: Trigger, message: StartMessage) => Promise<StartOutcome>;
  readonly log: (what: string, fields: Readonly<Record<string, unknown>>) => void;
  readonly stopping: AbortSignal;
}

export const compiledSchedule = ({ workflow, options }: ScheduleTrigger): Trigger =>
  compiledTrigger(SCHEDULE, workflow, options) as unknown as Trigger;

/** Runs the loop of each schedule. */
export const keepSchedules = (triggers: readonly DeclaredTrigger[], parts: ScheduleParts): Promise<void>[] =>
  triggers.flatMap((trigger) => (trigger.on === 'schedule' ? [keepSchedule(trigger, parts)] : []));

/** Starts an execution at each time until it is stopped. Never rejects. */
export async function keepSchedule(declared: ScheduleTrigger, parts: ScheduleParts): Promise<void> {
  const { clock, planned, stopping, log } = parts;
  const trigger = compiledSchedule(declared);
  let next: NextAfter | undefined;
  let latest: number | undefined;
  while (!stopping.aborted) {
    try {
      next ??= nextAfter(declared.options);
      latest = within(latest ?? (await firstLatest(trigger, parts)), clock.now());
      // A schedule without a next time keeps running, because it has one again if the clock is set back.
      const dueAt = latestDue(next, latest, clock.now()) ?? next(latest) ?? Number.POSITIVE_INFINITY;
      if (dueAt > clock.now()) await clock.sleep(Math.min(dueAt - clock.now(), LONGEST_SLEEP_MS), stopping);
      else {
        await startAt(trigger, dueAt, parts);
        await planned.write(trigger.name, dueAt);
        latest = dueAt;
      }
    } catch (error) {
      log('schedule-failed', { trigger: trigger.name, detail: sayable(error) });
      await clock.sleep(AGAIN_MS, stopping);
    }
  }
}

/** The time to begin from: the stored one, or now if the schedule is new to this file. */
async function firstLatest({ name }: Trigger, { planned, clock }: ScheduleParts): Promise<number> {
  const known = await planned.read(name);
  if (known !== undefined) return known;
  const now = clock.now();
  await planned.write(name, now);
  return now;
}

/** Limits the stored time: at most now (the clock may have been ahead), at least `MADE_UP_MS` ago. */
const within = (latest: number, now: number): number => Math.min(now, Math.max(latest, now - MADE_UP_MS));

/** The last planned time that has passed, because a restart makes up only one start. */
function latestDue(next: NextAfter, after: number, now: number): number | undefined {
  let due: number | undefined;
  for (let at = next(after); at !== undefined && at <= now; at = next(at)) due = at;
  return due;
}

async function startAt(trigger: Trigger, at: number, { start, random, log }: ScheduleParts): Promise<void> {
  const { name } = trigger;
  const time = new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
  const body = JSON.stringify({ time, schedule: `steadfast:schedule/${name}` });
  const outcome = await start(trigger, { id: random.id(), body, attributes: {} });
  if (outcome.kind !== 'refused') return;
  const { code, message } = outcome;
  log('start-refused', { trigger: name, code, time, error: message });
}
