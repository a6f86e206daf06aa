/**
 * A container's worker on the local cloud, from the code that its image would hold: long attempts, signals,
 * kills, and an attempt that nothing but a kill ends. Real processes and real time.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { type LocalWorker, startWorkers } from '../../cli/dev/workers.ts';
import { measuredBy } from '../../local/metrics/embedded.ts';
import type { Json } from '../../local/template/json.ts';
import { policyActions, unnoticed } from './policy-changes.ts';
import { setSmallStack, SMALL_STACK, type SmallStack } from './small-stack.ts';

let stack: SmallStack;
const workers: LocalWorker[] = [];
const said: string[] = [];
const denied: string[] = [];
let atLength: { readonly worker: LocalWorker; readonly run: Run };

beforeAll(async () => {
  // Each agent with the service that would run it, so that the local cloud knows what its task may do.
  stack = await setSmallStack({
    workflows: 'encode',
    inContainers: ['encode', 'encode-anew', 'encode-at-length', 'encode-briefly'],
    cloud: { onDenied: ({ message }) => denied.push(message) },
  });
  // Beside all the others, since nothing makes half a minute shorter.
  atLength = { worker: start('encode-at-length'), run: await begin('encode-film', { ms: 33_000 }) };
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await stack?.strike();
});

function start(agent: string, environment: Record<string, string> = {}): LocalWorker {
  const started = startWorkers(stack.assembly, stack.cloud, environment, (text) => said.push(text), [agent]);
  workers.push(...started);
  return started[0]!;
}

const exited = (worker: LocalWorker): Promise<number | NodeJS.Signals | null> =>
  new Promise((gone) => worker.process.once('exit', (code, signal) => gone(code ?? signal)));

interface Line {
  readonly what: string;
  readonly attempt: number;
  readonly pid: number;
  readonly at: number;
}

interface Run {
  readonly id: string;
  readonly journal: () => Line[];
  /** Resolves with the first such line. */
  readonly line: (what: string, attempt?: number) => Promise<Line>;
  readonly ended: () => Promise<ExecutionView>;
}

let runs = 0;
async function begin(workflow: string, input: object): Promise<Run> {
  runs += 1;
  const file = join(stack.folder, `journal-${runs}`);
  writeFileSync(file, '');
  const id = await stack.begin(workflow, { ...input, journal: file });
  const journal = (): Line[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(' '))
      .map(([what = '', attempt, pid, at]) => ({
        what,
        attempt: Number(attempt),
        pid: Number(pid),
        at: Number(at),
      }));
  return {
    id,
    journal,
    line: async (what, attempt = 1) => {
      for (;;) {
        const found = journal().find((each) => each.what === what && each.attempt === attempt);
        if (found !== undefined) return found;
        await pause(25);
      }
    },
    ended: () => stack.ended(id),
  };
}

const told = (run: Run): string[] => run.journal().map(({ what, attempt }) => `${what} ${attempt}`);

async function dead(pid: number): Promise<number> {
  for (;;) {
    try {
      // A dead process that nobody has asked about yet has no command line.
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8') === '') return Date.now();
    } catch {
      return Date.now();
    }
    await pause(25);
  }
}

/** What a worker left is done by the next one, as a second attempt. */
async function doneByAnother(run: Run): Promise<void> {
  const next = start('encode');
  stack.tickNow();
  expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 2 } });
  expect(told(run)).toEqual(['begun 1', 'begun 2', 'done 2']);
  await next.stop();
}

