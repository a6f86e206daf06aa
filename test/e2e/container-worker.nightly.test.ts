/**
 * The slow tests of a container's worker on the local cloud: long attempts, attempts that only a kill ends,
 * credentials, the task role's permissions. Real processes, real time. The others:
 * `container-worker.test.ts`.
 */

import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { LocalWorker } from '../../cli/dev/workers.ts';
import type { Json } from '../../local/template/json.ts';
import { policyActions, unnoticed } from './policy-changes.ts';
import { SMALL_STACK } from './small-stack.ts';
import { dead, exited, type Run, setWorkerStage, wordsOf, type WorkerStage } from './worker-stage.ts';

let stage: WorkerStage;
let atLength: { readonly worker: LocalWorker; readonly run: Run };

beforeAll(async () => {
  stage = await setWorkerStage();
  // It runs beside all the others, because half a minute cannot be made shorter.
  atLength = {
    worker: stage.start('encode-at-length'),
    run: await stage.begin('encode-film', { ms: 33_000 }),
  };
});
afterAll(() => stage?.strike());

describe('a worker', () => {
  it('sends what is to be tried again itself', async () => {
    const worker = stage.start('encode');
    // Too large for a record: the task reads it from the bucket, and writes its answer there.
    const film = 'x'.repeat(40_000);
    const run = await stage.begin('encode-video', { ms: 0, fail: true, film });
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 2 } });
    expect(wordsOf(run)).toEqual(['begun 1', 'begun 2', 'done 2']);
    await worker.stop();
  });

  it('that is asked to stop kills what takes too long, and another worker does it', async () => {
    const worker = stage.start('encode', { STEADFAST_STOP_WITHIN_MS: '300' });
    const run = await stage.begin('encode-video', { ms: 600_000 });
    const { pid } = await run.line('begun');
    const exit = exited(worker);
    worker.process.kill('SIGTERM');
    expect(await exit).toBe(0);
    await dead(pid);
    await stage.doneByAnother(run);
  });

  it('kills an attempt that hangs by its process deadline, with the programs that it started', async () => {
    const worker = stage.start('encode-briefly', { STEADFAST_WORKER_CONCURRENCY: '2' });
    const run = await stage.begin('encode-clip', { ms: 0, wedge: true });
    const begun = await run.line('begun');
    const program = await run.line('program');
    stage.stack.tickNow();
    const [diedAt] = await Promise.all([dead(begun.pid), dead(program.pid)]);
    // At least the declared two seconds; how much later this becomes visible depends on the machine.
    expect(diedAt - begun.at).toBeGreaterThan(2_000);
    expect((await run.ended()).status).toBe('succeeded');
    expect(worker.process.exitCode).toBeNull();
    await worker.stop();
  });

  it('kills what stalls, with its programs, and makes it again in another way within seconds, not after its timeout of hours', async () => {
    // Two at once: the next attempt is claimed before the former one's death is recorded.
    const worker = stage.start('encode-anew', { STEADFAST_WORKER_CONCURRENCY: '2' });
    const run = await stage.begin('encode-show', { ms: 0 });
    const ticks = setInterval(stage.stack.tickNow, 1_000);
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { height: 720 } });
    clearInterval(ticks);
    const lines = run.journal();
    expect(wordsOf(run)).toEqual([
      'begun-1080 1',
      'program 1',
      'begun-1080 2',
      'program 2',
      'undone-1080 2',
      'begun-720 3',
      'done-720 3',
    ]);
    await Promise.all(lines.filter(({ what }) => what === 'program').map(({ pid }) => dead(pid)));
    expect(stage.said.join('')).toContain('process-died');
    await worker.stop();
  });

  it('does an attempt once that takes longer than its message is hidden', async () => {
    const { worker, run } = atLength;
    expect(await run.ended()).toMatchObject({ status: 'succeeded', output: { attempt: 1 } });
    expect(wordsOf(run)).toEqual(['begun 1', 'done 1']);
    await worker.stop();
    const queue = stage.stack.cloud.control.queues().find(({ name }) => name.endsWith('_encode-at-length'));
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
    const worker = stage.start('encode', {
      AWS_ACCESS_KEY_ID: '',
      AWS_SECRET_ACCESS_KEY: '',
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${port}/`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'a-token',
    });
    const run = await stage.begin('encode-video', { ms: 0 });
    expect((await run.ended()).status).toBe('succeeded');
    await worker.stop();
    server.close();
    // Their tasks' roles have allowed everything that the workers of this file did.
    expect(stage.denied).toEqual([]);
    const used = stage.stack.cloud.control
      .permissions()
      .filter(({ who, uses }) => who.includes('ContainerTask') && uses > 0);
    expect(used.map(({ action }) => action)).toEqual(
      expect.arrayContaining([
        'dynamodb:PutItem',
        'dynamodb:Query',
        'events:PutEvents',
        's3:GetObject',
        's3:PutObject',
        'sqs:ChangeMessageVisibility',
        'sqs:DeleteMessage',
        'sqs:ReceiveMessage',
      ]),
    );
    const template = JSON.parse(
      readFileSync(join(stage.stack.assembly, `${SMALL_STACK}.template.json`), 'utf8'),
    ) as Json;
    const ofTask = policyActions(template).filter(({ place }) =>
      place.includes('AgentsencodeContainerTaskTaskRoleDefaultPolicy'),
    );
    // Nothing answers a task's requests to ECS here: a laptop has no container agent.
    const asksHere = ofTask.filter((one) => !JSON.stringify(one).includes('ecs:UpdateTaskProtection'));
    expect(ofTask.length).toBeGreaterThan(7);
    const requests = stage.stack.cloud.control.accessRequests();
    expect(unnoticed(asksHere, { template, stackName: SMALL_STACK, requests, mayBeIdle: [] })).toEqual([]);
    expect(new Set(asked)).toEqual(new Set(['a-token']));
    expect(stage.stack.cloud.control.calls().map(({ caller }) => caller)).toContain('task');
  });
});
