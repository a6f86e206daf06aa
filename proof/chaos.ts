/**
 * `npm run chaos`: runs the local cloud under load while functions are killed and frozen at random, the store
 * is killed, calls are unanswered and throttled, and the outside world misbehaves. Then all faults end, every
 * execution must end, and the run is audited.
 *
 * Owns: the options, the two phases, the exit code. docs/PROOF.md says what it
 * proves and how to read a failure.
 */

import { availableParallelism, loadavg } from 'node:os';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { Command, Option } from 'commander';
import { EndedEvents } from './chaos/ended-events.ts';
import { Person } from './chaos/failure/person.ts';
import { faultPlan } from './chaos/fault-plan.ts';
import { Load } from './chaos/load.ts';
import { type Mode, type ModeName, modeOf, MODES, type Verdict } from './chaos/modes.ts';
import { Progress } from './chaos/progress.ts';
import type { Machine } from './chaos/report.ts';
import { Saboteur } from './chaos/saboteur.ts';
import { chaosServe } from './chaos/serve/run.ts';
import { setStage, type Stage } from './chaos/stage.ts';
import { Table } from './chaos/table.ts';

interface Options {
  readonly workflows: ModeName;
  readonly minutes: number;
  readonly seed: number;
  readonly rate: number;
  readonly hosting: 'own' | 'shared';
  readonly serve: boolean;
  readonly kills: number;
  readonly keep: boolean;
  readonly json: boolean;
}

const POLL_EVERY_MS = 1_000;
const SERVE_RATE = 10;
/**
 * Calls the supervisor after this time, when there is due work, because without it the supervisor ends at
 * once.
 */
const RING_AFTER_MS = 2_500;
/** How long a process may still act after its execution's end: as long as a function can run. */
const ECHO_LIMIT_MS = 40_000;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

const positive = (text: string): number => {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${text} is not a number above 0`);
  return value;
};
const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is not a whole number`);
  return value;
};

const program = new Command('chaos')
  .description(
    [
      'Workflows on a fresh local cloud while its functions are killed and frozen, its store is killed, and calls are throttled',
      'or executed without an answer. Afterwards everything must end, and the ledger of the outside world and the state',
      'table are audited. The exit code is 0 only if nothing was lost, doubled or stuck, and dead agents were noticed in',
      'time.\n\nThe faults, their order and their moments come from the seed. Real processes on a real machine are not',
      'deterministic: the same seed attacks in the same way, and may hit something else.',
    ].join(' '),
  )
  .addOption(
    new Option(
      '--workflows <which>',
      "'orders' of the example, or those in which 'failure' is part of the plan: steps that may fail, fallbacks, groups that move, lists of workflows, who is told; 'lanes': two at a time, with rates, rounds, large values and accepted work",
    )
      .choices(MODES)
      .default('orders'),
  )
  .option('--minutes <m>', 'how long the faults last', positive, 5)
  .option('--seed <n>', 'of the plan of faults and starts (default: random, printed first)', whole)
  .option('--rate <r>', 'starts a second (default: 2; of failure 0.5, of lanes 0.4)', positive)
  .addOption(
    new Option('--hosting <how>', 'a function for each agent, or one for all that may share one')
      .choices(['own', 'shared'])
      .default('own'),
  )
  .option('--serve', 'one server over one file instead, killed again and again', false)
  .option('--kills <n>', 'with --serve: how often (its own rate is 10 starts a second)', whole, 200)
  .option('--keep', 'keeps the folder with the tables, logs and ledger', false)
  .option('--json', 'one JSON line at the end', false);

async function main(options: Options, mode: Mode): Promise<number> {
  const progress = new Progress(process.stdout);
  progress.say(
    `Seed ${options.seed}: ${options.minutes} minutes of faults, ${options.rate} starts a second (${options.workflows}).`,
  );
  let strike: Stage['strike'] | undefined;
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      interrupted.abort();
      progress.say('Interrupted: stopping the local cloud.');
      void (strike?.(options.keep) ?? Promise.resolve()).finally(() => process.exit(130));
    });
  }
  let keep = options.keep;
  try {
    const stage = await setStage(
      { ...mode, hosting: options.hosting },
      (text) => progress.say(text),
      (how) => {
        strike = how;
      },
    );
    const { summary, failures, lines } = await perform(stage, options, mode, progress);
    keep ||= failures.length > 0;
    for (const line of lines) progress.say(line);
    for (const failure of failures) progress.say(`FAILED   ${failure}`);
    if (keep) progress.say(`Tables, logs and ledger of this run: ${stage.folder}`);
    if (options.json) console.log(JSON.stringify({ chaos: summary }));
    else console.log(summary);
    return failures.length === 0 ? 0 : 1;
  } catch (error) {
    // Ignores errors of processes that an interrupt stopped.
    if (!interrupted.signal.aborted) throw error;
    return 130;
  } finally {
    await strike?.(keep);
  }
}

