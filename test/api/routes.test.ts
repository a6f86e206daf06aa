/** Queries and commands over HTTP; no request is answered with a 500. */

import * as fc from 'fast-check';
import { withStore } from '../engine/process.ts';
import { check } from '../core/check.ts';
import type { AgentStep } from '../../lib/core/plan/plan.ts';
import { workflowSteps } from '../../lib/api/workflow-view.ts';
import { client, flow } from './app.ts';

const refusal = (code: string, message = /./) => ({
  error: expect.objectContaining({ code, message: expect.stringMatching(message) }),
});

describe('GET /executions/{id}', () => {
  it('shows the execution with its steps and attempts, and nothing that only the roles need (S17)', async () => {
    const { begun, run, get } = client();
    const id = await begun();
    await run(id);
    const { body } = await get(`/executions/${id}`);
    expect(body).toMatchObject({
      executionId: id,
      workflow: 'flow',
      status: 'succeeded',
      input: { orderId: 'o-1' },
      output: { order: 'o-1' },
      steps: [
        {
          name: 'a',
          agent: 'worker',
          after: [],
          status: 'done',
          attempts: [
            { number: 1, variant: 1, agent: 'worker', outcome: 'done', idempotencyKey: expect.any(String) },
          ],
        },
        { name: 'b', agent: 'worker', after: ['a'], status: 'done', output: { ok: true } },
      ],
    });
    expect(JSON.stringify(body)).not.toMatch(/token|writeId|inputHash|dispatch|"version"/);
  });

  it('shows what waits as ready or pending', async () => {
    const { begun, get } = client();
    const { body } = await get(`/executions/${await begun()}`);
    expect(body['steps']).toMatchObject([{ status: 'ready' }, { status: 'pending' }]);
  });

  it.each(['nobody', 'A', 'a%23b', '..', '%2e%2e', '__proto__', 'x'.repeat(100), '%00', '%E0%A4%A', '💥'])(
    'of %j is a 404',
    async (id) => {
      const { get } = client();
      for (const path of [`/executions/${id}`, `/executions/${id}/why`, `/executions/${id}?wait=1s`]) {
        expect((await get(path)).status).toBe(404);
      }
    },
  );

  it('waits for the end if asked to', async () => {
    const { begun, run, get, clock } = client();
    const id = await begun();
    const waited = get(`/executions/${id}?wait=20s`);
    await run(id, { supervised: false });
    clock.advanceTo(clock.now() + 20_000);
    expect((await waited).body['status']).toBe('succeeded');
  });

  it.each(['soon', '', '0s', '-1s', '5', '20 s', '1'.repeat(5_000)])(
    'with wait=%j is refused',
    async (wait) => {
      const { begun, get } = client();
      const answer = await get(`/executions/${await begun()}?wait=${encodeURIComponent(wait)}`);
      expect(answer).toMatchObject({ status: 400, body: refusal('bad-duration', /wait/) });
    },
  );
});

describe('GET /executions/{id}/why', () => {
  it('says what happened and what happens next', async () => {
    const { begun, run, get } = client();
    const id = await begun();
    const open = await get(`/executions/${id}/why`);
    expect(open).toMatchObject({ status: 200, body: { executionId: id, status: 'running' } });
    await run(id);
    expect((await get(`/executions/${id}/why`)).body).toMatchObject({
      status: 'succeeded',
      next: { what: 'nothing: it has ended, and its end is announced' },
    });
  });
});

