/**
 * `steadfast dev` (`npm start`): runs the whole system on this machine, from the template of a deployment.
 *
 * Owns: the order (synthesis, the services of `dev.ts` files, the local cloud), the signals, removing all at
 * the end. Does not own: any of the parts.
 */

import type { Command } from 'commander';
import { loadTypescript } from '../../lib/project/package-files.ts';
import { CONSOLE_FOLDER } from '../console/files.ts';
import { consoleListener } from '../console/listener.ts';
import { withSchedules } from '../local-schedules.ts';
import { fetchWithExits } from '../logs/exits.ts';
import { localLogs } from '../console/logs.ts';
import { Writes } from '../console/writes.ts';
import { type Cli, CliError, EXIT, type Io, messageOf, portOf } from '../io.ts';
import { banner, changedText, missingAgentsText, tryOne } from './banner.ts';
import { lostText, setByHand } from './set-by-hand.ts';
import { changesIn } from './changes.ts';
import { DEFAULT_DATA, type DevFolder, openDevFolder } from './dev-folder.ts';
import { startExternalParties } from './external-parties.ts';
import { localMetrics } from './local-metrics.ts';
import { type Inspected, inspectContext, inspected, inspectIn } from './inspect.ts';
import { findProject } from './project.ts';
import { sourcesOf } from './sources.ts';
import { type Run, synthesiseOne } from './synthesis.ts';
import { startSystem, type System, type SystemOptions } from './system.ts';
import { warningsText } from './warnings.ts';
import { everythingIn, foldersIn, projectFolders } from './workflow-folders.ts';

/** After this time the process ends even if the stop is incomplete. */
const STOP_WITHIN_MS = 15_000;

interface DevFlags {
  readonly port: number;
  readonly data: string;
  readonly fresh?: true;
  readonly try?: true;
  readonly once?: true;
  readonly restart: boolean;
  readonly app?: string;
  readonly stack?: string;
  readonly name?: string;
  readonly inspect?: string;
}

export function addDev(program: Command, cli: Cli): void {
  program
    .command('dev')
    .description('run everything on this machine, without an AWS account')
    .option('--port <port>', 'port of the HTTP API; 0 takes any free port', portOf, 4510)
    .option('--data <folder>', 'folder for tables, queues and logs', DEFAULT_DATA)
    .option('--fresh', 'delete the data of earlier runs first')
    .option('--try', 'start the first workflow with its example input, show how it ends, and keep running')
    .option('--once', 'like --try, then stop; the exit code is 4 unless the execution succeeded')
    .option('--no-restart', 'do not restart when a file of the project changes')
    .option('--app <command>', 'command that runs the CDK app, instead of the one in the nearest cdk.json')
    .option('--stack <name>', 'the stack to run, if several hold a Steadfast')
    .option('--name <construct>', 'the Steadfast to serve at the port, if the stack holds several')
    .option('--inspect <agent>', 'open a debugger port in the process of this agent')
    .addHelpText(
      'after',
      '\nExamples:\n  $ npx steadfast dev\n  $ npx steadfast dev --port 4600 --fresh\n  $ npx steadfast dev --once --fresh --port 0   # in CI\n\nCtrl-C stops it; the next start finds its data again.',
    )
    .action(async (flags: DevFlags) => {
      cli.exitCode = await dev(flags, cli.io);
    });
}

type CleanUp = () => Promise<void> | void;

async function dev(flags: DevFlags, io: Io): Promise<number> {
  const stopping = listenForStop(io);
  const cleanUps: CleanUp[] = [];
  try {
    return await start(flags, io, stopping, cleanUps);
  } catch (error) {
    // An interrupt counts as success.
    if (stopping.signal.aborted) return EXIT.ok;
    throw error instanceof CliError ? error : new CliError('dev', messageOf(error), EXIT.failed);
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    stopping.over();
  }
}