async function perform(stage: Stage, options: Options, mode: Mode, progress: Progress): Promise<Verdict> {
  const { cloud, world } = stage;
  const durationMs = options.minutes * 60_000;
  const table = new Table(cloud);
  const load = new Load(cloud.apiUrl, world, mode.planned, mode.rulesLast);
  const events = new EndedEvents(cloud.control);
  const person = new Person(cloud.apiUrl);
  const saboteur = new Saboteur(cloud.control);
  const watch = new Watch(table, load, saboteur, progress);
  const lateness = monitorEventLoopDelay({ resolution: 10 });
  lateness.enable();
  const ringing = setTimeout(() => void ringSupervisor(cloud.control), RING_AFTER_MS);
  try {
    watch.begin('chaos');
    events.begin();
    if (mode.hasPerson) void person.work();
    saboteur.begin(faultPlan(options.seed, durationMs));
    await load.run(options.rate, Date.now() + durationMs);
    await saboteur.heal();
    await load.makePeace();
    const healedAt = Date.now();
    watch.phase = 'healing';
    await allEnd(table, load, mode, progress);
    const endedAt = Date.now();
    await silence(cloud.control);
    load.stop();
    person.stop();
    events.end();
    watch.end();
    saboteur.stop();
    const facts = {
      minutes: options.minutes,
      seed: options.seed,
      seconds: Math.round(process.uptime()),
      healSeconds: Math.round((endedAt - healedAt) / 1_000),
      table: await table.everything(),
      entries: await world.ledger(),
      keys: load.keys(),
      clientProblems: [...load.problems, ...person.problems],
      tally: saboteur.tally,
      strikes: saboteur.strikes,
      claims: stage.claims,
      withoutSupervisor: saboteur.withoutSupervisor,
      deadLetters: deadLetters(cloud.control),
      events: events.all(),
      machine: machineNow(lateness),
    };
    return mode.judge(facts, Object.fromEntries(person.answered));
  } finally {
    lateness.disable();
    clearTimeout(ringing);
    load.stop();
    person.stop();
    events.end();
    watch.end();
    saboteur.stop();
    table.close();
  }
}

/**
 * Starts the supervisor, as in a system that has run for a while: its first tick would come a minute after
 * the start.
 */
async function ringSupervisor(control: Stage['cloud']['control']): Promise<void> {
  // The supervisor may be killed meanwhile.
  await control.tick('supervisor').catch(() => {});
}

/** Waits until all clients have answers and all executions have ended, or until the bound. */
async function allEnd(table: Table, load: Load, mode: Mode, progress: Progress): Promise<void> {
  const boundMs = mode.boundMs(await table.everything());
  const untilAt = Date.now() + boundMs;
  progress.say(`No more faults. All must have ended in ${Math.round(boundMs / 1_000)} s.`);
  while (Date.now() < untilAt) {
    if (load.unanswered === 0 && (await table.open()).length === 0) return;
    await pause(POLL_EVERY_MS);
  }
}

/** Stops all functions except the supervisor. */
async function silence(control: Stage['cloud']['control']): Promise<void> {
  const untilAt = Date.now() + ECHO_LIMIT_MS;
  const isBusy = (): boolean =>
    control
      .functions()
      .filter(({ logicalId }) => !logicalId.toLowerCase().includes('supervisor'))
      .some(({ processes }) => processes.some(({ state }) => state === 'busy'));
  while (Date.now() < untilAt && isBusy()) await pause(200);
}

const deadLetters = (control: Stage['cloud']['control']): readonly string[] =>
  control
    .queues()
    .filter(({ name }) => name.toLowerCase().includes('deadletter'))
    .flatMap(({ name }) => control.peek(name).map(({ body }) => body));

const machineNow = (lateness: IntervalHistogram): Machine => ({
  processors: availableParallelism(),
  load: Math.round((loadavg()[1] ?? 0) * 10) / 10,
  lateMs: Math.round(lateness.percentile(99) / 1e6),
});

/** Reads the state once a second and reports it. */
class Watch {
  phase = '';
  readonly #look: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;

  constructor(table: Table, load: Load, saboteur: Saboteur, progress: Progress) {
    this.#look = async () => {
      const open = await table.open();
      const now = Date.now();
      const { freezes, storeRestarts } = saboteur.tally;
      progress.show({
        seconds: process.uptime(),
        phase: this.phase,
        started: load.keys().length,
        open: open.length,
        kills: saboteur.totalKills,
        freezes,
        storeRestarts,
        oldestOpenSeconds: Math.max(0, ...open.map((id) => now - (load.startedAt(id) ?? now))) / 1_000,
      });
    };
  }

  begin(phase: string): void {
    this.phase = phase;
    // While the store is down there is nothing to report.
    this.#timer = setInterval(() => void this.#look().catch(() => {}), POLL_EVERY_MS);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

type Given = Omit<Options, 'seed' | 'rate'> & { readonly seed?: number; readonly rate?: number };
const given = program.parse().opts<Given>();

async function onCloud(seed: number): Promise<number> {
  const mode = modeOf(given.workflows, seed);
  return main({ ...given, seed, rate: given.rate ?? mode.rate }, mode);
}

try {
  const seed = given.seed ?? Math.floor(Math.random() * 2 ** 31);
  process.exitCode = given.serve
    ? await chaosServe({ kills: given.kills, seed, rate: given.rate ?? SERVE_RATE }, console.log)
    : await onCloud(seed);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
