/**
 * Makes the assembly by running the CDK app in a separate process, as `cdk synth` does, but without
 * CloudFormation's rules: they take seconds, and a deployment checks them anyway.
 *
 * Owns: the error message of a failing app, and bundling code for one stack only. Does not own: choosing app
 * and stack (`project.ts`).
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { CliError, EXIT, type Io } from '../io.ts';
import { showProgress } from './progress.ts';
import { type Choice, type Chosen, type Project, steadfastIn } from './project.ts';

/** The settings of one run of an app. */
export interface Run {
  readonly project: Project;
  /** Added to the project's context. */
  readonly context: Readonly<Record<string, unknown>>;
  readonly choice: Choice;
}

/**
 * Synthesises the app, but bundles code only for the one stack that will run.
 * @param known the stack's path, if an earlier call has found it
 * @throws CliError as `synthesise` and `steadfastIn`
 */
export async function synthesiseOne(
  { project, context, choice }: Run,
  outdir: string,
  io: Io,
  signal: AbortSignal,
  known: string | undefined = choice.stack,
): Promise<Chosen> {
  const only = known === undefined ? {} : { [WITH_CODE]: [known, IN_CDK_STAGES] };
  await synthesise(project, outdir, io, signal, { ...context, ...only });
  const found = steadfastIn(outdir, choice);
  const hasCode = [undefined, found.stackPath].includes(known) || found.stackPath.includes('/');
  return hasCode
    ? found
    : await synthesiseOne({ project, context, choice }, outdir, io, signal, found.stackPath);
}

/** The CDK's context key with the patterns of stack paths. */
const WITH_CODE = 'aws:cdk:bundling-stacks';
const IN_CDK_STAGES = '*/**';

const WHAT = 'Synthesising the template that would be deployed';

/**
 * @param context added to the project's context
 * @throws CliError `synthesis` with the app's output
 */
export async function synthesise(
  { root, app, context: own }: Project,
  outdir: string,
  io: Io,
  signal: AbortSignal,
  context: Readonly<Record<string, unknown>>,
): Promise<void> {
  const startedAt = Date.now();
  const progress = showProgress(io, WHAT, 5);
  const child = spawn(app, {
    cwd: root,
    shell: true,
    // A process group of its own, so that a kill also reaches the processes that the shell started.
    detached: process.platform !== 'win32',
    env: {
      CDK_VALIDATION: 'false',
      ...process.env,
      CDK_OUTDIR: outdir,
      // The CDK's own command line passes the context in the same way.
      CDK_CONTEXT_JSON: JSON.stringify({ ...own, ...context, ...PATHS }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = (): void => kill(child);
  signal.addEventListener('abort', end, { once: true });
  const said = collect(child);
  const [code] = (await once(child, 'close')) as [number | null];
  signal.removeEventListener('abort', end);
  const how = signal.aborted ? 'stopped' : 'failed';
  progress.end(code === 0 ? `done in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s` : how);
  if (code === 0) return;
  throw new CliError(
    'synthesis',
    reasonIn(said()) || `the CDK app (${app}) failed and printed nothing`,
    EXIT.failed,
  );
}

/**
 * The error's message, which Node prints between the line of code and the stack trace; otherwise the whole
 * output.
 */
const reasonIn = (said: string): string =>
  /^\[?(?:DiscoveryError: |\w+ \[DiscoveryError\]: )([^]*?)\]?(?:\n {4}at |\n\nNode\.js |\s*(?![^]))/m.exec(
    said,
  )?.[1] ?? said.trim();

function kill(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null) return;
  if (process.platform === 'win32') child.kill('SIGKILL');
  else process.kill(-child.pid, 'SIGKILL');
}

/** Context that makes the CDK write construct paths into the template, to assign resources to a Steadfast. */
const PATHS = { 'aws:cdk:enable-path-metadata': true, 'aws:cdk:enable-asset-metadata': true };

function collect(child: ChildProcess): () => string {
  const chunks: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}
