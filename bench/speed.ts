/**
 * `npm run bench:speed`: how fast a chain of five steps is on the local cloud, and how much processor time it
 * takes.
 *
 * Owns: the runs, the limits, the output. Does not own: the counting (`parts/`), other engines
 * (`parts/beside.ts`).
 *
 * Wall times are those of a laptop that runs everything: the functions, DynamoDB, the queues and the client
 * share its processors. Processor time depends less on other processes, but still does (shared caches, shared
 * cores).
 */

import { Command } from 'commander';
import { type Beside, measureBeside, type Peer } from './parts/beside.ts';
import { besideTable, exitCodeOf } from './parts/beside-table.ts';
import { measureCore, type CoreFigures } from './parts/core.ts';
import { atLeastOne } from './parts/options.ts';
import { percentile, run, warmUp } from './parts/load.ts';
import { machine, type Machine } from './parts/machine.ts';
import { table } from './parts/print.ts';
import { printVerdicts, type Verdict } from './parts/limits.ts';
import { OURS, PEERS } from './parts/participants.ts';
import type { Transport } from '../lib/aws/names.ts';
import { PRICES } from './parts/prices.ts';
import { keep, resultOf } from './parts/results.ts';
import { setStage, type StageOptions } from './parts/stage.ts';
import { memoryMb, treeCpuMs, treePids } from './parts/tree.ts';
import { speedVerdicts } from './parts/verdicts.ts';

export interface LoadFigures {
  readonly inFlight: number;
  readonly batchSize: number;
  /** How functions call AWS. @default direct */
  readonly transport?: Transport;
  readonly steps: number;
  readonly stepsPerSecond: number;
  /** Seconds of processor time per thousand steps. */
  readonly cpuLambda: number;
  readonly cpuAgents: number;
  readonly cpuTree: number;
  readonly callsPerStep: number;
  readonly memoryMb: number;
  readonly processes: number;
}

export interface SpeedReport {
  readonly machine: Machine;
  readonly single: { readonly executions: number; readonly p50Ms: number; readonly p99Ms: number };
  readonly load: readonly LoadFigures[];
  readonly core: CoreFigures;
  readonly onAws: { readonly hops: readonly string[]; readonly msPerStep: number };
  readonly limits: readonly Verdict[];
  /** Our system and other engines, in turns, … */
  readonly peers?: readonly Peer[];
  /** … and how they were measured. */
  readonly peersTaken?: Omit<Beside, 'peers'>;
}

interface Options {
  readonly json?: true;
  readonly save?: true;
  readonly quick?: true;
  readonly peers: boolean;
  readonly onlyPeers?: string | true;
  readonly rounds: number;
  readonly executions: number;
  readonly single: number;
}

const KEYS = [...new Set([...OURS, ...PEERS].map(({ key }) => key))];

const program = new Command('bench:speed')
  .description(
    `A chain of five steps whose agents do nothing: one execution after the other, and many at once; then the same on other engines (${KEYS.join(', ')}), in turns with ours. They are installed into bench/peers by npm ci when they are not there. The exit code is 1 if one that was asked for could not be measured.`,
  )
  .option('--json', 'one line of JSON at the end')
  .option('--save', 'for bench:report')
  .option('--quick', 'in some minutes: batches of ten alone, a quarter of the executions, one round')
  .option('--no-peers', 'without other engines')
  .option(
    '--only-peers [names]',
    'nothing but ours beside other engines, or only those named (a,b), with all of ours where none of them is; --save keeps the rest of the last result',
  )
  .option('--rounds <n>', 'rounds beside other engines, of which the median counts', atLeastOne, 3)
  .option('--single <n>', 'executions one after the other', atLeastOne, 200)
  .option('--executions <n>', 'executions of each load', atLeastOne, 2_000);

const say = (text: string): void => void process.stderr.write(`${text}\n`);

const COMMON = { processes: 2, schedules: false, capacity: false } as const;
const ALONE: StageOptions = { ...COMMON, batchSize: 1 };
const BATCHED: StageOptions = { ...COMMON, batchSize: 10, agentProcesses: 1 };
const BY_SDK: StageOptions = { ...BATCHED, transport: 'sdk' };

async function main(options: Options): Promise<void> {
  if (options.quick && options.save)
    program.error('error: --quick measures less than the page shows: it goes without --save');
  const unknown = chosen(options).find((name) => !KEYS.includes(name));
  if (unknown !== undefined)
    program.error(`error: there is no peer ${unknown}; there are ${KEYS.join(', ')}`);
  const kept = (resultOf('speed') as { readonly speed: SpeedReport } | undefined)?.speed;
  const own = options.onlyPeers === undefined ? await measureOwn(options) : undefined;
  const beside = options.peers || own === undefined ? await measurePeers(options) : undefined;
  if (own !== undefined) print(own);
  if (beside !== undefined) {
    console.log(besideTable(beside));
    process.exitCode = exitCodeOf(beside);
  }
  if (own !== undefined) printVerdicts(own.limits);
  const last = {
    ...(kept?.peers && { peers: kept.peers }),
    ...(kept?.peersTaken && { peersTaken: kept.peersTaken }),
  };
  const report = { ...last, ...(own ?? kept), ...(beside === undefined ? {} : besideOf(beside)) };
  if (options.save) keep('speed', { speed: report });
  if (options.json) console.log(JSON.stringify({ speed: { ...own, ...(beside && besideOf(beside)) } }));
}

const besideOf = ({ peers, ...peersTaken }: Beside): Required<Pick<SpeedReport, 'peers' | 'peersTaken'>> => ({
  peers,
  peersTaken,
});

