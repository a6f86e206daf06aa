/**
 * The costs besides steps: idling, waiting, deferring, heartbeats, and waiting in a queue.
 *
 * Owns: the situations, and how a second of each is scaled to an hour, a month or a million. Does not own:
 * the counting (`meter.ts`).
 *
 * The supervisor's clock is triggered by hand: a tick that finds something due lasts 57 s, as on AWS. What a
 * busy tick reads and writes for itself (sweeps, receipts) is shared by so many executions that it hardly
 * shows.
 */

import { DEFAULT_WAKE_SHARDS } from '../../lib/aws/names.ts';
import { warmUp } from './load.ts';
import { between, type Reading, type Role, roleOf, unitsOf } from './meter.ts';
import { dollars, logDollars, PRICES, total, type Units } from './prices.ts';
import { type Stage, setStage, tick } from './stage.ts';
import { storedBytes } from './stored.ts';

export interface Situation {
  readonly what: string;
  readonly usd: number;
  readonly arithmetic: string;
}

export interface Situations {
  readonly list: readonly Situation[];
  readonly lines: readonly string[];
  /** Calls to DynamoDB in a minute in which nothing is due. */
  readonly idle: { readonly shards: number; readonly queries: number; readonly others: number };
}

const MILLION = 1_000_000;
const GIGABYTE = 1_000_000_000;
const HOURS_A_MONTH = 730;
const MINUTES_A_MONTH = HOURS_A_MONTH * 60;
/** Five pollers of twenty seconds each. */
const EMPTY_POLLS_AN_HOUR = 900;

/** The number of ticks in the mean, because processor time has a resolution of hundredths of a second. */
const IDLE_TICKS = 20;
/** The number of executions that wait for a person, and then of those that wait for a time. */
const DEFERRED = 200;
/**
 * When the supervisor first evaluates an execution that starts without work for an agent; a tick looks 57 s
 * ahead.
 */
const FIRST_LOOK_MS = 60_000;
const BEFORE_TICK_MS = 4_000;
/** The number of steps that work in parallel, each in its own process. */
const AT_WORK = 16;
/** How long these steps work: meanwhile a supervisor evaluates them three times, in two ticks. */
const WORK_MS = 100_000;
const TEN_MINUTES_MS = 600_000;
/** Executions are started as fast as possible; sixteen processes perform eighty a second. */
const QUEUED = 12_000;
const QUEUED_WORK_MS = 200;
const IN_FLIGHT = 64;

type Say = (text: string) => void;
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export async function situations(say: Say): Promise<Situations> {
  say('Idling, deferring, waiting, beating and queueing: some eight minutes …');
  const stage = await setStage({ batchSize: 1, processes: 2, agentProcesses: AT_WORK, schedules: false });
  try {
    await warmUp(stage, ['chain5'], 8);
    await ticked(stage);
    const idle = await idling(stage);
    const list = [
      ...idle.list,
      ...(await deferral(stage, say)),
      await waiting(stage, say),
      await working(stage, say),
      await queueing(stage, say),
      {
        what: 'Lambda’s polling of an empty queue, a month and agent',
        usd: EMPTY_POLLS_AN_HOUR * HOURS_A_MONTH * PRICES.usd.sqsRequests,
        arithmetic: `${EMPTY_POLLS_AN_HOUR} polls an hour × ${HOURS_A_MONTH} h × $0.40 / M (not on the wire: five pollers, 20 s each)`,
      },
    ];
    const width = Math.max(...list.map(({ what }) => what.length));
    const lines = list.map(
      ({ what, usd, arithmetic }) => `${what.padEnd(width)}  $${usd.toFixed(usd < 1 ? 6 : 2)}  ${arithmetic}`,
    );
    return { list, lines, idle: idle.calls };
  } finally {
    await stage.strike();
  }
}

/** Leaves out processor time, of which starting processes use most. */
const wireOf = (found: Reading): Units =>
  unitsOf({ ...found, functions: found.functions.map((one) => ({ ...one, cpuMs: 0 })) }, 1);

/** The calls of a role's functions, without their invocations. */
function callsOf(role: Role, { calls, logBytes }: Reading): Units {
  const own = calls.filter(({ caller }) => caller !== 'outside' && roleOf(caller) === role);
  return { ...unitsOf({ calls: own, functions: [], logBytes }, 1), lambdaGbSeconds: 0 };
}

