/**
 * Runs the workers of a deployment on this machine: each agent in a container runs as a process beside the
 * local cloud, with the code of its image.
 *
 * Owns: which workers run, their environment, and ending them with `dev`. Does not own: the worker
 * (`lib/worker/`).
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Cloud } from '../../local/cloud.ts';
import { BUNDLES, ENV } from '../../lib/aws/names.ts';

/** How long attempts may continue when `dev` stops; unfinished ones are retried at the next start. */
const STOP_WITHIN_MS = 1_000;
const KILL_AFTER_MS = 5_000;

export interface LocalWorker {
  readonly agent: string;
  /** The folder of its code, and of the agent's other programs. */
  readonly folder: string;
  readonly process: ChildProcess;
  readonly stop: () => Promise<void>;
}

/**
 * @param environment additional variables, which override others
 * @param write takes the workers' output, one line at a time
 * @param only the agents to start. @default all
 */
export function startWorkers(
  assembly: string,
  cloud: Cloud,
  environment: Readonly<Record<string, string>>,
  write: (text: string, agent: string) => void,
  only?: readonly string[],
): LocalWorker[] {
  return deploymentsIn(cloud).flatMap(({ path, variables }) => {
    const folder = join(assembly, BUNDLES, variables[ENV.deployment] ?? '', 'containers');
    const agents = existsSync(folder) ? readdirSync(folder).sort() : [];
    const needed = environmentOf(cloud, variables);
    return agents
      .filter((agent) => only?.includes(agent) ?? true)
      .map((agent) => {
        const own = { AWS_ACCESS_KEY_ID: `${taskOf(cloud, `${path}/Agents/${agent}`) ?? 'worker'}-1` };
        // Outside the project, because its image does not contain the project.
        const away = join(cloud.codeFolder, 'containers', path, agent);
        cpSync(join(folder, agent), away, { recursive: true });
        return startWorker(agent, away, { ...needed, ...own, ...environment }, write);
      });
  });
}

function startWorker(
  agent: string,
  folder: string,
  environment: Readonly<Record<string, string>>,
  write: (text: string, agent: string) => void,
): LocalWorker {
  // The worker ends when this channel closes, even if this process is killed.
  const child = spawn(process.execPath, ['--enable-source-maps', join(folder, 'main.mjs')], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...systemVariables(), ...environment },
  });
  for (const input of [child.stdout, child.stderr])
    if (input !== null) createInterface({ input }).on('line', (line) => write(`${line}\n`, agent));
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    await gone;
    clearTimeout(timer);
  };
  return { agent, folder, process: child, stop };
}

/**
 * The logical id of the worker's task definition, so that the local cloud finds its policies; undefined if no
 * service runs the worker.
 */
const taskOf = (cloud: Cloud, agent: string): string | undefined =>
  [...cloud.resources.values()].find(
    ({ type, metadata }) =>
      type === 'AWS::ECS::TaskDefinition' &&
      String(metadata['aws:cdk:path']).startsWith(`${agent}/Container/Task/`),
  )?.logicalId;

interface Deployment {
  /** The path of its construct. */
  readonly path: string;
  /** The environment of its scheduler, which names every queue. */
  readonly variables: Readonly<Record<string, string>>;
}

const SCHEDULER = '/Scheduler/Function/Resource';

/** The deployments of the stack, which may contain several. */
function deploymentsIn(cloud: Cloud): Deployment[] {
  return [...cloud.resources.values()].flatMap(({ type, metadata, properties }) => {
    const path = String(metadata['aws:cdk:path']);
    if (type !== 'AWS::Lambda::Function' || !path.endsWith(SCHEDULER)) return [];
    const { Variables = {} } = Object(properties['Environment']) as {
      Variables?: Readonly<Record<string, string>>;
    };
    return ENV.deployment in Variables
      ? [{ path: path.slice(0, -SCHEDULER.length), variables: Variables }]
      : [];
  });
}

function environmentOf(cloud: Cloud, variables: Deployment['variables']): Record<string, string> {
  const ours = Object.entries(variables).filter(([name]) => name.startsWith('STEADFAST_'));
  return {
    ...Object.fromEntries(ours),
    [ENV.stopWithinMs]: String(STOP_WITHIN_MS),
    AWS_ENDPOINT_URL: cloud.gatewayUrl,
    AWS_REGION: 'us-east-1',
    AWS_SECRET_ACCESS_KEY: 'local',
  };
}

const OF_NODE = new Set(['NODE_OPTIONS', 'NODE_PATH']);

/**
 * The variables of this process for a worker, without the user's AWS settings and without package paths that
 * its image does not have.
 */
function systemVariables(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('AWS_') || OF_NODE.has(name) ? [] : [[name, value]],
    ),
  );
}