describe('POST /executions/{id}/cancel', () => {
  const work = new Promise<never>(() => undefined);
  it('cancels, and again is the same; without a body too', async () => {
    const { begun, run, post } = client(() => work);
    const id = await begun();
    await run(id, { until: ({ steps }) => steps['a']?.status === 'running' });
    const body = { executionId: id, status: 'compensating' };
    for (const given of [{ reason: 'no', commandId: 'c' }, { commandId: 'c' }, {}, undefined]) {
      expect(await post(`/executions/${id}/cancel`, given)).toMatchObject({ status: 202, body });
    }
  });

  it('under the id of another command is a 409 that says which', async () => {
    const { begun, post } = client(() => work);
    const id = await begun();
    const commandId = 'ticket-7';
    expect(await post(`/executions/${id}/pause`, { commandId, within: '2h' })).toMatchObject({ status: 202 });
    for (const [command, given] of [
      ['cancel', { undo: false }],
      ['pause', { within: '3h' }],
      ['resume', {}],
      ['retry', { input: { orderId: 'o-2' } }],
    ] as const) {
      const answer = await post(`/executions/${id}/${command}`, { commandId, ...given });
      expect(answer).toMatchObject({ status: 409, body: refusal('key-reused', /that of 'pause'.*new id/) });
      expect(answer.body['error']).toMatchObject({ details: { executionId: id, command: 'pause' } });
    }
    const again = { commandId, within: '120m', reason: 'in other words' };
    expect(await post(`/executions/${id}/pause`, again)).toMatchObject({ status: 202 });
  });

  it('after the end is a 409 that says why', async () => {
    const { begun, run, post } = client();
    const id = await begun();
    await run(id);
    const answer = await post(`/executions/${id}/cancel`);
    expect(answer).toMatchObject({ status: 409, body: refusal('not-cancelable', /has succeeded/) });
    expect(answer.body['error']).toMatchObject({ details: { status: 'succeeded' } });
  });

  it('for an unknown execution is a 404', async () => {
    const { post } = client();
    expect(await post('/executions/nobody/cancel')).toMatchObject({
      status: 404,
      body: refusal('unknown-execution'),
    });
  });

  it.each([
    ['{', 'bad-json'],
    ['[]', 'bad-request'],
    ['{"reason":5}', 'bad-request'],
    ['{"commandId":""}', 'bad-request'],
    ['{"resaon":"x"}', 'bad-request'],
    ['{"__proto__":1}', 'bad-json'],
    [`{"reason":"${'x'.repeat(501)}"}`, 'bad-request'],
  ])('with %j is refused as %s', async (body, code) => {
    const { begun, post } = client();
    const answer = await post(`/executions/${await begun()}/cancel`, body);
    expect(answer).toMatchObject({ status: 400, body: refusal(code) });
  });
});

describe('GET /workflows', () => {
  it('shows what is declared, and no input', async () => {
    const { get } = client();
    const one = {
      workflow: 'flow',
      withinMs: 3_600_000,
      steps: [{ name: 'a', undo: 'required' }, { name: 'b' }],
    };
    const { status, body } = await get('/workflows');
    expect(status).toBe(200);
    expect(body['items']).toMatchObject([one]);
    expect((await get('/workflows/flow')).body).toMatchObject(one);
    expect(JSON.stringify(body)).not.toContain('do-not-show');
  });

  it('says which step is a point of no return', () => {
    const [first, second] = flow.plan.steps;
    const steps = workflowSteps({ ...flow.plan, steps: [first!, { ...second!, pointOfNoReturn: true }] });
    expect(steps.map(({ pointOfNoReturn }) => pointOfNoReturn)).toEqual([undefined, true]);
  });

  it('says what follows a failure, stage by stage, and no input of a stage', () => {
    const tries = { attempts: 2, firstMs: 1_000, maxMs: 30_000 };
    const step = flow.plan.steps[0] as AgentStep;
    const recovery = [
      { kind: 'retry', ...tries },
      { kind: 'withInput', input: 'do-not-show', ...tries, attempts: 1 },
      { ...step, kind: 'useAgent', ...tries, agent: 'other' },
      { kind: 'askPerson', withinMs: 5_000, otherwise: 'keep' },
    ] as unknown as AgentStep['recovery'];
    const [shown, plain] = workflowSteps({
      ...flow.plan,
      steps: [
        { ...step, recovery },
        { ...step, recovery: [] },
      ],
    });
    expect(shown?.recovery).toEqual([
      { kind: 'retry', attempts: 2 },
      { kind: 'withInput', attempts: 1 },
      { kind: 'useAgent', attempts: 2, agent: 'other' },
      { kind: 'askPerson', withinMs: 5_000, otherwise: 'keep' },
    ]);
    expect(plain).not.toHaveProperty('recovery');
  });

  it.each(['nobody', 'constructor', '__proto__'])('of %s is a 404', async (name) => {
    const { get } = client();
    expect(await get(`/workflows/${name}`)).toMatchObject({ status: 404, body: refusal('unknown-workflow') });
  });
});

