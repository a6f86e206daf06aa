/**
 * Starts a project on the local cloud for a test or a script: the assembly, the services of `dev.ts` files,
 * the cloud and its workers, in this order, as `steadfast dev` does.
 *
 * Owns: that order, a new folder for each run, and removing all that the run made. Does not own: any of the
 * parts. Only the app's process loads the CDK.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { type KnownWorkflows, createClient } from '../../lib/api/typed-client.ts';
import { findProject, type Project, steadfastIn } from '../../cli/dev/project.ts';
import { synthesiseOne } from '../../cli/dev/synthesis.ts';
import { startSystem } from '../../cli/dev/system.ts';
import { everythingIn, projectFolders } from '../../cli/dev/workflow-folders.ts';
import { ioOf } from '../../cli/io.ts';
import { programFile, typescriptLoader } from '../../lib/project/package-files.ts';
import { controlOf } from './control.ts';
import type { ExternalStarted, ExternalTask } from './external-process.ts';
import type { LocalCloud, LocalCloudOptions } from './local-cloud.ts';

/** How long a call is repeated, because many may fail while processes are killed. */
const RETRY_FOR_MS = 300_000;

type Undo = (() => Promise<void> | void)[];

interface Ending {
  readonly undo: Undo;
  readonly ended: AbortController;
  readonly stop: LocalCloud['stop'];
}

export async function start<W extends KnownWorkflows>(options: LocalCloudOptions): Promise<LocalCloud<W>> {
  checkVoid(options);
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-cloud-'));
  const undo: Undo = [];
  let stopped: Promise<void> | undefined;
  const ended = new AbortController();
  const stop = ({ keep = false }: { readonly keep?: boolean } = {}): Promise<void> => {
    stopped ??= (async () => {
      ended.abort();
      for (const step of undo.splice(0).toReversed()) await step();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    })();
    return stopped;
  };
  options.signal?.addEventListener('abort', () => void stop(), { once: true });
  try {
    options.signal?.throwIfAborted();
    return await startIn(folder, options, { undo, ended, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startIn<W extends KnownWorkflows>(
  folder: string,
  options: LocalCloudOptions,
  { undo, ended, stop }: Ending,
): Promise<LocalCloud<W>> {
  const problems: string[] = [];
  const say = options.say ?? (() => undefined);
  const io = ioOf({ out: say, err: say, env: process.env, isTTY: false });
  const project = projectOf(options);
  const choice = { stack: options.stack, name: options.name };
  const outdir = join(folder, 'cdk.out');
  const run = { project, context: contextOf(project, options), choice };
  const [found, external] = await Promise.all([
    options.assembly === undefined
      ? synthesiseOne(run, outdir, io, ended.signal)
      : steadfastIn(options.assembly, choice),
    options.external === false ? {} : startExternal(project, options.only, folder, undo),
  ]);
  const environment = { ...external, ...options.environment };
  const { schedules = true, processesPerFunction, onLog } = options;
  const system = await startSystem(
    {
      found,
      folder: { path: folder, logs: join(folder, 'cloud', 'logs') },
      port: options.port ?? 0,
      environment,
      beside: {},
      onWritten: () => undefined,
      cloud: {
        schedules,
        ...(processesPerFunction === undefined ? {} : { concurrencyPerFunction: processesPerFunction }),
        ...(onLog === undefined
          ? {}
          : { onLog: ({ functionName, pid, line }) => onLog({ function: functionName, pid, line }) }),
      },
    },
    {
      ...io,
      err: (text) => {
        // A call that the stop interrupts is not a problem to report.
        if (ended.signal.aborted) return;
        problems.push(text.trim());
        say(text);
      },
    },
  );
  undo.push(() => system.stop());
  return {
    url: system.apiUrl,
    client: createClient<W>({ url: system.apiUrl, retryForMs: RETRY_FOR_MS }),
    folder,
    environment,
    problems,
    ...controlOf(system),
    stop,
  };
}

/** @throws Error for options that have no effect beside another one */
function checkVoid(options: LocalCloudOptions): void {
  const given = (names: readonly (keyof LocalCloudOptions)[]): readonly string[] =>
    names.filter((name) => options[name] !== undefined);
  const ofSynthesis = options.assembly === undefined ? [] : given(['app', 'context', 'workflows']);
  if (ofSynthesis.length > 0)
    throw new Error(
      `startCloud: ${ofSynthesis.join(', ')}: an assembly is not synthesised again; leave it out`,
    );
  if (options.workflows !== undefined && given(['app']).length > 0)
    throw new Error('startCloud: app: with workflows the app is made; leave out one of them');
}

/** Finds the project to run; with `workflows`, makes an app of these folders. An assembly needs no app. */
function projectOf({ project = '.', app, workflows, assembly }: LocalCloudOptions): Project {
  const cwd = resolve(project);
  if (workflows === undefined) return findProject(cwd, assembly === undefined ? app : 'none');
  const own = [process.execPath, '--import', typescriptLoader(), programFile('lib/infra/folder-app')];
  const folder = relative(cwd, resolve(cwd, workflows));
  return {
    root: cwd,
    app: own.map((each) => `"${each}"`).join(' '),
    context: { 'steadfast:folders': [folder] },
  };
}

function contextOf(project: Project, { context, workflows, only }: LocalCloudOptions): Project['context'] {
  if (workflows !== undefined)
    return { ...(only === undefined ? {} : { 'steadfast:only': only }), ...context };
  return { ...everythingIn({ ...project, context: { ...project.context, ...context } }), ...context };
}

/** Starts the `dev.ts` files. @returns variables for the agents' environment */
async function startExternal(
  project: Project,
  only: readonly string[] | undefined,
  folder: string,
  undo: Undo,
): Promise<Readonly<Record<string, string>>> {
  const folders = projectFolders(project).filter(
    ({ name, devFile }) => devFile !== undefined && (only?.includes(name) ?? true),
  );
  if (folders.length === 0) return {};
  const dataDir = join(folder, 'external');
  mkdirSync(dataDir);
  const child = fork(programFile('kit/cloud/external-process'), {
    cwd: project.root,
    execArgv: ['--import', typescriptLoader()],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // A separate process group, so that only the parent gets Ctrl-C.
    detached: true,
  });
  const gone = once(child, 'exit');
  undo.push(async () => {
    if (child.connected) child.disconnect();
    await gone;
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  child.send({ folders, dataDir } satisfies ExternalTask);
  const [answer] = (await Promise.race([
    once(child, 'message'),
    gone.then(() => [{ problem: `the process of the dev.ts ended: ${said.trim()}` }]),
  ])) as [ExternalStarted];
  if ('problem' in answer) throw new Error(answer.problem);
  return answer.environment;
}
