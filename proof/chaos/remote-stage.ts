/**
 * The stage on which an agent in Python is killed: the example that prints labels, on a fresh local cloud,
 * with its worker beside it.
 *
 * Owns: starting them, a new worker after one was killed, leaving nothing behind. Does not own: what is
 * killed, and when.
 */

import { existsSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Stack } from 'aws-cdk-lib/core';
import { type LocalWorker, startWorkers } from '../../cli/dev/workers.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { createApp, PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import type { JournalEntry } from './remote-audit.ts';
import { type Strike, strikeOf } from './striking.ts';

const STACK = 'Remote';
/** How many calls run at the same time. */
const CONCURRENCY = 4;
/** The time that the printer takes before a label, and again after it. */
export const PRINT_MS = 300;

export interface RemoteStage {
  /** Contains the template, the tables, the worker's log and the printer's journal. */
  readonly folder: string;
  readonly cloud: Cloud;
  readonly worker: () => LocalWorker;
  /** Kills the worker, and starts another. */
  readonly killWorker: () => void;
  readonly journal: () => readonly JournalEntry[];
  readonly strike: Strike;
}

/**
 * Synthesises the agent with the service that would run it, so that the local cloud knows what its task may
 * do.
 */
async function synthesizeExample(outdir: string): Promise<string> {
  const app = createApp({ outdir, builtinCloudFormationValidation: false });
  const workflows = await discoverWorkflows({
    root: PROJECT_ROOT,
    folders: ['examples'],
    only: ['parcel-labels'],
  });
  const vpc = new Vpc(new Stack(app, 'Net'), 'Vpc', { maxAzs: 2 }) as IVpc;
  const stack = new SteadfastStack(app, STACK, {
    workflows,
    agentSettings: { 'print-label': { container: { vpc } } },
  });
  const { directory } = app.synth();
  if (stack.stackName !== STACK) throw new Error(`the stack is named ${stack.stackName}`);
  return directory;
}

export async function setRemoteStage(
  onCleanUp: (strike: RemoteStage['strike']) => void,
): Promise<RemoteStage> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'steadfast-chaos-remote-')));
  const undo: (() => Promise<void>)[] = [];
  const strike = strikeOf(folder, undo);
  onCleanUp(strike);
  const assembly = await synthesizeExample(join(folder, 'cdk.out'));
  const printer = join(folder, 'printer');
  const environment = { LABEL_PRINTER: printer, LABEL_PRINT_MS: String(PRINT_MS) };
  const cloud = await startCloud({
    assembly,
    stack: STACK,
    dataDir: join(folder, 'cloud'),
    fresh: true,
    port: 0,
    schedules: true,
    environment,
  });
  undo.push(() => cloud.stop());
  let current: LocalWorker;
  const start = (): void => {
    const own = { ...environment, STEADFAST_WORKER_CONCURRENCY: String(CONCURRENCY) };
    const [worker] = startWorkers(assembly, cloud, own, () => undefined);
    if (worker === undefined) throw new Error('the example has no agent in a container');
    current = worker;
    undo.push(() => worker.stop());
  };
  start();
  return {
    folder,
    cloud,
    worker: () => current,
    killWorker: () => {
      current.process.kill('SIGKILL');
      start();
    },
    journal: () => {
      const file = join(printer, 'journal.jsonl');
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalEntry);
    },
    strike,
  };
}
