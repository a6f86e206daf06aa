/** Lists of executions: every filter, and refused combinations of filters. */

import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { memoryBreakers } from '../../lib/memory/side-records.ts';
import { anExecution } from '../contract/records.ts';
import { anAgent, anyObject } from '../engine/harness.ts';
import { client } from './app.ts';

const refusal = (code: string): object => ({ error: expect.objectContaining({ code }) });

describe('GET /executions', () => {
  it('lists page by page, latest first, with a filter', async () => {
    const { begun, get, clock, post } = client();
    const ids: string[] = [];
    for (let at = 0; at < 5; at += 1) {
      clock.advanceTo(clock.now() + 1);
      ids.unshift(await begun());
    }
    await post(`/executions/${ids[1]}/cancel`);
    const first = await get('/executions?workflow=flow&limit=3');
    const cursor = encodeURIComponent(String(first.body['cursor']));
    const second = await get(`/executions?workflow=flow&limit=3&cursor=${cursor}`);
    const idsOf = (of: typeof first) =>
      (of.body['items'] as { executionId: string }[]).map((it) => it.executionId);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids);
    expect(second.body).not.toHaveProperty('cursor');
    expect(idsOf(await get('/executions?status=canceled'))).toEqual([ids[1]]);
    expect(JSON.stringify(first.body)).not.toContain('orderId');
  });

  it('finds what is open, at risk, ended without success, by code, plan, time and start key', async () => {
    const { get, clock, post } = client();
    const begin = async (idempotencyKey: string): Promise<string> => {
      clock.advanceTo(clock.now() + 1_000);
      const answer = await post('/workflows/flow/executions', { input: { orderId: 'o' }, idempotencyKey });
      return String(answer.body['executionId']);
    };
    const [one, two] = [await begin('k-1'), await begin('k-2')];
    const startedAt = clock.now();
    await post(`/executions/${one}/cancel`);
    const found = async (query: string): Promise<unknown> =>
      ((await get(`/executions?${query}`)).body['items'] as { executionId: string }[]).map(
        ({ executionId }) => executionId,
      );
    expect(await found('status=open')).toEqual([two]);
    expect(await found('status=bad')).toEqual([one]);
    expect(await found('code=canceled&status=bad&workflow=flow')).toEqual([one]);
    expect(await found(`since=${startedAt}`)).toEqual([two]);
    expect(await found(`until=${startedAt}`)).toEqual([one]);
    expect(await found('workflow=flow&key=k-2')).toEqual([two]);
    expect(await found('workflow=flow&key=k-3')).toEqual([]);
    expect(await found('atRisk=true')).toEqual([]);
    const [{ plan, wakeAt }] = (await get('/executions?status=open')).body['items'] as [
      { plan: string; wakeAt: number },
    ];
    expect(await found(`plan=${plan}`)).toEqual([two]);
    expect(await found('plan=old')).toEqual([]);
    clock.advanceTo(wakeAt + 4_999);
    expect((await get('/overview')).body).not.toHaveProperty('oldestOverdue');
    clock.advanceTo(wakeAt + 60_000);
    const risky = await get('/executions?atRisk=true');
    expect(risky.body).toMatchObject({
      items: [{ executionId: two, riskSince: wakeAt + 60_000 }],
      orderedBy: 'startedAt',
    });
    const bad = await get('/executions?status=canceled');
    expect(bad.body).toMatchObject({ items: [{ code: 'canceled' }], orderedBy: 'endedAt' });
  });

  it.each([
    ['limit=0', 'bad-request'],
    ['limit=101', 'bad-request'],
    ['limit=1000', 'bad-request'],
    ['limit=-1', 'bad-request'],
    ['limit=1e1', 'bad-request'],
    ['limit=5.5', 'bad-request'],
    ['limit=x', 'bad-request'],
    ['limit=', 'bad-request'],
    ['status=done', 'bad-request'],
    ['atRisk=false', 'bad-request'],
    ['atRisk=true&status=bad', 'bad-request'],
    ['key=k-1', 'bad-request'],
    ['key=k-1&workflow=flow&status=open', 'bad-request'],
    ['since=yesterday', 'bad-request'],
    ['since=5', 'bad-request'],
    ['since=2000000000000&until=2000000000000', 'bad-request'],
    // Seconds instead of milliseconds.
    ['until=1764158400', 'bad-request'],
    ['status=open&cursor=x', 'bad-cursor'],
    ['status=bad&cursor=x', 'bad-cursor'],
    ['status=toString', 'bad-request'],
    ['colour=red', 'bad-request'],
    ['__proto__=1', 'bad-request'],
    ['cursor=x', 'bad-cursor'],
    ['cursor=', 'bad-cursor'],
    ['cursor=nobody:5.e-1', 'bad-cursor'],
    ['cursor=flow:x', 'bad-cursor'],
    ['cursor=flow:-1.e-1', 'bad-cursor'],
    ['cursor=flow:%7B%7D', 'bad-cursor'],
    [`cursor=${'x'.repeat(6_001)}`, 'bad-request'],
    [`workflow=${'x'.repeat(49)}`, 'bad-request'],
  ])('with %s is refused as %s', async (query, code) => {
    const { get } = client();
    expect(await get(`/executions?${query}`)).toMatchObject({ status: 400, body: refusal(code) });
  });

  it('with a limit that is too high names what is allowed', async () => {
    const { get } = client();
    for (const limit of ['1000', '99999999'])
      expect((await get(`/executions?limit=${limit}`)).body['error']).toMatchObject({
        message: `limit is "${limit}"; allowed: 1 to 100, and the answer's cursor asks for more`,
      });
  });

  it('for an unknown workflow is a 404', async () => {
    const { get } = client();
    expect(await get('/executions?workflow=nobody')).toMatchObject({
      status: 404,
      body: refusal('unknown-workflow'),
    });
  });
});

