/**
 * `npm run simulate`: the production roles in simulated worlds, as many as asked for, on all processors.
 *
 * Owns: the options, the progress line, the summary. Does not own: worlds (`lib/testing/simulation`).
 */

import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { Command } from 'commander';
import { FAULT_KINDS, type FaultMode, noCounts } from '../lib/testing/simulation/faults.ts';
import { runWorlds } from '../lib/testing/simulation/run.ts';

interface Totals {
  executions: number;
  worlds: number;
  simulatedMs: number;
  calls: number;
  faults: Record<string, number>;
  ends: Record<string, number>;
  violations: { seed: number; violations: readonly string[] }[];
}

const nothing = (): Totals => ({
  executions: 0,
  worlds: 0,
  simulatedMs: 0,
  calls: 0,
  faults: noCounts(),
  ends: {},
  violations: [],
});

function add(sum: Totals, more: Totals): void {
  sum.executions += more.executions;
  sum.worlds += more.worlds;
  sum.simulatedMs += more.simulatedMs;
  sum.calls += more.calls;
  for (const key of Object.keys(more.faults))
    sum.faults[key] = (sum.faults[key] ?? 0) + (more.faults[key] ?? 0);
  for (const key of Object.keys(more.ends)) sum.ends[key] = (sum.ends[key] ?? 0) + (more.ends[key] ?? 0);
  sum.violations.push(...more.violations);
}

const CHUNK = 256;

/** Worlds of the seeds from, from + stride, … until `enough` says so. */
async function simulate(
  from: number,
  stride: number,
  mode: FaultMode,
  enough: (done: Totals) => boolean,
  onChunk: (chunk: Totals) => void,
): Promise<void> {
  const done = nothing();
  for (let seed = from; !enough(done); seed += stride * CHUNK) {
    const chunk = nothing();
    const seeds = Array.from({ length: CHUNK }, (_, at) => seed + at * stride);
    await runWorlds(seeds, mode, (result) => {
      add(chunk, {
        ...result,
        worlds: 1,
        violations:
          result.violations.length > 0 ? [{ seed: result.seed, violations: result.violations }] : [],
      });
    });
    add(done, chunk);
    onChunk(chunk);
  }
}

interface Options {
  readonly executions: number;
  readonly worlds?: number;
  readonly seed: number;
  readonly mode: FaultMode;
  readonly json?: boolean;
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is not a whole number`);
  return value;
};

const program = new Command('simulate')
  .description(
    'Runs random workflows on the production roles in simulated worlds with faults, and checks every invariant.',
  )
  .option('--executions <n>', 'how many executions at least', whole, 20_000)
  .option('--worlds <n>', 'exactly so many worlds instead, one seed each (1 replays a seed)', whole)
  .option('--seed <n>', 'the first seed', whole, 0)
  .option('--mode <mode>', "'all' faults, 'none', or 'masked': only faults that must cost nothing", 'all')
  .option('--json', 'one JSON line at the end');

async function main(options: Options): Promise<void> {
  const startedAt = Date.now();
  const sum = nothing();
  const processors = options.worlds === undefined ? availableParallelism() : 1;
  const progress = (chunk: Totals): void => {
    add(sum, chunk);
    if (process.stderr.isTTY) {
      process.stderr.write(
        `\r${sum.executions} executions, ${sum.violations.length} worlds with violations `,
      );
    }
  };
  if (options.worlds === undefined) {
    await Promise.all(
      Array.from({ length: processors }, (_, at) => inProcess(options, at, processors, progress)),
    );
  } else {
    const seeds = Array.from({ length: options.worlds }, (_, at) => options.seed + at);
    await runWorlds(seeds, options.mode, (result) => {
      const violations =
        result.violations.length > 0 ? [{ seed: result.seed, violations: result.violations }] : [];
      progress({ ...result, worlds: 1, violations });
    });
  }
  if (process.stderr.isTTY) process.stderr.write('\n');
  report(sum, options, (Date.now() - startedAt) / 1_000);
}

function inProcess(
  options: Options,
  at: number,
  of: number,
  progress: (chunk: Totals) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, [], { env: { ...process.env, SIMULATE_SHARE: '1' } });
    child.on('message', (chunk) => progress(chunk as Totals));
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`a simulating process ended with ${code}`)),
    );
    child.send({
      ...options,
      seed: options.seed + at,
      stride: of,
      share: Math.ceil(options.executions / of),
    });
  });
}

function report(sum: Totals, options: Options, seconds: number): void {
  for (const { seed, violations } of sum.violations.slice(0, 10)) {
    console.error(`seed ${seed}: ${violations[0]?.slice(0, 500)}`);
    console.error(`  replay: npm run simulate -- --mode ${options.mode} --seed ${seed} --worlds 1`);
  }
  const never = options.mode === 'all' ? FAULT_KINDS.filter((kind) => sum.faults[kind] === 0) : [];
  const summary = {
    executions: sum.executions,
    worlds: sum.worlds,
    simulatedHours: Math.round(sum.simulatedMs / 3_600_000),
    violations: sum.violations.length,
    faults: sum.faults,
    ends: sum.ends,
    calls: sum.calls,
    seconds,
  };
  if (options.json === true) console.log(JSON.stringify(summary));
  else console.log(summary);
  if (never.length > 0 && options.worlds === undefined)
    console.error(`never struck, so not tested: ${never.join(', ')}`);
  const failed = sum.violations.length > 0 || (never.length > 0 && options.worlds === undefined);
  process.exitCode = failed ? 1 : 0;
}

// A simulated call fails often, and nobody reads where from.
Error.stackTraceLimit = process.env['SIMULATE_SHARE'] === '1' ? 0 : Error.stackTraceLimit;

if (process.env['SIMULATE_SHARE'] === '1') {
  process.once('message', (share: Options & { stride: number; share: number }) => {
    void simulate(
      share.seed,
      share.stride,
      share.mode,
      (done) => done.executions >= share.share,
      (chunk) => process.send?.(chunk),
    ).then(() => process.disconnect());
  });
} else {
  program.parse();
  await main(program.opts<Options>());
}
