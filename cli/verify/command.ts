/**
 * `steadfast verify`: checks a deployment, in an account or on this machine.
 *
 * Owns: its options, the choice of the deployment, its exit code. Does not own: the checks (`checks/`), the
 * order (`run.ts`), the report (`report.ts`).
 */

import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { packageVersion } from '../../lib/project/package-files.ts';
import { examples } from '../commands.ts';
import { callsOf } from '../aws/calls.ts';
import { checkedStack } from '../aws/tagged.ts';
import { type Cli, CliError, CLOCK, EXIT, messageOf } from '../io.ts';
import { accountFacts, awsPorts } from './aws.ts';
import { bootstrapped } from './checks/account.ts';
import { ENTRIES } from './checks/table.ts';
import { onInterrupt } from './interrupt.ts';
import { localPorts } from './local.ts';
import { startLocalStack } from './local-stack.ts';
import type { Ports } from './ports.ts';
import { countsOf, type Subject, writeReport } from './report.ts';
import { lineOf, type Result, run } from './run.ts';
import { throwaway } from './throwaway.ts';

interface Flags {
  readonly stack?: string;
  readonly throwaway?: true;
  readonly local?: true;
  readonly report?: string;
}

export function addVerify(program: Command, cli: Cli): void {
  program
    .command('verify')
    .description('prove that a deployment does what it should')
    .option('--stack <name>', 'check a stack of your own: reads it, and runs its canary once')
    .option('--throwaway', 'deploy a stack for this run and delete it afterwards')
    .option('--local', 'run that stack on this machine')
    .option('--report <folder>', 'write the report there, as JSON and as Markdown')
    .addHelpText(
      'after',
      examples(
        'verify --local',
        'verify --stack Orders-staging --region eu-central-1',
        'verify --throwaway --report verified --region eu-central-1',
      ),
    )
    .action(async (flags: Flags, command: Command) => {
      cli.exitCode = await verify(cli, command, flags);
    });
}

/** A deployment that is ready to be verified. */
interface Target extends Pick<Subject, 'deployment' | 'region'> {
  readonly ports: Ports;
  readonly stop: () => Promise<void>;
}

async function verify(cli: Cli, command: Command, flags: Flags): Promise<number> {
  const { io } = cli;
  if ([flags.stack, flags.throwaway, flags.local].filter((flag) => flag !== undefined).length !== 1)
    throw new CliError(
      'bad-request',
      'name the deployment: give one of --local, --throwaway, --stack <name>',
    );
  const beganAt = CLOCK.now();
  const runId = `verify-${randomBytes(5).toString('hex')}`;
  const { ports, stop, ...place } =
    flags.local === true ? await local(cli, runId) : await inAccount(cli, command, flags, runId);
  const { passed, off } = onInterrupt(io, stop);
  try {
    const results = await run(ENTRIES, ports, { say: (line) => io.err(`${line}\n`), passed });
    await passed();
    const subject = { ...place, version: packageVersion(), beganAt, endedAt: CLOCK.now() };
    if (flags.report !== undefined)
      for (const path of writeReport(flags.report, results, subject)) io.err(`${path}\n`);
    return said(cli, command, results);
  } finally {
    off();
    await stop();
  }
}

async function local({ io }: Cli, runId: string): Promise<Target> {
  const { apiUrl, stop } = await startLocalStack(io);
  const ports = await localPorts(apiUrl, runId);
  return { deployment: 'the local cloud', region: 'no region', ports, stop };
}

async function inAccount(cli: Cli, command: Command, flags: Flags, runId: string): Promise<Target> {
  const calls = callsOf(cli, command);
  const { region } = calls;
  const stack = flags.stack === undefined ? `Steadfast-${runId}` : checkedStack(flags.stack);
  const place = { deployment: `stack ${stack}`, region };
  if (flags.stack !== undefined)
    return { ...place, ports: await awsPorts({ calls, stack, runId }), stop: async () => {} };
  // Checks the account before anything is created.
  const { ok, evidence } = await bootstrapped(accountFacts(calls));
  if (!ok) throw new CliError('not-ready', `bootstrap in ${region}: ${evidence}`, EXIT.failed);
  const { deploy, tearDown, removed } = throwaway(calls, cli.io, stack);
  const interrupted = onInterrupt(cli.io, removed);
  try {
    await deploy();
    // `stop` is also called after a check has thrown; a second call does nothing.
    return { ...place, ports: await awsPorts({ calls, stack, runId, tearDown }), stop: removed };
  } catch (error) {
    await removed().catch((left: unknown) => cli.io.err(`${messageOf(left)}\n`));
    throw error;
  } finally {
    interrupted.off();
  }
}

function said({ io }: Cli, command: Command, results: readonly Result[]): number {
  const counts = countsOf(results);
  const { held, failed, notRun, rows } = counts;
  const { json } = command.optsWithGlobals<{ json?: true }>();
  const lines = results.filter(({ outcome }) => outcome === 'failed').map(lineOf);
  const sum = `${held} held, ${failed} failed, ${notRun} not run, of ${rows} rows`;
  io.out(json === true ? `${JSON.stringify({ verify: counts })}\n` : [...lines, sum, ''].join('\n'));
  return failed === 0 ? EXIT.ok : EXIT.failed;
}