/** The share of one of several executions. */
const shared = (units: Units, by: number): Units =>
  Object.fromEntries(Object.entries(units).map(([what, count]) => [what, count / by])) as Units;

/** The price of one execution or minute, not of a million. */
const usdOf = (units: Units): number => total(dollars(units, MILLION));

const few = (value: number): string => String(Math.round(value * 100) / 100);
const brief = ({ writeUnits, readUnits, lambdaRequests }: Units): string =>
  `${few(writeUnits)} write units, ${few(readUnits)} read units, ${few(lambdaRequests)} invocations`;

async function reading(stage: Stage, work: () => Promise<unknown>): Promise<Reading> {
  const before = stage.meter.read();
  await work();
  return between(before, stage.meter.read());
}

const ticked = (stage: Stage): Promise<Reading> => reading(stage, () => tick(stage));

/** Measures an idle minute, and its calls. */
async function idling(stage: Stage): Promise<{ list: Situation[]; calls: Situations['idle'] }> {
  const found = await reading(stage, async () => {
    for (let at = 0; at < IDLE_TICKS; at += 1) await tick(stage);
  });
  const minute = shared(unitsOf(found, 1), IDLE_TICKS);
  const ofLogs = logDollars(minute, MILLION);
  const dynamo = found.calls.filter(({ service, caller }) => service === 'dynamodb' && caller !== 'outside');
  const count = (isQuery: boolean): number =>
    dynamo
      .filter(({ operation }) => (operation === 'Query') === isQuery)
      .reduce((sum, { calls }) => sum + calls, 0) / IDLE_TICKS;
  const idle = {
    what: 'an idle system, a month, with its logs',
    usd: (usdOf(minute) + ofLogs) * MINUTES_A_MONTH,
    arithmetic: `a minute: ${brief(minute)}, ${(minute.lambdaGbSeconds / PRICES.lambda.memoryGb).toFixed(2)} s, ${Math.round(minute.logBytes)} B of logs`,
  };
  return {
    list: [idle],
    calls: { shards: DEFAULT_WAKE_SHARDS, queries: count(true), others: count(false) },
  };
}

/** @returns the units of `count` starts of a workflow, with everything that follows at once */
const begun = (stage: Stage, count: number, workflow: string, input: () => unknown): Promise<Reading> =>
  reading(stage, async () => {
    for (let at = 0; at < count; at += 1) await stage.start(workflow, input());
    await stage.quiet();
  });

async function deferral(stage: Stage, say: Say): Promise<Situation[]> {
  say('  deferring: the first look, in a minute');
  const before = await storedBytes(stage);
  const started = await begun(stage, DEFERRED, 'asks', () => ({ data: 'x'.repeat(90) }));
  const itemBytes = ((await storedBytes(stage)) - before) / DEFERRED;
  await pause(BEFORE_TICK_MS);
  const looked = await ticked(stage);
  // The tick after a successful one also counts what is open.
  await ticked(stage);
  const minute = wireOf(await ticked(stage));
  const [start, look] = [shared(wireOf(started), DEFERRED), shared(wireOf(looked), DEFERRED)];
  if (look.writeUnits < 1) throw new Error('the executions that wait for a person were not looked at');
  const storage = (itemBytes / GIGABYTE) * MILLION * PRICES.usd.storageGbMonth;
  return [
    {
      what: 'a million executions that wait for a person, to start',
      usd: (usdOf(start) + usdOf(look)) * MILLION,
      arithmetic: `each ${brief(start)}; one look: ${brief(look)}`,
    },
    {
      what: 'the same, for every month that they wait',
      usd: storage,
      arithmetic: `${Math.round(itemBytes)} B each with both index entries × 1 M × $${PRICES.usd.storageGbMonth} / GB; a minute with ${DEFERRED} of them: ${brief(minute)}, as without`,
    },
  ];
}

