/**
 * `steadfast dev` (`npm start`): the whole system on this machine, from the template that would be deployed.
 *
 * Owns: the order (synthesise, the folders' own outsides, the local cloud), the signals, and that nothing is left
 * behind. Does not own: any of the parts.
 */

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import type { Cloud } from '../../../local/cloud.ts';
import { loadTypescript } from '../../project/package-files.ts';
import { type Cli, CliError, EXIT, type Io, messageOf } from '../io.ts';
import { banner, missingAgentsText, tryOne } from './banner.ts';
import { type DevFolder, openDevFolder } from './dev-folder.ts';
import { startExternalParties } from './external-parties.ts';
import { showProgress } from './progress.ts';
import { findProject, type FoundStack, stackIn } from './project.ts';
import { synthesise } from './synthesis.ts';
import { startWorkers } from './workers.ts';
import { everythingIn, projectFolders } from './workflow-folders.ts';

const DEFAULT_DATA = '.steadfast/data';
/** What a stop may take before the process ends without it. */
const STOP_WITHIN_MS = 15_000;

interface DevFlags {
  readonly port: number;
  readonly data: string;
  readonly fresh?: true;
  readonly try?: true;
  readonly app?: string;
  readonly stack?: string;
}

export function addDev(program: Command, cli: Cli): void {
  program
    .command('dev')
    .description('run everything on this machine, without an AWS account (what npm start does)')
    .option('--port <port>', 'of the HTTP API; 0 takes any free one', portOf, 4510)
    .option('--data <folder>', 'where tables, queues and logs are kept', DEFAULT_DATA)
    .option('--fresh', 'forget the data of earlier runs first')
    .option('--try', 'start the first workflow with its example input, and show how it ends')
    .option('--app <command>', 'that runs the CDK app, instead of the one in the nearest cdk.json')
    .option('--stack <name>', 'the stack to run, where several hold a Steadfast')
    .addHelpText(
      'after',
      '\nExamples:\n  $ npx steadfast dev\n  $ npm start -- --port 4600 --fresh\n\nCtrl-C stops it; the next start finds its data again.',
    )
    .action(async (flags: DevFlags) => {
      cli.exitCode = await dev(flags, cli.io);
    });
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('allowed are 0 to 65535.');
}

type CleanUp = () => Promise<void> | void;

async function dev(flags: DevFlags, io: Io): Promise<number> {
  const stopping = listenForStop(io);
  const cleanUps: CleanUp[] = [];
  try {
    await start(flags, io, stopping.signal, cleanUps);
    await stopping.asked;
    return EXIT.ok;
  } catch (error) {
    // What an interrupt broke off is no failure.
    if (stopping.signal.aborted) return EXIT.ok;
    throw error instanceof CliError ? error : new CliError('dev', messageOf(error), EXIT.failed);
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    stopping.over();
  }
}

async function start(flags: DevFlags, io: Io, signal: AbortSignal, cleanUps: CleanUp[]): Promise<void> {
  const project = findProject(process.cwd(), flags.app);
  const folder = openDevFolder(flags.data, flags.fresh ?? false);
  cleanUps.push(() => folder.release());
  await refuseTakenPort(flags.port);
  await synthesise(project, folder.assembly, io, signal, everythingIn(project));
  const found = stackIn(folder.assembly, flags.stack);
  const folders = projectFolders(project);
  await loadTypescript();
  const environment = await startExternalParties(folders, folder.external, io, (stop) => cleanUps.push(stop));
  if (signal.aborted) return;
  const starting = showProgress(io, 'Starting the local cloud', 3);
  const cloud = await startLocal(flags, found, folder, environment, io).catch((error: unknown) => {
    starting.end('failed');
    throw error;
  });
  starting.end('done');
  cleanUps.push(() => cloud.stop());
  const workers = startWorkers(found.assembly, cloud, environment, (text, agent) =>
    appendFileSync(join(folder.logs, `worker-${agent}.log`), text),
  );
  cleanUps.push(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
  });
  lookAtOnce(cloud);
  const atWork = workers.map(({ agent }) => agent);
  io.out(await banner(folders, cloud.apiUrl, folder, atWork));
  io.err(await missingAgentsText(cloud.apiUrl));
  if (flags.try === true) await tryOne(cloud.apiUrl, folders, io);
}

/** Checked before synthesis, which takes too long to hear only after it that the port is taken. */
async function refuseTakenPort(port: number): Promise<void> {
  const { listen } = await import('../../../local/http/servers.ts');
  const listening = await listen(port, 'of the HTTP API; --port chooses another').catch((error: unknown) => {
    throw new CliError('port', messageOf(error), EXIT.failed);
  });
  await listening.close();
}

async function startLocal(
  flags: DevFlags,
  found: FoundStack,
  folder: DevFolder,
  environment: Readonly<Record<string, string>>,
  io: Io,
): Promise<Cloud> {
  // Loaded here: the other commands have no use for a cloud.
  const { startCloud } = await import('../../../local/cloud.ts');
  return startCloud({
    ...found,
    dataDir: join(folder.path, 'cloud'),
    port: flags.port,
    environment,
    onProblem: (message) => io.err(`local cloud: ${message}\n`),
  });
}

/**
 * What an earlier run left under way goes on now, not at the first tick a minute later. A trigger's schedule is another
 * matter: it would start an execution.
 */
function lookAtOnce(cloud: Cloud): void {
  for (const { name, logicalId } of cloud.control.schedules())
    if (cloud.resources.get(logicalId)?.type === 'AWS::Events::Rule')
      cloud.control.tick(name).catch(() => undefined);
}

interface Stopping {
  readonly asked: Promise<void>;
  readonly signal: AbortSignal;
  /** Everything is stopped. */
  readonly over: () => void;
}

/** The first signal asks; npm repeats it, and an impatient hand as well: those change nothing. */
function listenForStop(io: Io): Stopping {
  const abort = new AbortController();
  let ask = (): void => {};
  const asked = new Promise<void>((done) => {
    ask = done;
  });
  const onSignal = (): void => {
    if (abort.signal.aborted) return;
    io.out('\nStopping …\n');
    abort.abort();
    ask();
    setTimeout(() => {
      io.err(`not everything stopped within ${STOP_WITHIN_MS / 1_000} s; ending without it\n`);
      process.exit(EXIT.failed);
    }, STOP_WITHIN_MS).unref();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  const over = (): void => {
    // A signal that is repeated must not end the end; without one nothing has to be kept off.
    if (!abort.signal.aborted) for (const signal of signals) process.off(signal, onSignal);
    if (abort.signal.aborted) io.out('Stopped. The data is kept; the next start finds it again.\n');
  };
  return { asked, signal: abort.signal, over };
}
