/**
 * Runs an assembly on this machine: the local cloud, and the workers of agents in containers.
 *
 * Owns: starting and stopping both. Does not own: the assembly (`synthesis.ts`), the printed text
 * (`banner.ts`).
 */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cloud, CloudOptions, Inspect } from '../../local/cloud.ts';
import { DETAILED_METRICS, ENV } from '../../lib/aws/names.ts';
import type { Io } from '../io.ts';
import type { DevFolder } from './dev-folder.ts';
import { Prometheus } from './prometheus.ts';
import { showProgress } from './progress.ts';
import type { Chosen } from './project.ts';
import { type LocalWorker, startWorkers } from './workers.ts';

export interface System {
  readonly apiUrl: string;
  readonly cloud: Cloud;
  /** Agents that run in a separate process, as in a container. */
  readonly workers: readonly string[];
  /** The other Steadfasts of the stack: the path of each construct and the address of its API. */
  readonly beside: readonly { readonly path: string; readonly apiUrl: string }[];
  /** Triggers by name. They start executions without the API. */
  readonly triggers: readonly string[];
  /**
   * Kills the worker of an agent and starts another, as ECS would.
   * @returns the killed processes' pids
   */
  readonly killWorker: (agent: string) => Promise<readonly number[]>;
  readonly stop: () => Promise<void>;
}

export interface SystemOptions {
  readonly found: Chosen;
  readonly folder: Pick<DevFolder, 'path' | 'logs'>;
  readonly port: number;
  /** Added to every function's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Further handlers on that port, by the beginning of their paths. */
  readonly beside: NonNullable<CloudOptions['beside']>;
  readonly onWritten: () => void;
  /** The agent's function to which a debugger attaches. */
  readonly inspect?: Inspect;
  /** Settings of the local cloud for tests. */
  readonly cloud?: Pick<CloudOptions, 'schedules' | 'concurrencyPerFunction' | 'onLog'>;
}

/** Switches every detailed metric on, because here they are free. */
const DETAILED = { [ENV.metricsBy]: Object.keys(DETAILED_METRICS).join(',') };

export async function startSystem(options: SystemOptions, io: Io): Promise<System> {
  const { found, folder, environment } = options;
  const starting = showProgress(io, 'Starting the local cloud', 3);
  const prometheus = new Prometheus();
  const cloud = await startLocal(options, prometheus, io).catch((error: unknown) => {
    starting.end('failed');
    throw error;
  });
  starting.end('done');
  if (cloud.notRun.length > 0)
    io.out(`Does not run locally:\n${cloud.notRun.map((each) => `  ${each}\n`).join('')}`);
  const work = (only?: readonly string[]): LocalWorker[] =>
    startWorkers(
      found.assembly,
      cloud,
      { ...environment, ...DETAILED },
      (line, agent) => {
        appendFileSync(join(folder.logs, `worker-${agent}.log`), line);
        cloud.metricsIn(line);
        prometheus.line(line);
      },
      only,
    );
  const workers = work();
  evaluateAtOnce(cloud);
  return {
    apiUrl: cloud.apiUrl,
    cloud,
    workers: workers.map(({ agent }) => agent),
    killWorker: async (agent) => {
      const killed = workers.filter((worker) => worker.agent === agent);
      for (const worker of killed) workers.splice(workers.indexOf(worker), 1);
      await Promise.all(killed.map(({ process }) => killedProcess(process)));
      if (killed.length > 0) workers.push(...work([agent]));
      return killed.flatMap(({ process: { pid } }) => pid ?? []);
    },
    beside: found.beside.map(({ path, api }) => ({ path, apiUrl: `${cloud.apiUrl}/_apis/${api}` })),
    triggers: triggersOf(cloud, found.path),
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await cloud.stop();
    },
  };
}

async function killedProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

/** Finds the triggers by their queues. */
function triggersOf(cloud: Cloud, steadfast: string): string[] {
  const begin = `${steadfast}/Triggers/`;
  const paths = [...cloud.resources.values()].map(({ metadata }) => String(metadata['aws:cdk:path']));
  const ofQueues = paths.filter(
    (path) => path.startsWith(begin) && /^[^/]+\/Queue\/Resource$/.test(path.slice(begin.length)),
  );
  return ofQueues.map((path) => path.slice(begin.length).split('/')[0] ?? '').sort();
}

async function startLocal(options: SystemOptions, prometheus: Prometheus, io: Io): Promise<Cloud> {
  const { found, folder, port, environment, beside, onWritten, inspect, cloud } = options;
  // Imported only here, because other commands do not need a cloud.
  const { startCloud } = await import('../../local/cloud.ts');
  const { assembly, stack, api } = found;
  return startCloud({
    assembly,
    stack,
    api,
    dataDir: join(folder.path, 'cloud'),
    port,
    environment: { ...environment, ...DETAILED },
    beside: { ...beside, '/metrics': prometheus.listener },
    onWritten,
    ...(inspect === undefined ? {} : { inspect }),
    onProblem: (message) => io.err(`local cloud: ${message}\n`),
    ...cloud,
    onLog: (one) => {
      prometheus.line(one.line);
      cloud?.onLog?.(one);
    },
  });
}

/**
 * Starts the supervisors at once, so that executions of an earlier run continue before the first tick a
 * minute later. Schedules of triggers are not fired, because they would start executions.
 */
function evaluateAtOnce(cloud: Cloud): void {
  for (const { name, logicalId } of cloud.control.schedules())
    if (cloud.resources.get(logicalId)?.type === 'AWS::Events::Rule')
      cloud.control.tick(name).catch(() => undefined);
}
