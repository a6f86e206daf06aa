/**
 * `npm run bench:recover`: measures how long it takes to notice a dead, frozen or unreached attempt, and to
 * complete its step.
 *
 * Owns: the faults, their figures, the limits. Does not own: how the local cloud's tests strike a process
 * (`local/control`): here all processes of an agent are struck at once, by their numbers.
 *
 * Each execution is one step that works until it is struck; its retry is done at once. Noticed: when the
 * record says that the lease has ended (for a lost message: when the step is finally claimed). Recovered:
 * when the execution has ended.
 */

import { Command } from 'commander';
import type { ExecutionView } from '../lib/api/answers.ts';
import { atLeastOne } from './parts/options.ts';
import { percentile } from './parts/load.ts';
import { inQuiet } from './parts/quiet.ts';
import { printVerdicts, type Verdict } from './parts/limits.ts';
import { machine, type Machine, type Taken, takenNow } from './parts/machine.ts';
import { drainAfterOutage, type Outage } from './parts/outage.ts';
import { table } from './parts/print.ts';
import { keep, replaced, resultOf } from './parts/results.ts';
import { setStage, type Stage, tick } from './parts/stage.ts';
import { recoverVerdicts } from './parts/verdicts.ts';

export type Fault =
  | 'quiet system, SIGKILL'
  | 'SIGKILL'
  | 'freeze'
  | 'lost message'
  | 'SIGKILL, supervisors too';

export interface Recovery {
  readonly fault: Fault;
  readonly leaseMs: number;
  readonly n: number;
  readonly detectMs: { readonly p50: number; readonly p99: number };
  readonly recoverMs: { readonly p50: number; readonly p99: number };
  /** The limit for detecting the fault, at p99. */
  readonly limitMs: number;
  readonly taken: Taken;
}

export interface RecoverReport {
  readonly machine: Machine;
  readonly cases: readonly Recovery[];
  readonly outage?: Outage & { readonly taken: Taken };
  readonly limits: readonly Verdict[];
}

interface Options {
  readonly json?: true;
  readonly save?: true;
  readonly only?: string;
  readonly rounds: number;
  readonly n: number;
}

const OUTAGE = 'outage';

const program = new Command('bench:recover')
  .description('Kills, freezes and forgets attempts, and measures until they are noticed and made good.')
  .option('--json', 'one line of JSON at the end')
  .option('--save', 'for bench:report; of a part, beside what other parts have found')
  .option(
    '--only <fault/lease>',
    `cases that begin like this, e.g. freeze or SIGKILL/3; ${OUTAGE}: the last one alone`,
  )
  .option('--rounds <n>', 'how often each fault strikes: eight take 50 minutes, one eight', atLeastOne, 8)
  .option('--n <n>', 'executions that are struck at once', atLeastOne, 26);

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Long enough for every process to start. */
const START_MS = 4_000;
/** The step works until it is struck; nothing here takes this long. */
const WORK_MS = 50_000;
const SPARE_MS = 6_000;
const TICK_MS = 60_000;
const PICKUP_MS = 3_000;
/** The extra time in a quiet system, where a supervisor must be called first. */
const QUIET_SPARE_MS = 10_000;

interface Case {
  readonly fault: Fault;
  readonly leaseMs: number;
  readonly limitMs: number;
}
const QUIET = 'quiet system, SIGKILL';
const CASES: readonly Case[] = [
  ...[3_000, 6_000, 12_000].flatMap((leaseMs) =>
    (['SIGKILL', 'freeze'] as const).map((fault) => ({ fault, leaseMs, limitMs: leaseMs + SPARE_MS })),
  ),
  { fault: QUIET, leaseMs: 3_000, limitMs: 3_000 + QUIET_SPARE_MS },
  { fault: 'lost message', leaseMs: 3_000, limitMs: PICKUP_MS + SPARE_MS },
  { fault: 'SIGKILL, supervisors too', leaseMs: 3_000, limitMs: TICK_MS + 3_000 + SPARE_MS },
];

const nameOf = ({ fault, leaseMs }: Pick<Case, 'fault' | 'leaseMs'>): string => `${fault}/${leaseMs / 1_000}`;

