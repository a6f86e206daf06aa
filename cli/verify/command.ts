/**
 * `steadfast verify`: proves a deployment, in an account or on this machine.
 *
 * Owns: its options, which deployment they mean, its exit code. Does not own: the checks (`checks/`), the
 * order (`run.ts`), the report (`report.ts`).
 */

import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { packageVersion } from '../../lib/project/package-files.ts';
import { examples } from '../commands.ts';
import { type Calls, callsOf } from '../aws/calls.ts';
import { checkedStack } from '../aws/tagged.ts';
import { type Cli, CliError, CLOCK, EXIT, messageOf } from '../io.ts';
import { accountFacts, awsPorts } from './aws.ts';
import { ENTRIES } from './checks/all.ts';
import { bootstrapped } from './checks/preflight.ts';
import { OPTIONS, type Phase, PHASES } from './check.ts';
import { interruptible, onInterrupt } from './interrupt.ts';
import { localPorts } from './local.ts';
import { startLocalStack } from './local-stack.ts';
import type { Ports } from './ports.ts';
import { countsOf, type Subject, writeReport } from './report.ts';
import { lineOf, type Result, run } from './run.ts';
import { runIdOf } from './starting.ts';
import { Throwaway } from './throwaway.ts';

export interface Flags {
  readonly stack?: string;
  readonly throwaway?: true;
  readonly local?: true;
  readonly assembly?: string;
  readonly gameDay?: true;
  readonly slow?: true;
  readonly load?: true;
  readonly budget: number;
  readonly report?: string;
  readonly from?: string;
  readonly undo?: true;
  readonly yesIn?: string;
}

export function addVerify(program: Command, cli: Cli): void {
  program
    .command('verify')
    .description('prove that a deployment does what it should')
    .option('--stack <name>', 'check an existing stack, mostly by reading')
    .option('--throwaway', 'deploy a stack for this run and delete it afterwards')
    .option('--local', 'run that stack on this machine, or with --url in a local cloud that already runs')
    .option(
      '--assembly <folder>',
      'with --local: use a stack that is already synthesised (cdk.out), this one or your own',
    )
    .option('--game-day', 'also inject faults; each of them ends on its own')
    .option('--slow', 'also run the slow checks: 15 idle minutes, a restored table, other deployments')
    .option(
      '--from <folder>',
      'with --slow: where the previous release is installed, to roll back to it and forward again',
    )
    .option('--load', 'also start 10,000 executions')
    .option('--budget <dollars>', 'the most that the run may cost', dollarsOf, 5)
    .option('--report <folder>', 'write the report there, as JSON and as Markdown')
    .option('--undo', 'only end the faults that earlier runs left behind')
    .option('--yes-in <stack>', 'allow --game-day in this stack although it keeps its data')
    .addHelpText(
      'after',
      examples(
        'verify --local',
        'verify --stack Orders-staging --region eu-central-1',
        'verify --throwaway --game-day --report verified --region eu-central-1',
      ),
    )
    .action(async (flags: Flags, command: Command) => {
      cli.exitCode = await verify(cli, command, flags);
    });
}

function dollarsOf(text: string): number {
  const dollars = Number(text);
  if (Number.isFinite(dollars) && dollars >= 0) return dollars;
  throw new InvalidArgumentError('give a number of dollars, 0 or more.');
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
  const ports = interruptible(target.ports, interrupted);
  try {
    if (flags.undo === true) {
      io.out(`${await ports.faults.endAll()} faults ended\n`);
      return EXIT.ok;
    }
    await allowGameDay(flags, ports);
    const { budget } = flags;
    const { passed } = interrupted;
    const results = await run(ENTRIES, ports, { phases: phasesOf(flags), budget, say, passed });
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

function checkFlags({ stack, throwaway, local: isLocal, assembly, undo, from, slow }: Flags): void {
  if ([stack, throwaway, isLocal].filter((flag) => flag !== undefined).length !== 1)
    throw new CliError(
      'bad-request',
      'name the deployment: give one of --local, --throwaway, --stack <name>',
    );
  if (undo === true && stack === undefined)
    throw new CliError(
      'bad-request',
      'a new stack has no faults to end, and those of a local cloud end by themselves: give --stack <name> with --undo',
    );
  if (from !== undefined && (throwaway !== true || slow !== true))
    throw new CliError('bad-request', '--from goes with --throwaway --slow');
  if (assembly !== undefined && isLocal !== true)
    throw new CliError('bad-request', '--assembly goes with --local');
}

/** All that run without an option, and those that an option asks for. */
export function phasesOf({ gameDay, slow, load, throwaway }: Flags): ReadonlySet<Phase> {
  const given = { '--game-day': gameDay, '--slow': slow, '--load': load, '--throwaway': throwaway };
  return new Set(
    PHASES.filter((phase) => {
      const option = OPTIONS[phase];
      return option === undefined || given[option] === true;
    }),
  );
}

/** Faults that an earlier run has left are ended first: none is made on top of another. */
export async function allowGameDay(
  { gameDay, stack, yesIn }: Pick<Flags, 'gameDay' | 'stack' | 'yesIn'>,
  ports: Ports,
): Promise<void> {
  if (gameDay !== true) return;
  const { table } = await ports.settings();
  if (table.keepsData === true && (stack === undefined || yesIn !== stack))
    throw new CliError(
      'keeps-data',
      `the stack keeps its data, so its executions may matter: add --yes-in ${stack ?? '<stack>'}, or verify a stack of a stage that goes`,
    );
  await ports.faults.endAll();
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
  if (flags.stack !== undefined) {
    const ports = await awsPorts({ calls, stack, region, runId });
    // Who only reads may not ask for faults.
    const stop = async (): Promise<void> => {
      if (flags.gameDay === true) await ports.faults.endAll();
    };
    return { ...subject, ports, stop };
  }
  await refuseUnready(calls);
  const deployment = new Throwaway({ calls, io: cli.io, stack, before: flags.from });
  const interrupted = onInterrupt(cli.io, () => deployment.removed());
  try {
    await deployment.deploy();
    const ports = await awsPorts({
      calls,
      stack,
      region,
      runId,
      deployment,
      hasRelease: flags.from !== undefined,
    });
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
