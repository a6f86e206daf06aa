/**
 * What the demo runs on: the synthesised template, a fresh local cloud, and the outside world as a process of its own.
 *
 * Owns: starting the three and leaving nothing behind. Does not own: what happens on them.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Cloud, startCloud } from '../../../local/cloud.ts';

const EXAMPLE = resolve(import.meta.dirname, '..');
const PROJECT = resolve(EXAMPLE, '..', '..');

export interface Stage {
  /** Holds the template, the tables, the logs and the outside world's ledger of this run. */
  readonly folder: string;
  readonly cloud: Cloud;
  readonly worldUrl: string;
  /** Ends everything; deletes the folder unless it is to be kept. */
  readonly strike: (keep: boolean) => Promise<void>;
}

export interface StageOptions {
  /** Port of the HTTP API; 0 for any free one. */
  readonly port: number;
  readonly say: (text: string) => void;
  /** Gets the clean-up at once, so that an interrupt during the start leaves nothing behind either. */
  readonly onCleanUp: (strike: Stage['strike']) => void;
}

export async function setStage(options: StageOptions): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-demo-'));
  const undo: (() => Promise<void> | void)[] = [];
  let struck: Promise<void> | undefined;
  const strike = (keep: boolean): Promise<void> => {
    struck ??= (async () => {
      for (const each of undo.splice(0).toReversed()) await each();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    })();
    return struck;
  };
  options.onCleanUp(strike);
  options.say('Synthesising the template that would be deployed, and starting the outside world …');
  const assembly = join(folder, 'cdk.out');
  const [worldUrl] = await Promise.all([startWorldProcess(folder, undo), synthesise(assembly, undo)]);
  options.say('Starting a fresh local cloud from it …');
  const cloud = await startCloud({
    assembly,
    dataDir: join(folder, 'cloud'),
    fresh: true,
    port: options.port,
    // The demo calls the supervisor by hand instead of waiting for the minute.
    schedules: false,
    environment: { WORLD_URL: worldUrl },
  });
  undo.push(() => cloud.stop());
  return { folder, cloud, worldUrl, strike };
}

async function startWorldProcess(folder: string, undo: (() => Promise<void> | void)[]): Promise<string> {
  const ledger = join(folder, 'ledger.jsonl');
  const child = forkTypeScript(join(EXAMPLE, 'world.ts'), ['--port', '0', '--ledger', ledger]);
  undo.push(() => end(child));
  const [message] = (await Promise.race([
    once(child, 'message'),
    failure(child, 'the outside world'),
  ])) as unknown[];
  return (message as { readonly url: string }).url;
}

/** As `cdk synth` does it, for this example alone. */
async function synthesise(outdir: string, undo: (() => Promise<void> | void)[]): Promise<void> {
  const child = forkTypeScript(join(PROJECT, 'bin', 'app.ts'), [], {
    CDK_OUTDIR: outdir,
    CDK_CONTEXT_JSON: JSON.stringify({ 'steadfast:only': 'order-fulfilment' }),
  });
  undo.push(() => end(child));
  const errors: Buffer[] = [];
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0)
    throw new Error(`the template could not be synthesised:\n${Buffer.concat(errors).toString()}`);
}

/** With an IPC channel: a child notices by it that its parent is gone. */
function forkTypeScript(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  return fork(file, args, {
    cwd: PROJECT,
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, ...env },
    // Not the demo's own output, which is a table that is redrawn in place.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    // Its own process group: an interrupt at the keyboard is the demo's to handle.
    detached: true,
  });
}

async function failure(child: ChildProcess, what: string): Promise<never> {
  const errors: Buffer[] = [];
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
  await once(child, 'exit');
  throw new Error(`${what} did not start:\n${Buffer.concat(errors).toString()}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