/** Measures from before the wait until after it, without the step that follows. */
async function waiting(stage: Stage, say: Say): Promise<Situation> {
  say('  waiting: the first look and the end of the wait, in a minute');
  const plain = await begun(stage, DEFERRED, 'chain-of-1', () => ({ data: 'x' }));
  const until = Date.now() + FIRST_LOOK_MS + 2 * BEFORE_TICK_MS;
  const ids: string[] = [];
  const whole = await reading(stage, async () => {
    for (let at = 0; at < DEFERRED; at += 1) ids.push(await stage.start('waits', { until }));
    await pause(BEFORE_TICK_MS);
    const ended = Promise.all(ids.map((id) => stage.ended(id)));
    await tick(stage);
    await tick(stage);
    await ended;
    await stage.quiet();
  });
  const [without, all] = [wireOf(plain), wireOf(whole)];
  const more = Object.fromEntries(
    Object.entries(all).map(([what, count]) => [what, (count - without[what as keyof Units]) / DEFERRED]),
  ) as Units;
  return {
    what: 'an hour of waiting (w.wait), each',
    usd: usdOf(more),
    arithmetic: `more than without it: ${brief(more)}: its begin, a look a minute after the start, its end; however long it lasts, nothing is read or written meanwhile`,
  };
}

/** Measures a step with the usual lease of 30 s, while supervisors run. */
async function working(stage: Stage, say: Say): Promise<Situation> {
  say('  a long step: two minutes of its ten');
  const writesOf = async (ms: number): Promise<{ agents: number; looks: number }> => {
    const found = await reading(stage, async () => {
      const ids: string[] = [];
      for (let at = 0; at < AT_WORK; at += 1) ids.push(await stage.start('works', { ms }));
      const ended = Promise.all(ids.map((id) => stage.ended(id)));
      if (ms === WORK_MS) {
        await tick(stage);
        await tick(stage);
      }
      await ended;
      await stage.quiet();
    });
    const of = (role: Role): number => callsOf(role, found).writeUnits / AT_WORK;
    return { agents: of('agent'), looks: of('supervisor') };
  };
  // First, waits until every process has started.
  await writesOf(BEFORE_TICK_MS);
  // Then counts the writes with which attempts begin and end.
  const { agents } = await writesOf(0);
  const long = await writesOf(WORK_MS);
  const times = TEN_MINUTES_MS / WORK_MS;
  const [beats, looks] = [(long.agents - agents) * times, long.looks * times];
  return {
    what: 'ten minutes of a step’s work, beside its begin and end',
    usd: (beats + looks) * PRICES.usd.writeUnits,
    arithmetic: `a lease of 30 s: ${few(beats)} write units of heartbeats, ${few(looks)} of a supervisor’s looks and receipts (${AT_WORK} such steps for ${WORK_MS / 1_000} s, × ${times})`,
  };
}

/** Measures what supervisors do about steps that wait in a queue for longer than a pickup time. */
async function queueing(stage: Stage, say: Say): Promise<Situation> {
  say(`  queueing: ${QUEUED} steps for ${AT_WORK} processes, two and a half minutes`);
  let left = QUEUED;
  const ends: Promise<number>[] = [];
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) await tick(stage);
  };
  const waits: number[] = [];
  const found = await reading(stage, async () => {
    const client = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const startedAt = Date.now();
        const id = await stage.start('works', { ms: QUEUED_WORK_MS });
        ends.push(stage.ended(id).then((endedAt) => waits.push(endedAt - startedAt - QUEUED_WORK_MS)));
      }
    };
    const watched = watch();
    try {
      await Promise.all(Array.from({ length: IN_FLIGHT }, client));
      await Promise.all(ends);
    } finally {
      over.abort();
    }
    await watched;
    await stage.quiet();
  });
  const each = shared(callsOf('supervisor', found), QUEUED);
  const meanMs = waits.reduce((sum, ms) => sum + ms, 0) / waits.length;
  return {
    what: 'a million steps that wait in a queue, what supervisors do about them',
    usd: usdOf(each) * MILLION,
    arithmetic: `${QUEUED.toLocaleString('en')} at once for an agent that performs ${(AT_WORK * 1_000) / QUEUED_WORK_MS} a second; they wait ${Math.round(meanMs / 1_000)} s in the mean, ${Math.round(Math.max(...waits) / 1_000)} s at most: each ${few(each.writeUnits)} write units, ${few(each.readUnits)} read units, ${few(each.sqsRequests)} SQS requests`,
  };
}
