/**
 * One checkout's process of `bench:against`: sets up its own stage and measures one turn for each request.
 *
 * Owns: what a turn runs, and its figures. Does not own: the order of turns, ratios (`../against.ts`).
 *
 * It runs in the checkout that it measures. An older revision may lack this file and then gets a copy, so it
 * imports only files that `bench/parts` has had for a long time.
 */

import { percentile, run, warmUp } from './load.ts';
import { unitsOf } from './meter.ts';
import { setStage, type Stage } from './stage.ts';
import { treeCpuMs } from './tree.ts';

export interface TurnOptions {
  /** Executions one after the other, for units and times. */
  readonly single: number;
  /** Executions at once, for processor time. */
  readonly executions: number;
  readonly inFlight: number;
}

/** Figures of one turn, for a chain of five steps; the first six are counts of one execution. */
export interface Turn {
  readonly writeUnits: number;
  readonly readUnits: number;
  readonly sqsRequests: number;
  readonly invocations: number;
  readonly events: number;
  readonly awsCalls: number;
  /** Seconds of processor time per thousand steps. */
  readonly cpuFunctions: number;
  readonly cpuAll: number;
  readonly stepsPerSecond: number;
  /** The median time of five steps, one execution at a time. */
  readonly p50Ms: number;
}

export type Answer = { readonly ready: true } | { readonly turn: Turn } | { readonly failed: string };

/** All agents share one function, which has as many processes as the agents' functions have together. */
const ONE_HOST = { oneHost: true, batchSize: 1, processes: 5, schedules: false, capacity: false } as const;
const FUNCTION_EACH = {
  batchSize: 10,
  processes: 2,
  agentProcesses: 1,
  schedules: false,
  capacity: false,
} as const;
const WORK = { kind: 'chain5', payloadBytes: 100 } as const;

async function measure(stage: Stage, { single, executions, inFlight }: TurnOptions): Promise<Turn> {
  // Off while processor time is measured, because reporting units uses some.
  stage.cloud.control.measureCapacity(true);
  const alone = await run(stage, { ...WORK, executions: single, inFlight: 1 });
  stage.cloud.control.measureCapacity(false);
  const before = treeCpuMs();
  const many = await run(stage, { ...WORK, executions, inFlight });
  const cpuAllMs = treeCpuMs() - before;
  const units = unitsOf(alone.reading, 1);
  const cpuFunctionsMs = many.reading.functions.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  const calls = alone.reading.calls.filter(({ caller }) => caller !== 'outside');
  return {
    writeUnits: units.writeUnits / single,
    readUnits: units.readUnits / single,
    sqsRequests: units.sqsRequests / single,
    invocations: units.lambdaRequests / single,
    events: units.events / single,
    awsCalls: calls.reduce((sum, one) => sum + one.calls, 0) / single,
    // Milliseconds per step equal seconds per thousand steps.
    cpuFunctions: cpuFunctionsMs / many.steps,
    cpuAll: cpuAllMs / many.steps,
    stepsPerSecond: (many.steps * 1_000) / many.ms,
    p50Ms: percentile(alone.latenciesMs, 0.5),
  };
}

const tell = (answer: Answer): void => {
  if (process.connected) process.send?.(answer, undefined, undefined, () => undefined);
};
const failed = (error: unknown): void =>
  tell({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });

let staged: Promise<Stage> | undefined;
async function end(): Promise<void> {
  const stage = await staged?.catch(() => undefined);
  staged = undefined;
  await stage?.strike();
  process.exit();
}
process.once('disconnect', () => void end());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end());

async function main(): Promise<void> {
  staged = setStage(process.argv.includes('--one-host') ? ONE_HOST : FUNCTION_EACH);
  const stage = await staged;
  await warmUp(stage, [WORK.kind], 64);
  process.on('message', (options: TurnOptions) => {
    measure(stage, options).then((turn) => tell({ turn }), failed);
  });
  tell({ ready: true });
}

main().catch((error: unknown) => {
  failed(error);
  void end();
});