describe('a worker', () => {
  it('that is asked to stop lets an attempt finish', async () => {
    const worker = start('encode', { STEADFAST_STOP_WITHIN_MS: '20000' });
    const run = await begin('encode-video', { ms: 1_500 });
    await run.line('begun');
    const exit = exited(worker);
    worker.process.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(told(run)).toEqual(['begun 1', 'done 1']);
    expect((await run.ended()).status).toBe('succeeded');
    // What it measures comes a whole line at a time, as the local cloud takes it.
    const names = said.flatMap(measuredBy).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Attempts', 'StepsDone']));
  });

  it('sends what is to be tried again itself', async () => {
    const worker = start('encode');
    const run = await begin('encode-video', { ms: 0, fail: true });
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 2 } });
    expect(told(run)).toEqual(['begun 1', 'begun 2', 'done 2']);
    await worker.stop();
  });

  it('that is asked to stop kills what takes too long, and another worker does it', async () => {
    const worker = start('encode', { STEADFAST_STOP_WITHIN_MS: '300' });
    const run = await begin('encode-video', { ms: 600_000 });
    const { pid } = await run.line('begun');
    const exit = exited(worker);
    worker.process.kill('SIGTERM');
    expect(await exit).toBe(0);
    await dead(pid);
    await doneByAnother(run);
  });

  it('that is killed takes its attempts along, and the supervisor finds what it left', async () => {
    const worker = start('encode');
    const run = await begin('encode-video', { ms: 600_000 });
    const { pid } = await run.line('begun');
    worker.process.kill('SIGKILL');
    await dead(pid);
    await doneByAnother(run);
  });

  it('kills an attempt that hangs by its process deadline, with the programs that it started', async () => {
    const worker = start('encode-briefly', { STEADFAST_WORKER_CONCURRENCY: '2' });
    const run = await begin('encode-clip', { ms: 0, wedge: true });
    const begun = await run.line('begun');
    const program = await run.line('program');
    stack.tickNow();
    const [diedAt] = await Promise.all([dead(begun.pid), dead(program.pid)]);
    // The declared two seconds at least; how much later the machine lets somebody see it is its own affair.
    expect(diedAt - begun.at).toBeGreaterThan(2_000);
    expect((await run.ended()).status).toBe('succeeded');
    expect(worker.process.exitCode).toBeNull();
    await worker.stop();
  });

  it('kills what stalls, with its programs, and makes it again in another way within seconds, not after its timeout of hours', async () => {
    // Two at once: the next attempt is claimed before the death of the former is recorded.
    const worker = start('encode-anew', { STEADFAST_WORKER_CONCURRENCY: '2' });
    const run = await begin('encode-show', { ms: 0 });
    const ticks = setInterval(stack.tickNow, 1_000);
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { height: 720 } });
    clearInterval(ticks);
    const lines = run.journal();
    expect(told(run)).toEqual([
      'begun-1080 1',
      'program 1',
      'begun-1080 2',
      'program 2',
      'undone-1080 2',
      'begun-720 3',
      'done-720 3',
    ]);
    await Promise.all(lines.filter(({ what }) => what === 'program').map(({ pid }) => dead(pid)));
    expect(said.join('')).toContain('process-died');
    await worker.stop();
  });

  it('does an attempt once that takes longer than its message is hidden', async () => {
    const { worker, run } = atLength;
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 1 } });
    expect(told(run)).toEqual(['begun 1', 'done 1']);
    await worker.stop();
    const queue = stack.cloud.control.queues().find(({ name }) => name.endsWith('_encode-at-length'));
    expect(queue).toMatchObject({ visible: 0, inFlight: 0 });
  });

  it('takes its credentials from where a task has them', async () => {
    const asked: string[] = [];
    const server: Server = createServer((request, response) => {
      asked.push(String(request.headers.authorization));
      const Expiration = new Date(Date.now() + 3_600_000).toISOString();
      response.end(JSON.stringify({ AccessKeyId: 'task-1', SecretAccessKey: 'x', Token: 'y', Expiration }));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    const worker = start('encode', {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'a-token',
    });
    const run = await begin('encode-video', { ms: 0 });
    expect((await run.ended()).status).toBe('succeeded');
    await worker.stop();
    server.close();
    // Whatever the workers of this file have done so far, their tasks' roles allow it.
    expect(denied).toEqual([]);
    const used = stack.cloud.control
      .permissions()
      .filter(({ who, uses }) => who.includes('ContainerTask') && uses > 0);
    expect(used.map(({ action }) => action)).toEqual(
      expect.arrayContaining([
        'dynamodb:PutItem',
        'dynamodb:Query',
        'events:PutEvents',
        'sqs:ChangeMessageVisibility',
        'sqs:DeleteMessage',
        'sqs:ReceiveMessage',
      ]),
    );
    const template = JSON.parse(
      readFileSync(join(stack.assembly, `${SMALL_STACK}.template.json`), 'utf8'),
    ) as Json;
    const ofTask = policyActions(template).filter(({ place }) =>
      place.includes('AgentsencodeContainerTaskTaskRoleDefaultPolicy'),
    );
    // What a task asks of ECS is asked of nobody here: no container agent answers on a laptop.
    const asksHere = ofTask.filter((one) => !JSON.stringify(one).includes('ecs:UpdateTaskProtection'));
    expect(ofTask.length).toBeGreaterThan(7);
    const requests = stack.cloud.control.accessRequests();
    expect(unnoticed(asksHere, { template, stackName: SMALL_STACK, requests, mayBeIdle: [] })).toEqual([]);
    expect(new Set(asked)).toEqual(new Set(['a-token']));
    expect(stack.cloud.control.calls().map(({ caller }) => caller)).toContain('task');
  });
});
