/**
 * Status machines of 50 messages each, on the local cloud while agents, schedulers and supervisors are killed
 * at random, and on a server that is killed again and again: each message is taken once, in the order in
 * which it was sent (M1, M2, M3). More of them are played by
 * `EXECUTIONS=200 npm run test:nightly -- messages --testTimeout 7200000`.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startCloud } from 'steadfast/testing';
import { drawsOf } from '../../kit/cloud/random.ts';
import { type Client, createClient } from '../../lib/client.ts';
import { freePort } from '../../local/processes/free-port.ts';
import type { machine } from './machine/workflow.ts';

const EXECUTIONS = Number(process.env['EXECUTIONS'] ?? 3);
const SEED = Number(process.env['SEED'] ?? 57);
const MESSAGES = 50;
const KILLED_EVERY_MS = 2_000;
const SERVER = join(import.meta.dirname, '../../bin/steadfast.cjs');

type Machines = { machine: typeof machine };
const IN_ORDER = Array.from({ length: MESSAGES }, (_, index) => index + 1);

/** Sends until it is answered, under one id. */
async function sent(client: Client<Machines>, executionId: string, n: number): Promise<void> {
  const move = { n, isLast: n === MESSAGES };
  for (;;) {
    const sending = client.send({ executionId }, 'move', move, { id: `move-${n}` });
    const answer = await sending.catch(() => undefined);
    if (answer === undefined) continue;
    expect(answer.order).toBe(n);
    return;
  }
}

async function played(client: Client<Machines>, index: number): Promise<unknown> {
  const { executionId } = await client.start('machine', { input: {}, idempotencyKey: `m-${index}` });
  for (const n of IN_ORDER) await sent(client, executionId, n);
  const { status, output } = await client.waitForEnd(executionId);
  return { status, output };
}

async function judged(client: Client<Machines>, kills: { count: () => number; stop: () => unknown }) {
  const all = Array.from({ length: EXECUTIONS }, (_, index) => played(client, index));
  const ends = await Promise.all(all).finally(() => kills.stop());
  expect(ends).toEqual(ends.map(() => ({ status: 'succeeded', output: { seen: IN_ORDER } })));
  expect(kills.count()).toBeGreaterThan(0);
  process.stdout.write(`${ends.length * MESSAGES} messages, ${kills.count()} kills\n`);
}

test('on the local cloud each message is taken once, in order, whatever is killed', async () => {
  const cloud = await startCloud<Machines>({ workflows: 'test/e2e', only: ['machine'] });
  try {
    await judged(cloud.client, cloud.killAtRandom({ seed: SEED, everyMs: KILLED_EVERY_MS }));
  } finally {
    await cloud.stop();
  }
});

test('on a server each message is taken once, in order, however often it is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-machine-'));
  const port = await freePort();
  const data = join(folder, 'state.db');
  const args = [SERVER, 'serve', join(import.meta.dirname, 'machine'), '--data', data, '--port', `${port}`];
  const live = (): ChildProcess => spawn(process.execPath, args, { stdio: 'ignore' });
  const draws = drawsOf(SEED, 1);
  let server = live();
  let killed = 0;
  const stopping = new AbortController();
  const killing = (async () => {
    while (!stopping.signal.aborted) {
      await setTimeout(draws.between(KILLED_EVERY_MS, 3 * KILLED_EVERY_MS));
      const gone = once(server, 'exit');
      server.kill('SIGKILL');
      await gone;
      killed += 1;
      server = live();
    }
  })();
  try {
    const client = createClient<Machines>({ url: `http://127.0.0.1:${port}`, retryForMs: 300_000 });
    await judged(client, { count: () => killed, stop: () => stopping.abort() });
  } finally {
    stopping.abort();
    await killing;
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
