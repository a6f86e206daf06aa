/**
 * An agent in Python on the local cloud, killed in mid-call: itself, the process of its
 * attempt, its worker. Its service does not deduplicate, so what is engraved twice was asked
 * for twice. Real processes and real time.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Stack } from 'aws-cdk-lib/core';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { type LocalWorker, startWorkers } from '../../cli/dev/workers.ts';
import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { SteadfastStack } from '../../lib/infra/steadfast-stack.ts';
import { createApp, PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';

const STACK = 'Remote';
let folder: string;
let assembly: string;
let cloud: Cloud;
let worker: LocalWorker;
let service: Service;
const workers: LocalWorker[] = [];
const denied: string[] = [];

async function deploy(outdir: string): Promise<string> {
  const app = createApp({ outdir, builtinCloudFormationValidation: false });
  const workflows = await discoverWorkflows({
    root: PROJECT_ROOT,
    folders: ['test/e2e/workflows'],
    only: ['engrave'],
  });
  const vpc = new Vpc(new Stack(app, 'Net'), 'Vpc', { maxAzs: 2 }) as IVpc;
  const agentSettings = { engrave: { container: { vpc } } };
  const { stackName } = new SteadfastStack(app, STACK, { workflows, agentSettings });
  expect(stackName).toBe(STACK);
  return app.synth().directory;
}

function startWorker(): LocalWorker {
  const environment = { STEADFAST_WORKER_CONCURRENCY: '2' };
  const [started] = startWorkers(assembly, cloud, environment, () => undefined);
  workers.push(started!);
  return started!;
}

interface Service {
  readonly process: ChildProcess;
  readonly port: string;
}

/** The same program as a service. */
async function serve(port: string): Promise<Service> {
  const main = join(PROJECT_ROOT, 'test/e2e/workflows/engrave/agents/engrave/main.py');
  const child = spawn('python3', [main, 'serve', port], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { process: child, port: said.toString().trim() };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'steadfast-e2e-remote-'));
  assembly = await deploy(join(folder, 'cdk.out'));
  service = await serve('0');
  cloud = await startCloud({
    assembly,
    stack: STACK,
    dataDir: join(folder, 'data'),
    port: 0,
    schedules: true,
    environment: { ENGRAVER_URL: `http://127.0.0.1:${service.port}/` },
    onDenied: ({ message }) => denied.push(message),
  });
  worker = startWorker();
});
afterAll(async () => {
  await Promise.all(workers.map((each) => each.stop()));
  await cloud?.stop();
  service?.process.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Run {
  readonly lines: () => readonly (readonly [what: string, attempt: number, pid: number])[];
  /** The Python process that hangs. */
  readonly hanging: () => Promise<number>;
  readonly ended: () => Promise<ExecutionView>;
}

let runs = 0;
async function begin(hangs: 'before' | 'after', workflow = 'engraving'): Promise<Run> {
  runs += 1;
  const journal = join(folder, `journal-${runs}`);
  writeFileSync(journal, '');
  const response = await fetch(`${cloud.apiUrl}/workflows/${workflow}/executions`, {
    method: 'POST',
    body: JSON.stringify({ input: { journal, hangs } }),
  });
  const { executionId } = (await response.json()) as { executionId: string };
  const lines: Run['lines'] = () =>
    readFileSync(journal, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' '))
      .map(([what = '', attempt, pid]) => [what, Number(attempt), Number(pid)] as const);
  return {
    lines,
    hanging: async () => {
      for (;;) {
        const pid = lines().find(([what]) => what === 'hangs')?.[2];
        if (pid !== undefined) return pid;
        await pause(25);
      }
    },
    ended: async () => {
      for (;;) {
        const view = (await (
          await fetch(`${cloud.apiUrl}/executions/${executionId}?wait=20s`)
        ).json()) as ExecutionView;
        if (view.endedAt !== undefined) return view;
      }
    },
  };
}

const lookNow = (): void => {
  for (const { name } of cloud.control.schedules()) cloud.control.tick(name).catch(() => undefined);
};
/** From /proc: what is behind the name in parentheses begins with the state and the parent. */
const statOf = (pid: number): readonly string[] => {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  } catch {
    return [];
  }
};
async function dead(pid: number): Promise<void> {
  while (!['Z', 'X', undefined].includes(statOf(pid)[0])) await pause(25);
}
const engraved = (run: Run): number[] =>
  run.lines().flatMap(([what, attempt]) => (what === 'engraved' ? [attempt] : []));

describe('an agent in Python that is killed in mid-call', () => {
  it('before its work does it in a second attempt, once', async () => {
    const run = await begin('before');
    process.kill(await run.hanging(), 'SIGKILL');
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 2 } });
    expect(engraved(run)).toEqual([2]);
  });

  it('after its work is asked, and does not do it again', async () => {
    const run = await begin('after');
    process.kill(await run.hanging(), 'SIGKILL');
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 1 } });
    expect(engraved(run)).toEqual([1]);
  });

  it('with the process of its attempt dies with it, and is asked', async () => {
    const run = await begin('after');
    const python = await run.hanging();
    const attempt = Number(statOf(python)[1]);
    // Its parent, and no one else's process.
    expect(readFileSync(`/proc/${attempt}/cmdline`, 'utf8')).toContain('attempt.mjs');
    process.kill(attempt, 'SIGKILL');
    await dead(python);
    lookNow();
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 1 } });
    expect(engraved(run)).toEqual([1]);
  });

  it('with its worker dies with it, and another worker asks', async () => {
    const run = await begin('after');
    const python = await run.hanging();
    worker.process.kill('SIGKILL');
    await dead(python);
    worker = startWorker();
    lookNow();
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 1 } });
    expect(engraved(run)).toEqual([1]);
  });

  it('behind an address is asked when it is back, and does not do it again', async () => {
    const run = await begin('after', 'engraving-by-url');
    await run.hanging();
    const gone = once(service.process, 'exit');
    service.process.kill('SIGKILL');
    await gone;
    service = await serve(service.port);
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 1 } });
    expect(engraved(run)).toEqual([1]);
    expect(denied).toEqual([]);
  });
});
