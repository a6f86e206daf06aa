/** Pause, resume, retry and cancel over HTTP: their effects, how they are shown, refusals with a reason. */

import { withStore } from '../engine/process.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { underWayText } from '../../lib/view/deployment.ts';
import { memoryWorkflowPauses } from '../../lib/memory/side-records.ts';
import { client, FORMS } from './app.ts';

const errorOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
  status,
  body['error'],
];

describe('a pause', () => {
  it('is a command with a reason and a time; the execution, and why, show it; a resume ends it', async () => {
    const c = client();
    const id = await c.begun();
    const paused = await c.post(`/executions/${id}/pause`, { reason: 'the bank is closed', within: '2h' });
    expect([paused.status, paused.body]).toEqual([202, { executionId: id, status: 'paused' }]);
    const view = (await c.get(`/executions/${id}`)).body;
    expect(view).toMatchObject({
      status: 'paused',
      pauses: [{ number: 1, reason: 'the bank is closed', deadlineAt: c.clock.now() + 7_200_000 }],
      steps: [{ status: 'ready' }, { status: 'pending' }],
    });
    expect((await c.get(`/executions/${id}/why`)).body).toMatchObject({
      next: { what: 'a person is asked, unless the pause is ended before', at: c.clock.now() + 7_200_000 },
      steps: [{ because: 'it has not begun, and the execution is paused' }, {}],
    });
    expect((await c.get('/executions?status=paused')).body['items']).toMatchObject([{ executionId: id }]);
    expect((await c.post(`/executions/${id}/resume`)).body).toEqual({ executionId: id, status: 'running' });
    expect((await c.run(id)).execution.status).toBe('succeeded');
  });

  it('says what is under way: nothing, once nothing can begin any more; and nothing of one that is over', async () => {
    const c = client();
    const id = await c.begun();
    await c.post(`/executions/${id}/pause`, {});
    const ofFirst = async () => {
      const { pauses } = (await c.get(`/executions/${id}`)).body as unknown as ExecutionView;
      return [pauses?.[0]?.underWay, pauses?.[0] && underWayText(pauses[0])];
    };
    expect(await ofFirst()).toEqual([undefined, 'for some seconds an attempt may still begin']);
    c.clock.advanceTo(c.clock.now() + 14_000);
    expect(await ofFirst()).toEqual([0, 'nothing is under way']);
    expect([1, 2].map((underWay) => underWayText({ underWay }))).toEqual([
      '1 attempt is under way',
      '2 attempts are under way',
    ]);
    await c.post(`/executions/${id}/resume`);
    await c.post(`/executions/${id}/pause`, {});
    c.clock.advanceTo(c.clock.now() + 14_000);
    expect((await ofFirst())[0]).toBeUndefined();
  });

  it.each([
    ['a time that is none', { within: 'long' }, 'bad-duration'],
    ['a time that is too long', { within: '31d' }, 'bad-request'],
    ['an unknown field', { undo: false }, 'bad-request'],
  ])('refuses %s', async (_, body, code) => {
    const c = client();
    const id = await c.begun();
    expect(errorOf(await c.post(`/executions/${id}/pause`, body))).toMatchObject([400, { code }]);
  });

  it('that is over, or never was, cannot be ended', async () => {
    const c = client();
    const id = await c.begun();
    expect(errorOf(await c.post(`/executions/${id}/resume`))).toMatchObject([
      409,
      { code: 'not-resumable', message: expect.stringContaining('it is running') },
    ]);
  });
});

