/**
 * Runs the same work on our engine and on others, in turns on one machine, and measures the resources that
 * each uses.
 *
 * Owns: rounds, the order, the figures of each. Does not own: the engines (`../peers/`), their processes
 * (`participants.ts`).
 *
 * All engines run from the first round to the last. While one is measured, the others are idle, and their
 * idle use is measured too. Each round begins with a different engine.
 */

import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { STEPS } from '../peers/contract.ts';
import { percentile } from './load.ts';
import { machine, type Machine } from './machine.ts';
import {
  type Absent,
  type Home,
  INSTALL,
  installPeers,
  nodeOfAll,
  openHome,
  type Participant,
  participants,
  type Running,
  versionOf,
} from './participants.ts';
import { memoryMb, treeCpuMs, treePids } from './tree.ts';

export interface BesideOptions {
  readonly rounds: number;
  /** Executions one after the other, in each round. */
  readonly single: number;
  /** Executions at once, in each round. */
  readonly executions: number;
  readonly warmUp: number;
  readonly inFlight: number;
  /** Keys of peers; empty means all. */
  readonly only: readonly string[];
}

export interface PeerRound {
  readonly stepsPerSecond: number;
  readonly p50Ms: number;
  readonly cpuSecondsPer1000Steps: number;
  /** The same for executions one after the other. */
  readonly cpuOneAtATime: number;
  readonly memoryMb: number;
}

interface Named {
  readonly name: string;
  readonly version: string;
  readonly ours?: true;
}

/** Medians over the rounds; p99 over all rounds' executions. */
export interface PeerFigures extends Named, PeerRound {
  readonly server?: string;
  readonly durableBy: string;
  readonly p99Ms: number;
  readonly processes: number;
  /** Processor time, in milliseconds per second, that it uses while others are measured. */
  readonly idleCpuMsPerSecond: number;
  readonly rounds: readonly PeerRound[];
}

export interface PeerSkipped extends Named {
  readonly skipped: string;
  readonly install?: string;
}

export type Peer = PeerFigures | PeerSkipped;

export interface Beside {
  readonly machine: Machine;
  readonly node: string;
  readonly options: BesideOptions;
  /** Median time to write 4 KB to the disk that stores everyone's data. */
  readonly fsyncMs: number;
  /** The share of processor time that other processes used during the rounds. */
  readonly othersShare: number;
  readonly peers: readonly Peer[];
}

type Say = (text: string) => void;

/** An engine that has started, and its figures so far. */
interface Entry {
  readonly named: Named;
  readonly running: Running;
  readonly rounds: PeerRound[];
  readonly latenciesMs: number[];
  processes: number;
  idleMs: number;
  idleCpuMs: number;
  last: { readonly at: number; readonly cpuMs: number };
  failed?: string;
}

export async function measureBeside(options: BesideOptions, tell: Say): Promise<Beside> {
  const problem = await installPeers(tell);
  const home = openHome();
  const say: Say = (text) => {
    // An interruption needs no message: its cause is known.
    if (!home.isClosed()) tell(text);
  };
  try {
    const entries: Entry[] = [];
    const skipped: PeerSkipped[] = [];
    for (const one of participants(options.only)) {
      say(`${one.name} starts and warms up …`);
      const isAbsent = one.package !== undefined && problem !== undefined;
      const got = isAbsent ? { reason: problem, install: INSTALL } : await started(home, one, options);
      if ('running' in got) entries.push(got);
      else skipped.push(skippedOf(namedOf(one), got, say));
    }
    const fsyncMs = fsyncOn(home.folder);
    const before = { busy: busyCpuMs(), ours: treeCpuMs(), at: performance.now() };
    for (let round = 0; round < options.rounds; round += 1) {
      await measureRound(entries, round, options, say);
      if (home.isClosed()) throw new Error('interrupted');
    }
    const share =
      (busyCpuMs() - before.busy - (treeCpuMs() - before.ours)) /
      ((performance.now() - before.at) * availableParallelism());
    const found = entries.map(
      (entry): Peer =>
        entry.failed === undefined ? figuresOf(entry) : { ...entry.named, skipped: entry.failed },
    );
    const node = execFileSync(nodeOfAll().path, ['--version'], { encoding: 'utf8' }).trim();
    const othersShare = Math.max(0, Math.round(share * 1_000) / 1_000);
    return { machine: machine(), node, options, fsyncMs, othersShare, peers: [...found, ...skipped] };
  } finally {
    await home.close();
  }
}

const namedOf = (one: Participant): Named => ({
  name: one.name,
  version: versionOf(one),
  ...(one.package === undefined ? { ours: true as const } : {}),
});

