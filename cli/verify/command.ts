/**
 * `steadfast verify`: proves a deployment, in an account or on this machine.
 *
 * Owns: its options, its exit code, what is printed. Does not own: the checks (`checks/`), the order
 * (`run.ts`), the report (`report.ts`).
 */

import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { packageVersion } from '../../lib/project/package-files.ts';
import { examples } from '../commands.ts';
import { type Cli, CLOCK, EXIT } from '../io.ts';
import { ENTRIES } from './checks/all.ts';
import type { Phase } from './check.ts';
import { localPorts } from './local.ts';
import { startLocalStack } from './local-stack.ts';
import { countsOf, writeReport } from './report.ts';
import { lineOf, run } from './run.ts';
import { runIdOf } from './starting.ts';

interface Flags {
  readonly local?: true;
  readonly assembly?: string;
  readonly gameDay?: true;
  readonly budget: number;
  readonly report?: string;
}

export function addVerify(program: Command, cli: Cli): void {
  program
    .command('verify')
    .description('prove that a deployment does what it should')
    .option('--local', 'the stack of the checks, on this machine')
    .option('--assembly <folder>', 'with --local: that stack as it was synthesised before (cdk.out)')
    .option('--budget <dollars>', 'what it may cost in the account', dollarsOf, 5)
    .option('--report <folder>', 'write the report there, as JSON and as Markdown')
    .addHelpText('after', examples('verify --local', 'verify --local --json'))
    .action(async (flags: Flags, command: Command) => {
      cli.exitCode = await verify(cli, command, flags);
    });
}

function dollarsOf(text: string): number {
  const dollars = Number(text);
  if (Number.isFinite(dollars) && dollars >= 0) return dollars;
  throw new InvalidArgumentError('allowed is an amount of dollars from 0.');
}

async function verify({ io }: Cli, command: Command, flags: Flags): Promise<number> {
  const { json } = command.optsWithGlobals<{ json?: true }>();
  const beganAt = CLOCK.now();
  const stack = await startLocalStack(io, flags.assembly);
  try {
    const runId = runIdOf(beganAt, randomBytes(8).toString('hex'));
    const ports = await localPorts({ ...stack, runId });
    const phases = new Set<Phase>(['preflight', 'settings', 'smoke', 'traces']);
    const say = (line: string): unknown => io.err(`${line}\n`);
    const results = await run(ENTRIES, ports, { phases, budget: flags.budget, say });
    const counts = countsOf(results);
    if (flags.report !== undefined)
      for (const path of writeReport(flags.report, results, {
        deployment: 'the local cloud',
        region: 'no region',
        version: packageVersion(),
        beganAt,
        endedAt: CLOCK.now(),
      }))
        io.err(`${path}\n`);
    if (json === true) io.out(`${JSON.stringify({ verify: counts })}\n`);
    else {
      for (const result of results.filter(({ outcome }) => outcome === 'failed'))
        io.out(`${lineOf(result)}\n`);
      io.out(
        `${counts.held} held, ${counts.failed} failed, ${counts.notRun} not run, of ${counts.rows} rows\n`,
      );
    }
    return counts.failed === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    await stack.stop();
  }
}