describe('a pause of a workflow', () => {
  it('is shown with the workflow; what is started is answered as paused, until its resume', async () => {
    const c = client(undefined, (world) => ({
      ...world,
      workflowPauses: memoryWorkflowPauses(),
    }));
    const body = { reason: 'the shop is closed', within: '2h' };
    const pause = {
      at: c.clock.now(),
      reason: body.reason,
      withinMs: 7_200_000,
    };
    const paused = await c.post('/workflows/flow/pause', body);
    expect([paused.status, paused.body]).toEqual([202, { workflow: 'flow', pause }]);
    expect((await c.get('/workflows/flow')).body).toMatchObject({
      workflow: 'flow',
      pause,
    });
    expect((await c.get('/workflows')).body['items']).toMatchObject([{ workflow: 'flow', pause }]);
    expect((await c.get('/overview')).body['workflows']).toMatchObject([{ workflow: 'flow', pause }]);
    const started = await c.post('/workflows/flow/executions', {
      input: { orderId: 'o-1' },
    });
    expect(started.body['status']).toBe('paused');
    const id = String(started.body['executionId']);
    expect((await c.get(`/executions/${id}`)).body).toMatchObject({
      status: 'paused',
      pauses: [
        {
          number: 1,
          workflowPausedAt: pause.at,
          deadlineAt: c.clock.now() + 7_200_000,
        },
      ],
    });
    const resumed = await c.post('/workflows/flow/resume');
    const lastPause = { ...pause, endedAt: c.clock.now() };
    expect([resumed.status, resumed.body]).toEqual([202, { workflow: 'flow', lastPause }]);
    expect((await c.get('/overview')).body['workflows']).toEqual([
      expect.not.objectContaining({ pause: expect.anything() }),
    ]);
    expect((await c.post(`/executions/${id}/resume`)).body).toMatchObject({
      status: 'running',
    });
  });

  it.each([
    ['/workflows/gone/pause', {}, [404, { code: 'unknown-workflow' }]],
    ['/workflows/flow/pause', { within: '31d' }, [400, { code: 'bad-request' }]],
    ['/workflows/flow/pause', { commandId: 'c1' }, [400, { code: 'bad-request' }]],
    ['/workflows/flow/resume', { reason: 'open' }, [400, { code: 'bad-request' }]],
  ])('%s with %j is refused', async (path, body, refused) => {
    expect(errorOf(await client().post(path, body))).toMatchObject(refused);
  });
});

describe('a retry', () => {
  it('after the undo is refused and says what to do; the new execution says which one it replaces', async () => {
    let isBroken = true;
    const c = client(async () => {
      if (isBroken) throw new PermanentError('declined');
      return { ok: true };
    });
    const id = await c.begun();
    expect((await c.run(id)).execution.status).toBe('failed');
    isBroken = false;
    expect((await c.post(`/executions/${id}/retry`, { reason: 'fixed' })).body).toMatchObject({
      status: 'running',
    });
    expect((await c.run(id)).execution.status).toBe('succeeded');
    expect((await c.get(`/executions/${id}`)).body['retries']).toMatchObject([{ reason: 'fixed' }]);
    expect(errorOf(await c.post(`/executions/${id}/retry`))).toMatchObject([
      409,
      { code: 'not-retryable', message: expect.stringContaining(`"replaces": "${id}"`) },
    ]);
    const next = await c.begun({ input: { orderId: 'o-2' }, replaces: id });
    expect((await c.get(`/executions/${next}`)).body).toMatchObject({ replaces: id });
  });

  it('gives the failed step another input; a step without one is refused', async () => {
    let calls = 0;
    const c = client(async () => {
      calls += 1;
      if (calls === 1) throw new PermanentError('declined');
      return { ok: true };
    });
    const id = await c.begun();
    await c.run(id);
    const alone = await c.post(`/executions/${id}/retry`, { step: 'do' });
    expect(errorOf(alone)).toMatchObject([
      400,
      { code: 'bad-request', message: expect.stringContaining('step needs an input') },
    ]);
    expect((await c.post(`/executions/${id}/retry`, { input: { orderId: 'o-9' } })).body).toMatchObject({
      status: 'running',
    });
    expect((await c.run(id)).execution.status).toBe('succeeded');
    expect((await c.get(`/executions/${id}?step=a`)).body['steps']).toMatchObject([
      { attempts: [{ outcome: 'failed' }, { outcome: 'done', inputGiven: true, input: { orderId: 'o-9' } }] },
    ]);
  });

  it('one in place of nothing is refused', async () => {
    const c = client();
    const path = '/workflows/flow/executions';
    const answer = await c.post(path, { input: { orderId: 'o-1' }, replaces: 'nothing-here' });
    expect(errorOf(answer)).toMatchObject([
      404,
      { code: expect.stringMatching(/unknown-(execution|workflow)/) },
    ]);
  });
});

