/**
 * A Python agent on the local cloud: the program, the process of its attempt, or its worker is killed during
 * a call. Its service does not deduplicate, so any repeated request shows. Real processes and real time.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { type LocalWorker, startWorkers } from '../../cli/dev/workers.ts';
import { PROJECT_ROOT } from '../../lib/infra/synth.ts';
import { setSmallStack, type SmallStack } from './small-stack.ts';

let stack: SmallStack;
let worker: LocalWorker;
let service: Service;
const workers: LocalWorker[] = [];
const denied: string[] = [];

function startWorker(): LocalWorker {
  const environment = { STEADFAST_WORKER_CONCURRENCY: '2' };
  const [started] = startWorkers(stack.assembly, stack.cloud, environment, () => undefined);
  workers.push(started!);
  return started!;
}

interface Service {
  readonly process: ChildProcess;
  readonly port: string;
}

/** Starts the same program as a service. */
async function serve(port: string): Promise<Service> {
  const main = join(PROJECT_ROOT, 'test/e2e/workflows/engrave/agents/engrave/main.py');
  const child = spawn('python3', [main, 'serve', port], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { process: child, port: said.toString().trim() };
}

beforeAll(async () => {
  service = await serve('0');
  stack = await setSmallStack({
    workflows: 'engrave',
    inContainers: ['engrave'],
    cloud: {
      environment: { ENGRAVER_URL: `http://127.0.0.1:${service.port}/` },
      onDenied: ({ message }) => denied.push(message),
    },
  });
  worker = startWorker();
});
afterAll(async () => {
  await Promise.all(workers.map((each) => each.stop()));
  await stack?.strike();
  service?.process.kill('SIGKILL');
});

interface Run {
  readonly lines: () => readonly (readonly [what: string, attempt: number, pid: number])[];
  /** Finds the Python process that hangs. */
  readonly hanging: () => Promise<number>;
  readonly ended: () => Promise<ExecutionView>;
}

let runs = 0;
async function begin(hangs: 'before' | 'after', workflow = 'engraving'): Promise<Run> {
  runs += 1;
  const journal = join(stack.folder, `journal-${runs}`);
  writeFileSync(journal, '');
  const executionId = await stack.begin(workflow, { journal, hangs });
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
    ended: () => stack.ended(executionId),
  };
}

/** Reads /proc/<pid>/stat after the name in parentheses: state, parent, and so on. */
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
    // Its parent, and not another process.
    expect(readFileSync(`/proc/${attempt}/cmdline`, 'utf8')).toContain('attempt.mjs');
    process.kill(attempt, 'SIGKILL');
    await dead(python);
    stack.tickNow();
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 1 } });
    expect(engraved(run)).toEqual([1]);
  });

  it('with its worker dies with it, and another worker asks', async () => {
    const run = await begin('after');
    const python = await run.hanging();
    worker.process.kill('SIGKILL');
    await dead(python);
    worker = startWorker();
    stack.tickNow();
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