describe('GET /health', () => {
  it('is healthy while nothing is overdue, and unhealthy if no supervisor sweeps', async () => {
    const { begun, get, clock } = client();
    expect(await get('/health')).toMatchObject({
      status: 200,
      body: { status: 'healthy', findings: [], oldestOverdueMs: 0 },
    });
    await begun();
    clock.advanceTo(clock.now() + 10_000 + 120_001);
    const body = {
      status: 'down',
      says: expect.stringMatching(
        /^No supervisor is at work: .* \(2 min\); 1 execution waits; it reaches its deadline in /,
      ),
      findings: [{ kind: 'overdue', since: clock.now() - 120_001, waiting: 1 }],
      oldestOverdueMs: 120_001,
    };
    expect(await get('/health')).toMatchObject({ status: 503, body });
  });

  it('has what those who watch left behind, which decides nothing', async () => {
    const { begun, get, clock, receipts } = client();
    await begun();
    clock.advanceTo(clock.now() + 15_000);
    expect((await get('/health')).body).toEqual({
      status: 'healthy',
      says: 'Nothing is overdue or at risk, and each agent that is needed is there.',
      findings: [],
      oldestOverdueMs: 5_000,
      workflows: 1,
      shards: [{ shard: 0, overdueMs: 5_000 }],
    });
    const left = { sweptAt: 1, due: 3, failed: 0, oldestOverdueMs: 20 };
    await receipts.write({ shard: 0, version: 1, writeId: 'w', ...left });
    const pass = { startedAt: 2, scanned: 5, healed: 1, removed: 0, failed: 0 };
    await receipts.write({ version: 1, writeId: 'w', auditedAt: 4, segments: [{ cursor: 'secret' }], pass });
    expect((await get('/health')).body).toMatchObject({
      status: 'healthy',
      shards: [{ shard: 0, overdueMs: 5_000, receipt: left }],
      audit: { auditedAt: 4, pass },
    });
    expect(JSON.stringify((await get('/health')).body)).not.toMatch(/secret|writeId|version/);
  });
});

describe('whatever else is asked', () => {
  it.each([
    ['GET', '/'],
    ['PUT', '/executions/e-1'],
    ['DELETE', '/workflows/flow'],
    ['GET', '/workflows/flow/executions'],
    ['POST', '/executions/e-1'],
    ['GET', '/executions/e-1/cancel'],
    ['GET', '/.env'],
    ['GET', '//executions'],
  ])('%s %s is a 404', async (method, path) => {
    const { ask } = client();
    expect(await ask(path, { method })).toMatchObject({ status: 404, body: refusal('unknown-route') });
  });

  it('a failure of our own is a 500 that says nothing of it, and is noted', async () => {
    const secret = 'the table state-1 in account 123456789012 is away';
    const { begun, get, notes } = client(undefined, (world) =>
      withStore(world, () => ({ read: () => Promise.reject(new TypeError(secret)) })),
    );
    const answer = await get(`/executions/${await begun()}`);
    expect(answer).toMatchObject({ status: 500, body: refusal('internal', /try it again/) });
    expect(JSON.stringify(answer.body)).not.toContain('123456789012');
    expect(notes).toContainEqual({ what: 'request-failed', detail: 'TypeError' });
  });

  it('no body, path or query is answered with a 500', async () => {
    const { ask, begun } = client();
    const id = await begun();
    const asked: Promise<number>[] = [];
    const piece = fc.oneof(
      fc.constantFrom(
        'executions',
        'workflows',
        'flow',
        id,
        'why',
        'cancel',
        'health',
        '..',
        '__proto__',
        '%00',
        '%ff',
      ),
      fc.webSegment(),
    );
    const path = fc
      .tuple(fc.array(piece, { maxLength: 4 }), fc.webQueryParameters())
      .map(([pieces, query]) => `/${pieces.join('/')}?${query}`);
    const body = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record({ input: fc.jsonValue(), tags: fc.jsonValue() }).map((it) => JSON.stringify(it)),
    );
    check(
      fc.property(path, body, fc.constantFrom('GET', 'POST'), (where, text, method) => {
        const init = method === 'GET' ? { method } : { method, body: text };
        asked.push(ask(where, init).then(({ status }) => status));
      }),
      200,
    );
    check(
      fc.property(body, (text) => {
        asked.push(
          ask('/workflows/flow/executions', { method: 'POST', body: text }).then(({ status }) => status),
        );
      }),
      100,
    );
    for (const status of await Promise.all(asked)) expect(status).toBeLessThan(500);
  });
});