it('GET /executions?plan=old finds what runs a plan with which nothing new starts', async () => {
  const { begun, get, store } = client();
  await begun();
  await store.create(anExecution({ id: 'e-old', workflow: 'flow', plan: 'hash-1' }));
  const ids = async (query: string): Promise<unknown[]> =>
    ((await get(`/executions?${query}`)).body['items'] as { executionId: string }[]).map(
      ({ executionId }) => executionId,
    );
  expect(await ids('plan=old')).toEqual(['e-old']);
  expect(await ids('plan=old&workflow=flow')).toEqual(['e-old']);
  expect(await ids('plan=old&atRisk=true&until=978307200000')).toEqual([]);
  expect(await ids('plan=old&status=bad')).toEqual([]);
});

describe('GET /executions?tag=', () => {
  const found = workflow('found', { input: anyObject, within: '1h', tags: ['order', 'paid'] }, (w) => {
    w.step('a', anAgent('worker'), {});
  }) as Workflow;

  it('finds by a tag of the start, else by the field of the input, that the workflow names', async () => {
    const { get, post } = client(undefined, undefined, found);
    const begin = async (body: object): Promise<string> =>
      String((await post('/workflows/found/executions', body)).body['executionId']);
    const one = await begin({ input: { order: 4711, paid: false, name: 'Ada' } });
    const two = await begin({ input: { order: 5 }, tags: { order: '4711', shop: 'b' } });
    await begin({ input: { order: { id: 4711 }, paid: 'x'.repeat(201) } });
    const ids = async (tag: string): Promise<ReadonlySet<string>> => {
      const { body } = await get(`/executions?tag=${encodeURIComponent(tag)}`);
      return new Set((body['items'] as { executionId: string }[]).map(({ executionId }) => executionId));
    };
    expect(await ids('order:4711')).toEqual(new Set([one, two]));
    expect(await ids('paid:false')).toEqual(new Set([one]));
    expect(await ids('order:[object Object]')).toEqual(new Set());
    expect((await get(`/executions/${one}`)).body).toMatchObject({ tags: { order: '4711', paid: 'false' } });
    expect((await get('/workflows/found')).body).toMatchObject({ search: ['order', 'paid'] });
  });

  it.each([
    ['tag=shop:b', /no workflow has 'shop' in its tags; there are: order, paid/],
    ['tag=order', /name:value/],
    ['tag=order:', /name:value/],
    ['tag=order:1&code=x', /tag and code do not go together/],
  ])('with %s is refused', async (query, message) => {
    const { get } = client(undefined, undefined, found);
    const { status, body } = await get(`/executions?${query}`);
    expect([status, body['error']]).toEqual([400, expect.objectContaining({ code: 'bad-request' })]);
    expect((body['error'] as { message: string }).message).toMatch(message);
  });
});