async function measureOwn(options: Options): Promise<SpeedReport> {
  say('The decision core …');
  const core = measureCore();
  const share = options.quick ? 4 : 1;
  const single = await measureSingle(Math.ceil(options.single / share));
  const load: LoadFigures[] = [];
  for (const stage of options.quick ? [BATCHED] : [BATCHED, ALONE, BY_SDK])
    load.push(...(await measureLoad(stage, Math.ceil(options.executions / share))));
  const limits = speedVerdicts({ single, load });
  return { machine: machine(), single, load, core, onAws: hopsOnAws(), limits };
}

/** An empty choice means all. */
const chosen = ({ onlyPeers }: Options): string[] =>
  typeof onlyPeers === 'string' ? onlyPeers.split(',') : [];

/**
 * A round takes most of a minute, half of it for our engine. Each engine first runs 3,000 executions, as many
 * as V8 needs to optimise ours: after 600, a step still takes 1.5 times the processor time.
 */
const BESIDE = { single: 50, executions: 600, warmUp: 3_000, inFlight: 64 } as const;

async function measurePeers(options: Options): Promise<Beside> {
  say('Beside other engines …');
  const { quick, rounds } = options;
  const only = chosen(options);
  const { single, executions, warmUp: warm, inFlight } = BESIDE;
  return await measureBeside(
    quick
      ? {
          single: Math.ceil(single / 2),
          executions: executions / 4,
          warmUp: executions / 4,
          inFlight,
          only,
          rounds: 1,
        }
      : { single, executions, warmUp: warm, inFlight, only, rounds },
    say,
  );
}

async function measureSingle(executions: number): Promise<SpeedReport['single']> {
  say('One after the other …');
  const stage = await setStage(ALONE);
  try {
    await warmUp(stage, ['chain5'], 1);
    const { latenciesMs } = await run(stage, { kind: 'chain5', payloadBytes: 100, executions, inFlight: 1 });
    return { executions, p50Ms: percentile(latenciesMs, 0.5), p99Ms: percentile(latenciesMs, 0.99) };
  } finally {
    await stage.strike();
  }
}

async function measureLoad(options: StageOptions, executions: number): Promise<LoadFigures[]> {
  const { batchSize, transport } = options;
  say(
    `Many at once, ${batchSize === 1 ? 'one message an invocation' : `up to ${batchSize} messages an invocation`}${transport === undefined ? '' : ', by the AWS SDK'} …`,
  );
  const stage = await setStage(options);
  try {
    await warmUp(stage, ['chain5'], 64);
    const figures: LoadFigures[] = [];
    for (const inFlight of [64, 256]) {
      const treeBefore = treeCpuMs();
      const { reading, steps, ms } = await run(stage, {
        kind: 'chain5',
        payloadBytes: 100,
        executions,
        inFlight,
      });
      const cpuOf = (all: boolean): number =>
        reading.functions
          .filter(({ role }) => all || role === 'agent')
          .reduce((sum, { cpuMs }) => sum + cpuMs, 0);
      const pids = treePids();
      const one: LoadFigures = {
        inFlight,
        batchSize,
        ...(transport === undefined ? {} : { transport }),
        steps,
        stepsPerSecond: Math.round((steps / ms) * 1_000),
        cpuLambda: cpuOf(true) / steps,
        cpuAgents: cpuOf(false) / steps,
        cpuTree: (treeCpuMs() - treeBefore) / steps,
        callsPerStep: reading.calls.reduce((sum, { calls }) => sum + calls, 0) / steps,
        memoryMb: memoryMb(pids),
        processes: pids.length,
      };
      say(
        `  ${inFlight} in flight: ${one.stepsPerSecond} steps/s, ${one.cpuLambda.toFixed(2)} CPU s per 1,000 steps`,
      );
      figures.push(one);
    }
    return figures;
  } finally {
    await stage.strike();
  }
}

/** The calls, one after the other, between the end of a step's work and the end of the next step's work. */
function hopsOnAws(): SpeedReport['onAws'] {
  const { dynamodb, queueToFunction } = PRICES.latencyMs;
  const hops = [
    `report: one write, ${dynamodb} ms`,
    `message to the next function, from before it is sent: ${queueToFunction} ms`,
    `read of the partition: ${dynamodb} ms`,
    `claim: one write, ${dynamodb} ms`,
  ];
  return { hops, msPerStep: 3 * dynamodb + queueToFunction };
}

function print({ single, load, core, onAws, machine: { processors, load: others } }: SpeedReport): void {
  const head = [
    'in flight',
    'batch',
    'steps/s',
    'CPU s/1,000 in functions',
    'of agents',
    'whole tree',
    'calls/step',
    'MB',
    'processes',
  ];
  const rows = load.map((one) => [
    String(one.inFlight),
    `${one.batchSize}${one.transport === undefined ? '' : ', SDK'}`,
    String(one.stepsPerSecond),
    one.cpuLambda.toFixed(2),
    one.cpuAgents.toFixed(2),
    one.cpuTree.toFixed(2),
    one.callsPerStep.toFixed(2),
    String(one.memoryMb),
    String(one.processes),
  ]);
  console.log(`\n${processors} processors, load average ${others.join(' and ')}\n`);
  console.log(
    `5 steps one after the other: p50 ${single.p50Ms} ms, p99 ${single.p99Ms} ms (n = ${single.executions})`,
  );
  console.log(`\n${table(head, rows)}`);
  console.log(
    `\nDecision core: ${core.decisionsPerSecond} decisions/s, ${core.nsEach} ns each, ${core.decisionsPerExecution} an execution`,
  );
  console.log(
    `\nOn AWS, a step after a step (assumed latencies): ${onAws.msPerStep} ms\n  ${onAws.hops.join('\n  ')}`,
  );
}

await main(program.parse().opts<Options>());