/** Runs until it is stopped. @returns the exit code */
async function start(flags: DevFlags, io: Io, stopping: Stopping, cleanUps: CleanUp[]): Promise<number> {
  const { signal } = stopping;
  const project = findProject(process.cwd(), flags.app);
  const folder = openDevFolder(flags.data, flags.fresh ?? false);
  cleanUps.push(() => folder.release());
  await refuseTakenPort(flags.port);
  const changes = flags.restart ? await changesIn(project.root) : undefined;
  cleanUps.push(() => changes?.stop());
  const into = flags.inspect === undefined ? undefined : await inspected(flags.inspect);
  const context = { ...everythingIn(project), ...inspectContext(into) };
  const run = { project, context, choice: flags };
  const found = await synthesiseOne(run, folder.assembly, io, signal);
  io.err(warningsText(folder.assembly));
  const inspect = await inspectIn(found, into);
  const folders = foldersIn(found.assembly, projectFolders(project));
  await loadTypescript();
  const environment: Record<string, string> = {};
  const devFiles = new Set<string>();
  const startParties = async (assembly: string): Promise<void> => {
    const all = foldersIn(assembly, projectFolders(project));
    const onStarted = (stop: CleanUp): unknown => cleanUps.push(stop);
    Object.assign(environment, await startExternalParties(all, folder.external, io, onStarted, devFiles));
  };
  await startParties(found.assembly);
  if (signal.aborted) return EXIT.ok;
  // One console for all restarts, so that an open page keeps working.
  const own = localConsole(found.stack, folder.logs);
  const system = await startSystem({ found, folder, port: flags.port, environment, ...own, ...inspect }, io);
  const running: Running = { system, stackPath: found.stackPath, assembly: found.assembly };
  cleanUps.push(() => running.system.stop());
  folder.announce(system.apiUrl);
  io.out(await banner(folders, system, folder, into));
  io.err(await missingAgentsText(system.apiUrl));
  if (flags.once === true) return await tryOne(system.apiUrl, folders, io);
  if (flags.try === true) {
    await tryOne(system.apiUrl, folders, io);
    io.out('Ctrl-C stops the rest.\n');
  }
  const port = Number(new URL(system.apiUrl).port);
  for (;;) {
    const counts = running.assembly === undefined ? undefined : await sourcesOf(project, running.assembly);
    const files = await Promise.race([stopping.asked, changes?.next(counts) ?? stopping.asked]);
    if (files === undefined) return EXIT.ok;
    io.out(changedText(files, devFiles, project.root));
    const before = setByHand(running.system);
    await again(running, { run, folder, port, environment, ...own, into, startParties }, io, signal);
    io.out(lostText(before, setByHand(running.system)));
  }
}

/** The console, on the API's port. */
function localConsole(deployment: string, logs: string): Pick<SystemOptions, 'beside' | 'onWritten'> {
  const writes = new Writes();
  const send = fetchWithExits(withSchedules(fetch), logs);
  const listener = consoleListener({
    folder: CONSOLE_FOLDER,
    settings: { deployment, readOnly: false, local: true },
    upstream: (port) => ({ url: `http://127.0.0.1:${port}`, fetch: send }),
    writes,
    logs: localLogs(logs),
    metrics: localMetrics,
  });
  return { beside: { '/console': listener }, onWritten: writes.add };
}

interface Running {
  system: System;
  stackPath: string;
  /**
   * The current assembly; undefined if the changed code cannot be synthesised, so that a change of any file
   * is tried.
   */
  assembly: string | undefined;
}

interface Again extends Omit<SystemOptions, 'found' | 'inspect' | 'folder'> {
  readonly folder: DevFolder;
  readonly run: Run;
  readonly into: Inspected | undefined;
  /** Starts the services of new `dev.ts` files. */
  readonly startParties: (assembly: string) => Promise<void>;
}

/**
 * Synthesises the changed code, then restarts the system with it. Running executions keep their plan. The
 * services of `dev.ts` files keep running, because their data is not part of the code.
 */
async function again(
  running: Running,
  { run, into, startParties, ...settings }: Again,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  try {
    running.assembly = undefined;
    const next = settings.folder.nextAssembly();
    const found = await synthesiseOne(run, next, io, signal, running.stackPath);
    io.err(warningsText(next));
    running.stackPath = found.stackPath;
    const inspect = await inspectIn(found, into);
    await startParties(found.assembly);
    await running.system.stop();
    running.system = await startSystem({ ...settings, found, ...inspect }, io);
    settings.folder.dropOthers(next);
    running.assembly = found.assembly;
    io.out(`Steadfast runs at ${running.system.apiUrl} with the change.\n`);
  } catch (error) {
    if (signal.aborted) throw error;
    io.err(
      `${messageOf(error)}\nThe system from before the change keeps running; the next change is tried again.\n`,
    );
  }
}

/** Refuses a port that is in use, before the slow synthesis. */
async function refuseTakenPort(port: number): Promise<void> {
  const { listen } = await import('../../local/http/servers.ts');
  const listening = await listen(port, 'the HTTP API').catch((error: unknown) => {
    throw new CliError('port', messageOf(error), EXIT.failed);
  });
  await listening.close();
}

interface Stopping {
  readonly asked: Promise<void>;
  readonly signal: AbortSignal;
  /** Must be called when the stop is complete. */
  readonly over: () => void;
}

/**
 * Stops `dev` at the first signal, and ignores later ones, because npm and impatient users repeat a signal.
 */
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
      io.err(`some processes did not stop within ${STOP_WITHIN_MS / 1_000} s; exiting anyway\n`);
      process.exit(EXIT.failed);
    }, STOP_WITHIN_MS).unref();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  const over = (): void => {
    // After an interrupt the listeners stay, so that a repeated signal does not interrupt the stop.
    if (!abort.signal.aborted) for (const signal of signals) process.off(signal, onSignal);
    if (abort.signal.aborted) io.out('Stopped. The data is kept; the next start finds it again.\n');
  };
  return { asked, signal: abort.signal, over };
}
