/** GET /agents: queues, breakers, latest failures; a part that cannot be read is left out. */

import * as z from 'zod/mini';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Breaker } from '../../lib/core/step/breaker.ts';
import type { Ports, Queue } from '../../lib/core/ports.ts';
import { memoryBreakers, memoryRates } from '../../lib/memory/side-records.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { TroubleBook } from '../../serve/worker-troubles.ts';
import { overviewText } from '../../cli/print-overview.ts';
import { agentsText } from '../../lib/view/deployment.ts';
import { client, flow } from './app.ts';

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

it('tells how many attempts wait for its rate, also in the overview', async () => {
  const rates = memoryRates();
  const lastTurnOf = { a: T + 20_000, b: T + 20_000 };
  await rates.write({ agent: 'worker', version: 1, writeId: 'w', perSecond: 2, givenUntil: T, lastTurnOf });
  const c = client(undefined, (world) => ({ ...world, rates }));
  const rateQueue = { waiting: 40, perSecond: 2, lastTurnAt: T + 20_000 };
  expect((await c.get('/agents')).body['items']).toMatchObject([{ name: 'worker', rateQueue }]);
  const { body } = await c.get('/overview');
  expect(body['rateQueues']).toEqual([{ agent: 'worker', ...rateQueue }]);
  const shown = agentsText((await c.get('/agents')).body as never, T);
  expect(shown).toMatch(/FOR ITS RATE.*\n.*about 40 \(2\/s\), the last in 20 s/);
  expect(overviewText(body as never, (line) => line)).toMatch(
    /for its rate +agent 'worker': about 40 \(2\/s\), the last in 20 s\n/,
  );
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

it('counts on demand the open executions that have an agent in their plan, deployed or not', async () => {
  const c = client();
  expect((await c.get('/agents')).body).not.toHaveProperty('needed');
  expect((await c.get('/agents?needed=true')).body['needed']).toEqual({ agents: [], examined: 0 });
  await c.begun();
  await c.begun({ input: { orderId: 'o-2' } });
  expect((await c.get('/agents?needed=true')).body['needed']).toEqual({
    agents: [{ name: 'worker', executions: 2 }],
    examined: 2,
  });
  expect((await c.get('/agents?needed=yes')).status).toBe(400);
});

it('counts on demand the open executions of a workflow that are in its lane', async () => {
  const lane = {
    key: (input: object) => (input as { orderId: never }).orderId,
    limit: 1,
    waitWithin: '1h',
  } as const;
  const worker = flow.agents[0] as never;
  const served = workflow(
    'flow',
    { input: z.object({ orderId: z.string() }), within: '1h', concurrency: { ...lane, group: 'orders' } },
    (w) => void w.step('a', worker, {}, { recovery: [retry(0)] }),
  );
  const c = client(undefined, undefined, served as Workflow);
  for (const orderId of ['o-1', 'o-1', 'o-2']) await c.begun({ input: { orderId } });
  expect((await c.get('/agents?needed=true')).body['needed']).toMatchObject({
    lanes: [{ workflow: 'flow', lane: 'orders', executions: 3 }],
    examined: 3,
  });
});

test('attempts whose processes went silent are said of their agent, of the deployment and of neither later', async () => {
  const c = client();
  const [since, at] = [c.clock.now() - 60_000, c.clock.now()];
  const swept = { shard: 0, version: 1, writeId: 'w', due: 1, failed: 0, oldestOverdueMs: 0, sweptAt: at };
  await c.receipts.write({ ...swept, lost: { worker: { attempts: 3, since, at } } });
  const shown = async () => ((await c.get('/agents')).body['items'] as { name: string; lost?: object }[])[0];
  expect(await shown()).toMatchObject({ name: 'worker', lost: { attempts: 3, since, at } });
  const finding = { kind: 'lost', agent: 'worker', since, calls: 3, lastAt: at };
  for (const body of [(await c.get('/health')).body, (await c.get('/overview')).body['health']])
    expect(body).toMatchObject({ status: 'degraded', findings: [finding] });
  c.clock.advanceTo(at + 600_001);
  expect(await shown()).not.toHaveProperty('lost');
  expect((await c.get('/health')).body['findings']).toEqual([]);
});

test('what agents do to processes that they share is said at once, beside what supervisors have met', async () => {
  const now = T;
  const book = new TroubleBook();
  const workerTroubles = () => book.now(now);
  const c = client(undefined, (world: MemoryWorld): Ports => ({ ...world, workerTroubles }));
  const findings = async () => (await c.get('/health')).body['findings'];
  expect(await findings()).toEqual([]);
  book.ended({ atWork: ['other', 'worker'], now, why: 'signal SIGKILL' });
  book.ended({ atWork: ['worker'], now: now + 1, why: 'signal SIGKILL' });
  book.lost('worker', now + 2, { why: 'exit code 7', file: 'agents/worker.ts', isAlone: true });
  const known = { since: now + 2, lastAt: now + 2, calls: 1, file: 'agents/worker.ts', isAlone: true };
  const ended = { since: now, lastAt: now + 1, calls: 2, oneOf: ['worker', 'other'] };
  expect(await findings()).toMatchObject([
    { kind: 'lost', agent: 'worker', ...known, failure: { code: 'process-died', message: 'exit code 7' } },
    { kind: 'worker', ...ended, failure: { message: 'signal SIGKILL' } },
  ]);
  expect((await c.get('/agents')).body['items']).toMatchObject([
    { lost: { attempts: 1, why: 'exit code 7' } },
  ]);
  expect(book.now(now + 600_003)).toEqual({ lost: new Map(), ends: [] });
});

describe('an agent that is not deployed', () => {
  const receipt = { shard: 0, version: 1, writeId: 'w', due: 1, failed: 0, oldestOverdueMs: 0 };
  const without = (...gone: readonly string[]) =>
    client(undefined, (world) => ({
      ...world,
      queue: { ...world.queue, reaches: (agent: string) => !gone.includes(agent) },
    }));
  const missing = async (c: ReturnType<typeof client>) => {
    const { body } = await c.get('/agents');
    return [body['missing'], body['examined']];
  };

  it('is listed with the open executions that have it in their plan', async () => {
    const c = without('worker');
    expect(await missing(c)).toEqual([[], 0]);
    await c.begun();
    await c.begun({ input: { orderId: 'o-2' } });
    expect(await missing(c)).toEqual([[{ name: 'worker', waiting: 0, planned: 2 }], 2]);
    // An ended execution has nothing open.
    expect(await missing(without())).toEqual([[], 0]);
  });

  it('is listed with the executions that wait for it, as supervisors have met them of late', async () => {
    const c = without('gone', 'lost');
    await c.begun();
    const since = c.clock.now() - 60_000;
    const found = { missing: { gone: 3, worker: 2 }, missingSince: { gone: since, worker: since } };
    await c.receipts.write({ ...receipt, sweptAt: c.clock.now(), ...found });
    const waiting = { name: 'gone', waiting: 3, since, planned: 0 };
    expect(await missing(c)).toEqual([[waiting], 1]);
    expect(await c.get('/health')).toMatchObject({
      status: 503,
      body: {
        status: 'down',
        says: expect.stringMatching(
          /^Agent 'gone' has not been deployed since .* \(1 min\); 3 executions wait for it; deploy it again/,
        ),
        missing: { gone: 3 },
        missingSince: { gone: since },
      },
    });
    expect((await c.get('/overview')).body).toMatchObject({
      missing: [{ agent: 'gone', waiting: 3, since }],
    });
    c.clock.advanceTo(c.clock.now() + 180_000);
    expect(await missing(c)).toEqual([[waiting], 1]);
    c.clock.advanceTo(c.clock.now() + 1);
    expect(await missing(c)).toEqual([[], 1]);
  });

  it('makes the health no better than a supervisor that is away, and is good for nothing once it is deployed', async () => {
    const late = without('gone');
    await late.begun();
    await late.receipts.write({ ...receipt, sweptAt: late.clock.now() + 125_000, missing: { gone: 1 } });
    late.clock.advanceTo(late.clock.now() + 10_000 + 120_001);
    const { findings } = (await late.get('/health')).body;
    expect(findings).toMatchObject([{ kind: 'overdue' }, { kind: 'missing', agent: 'gone' }]);
    const back = without();
    await back.receipts.write({ ...receipt, sweptAt: back.clock.now(), missing: { gone: 3 } });
    const { status, body } = await back.get('/health');
    expect([status, body['status']]).toEqual([200, 'healthy']);
    expect(body).not.toHaveProperty('missing');
  });

  it('is said by why, which asks nobody', async () => {
    const c = without('worker');
    const id = await c.begun();
    const { body } = await c.get(`/executions/${id}/why`);
    expect(body['next']).toMatchObject({ who: 'person', what: expect.stringContaining("no agent 'worker'") });
    expect(body['warnings']).toMatchObject([
      expect.stringMatching(/^no agent 'worker' is deployed, and step 'a' needs it/),
      expect.stringMatching(/^no agent 'worker' is deployed, and step 'b' may need it yet/),
    ]);
  });

  it('is searched for in at most 100 executions; unreadable ones are left out', async () => {
    const reads: string[] = [];
    const c = client(undefined, (world) => ({
      ...world,
      queue: { ...world.queue, reaches: () => false },
      store: Object.assign(Object.create(world.store), {
        readExecution: async (id: string) => {
          reads.push(id);
          if (id === 'e-1') throw new Error('newer');
          return world.store.readExecution(id);
        },
      }),
    }));
    for (let at = 0; at < 101; at += 1) await c.begun();
    expect(await missing(c)).toEqual([[{ name: 'worker', waiting: 0, planned: 99 }], 99]);
    expect(reads).toHaveLength(100);
  });
});

it('a supervisor that is late is said by why, until it has looked', async () => {
  const c = client();
  const id = await c.begun();
  c.clock.advanceTo(c.clock.now() + 10_000 + 70_001);
  const { body } = await c.get(`/executions/${id}/why`);
  expect(body['warnings']).toMatchObject([
    expect.stringMatching(/^the supervisor is late: .* 1 min 10 s ago/),
  ]);
  await c.sweep();
  expect((await c.get(`/executions/${id}/why`)).body['warnings']).toEqual([]);
});

it('is paused and resumed, and says by whom and why; another name is refused', async () => {
  const c = client(undefined, (world) => ({ ...world, breakers: memoryBreakers() }));
  const pause = { at: c.clock.now(), reason: 'asked to' };
  const paused = await c.post('/agents/worker/pause', { reason: 'asked to' });
  const breaker = { status: 'paused', since: pause.at, pause };
  expect([paused.status, paused.body]).toEqual([202, { agent: 'worker', breaker }]);
  expect((await c.get('/agents')).body['items']).toMatchObject([{ name: 'worker', breaker }]);
  const resumed = await c.post('/agents/worker/resume');
  const closed = { status: 'closed', lastPause: { ...pause, endedAt: c.clock.now() } };
  expect([resumed.status, resumed.body]).toEqual([202, { agent: 'worker', breaker: closed }]);
  expect(await c.post('/agents/gone/pause')).toMatchObject({
    status: 404,
    body: { error: { code: 'unknown-agent' } },
  });
});