async function main({ n, rounds, json, only = '', save: isSaved }: Options): Promise<void> {
  const wanted = CASES.filter((one) => nameOf(one).startsWith(only));
  const isOutage = OUTAGE.startsWith(only);
  if (wanted.length === 0 && !isOutage)
    program.error(
      `error: no case begins with ${only}; there are ${[...CASES.map(nameOf), OUTAGE].join(', ')}`,
    );
  say(
    `${wanted.length} cases with ${n * rounds} executions each, in ${rounds} rounds of half a minute to a minute and a half …`,
  );
  const cases: Recovery[] = [];
  for (const one of wanted) {
    const all: Followed[] = one.fault === QUIET ? await inQuiet(n * rounds, warmQuiet, strikeQuiet, say) : [];
    for (let round = 1; one.fault !== QUIET && round <= rounds; round += 1) {
      all.push(...(await strikeOnce(one, n, (round - 1) / rounds)));
      say(`  ${nameOf(one)} s, round ${round} of ${rounds}`);
    }
    const found = summed(one, all);
    const { p50, p99 } = found.detectMs;
    say(`  ${nameOf(one)} s: noticed p50 ${p50} ms, p99 ${p99} ms`);
    cases.push(found);
  }
  const outage = isOutage ? { outage: { ...(await drainAfterOutage(say)), taken: takenNow() } } : {};
  const report: RecoverReport = { machine: machine(), cases, ...outage, limits: recoverVerdicts({ cases }) };
  print(report);
  printVerdicts(report.limits);
  if (isSaved) save(report);
  if (json) console.log(JSON.stringify({ recover: report }));
}

/**
 * Uses a separate deployment, because the messages of a round's killed processes return to the queue long
 * after that round.
 */
async function strikeOnce(one: Case, n: number, phase: number): Promise<Followed[]> {
  const stage = await setStage({ batchSize: 1, processes: n + 4, schedules: true, capacity: false });
  try {
    return await measure(stage, one, n, phase);
  } finally {
    await stage.strike();
  }
}

function save(report: RecoverReport): void {
  const before = resultOf('recover') as { readonly recover: RecoverReport } | undefined;
  const cases = replaced(before?.recover.cases ?? [], report.cases, nameOf);
  const on = report.cases.length > 0 ? report.machine : (before?.recover.machine ?? report.machine);
  const limits = recoverVerdicts({ cases });
  keep('recover', { recover: { ...before?.recover, ...report, machine: on, cases, limits } });
}

interface Followed {
  readonly detectMs: number;
  readonly recoverMs: number;
}

function summed({ fault, leaseMs, limitMs }: Case, all: readonly Followed[]): Recovery {
  const of = (values: readonly number[]) => ({ p50: percentile(values, 0.5), p99: percentile(values, 0.99) });
  const detectMs = of(all.map((one) => one.detectMs));
  const recoverMs = of(all.map((one) => one.recoverMs));
  return { fault, leaseMs, n: all.length, detectMs, recoverMs, limitMs, taken: takenNow() };
}

/** @param phase the position in the minute between two ticks, if that matters, in [0, 1) */
async function measure(
  stage: Stage,
  { fault, leaseMs }: Case,
  n: number,
  phase: number,
): Promise<Followed[]> {
  const seconds = leaseMs / 1_000;
  const lost = fault === 'lost message';
  const begin = (): Promise<string> => stage.start(`naps${seconds}`, { ms: lost ? 0 : WORK_MS });
  // Stores the plan and starts all processes first: their start is not measured.
  const warming = await startAll(n, () => stage.start(`naps${seconds}`, { ms: START_MS }));
  await Promise.all(warming.map((id) => stage.ended(id)));
  await stage.quiet();
  if (fault === 'SIGKILL, supervisors too') await pause(phase * TICK_MS);
  // The first sends fail: each is tried three times.
  if (lost) stage.cloud.control.throttle('scheduler', { calls: 3 * n, operation: 'SendMessage' });
  const [first = ''] = await startAll(1, begin);
  ring(stage);
  const ids = [first, ...(await startAll(n - 1, begin))];
  if (!lost) await allClaimed(stage, ids);
  const struckAt = Date.now();
  const struck = lost ? [] : strike(stage, fault, `agentsnap${seconds}function`);
  const found = await Promise.all(ids.map((id) => follow(stage, id, lost, struckAt)));
  for (const pid of struck) signal(pid, 'SIGKILL');
  return found;
}

