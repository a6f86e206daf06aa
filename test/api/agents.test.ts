/** GET /agents: queues, breakers, latest failures; what cannot be asked is left out. */

import type { Breaker } from '../../lib/core/breaker.ts';
import type { Ports, Queue } from '../../lib/core/ports.ts';
import { memoryBreakers } from '../../lib/testing/memory-breakers.ts';
import type { MemoryWorld } from '../../lib/testing/memory.ts';
import { client } from './app.ts';

const T = 1_700_000_000_000;
const open: Breaker = {
  agent: 'worker',
  version: 1,
  writeId: 'w',
  score: 8,
  failedAt: T - 10,
  failure: { code: 'TransientError', message: '503' },
  openedAt: T - 1_000,
  openUntil: T + 5_000,
  cooldowns: 1,
};
const depth = { waiting: 3, underWork: 2, delayed: 1 };

async function asked(breaker?: Breaker, depths?: Queue['depths']) {
  const breakers = memoryBreakers();
  if (breaker !== undefined) await breakers.write(breaker);
  const wrap = (world: MemoryWorld): Ports => ({
    ...world,
    breakers,
    queue: { ...world.queue, ...(depths === undefined ? {} : { depths }) },
  });
  const { status, body } = await client(undefined, wrap).get('/agents');
  expect(status).toBe(200);
  return body['items'];
}

it('tells of a healthy agent what it is and that its breaker is closed', async () => {
  expect(await asked()).toEqual([
    { name: 'worker', effect: 'idempotent', workflows: ['flow'], breaker: { status: 'closed' } },
  ]);
});

it('tells of an agent in trouble since when, until when, why, and what waits for it', async () => {
  expect(await asked(open, async () => ({ worker: depth }))).toMatchObject([
    {
      queue: depth,
      breaker: { status: 'open', since: T - 1_000, until: T + 5_000 },
      lastError: { code: 'TransientError', message: '503', at: T - 10 },
    },
  ]);
});

it('tells a half-open breaker, and whether a trial is under way', async () => {
  const half = { ...open, openUntil: T };
  expect(await asked(half)).toMatchObject([{ breaker: { status: 'half-open', since: T - 1_000 } }]);
  const trying = { ...half, trial: 'w-9', trialUntil: T + 9_000 };
  expect(await asked(trying)).toMatchObject([{ breaker: { status: 'half-open', trialUntil: T + 9_000 } }]);
});

it('leaves out a queue that cannot be asked', async () => {
  const items = (await asked(open, () => Promise.reject(new Error('no')))) as object[];
  expect(items[0]).not.toHaveProperty('queue');
});