describe('a cancel', () => {
  it('that undoes everything leaves nothing, and says so; a success says nothing of it', async () => {
    const c = client();
    const id = await c.begun();
    await c.deliver(c.sent.splice(0)[0] as never);
    const { body } = await c.post(`/executions/${id}/cancel`, {});
    expect(body).toMatchObject({ status: 'compensating', standing: { stands: 1 } });
    expect(body).not.toHaveProperty('undo');
    await c.run(id);
    const none = { stands: 0, mayStand: 0, first: [], view: `/executions/${id}` };
    expect(c.announced).toMatchObject([{ status: 'canceled', standing: none }]);
    const other = await c.begun({ input: { orderId: 'o-2' } });
    await c.run(other);
    expect(c.announced[1]).toEqual({
      about: 'end',
      executionId: other,
      workflow: 'flow',
      status: 'succeeded',
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
    });
    expect((await c.get(`/executions/${other}`)).body).not.toHaveProperty('standing');
  });

  it('is answered also where what follows cannot be read any more', async () => {
    let reads = 0;
    const c = client(undefined, (world) =>
      withStore(world, (store) => ({
        read: (id) => ((reads += 1) > 2 ? Promise.reject(new Error('the store is away')) : store.read(id)),
      })),
    );
    const id = await c.begun();
    reads = 0;
    const { status, body } = await c.post(`/executions/${id}/cancel`, {});
    expect([status, body]).toEqual([202, { executionId: id, status: 'compensating' }]);
  });

  it('without undo leaves what has acted as it is', async () => {
    const c = client();
    const id = await c.begun();
    await c.deliver(c.sent.splice(0)[0] as never);
    const standing = {
      stands: 1,
      mayStand: 0,
      first: [{ step: 'a', effect: 'stands' }],
      view: `/executions/${id}`,
    };
    expect((await c.get(`/executions/${id}`)).body).toMatchObject({ status: 'running', standing });
    const answer = await c.post(`/executions/${id}/cancel`, { undo: false });
    // No attempt is under way, so the execution ends at once, and the answer shows this.
    expect([answer.status, answer.body]).toEqual([
      202,
      { executionId: id, status: 'failed', undo: false, standing },
    ]);
    const { execution, steps } = await c.run(id);
    expect((await c.get(`/executions/${id}`)).body).toMatchObject({ status: 'failed', standing });
    expect(c.announced).toMatchObject([{ status: 'failed', cause: 'cancel', standing }]);
    expect(execution).toMatchObject({ status: 'failed', cause: { kind: 'cancel', undo: false } });
    expect(steps).toMatchObject({ a: { status: 'done' }, b: { status: 'fenced' } });
  });
});

describe('what is possible', () => {
  it('is said beside why, and of the other commands why not, as they would say it themselves', async () => {
    const { begun, get, post, run } = client();
    const id = await begun();
    const commands = async (): Promise<Record<string, string | undefined>> => {
      const { body } = await get(`/executions/${id}/why`);
      const items = body['commands'] as unknown as { command: string; because?: string }[];
      return Object.fromEntries(items.map(({ command, because }) => [command, because]));
    };
    expect(await commands()).toEqual({
      cancel: undefined,
      'cancel-as-is': undefined,
      pause: undefined,
      resume: 'it is running',
      retry: 'it is running: its steps are tried again by themselves',
      replace: 'it is running',
    });
    await run(id);
    const { replace, ...said } = await commands();
    expect(replace).toBe('it has succeeded, so there is nothing to start again');
    expect(Object.keys(said)).toEqual(['cancel', 'cancel-as-is', 'pause', 'resume', 'retry']);
    for (const [command, because] of Object.entries(said)) {
      const route = command === 'cancel-as-is' ? 'cancel' : command;
      const { status, body } = await post(
        `/executions/${id}/${route}`,
        route === command ? {} : { undo: false },
      );
      expect([status, (body['error'] as unknown as { message: string }).message]).toEqual([
        409,
        expect.stringContaining(String(because)),
      ]);
    }
  });
});

it('a workflow alone says what of it can be filled in; the list of all does not', async () => {
  const c = client();
  expect((await c.get('/workflows/flow')).body['forms']).toEqual(FORMS);
  const { items } = (await c.get('/workflows')).body as { items: readonly object[] };
  expect(items.map((one) => 'forms' in one)).toEqual([false]);
});