describe('GET /overview', () => {
  it('counts all that is at risk, also where more is open than is counted', async () => {
    const { begun, get, clock } = client(undefined, (world) => {
      const survey: typeof world.store.survey = async (since, workflows) => {
        const all = await world.store.survey(since, workflows);
        return { ...all, open: { items: all.open.items.slice(0, 1), atLeast: true } };
      };
      return { ...world, store: Object.assign(Object.create(world.store), { survey }) };
    });
    for (let count = 0; count < 3; count += 1) await begun();
    const fresh = (await get('/overview')).body;
    expect(fresh).toMatchObject({ open: { count: 1, atLeast: true, atRisk: 0 } });
    expect(fresh['open']).not.toHaveProperty('moreAtRisk');
    clock.advanceTo(clock.now() + 86_400_000);
    const { body } = await get('/overview');
    expect(body).toMatchObject({ open: { count: 1, atLeast: true, atRisk: 3 }, workflows: [{ atRisk: 3 }] });
  });

  it('counts what is open, at risk, asked and ended without success, by status, workflow and code', async () => {
    const { begun, get, clock, post, receipts } = client();
    expect((await get('/overview')).body).toMatchObject({
      health: { status: 'healthy', findings: [] },
      open: { count: 0, atRisk: 0, byStatus: {} },
      endedWithoutSuccess: { count: 0, byStatus: {}, byCode: [] },
      inbox: { count: 0, byKind: {} },
      workflows: [{ workflow: 'flow', open: 0, plans: [] }],
      breakers: [],
      missing: [],
    });
    const [one, two] = [await begun(), await begun()];
    await post(`/executions/${one}/cancel`);
    await post(`/executions/${two}/pause`);
    const three = await begun();
    const sweptAt = clock.now();
    const swept = { kind: 'shard', shard: 0, version: 1, writeId: 'w', sweptAt, due: 1, failed: 0 } as const;
    await receipts.write({ ...swept, oldestOverdueMs: 0 });
    const listed = (await get('/executions?status=open&workflow=flow')).body['items'] as { wakeAt: number }[];
    const wakeAt = Math.min(...listed.map((each) => each.wakeAt));
    clock.advanceTo(wakeAt + 60_000);
    const { body } = await get('/overview');
    const flow = { workflow: 'flow', open: 2, waiting: 0, paused: 1, atRisk: 1, endedWithoutSuccess: 1 };
    expect(body).toMatchObject({
      at: clock.now(),
      health: { status: expect.stringMatching(/degraded|down/) },
      open: { count: 2, atRisk: 1, byStatus: { paused: 1, running: 1 } },
      oldestOverdue: { workflow: 'flow', wakeAt },
      endedWithoutSuccess: {
        count: 1,
        started: { count: 3 },
        byStatus: { canceled: 1 },
        byCode: [{ code: 'canceled', count: 1 }],
      },
      lately: { since: clock.now() - 3_600_000, started: 3, endedWithoutSuccess: 1 },
      workflows: [{ ...flow, lately: { started: 3, endedWithoutSuccess: 1 } }],
      sweptAt,
    });
    expect([two, three]).toContain((body['oldestOverdue'] as { executionId: string }).executionId);
    clock.advanceTo(clock.now() + 7_200_000);
    await begun();
    expect((await get('/overview')).body['lately']).toMatchObject({ started: 1, endedWithoutSuccess: 0 });
    clock.advanceTo(clock.now() + 86_400_001);
    const later = (await get('/overview')).body['endedWithoutSuccess'];
    expect(later).toMatchObject({ count: 0 });
    expect(later).not.toHaveProperty('started');
  });

  it('says the worst first, in one sentence: which agent, since when, answering what, how many wait, and until when', async () => {
    const breakers = memoryBreakers();
    const { get, store, clock } = client(undefined, (world) => ({ ...world, breakers }));
    const now = clock.now();
    const failure = { code: 'TransientError', message: 'it answered 500' };
    const opened = { openedAt: now - 30_000, openUntil: now + 9_000, failingSince: now - 240_000, failure };
    const blank = { version: 1, writeId: 'w', score: 8, failedAt: now, cooldowns: 1 };
    await breakers.write({ agent: 'worker', ...blank, ...opened });
    const risk = { why: 'breaker', step: 'b', agent: 'worker' } as const;
    const open = { workflow: 'flow', wakeAt: now + 5_000, startedAt: now, riskSince: now - 10, risk };
    for (const [at, id] of ['e-1', 'e-2', 'e-3'].entries())
      await store.create(anExecution({ ...open, id, deadlineAt: now + (at + 1) * 3_600_000 }));
    await store.create(anExecution({ ...open, id: 'e-4', risk: { why: 'last-try', step: 'a' } }));
    const since = `${new Date(now - 240_000).toISOString().slice(0, 19).replace('T', ' ')}Z`;
    const worst = { kind: 'breaker', agent: 'worker', since: now - 240_000, failure, waiting: 3 };
    for (const path of ['/overview', '/health']) {
      const { status, body } = await get(path);
      const health = path === '/health' ? body : body['health'];
      expect([status, health]).toMatchObject([
        200,
        {
          status: 'degraded',
          says: `Agent 'worker' has been failing since ${since} (4 min) (TransientError: it answered 500); 3 executions wait for it; the first reaches its deadline in 1 h; fix its service and nothing else: they continue by themselves once it answers (at once: npx steadfast agents try-now worker). And 1 more.`,
          findings: [
            { ...worst, runsOutAt: now + 3_600_000 },
            { kind: 'at-risk', waiting: 1, why: 'last-try' },
          ],
        },
      ]);
    }
    expect((await get('/executions?atRisk=true')).body['items']).toMatchObject([
      { executionId: 'e-4', step: 'a', risk: { why: 'last-try' } },
      { executionId: 'e-3', step: 'b', risk },
      { executionId: 'e-2', step: 'b', risk },
      { executionId: 'e-1', step: 'b', risk },
    ]);
  });

  it('counts an execution for each agent that it waits for, and what is overdue as that', async () => {
    const breakers = memoryBreakers();
    const { get, store, clock } = client(undefined, (world) => ({ ...world, breakers }));
    const now = clock.now();
    const opened = { openedAt: now - 30_000, openUntil: now + 9_000, failingSince: now - 240_000 };
    const blank = { version: 1, writeId: 'w', score: 8, failedAt: now, cooldowns: 1 };
    await breakers.write({ agent: 'worker', ...blank, ...opened });
    const open = { workflow: 'flow', wakeAt: now + 5_000, startedAt: now, riskSince: now - 10 };
    const both = { why: 'unclaimed', step: 'a', agent: 'sleeper', agents: ['worker'] } as const;
    await store.create(anExecution({ ...open, id: 'e-1', risk: both }));
    const asleep = { why: 'unclaimed', step: 'a', agent: 'sleeper' } as const;
    await store.create(anExecution({ ...open, id: 'e-2', risk: asleep }));
    const { findings } = (await get('/health')).body as { findings: object[] };
    expect(findings).toMatchObject([
      { kind: 'breaker', agent: 'worker', waiting: 1 },
      { kind: 'at-risk', why: 'unclaimed', agent: 'sleeper', since: now - 10, waiting: 1 },
    ]);
    clock.advanceTo(now + 200_000);
    expect((await get('/health')).body['findings']).toMatchObject([{ kind: 'overdue', waiting: 2 }, {}]);
  });

  it('is well beside a breaker that is closed, and beside an agent that is paused and not needed', async () => {
    const breakers = memoryBreakers();
    const { get, clock } = client(undefined, (world) => ({ ...world, breakers }));
    const now = clock.now();
    const blank = { version: 1, writeId: 'w', score: 1, failedAt: now, cooldowns: 0 };
    await breakers.write({
      agent: 'worker',
      ...blank,
      failingSince: now - 9,
      pause: { at: now, reason: 'a move' },
    });
    expect((await get('/overview')).body['health']).toMatchObject({ status: 'healthy', findings: [] });
  });

  it('calls no workflow gone that steps of others run', async () => {
    const inner = workflow('inner', { input: anyObject as never, within: '5m' }, (w) => {
      w.wait('rest', { for: '1m' });
    });
    const outer = workflow('outer', { input: anyObject as never, within: '1h' }, (w) => {
      w.child('it', inner, {});
    }) as Workflow;
    const { get, store } = client(undefined, undefined, outer);
    await store.create(anExecution({ workflow: 'inner' }));
    const [child] = (await get('/overview')).body['workflows'] as object[];
    expect(child).toMatchObject({ workflow: 'inner', open: 1, isChild: true });
    expect(child).not.toHaveProperty('isGone');
  });

  it('says of which workflow there is something left that can be started no more', async () => {
    const { get, store } = client();
    await store.create(anExecution({ workflow: 'gone' }));
    const { workflows } = (await get('/overview')).body;
    expect(workflows).toEqual([
      expect.not.objectContaining({ isGone: true }),
      expect.objectContaining({ workflow: 'gone', open: 1, isGone: true }),
    ]);
  });
});