function skippedOf(named: Named, { reason, install }: Absent, say: Say): PeerSkipped {
  say(`  not measured: ${reason}${install === undefined ? '' : ` (${install})`}`);
  return { ...named, skipped: reason, ...(install === undefined ? {} : { install }) };
}

async function started(home: Home, one: Participant, options: BesideOptions): Promise<Entry | Absent> {
  const running = await home.start(one);
  if (!('run' in running)) return running;
  try {
    await running.run(options.warmUp, options.inFlight);
  } catch (error) {
    await running.stop();
    return { reason: reasonOf(error) };
  }
  const last = { at: performance.now(), cpuMs: treeCpuMs(running.pid) };
  const nothing = { rounds: [], latenciesMs: [], processes: 0, idleMs: 0, idleCpuMs: 0 };
  return { named: namedOf(one), running, ...nothing, last };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function measureRound(
  entries: readonly Entry[],
  round: number,
  options: BesideOptions,
  say: Say,
): Promise<void> {
  const first = (round * Math.ceil(entries.length / options.rounds)) % Math.max(1, entries.length);
  for (const entry of [...entries.slice(first), ...entries.slice(0, first)]) {
    if (entry.failed !== undefined) continue;
    try {
      const one = await measureOne(entry, options);
      say(
        `  round ${round + 1}, ${entry.named.name}: ${one.stepsPerSecond} steps/s, p50 ${one.p50Ms} ms, ` +
          `${one.cpuSecondsPer1000Steps.toFixed(2)} CPU s per 1,000 steps`,
      );
    } catch (error) {
      entry.failed = `it failed in round ${round + 1}: ${reasonOf(error)}`;
      say(`  ${entry.named.name}: ${entry.failed}`);
      await entry.running.stop();
    }
  }
}

async function measureOne(entry: Entry, options: BesideOptions): Promise<PeerRound> {
  const { pid, run } = entry.running;
  const begin = { at: performance.now(), cpuMs: treeCpuMs(pid) };
  entry.idleMs += begin.at - entry.last.at;
  entry.idleCpuMs += begin.cpuMs - entry.last.cpuMs;
  const single = await run(options.single, 1);
  const between = treeCpuMs(pid);
  const many = await run(options.executions, options.inFlight);
  const pids = treePids(pid);
  const cpuMs = treeCpuMs(pid);
  entry.latenciesMs.push(...single.latenciesMs);
  entry.processes = pids.length;
  entry.last = { at: performance.now(), cpuMs };
  const round: PeerRound = {
    stepsPerSecond: Math.round((options.executions * STEPS * 1_000) / many.ms),
    p50Ms: tenth(percentile(single.latenciesMs, 0.5)),
    // Milliseconds per step equal seconds per thousand steps.
    cpuSecondsPer1000Steps: (cpuMs - between) / (options.executions * STEPS),
    cpuOneAtATime: (between - begin.cpuMs) / (options.single * STEPS),
    memoryMb: memoryMb(pids),
  };
  entry.rounds.push(round);
  return round;
}

const tenth = (value: number): number => Math.round(value * 10) / 10;
const median = (values: readonly number[]): number => percentile(values, 0.5);

function figuresOf({
  named,
  running,
  rounds,
  latenciesMs,
  processes,
  idleMs,
  idleCpuMs,
}: Entry): PeerFigures {
  const of = (what: keyof PeerRound): number => median(rounds.map((one) => one[what]));
  return {
    ...named,
    ...(running.server === undefined ? {} : { server: running.server }),
    durableBy: running.durableBy,
    stepsPerSecond: of('stepsPerSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: tenth(percentile(latenciesMs, 0.99)),
    cpuSecondsPer1000Steps: of('cpuSecondsPer1000Steps'),
    cpuOneAtATime: of('cpuOneAtATime'),
    memoryMb: of('memoryMb'),
    processes,
    idleCpuMsPerSecond: idleMs === 0 ? 0 : tenth((idleCpuMs * 1_000) / idleMs),
    rounds,
  };
}

function fsyncOn(folder: string): number {
  const file = openSync(join(folder, 'fsync'), 'w');
  const page = Buffer.alloc(4_096);
  const times = Array.from({ length: 100 }, () => {
    const beganAt = performance.now();
    writeSync(file, page);
    fdatasyncSync(file);
    return performance.now() - beganAt;
  });
  closeSync(file);
  return Math.round(median(times) * 100) / 100;
}

/** Linux counts in hundredths of a second: user, nice and system, then idle and waiting, then interrupts. */
function busyCpuMs(): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softirq) * 10;
}
