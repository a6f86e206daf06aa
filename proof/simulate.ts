/**
 * `npm run simulate`: the production roles in as many simulated worlds as requested, on all processors.
 *
 * Owns: the options, the progress line, the summary, and the command that replays a failure. Does not own:
 * worlds (`proof/simulation`), processes (`processes.ts`).
 */

import { availableParallelism } from 'node:os';
import { Command, Option } from 'commander';
import { defined } from '../lib/core/values/defined.ts';
import { FAULT_KINDS, type FaultKind, type FaultMode } from './simulation/faults.ts';
import { tooRare } from './simulation/kinds.ts';
import { openProcesses } from './simulation/processes.ts';
import { runWorlds } from './simulation/run.ts';
import { argumentsOf, shrink } from './simulation/shrink.ts';
import { add, nothing, type Totals, totalsOf } from './simulation/totals.ts';

interface Options {
  readonly executions: number;
  readonly worlds?: number;
  readonly seed: number;
  readonly mode: FaultMode;
  readonly only?: ReadonlySet<FaultKind>;
  readonly starts?: ReadonlySet<number>;
  readonly file?: true;
  readonly shrink: boolean;
  readonly json?: boolean;
}

const whole = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is not a whole number`);
  return value;
};

const wholes = (text: string): ReadonlySet<number> => new Set(text.split(',').map(whole));

function kinds(text: string): ReadonlySet<FaultKind> {
  const names = text === 'none' ? [] : text.split(',');
  const unknown = names.find((name) => !FAULT_KINDS.some((kind) => kind === name));
  if (unknown !== undefined)
    throw new Error(`there is no fault '${unknown}'; there are: ${FAULT_KINDS.join(', ')}`);
  return new Set(names as FaultKind[]);
}

const program = new Command('simulate')
  .description(
    'Runs random workflows on the production roles in simulated worlds with faults, and checks every invariant.',
  )
  .option('--executions <n>', 'how many executions at least', whole, 20_000)
  .option('--worlds <n>', 'exactly so many worlds instead, one seed each (1 replays a seed)', whole)
  .option('--seed <n>', 'the first seed', whole, 0)
  .addOption(
    new Option(
      '--mode <mode>',
      "'all' faults, 'none', 'masked': only faults that must cost nothing, or 'crowded': all, full queues and batches",
    )
      .choices(['all', 'none', 'masked', 'crowded'])
      .default('all'),
  )
  .option('--only <kinds>', "with --worlds: of the faults only these, by commas; or 'none'", kinds)
  .option('--starts <n,n>', 'with --worlds: of the executions that a seed starts only these', wholes)
  .option('--file', 'roles are answered by a SQLite file, as `steadfast serve` has it')
  .option('--no-shrink', 'do not look for the smallest world that fails in the same way')
  .option('--json', 'one JSON line at the end');

async function main(options: Options): Promise<void> {
  const startedAt = Date.now();
  const sum = nothing();
  const progress = (chunk: Totals): void => {
    add(sum, chunk);
    if (process.stderr.isTTY) {
      process.stderr.write(
        `\r${sum.executions} executions, ${sum.violations.length} worlds with violations `,
      );
    }
  };
  if (options.worlds === undefined) {
    await inProcesses(options, progress);
  } else {
    const seeds = Array.from({ length: options.worlds }, (_, at) => options.seed + at);
    await runWorlds(seeds, options.mode, (result) => progress(totalsOf(result)), {
      ...limitsOf(options),
      ...defined({ overFile: options.file }),
    });
  }
  if (process.stderr.isTTY) process.stderr.write('\n');
  report(sum, options, (Date.now() - startedAt) / 1_000);
  await replays(sum, options);
}

const limitsOf = ({ only, starts }: Options) => defined({ only, starts });

async function inProcesses(options: Options, progress: (chunk: Totals) => void): Promise<void> {
  const stride = availableParallelism();
  const executions = Math.ceil(options.executions / stride);
  const processes = await openProcesses();
  try {
    await Promise.all(
      Array.from({ length: stride }, (_, at) =>
        processes.start()(
          {
            seed: options.seed + at,
            stride,
            executions,
            mode: options.mode,
            ...defined({ overFile: options.file }),
          },
          progress,
        ),
      ),
    );
  } finally {
    processes.close();
  }
}

function report(sum: Totals, options: Options, seconds: number): void {
  const complete = options.mode === 'all' && options.worlds === undefined && options.file === undefined;
  const never = complete
    ? [...FAULT_KINDS.filter((kind) => sum.faults[kind] === 0), ...tooRare(sum.kinds, sum.executions)]
    : [];
  const summary = {
    executions: sum.executions,
    worlds: sum.worlds,
    simulatedHours: Math.round(sum.simulatedMs / 3_600_000),
    violations: sum.violations.length,
    faults: sum.faults,
    ends: sum.ends,
    kinds: sum.kinds,
    calls: sum.calls,
    seconds,
  };
  if (options.json === true) console.log(JSON.stringify(summary));
  else console.log(summary);
  if (never.length > 0) console.error(`never came about, or too seldom, so not tested: ${never.join(', ')}`);
  process.exitCode = sum.violations.length > 0 || never.length > 0 ? 1 : 0;
}

/** How many failed worlds are shrunk; the others are only named. */
const SHRUNK = 3;
const NAMED = 10;

/** One command for each failure that replays it. */
async function replays(sum: Totals, options: Options): Promise<void> {
  const failed = [...sum.violations].sort((a, b) => a.seed - b.seed);
  for (const [at, { seed, violations }] of failed.slice(0, NAMED).entries()) {
    const world = { seed, mode: options.mode, ...limitsOf(options) };
    const smaller =
      options.shrink && options.file === undefined && at < SHRUNK ? await shrink(world) : undefined;
    const [first] = smaller?.result.violations ?? violations;
    console.error(`seed ${seed}: ${first?.slice(0, 500)}`);
    console.error(
      `  replay: npm run simulate -- ${argumentsOf(smaller?.options ?? world)}${options.file === true ? ' --file' : ''}`,
    );
  }
}

Error.stackTraceLimit = 0;
program.parse();
await main(program.opts<Options>());
