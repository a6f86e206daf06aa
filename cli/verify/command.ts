/**
 * `steadfast verify`: proves a deployment, in an account or on this machine.
 *
 * Owns: its options, which deployment they mean, its exit code. Does not own: the checks (`checks/`), the
 * order (`run.ts`), the report (`report.ts`).
 */

import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { packageVersion } from '../../lib/project/package-files.ts';
import { examples } from '../commands.ts';
import { type Calls, callsOf } from '../aws/calls.ts';
import { checkedStack } from '../aws/tagged.ts';
import { type Cli, CliError, CLOCK, EXIT, messageOf } from '../io.ts';
import { accountFacts, awsPorts } from './aws.ts';
import { bootstrapped } from './checks/account.ts';
import { ENTRIES } from './checks/table.ts';
import { interruptible, onInterrupt } from './interrupt.ts';
import { localPorts } from './local.ts';
import { startLocalStack } from './local-stack.ts';
import type { Ports } from './ports.ts';
import { countsOf, type Subject, writeReport } from './report.ts';
import { lineOf, type Result, run } from './run.ts';
import { runIdOf } from './starting.ts';
import { Throwaway } from './throwaway.ts';

interface Flags {
  readonly stack?: string;
  readonly throwaway?: true;
  readonly local?: true;
  readonly assembly?: string;
  readonly report?: string;
}

export function addVerify(program: Command, cli: Cli): void {
  program
    .command('verify')
    .description('prove that a deployment does what it should')
    .option('--stack <name>', 'check a stack of your own: reads it, and runs its canary once')
    .option('--throwaway', 'deploy a stack for this run and delete it afterwards')
    .option('--local', 'run that stack on this machine, or with --url in a local cloud that already runs')
    .option(
      '--assembly <folder>',
      'with --local: use a stack that is already synthesised (cdk.out), this one or your own',
    )
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
  checkFlags(flags);
  const { io } = cli;
  const beganAt = CLOCK.now();
  const runId = runIdOf(beganAt, randomBytes(8).toString('hex'));
  const target = await (flags.local === true ? local : inAccount)(cli, command, flags, runId);
  const say = (line: string): unknown => io.err(`${line}\n`);
  const interrupted = onInterrupt(io, target.stop);
  try {
    const { passed } = interrupted;
    const results = await run(ENTRIES, interruptible(target.ports, interrupted), { say, passed });
    await passed();
    const { deployment, region } = target;
    const subject = { deployment, region, version: packageVersion(), beganAt, endedAt: CLOCK.now() };
    if (flags.report !== undefined)
      for (const path of writeReport(flags.report, results, subject)) io.err(`${path}\n`);
    return said(cli, command, results);
  } finally {
    interrupted.off();
    await target.stop();
  }
}

function checkFlags({ stack, throwaway, local: isLocal, assembly }: Flags): void {
  if ([stack, throwaway, isLocal].filter((flag) => flag !== undefined).length !== 1)
    throw new CliError(
      'bad-request',
      'name the deployment: give one of --local, --throwaway, --stack <name>',
    );
  if (assembly !== undefined && isLocal !== true)
    throw new CliError('bad-request', '--assembly goes with --local');
}

async function local({ io }: Cli, command: Command, flags: Flags, runId: string): Promise<Target> {
  const isGiven = command.getOptionValueSourceWithGlobals('url') === 'cli';
  const subject = { deployment: 'the local cloud', region: 'no region' };
  if (isGiven) {
    const { url } = command.optsWithGlobals<{ url: string }>();
    return { ...subject, ports: await localPorts({ apiUrl: url, runId }), stop: async () => {} };
  }
  const stack = await startLocalStack(io, flags.assembly);
  return { ...subject, ports: await localPorts({ ...stack, runId }), stop: stack.stop };
}

async function inAccount(cli: Cli, command: Command, flags: Flags, runId: string): Promise<Target> {
  const calls = callsOf(cli, command);
  const { region } = calls;
  const stack = flags.stack === undefined ? `Steadfast-${runId}` : checkedStack(flags.stack);
  const subject = { deployment: `stack ${stack}`, region };
  if (flags.stack !== undefined)
    return { ...subject, ports: await awsPorts({ calls, stack, region, runId }), stop: async () => {} };
  await refuseUnready(calls);
  const deployment = new Throwaway({ calls, io: cli.io, stack });
  const interrupted = onInterrupt(cli.io, () => deployment.removed());
  try {
    await deployment.deploy();
    const tearDown = (): Promise<readonly string[]> => deployment.tearDown();
    const ports = await awsPorts({ calls, stack, region, runId, tearDown });
    // Also where a check has thrown; once more does nothing.
    return { ...subject, ports, stop: () => deployment.removed() };
  } catch (error) {
    await deployment.removed().catch((left: unknown) => cli.io.err(`${messageOf(left)}\n`));
    throw error;
  } finally {
    interrupted.off();
  }
}

/** Before anything is made. @throws CliError `not-ready` */
async function refuseUnready(calls: Calls): Promise<void> {
  const { ok, evidence } = await bootstrapped(accountFacts(calls));
  if (!ok) throw new CliError('not-ready', `bootstrap in ${calls.region}: ${evidence}`, EXIT.failed);
}

function said({ io }: Cli, command: Command, results: readonly Result[]): number {
  const counts = countsOf(results);
  const { json } = command.optsWithGlobals<{ json?: true }>();
  if (json === true) io.out(`${JSON.stringify({ verify: counts })}\n`);
  else {
    const failed = results.filter(({ outcome }) => outcome === 'failed');
    const { held, failed: bad, notRun, rows } = counts;
    const sum = `${held} held, ${bad} failed, ${notRun} not run, of ${rows} rows`;
    io.out([...failed.map(lineOf), sum, ''].join('\n'));
  }
  return counts.failed === 0 ? EXIT.ok : EXIT.failed;
}