const warmQuiet = async (stage: Stage): Promise<unknown> =>
  stage.ended(await stage.start('naps3', { ms: 0 }));

/**
 * Does not trigger the clock: the supervisor that notices the fault was called by a process, or comes with a
 * tick.
 */
async function strikeQuiet(stage: Stage): Promise<Followed> {
  const id = await stage.start('naps3', { ms: WORK_MS });
  await allClaimed(stage, [id]);
  const struckAt = Date.now();
  strike(stage, 'SIGKILL', 'agentsnap3function');
  return follow(stage, id, false, struckAt);
}

/** Starts one after the other: parallel starts would need as many scheduler processes. */
async function startAll(n: number, start: () => Promise<string>): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < n; at += 1) ids.push(await start());
  return ids;
}

/**
 * Triggers the supervisor's clock now: the supervisor finds something due and stays until the next tick, as
 * in a busy system.
 */
function ring(stage: Stage): void {
  // The supervisor may be killed meanwhile.
  tick(stage).catch(() => undefined);
}

async function allClaimed(stage: Stage, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    let step = (await view(stage, id)).steps[0];
    // The step works long enough for all to be claimed.
    for (; step?.status !== 'running'; step = (await view(stage, id)).steps[0]) {
      const { attempts = [], status } = step ?? {};
      if (attempts.length > 0) throw new Error(`execution ${id} is ${status} before it was struck`);
      await pause(50);
    }
  }
  // The steps that were claimed last have sent no heartbeat yet.
  await pause(500);
}

async function view({ cloud }: Stage, id: string): Promise<ExecutionView> {
  return (await (await fetch(`${cloud.apiUrl}/executions/${id}`)).json()) as ExecutionView;
}

const signal = (pid: number, name: 'SIGKILL' | 'SIGSTOP'): void => {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended by itself.
  }
};

/** Strikes all processes that work on the agent's steps. @returns their ids */
function strike({ cloud: { control } }: Stage, fault: Fault, agent: string): number[] {
  const busy = (part: string): number[] =>
    control
      .functions()
      .filter(({ logicalId }) => logicalId.toLowerCase().includes(part))
      .flatMap(({ processes }) => processes)
      .filter(({ state }) => state === 'busy')
      .map(({ pid }) => pid);
  const struck = [...busy(agent), ...(fault === 'SIGKILL, supervisors too' ? busy('supervisor') : [])];
  for (const pid of struck) signal(pid, fault === 'freeze' ? 'SIGSTOP' : 'SIGKILL');
  return struck;
}

async function follow(stage: Stage, id: string, lost: boolean, struckAt: number): Promise<Followed> {
  const endedAt = await stage.ended(id);
  const { startedAt, steps } = await view(stage, id);
  const first = steps[0]?.attempts[0];
  return lost
    ? { detectMs: (first?.claimedAt ?? endedAt) - startedAt, recoverMs: endedAt - startedAt }
    : { detectMs: (first?.endedAt ?? endedAt) - struckAt, recoverMs: endedAt - struckAt };
}

function print({ cases, outage, machine: { load } }: RecoverReport): void {
  const head = ['fault', 'lease', 'n', 'noticed p50', 'p99', 'limit', '', 'recovered p50', 'p99'];
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  const rows = cases.map(({ fault, leaseMs, n, detectMs, recoverMs, limitMs }) => [
    fault,
    seconds(leaseMs),
    String(n),
    seconds(detectMs.p50),
    seconds(detectMs.p99),
    seconds(limitMs),
    detectMs.p99 <= limitMs ? '✓' : '✗',
    seconds(recoverMs.p50),
    seconds(recoverMs.p99),
  ]);
  console.log(`\nLoad average ${load.join(' and ')}`);
  if (cases.length > 0) console.log(`\n${table(head, rows)}`);
  if (outage === undefined) return;
  const { executions, outageMs, drainedMs, calmMs } = outage;
  console.log(
    `\n${executions} executions, the table away for ${seconds(outageMs)}: all ended ${seconds(drainedMs)} after its return (${seconds(calmMs)} without an outage)`,
  );
}

await main(program.parse().opts<Options>());
