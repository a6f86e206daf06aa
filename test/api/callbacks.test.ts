/** An external party answers a callback over HTTP: only once, with its token, and with a valid value. */

import * as z from 'zod/mini';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { anAgent } from '../engine/harness.ts';
import { type Answer, type Client, client } from './app.ts';

const worker = anAgent('worker');
const input = z.object({ orderId: z.string(), parts: z.array(z.string()), at: z.number() });
const part = workflow('part', { input: z.object({ of: z.string() }), within: '1h' }, (w) => {
  w.step('x', worker, {});
});
const waits = workflow('waits', { input, within: '3h' }, (w) => {
  const paid = w.callback('paid', {
    output: z.object({ amount: z.number() }),
    within: '1h',
    heartbeatEvery: '10m',
  });
  const ok = w.approval('ok', { within: '2h', after: [paid] });
  const pause = w.wait('pause', { for: '1m', after: [ok] });
  const until = w.wait('until', { until: w.input.at, after: [ok] });
  const sub = w.child('sub', part, { of: w.input.orderId }, { after: [pause, until], undo: 'none' });
  w.map('all', worker, w.input.parts, (item) => ({ item }), {
    after: [sub],
    concurrency: 2,
    mayFail: '10%',
  });
  return { amount: paid.output.amount };
}) as Workflow;

const NOTHING = async () => ({});

async function begun(): Promise<{ c: Client; id: string; token: string }> {
  const c = client(NOTHING, undefined, waits);
  const id = await c.begun({ input: { orderId: 'o-1', parts: ['a', 'b'], at: 1_700_000_000_000 } });
  return { c, id, token: (await stepOf(c, id, 'paid'))?.token ?? '' };
}

async function stepOf(
  c: Client,
  id: string,
  name: string,
): Promise<ExecutionView['steps'][number] | undefined> {
  const view = (await c.get(`/executions/${id}`)).body as unknown as ExecutionView;
  return view.steps.find((step) => step.name === name);
}

const codeOf = ({ body }: Answer): unknown => (body['error'] as { code?: string } | undefined)?.code;

describe('a callback', () => {
  it('is shown with its token and until when it waits, while it is open and not longer', async () => {
    const { c, id, token } = await begun();
    expect(await stepOf(c, id, 'paid')).toMatchObject({
      kind: 'callback',
      status: 'ready',
      token: expect.stringMatching(/^e-1\.paid\..+/),
      waitsUntil: c.clock.now() + 600_000,
    });
    // The turn of `ok` has not come, so its token is not needed yet.
    expect(await stepOf(c, id, 'ok')).not.toHaveProperty('token');
    await c.post(`/callbacks/${token}/complete`, { output: { amount: 1 } });
    expect(await stepOf(c, id, 'paid')).not.toHaveProperty('token');
    expect(await stepOf(c, id, 'ok')).toHaveProperty('token');
  });

  it('is in the inbox while it is open, and its step says what it has there', async () => {
    const { c, id, token } = await begun();
    const question = {
      step: 'paid',
      kind: 'callback',
      openedAt: c.clock.now(),
      deadlineAt: c.clock.now() + 3_600_000,
      otherwise: 'fail',
      reminders: 0,
    };
    expect((await c.get('/incidents')).body).toStrictEqual({
      items: [{ executionId: id, workflow: 'waits', ...question }],
    });
    expect(await stepOf(c, id, 'paid')).toMatchObject({ question });
    await c.post(`/callbacks/${token}/complete`, { output: { amount: 1 } });
    const { items } = (await c.get('/incidents')).body as { items: { step: string; kind: string }[] };
    expect(items.map(({ step, kind }) => `${kind} ${step}`)).toEqual(['approval ok']);
    expect(await stepOf(c, id, 'paid')).not.toHaveProperty('question');
    expect((await c.get(`/executions/${id}`)).body).toMatchObject({ status: 'waiting' });
  });

  it('is completed; the same answer again gets the same reply, another one is refused', async () => {
    const { c, id, token } = await begun();
    const complete = (amount: number) => c.post(`/callbacks/${token}/complete`, { output: { amount } });
    expect(await complete(7)).toMatchObject({ status: 200, body: { status: 'completed' } });
    expect(await complete(7)).toMatchObject({ status: 200, body: { status: 'completed' } });
    const other = await complete(8);
    expect([other.status, codeOf(other)]).toEqual([409, 'already-closed']);
    expect(other.body['error']).toMatchObject({ details: { status: 'done' } });
    expect(await stepOf(c, id, 'paid')).toMatchObject({ status: 'done', output: { amount: 7 } });
    const fail = await c.post(`/callbacks/${token}/fail`);
    expect([fail.status, codeOf(fail)]).toEqual([409, 'already-closed']);
    const heartbeat = await c.post(`/callbacks/${token}/heartbeat`);
    expect([heartbeat.status, codeOf(heartbeat)]).toEqual([409, 'already-closed']);
  });

  it('that fails says why, also in what became of the execution', async () => {
    const { c, id, token } = await begun();
    const failure = { code: 'expired', message: 'the card has expired' };
    expect(await c.post(`/callbacks/${token}/fail`, failure)).toMatchObject({ body: { status: 'failed' } });
    expect(await c.post(`/callbacks/${token}/fail`, failure)).toMatchObject({ status: 200 });
    expect((await c.get(`/executions/${id}`)).body).toMatchObject({ status: 'failed', cause: { failure } });
  });

  it('that fails without a code has one of its own: failures are counted by their code', async () => {
    const { c, id, token } = await begun();
    await c.post(`/callbacks/${token}/fail`, { message: 'no' });
    expect((await c.get(`/executions/${id}`)).body).toMatchObject({
      cause: { failure: { code: 'paid-failed', message: 'no' } },
    });
  });

  it('says in plain words what is missing', async () => {
    const { c, token } = await begun();
    const message = async (body: object, path = `/callbacks/${token}/complete`): Promise<unknown> =>
      Object((await c.post(path, body)).body['error']).message;
    expect(await message({ output: {} })).toBe("the output does not fit callback 'paid': amount is missing");
    expect(await message({ idempotencyKey: 'k' }, '/workflows/flow/executions')).toContain(
      'input is missing',
    );
  });

  it('that sends heartbeats is given more time', async () => {
    const { c, id, token } = await begun();
    c.clock.advanceTo(c.clock.now() + 300_000);
    expect(await c.post(`/callbacks/${token}/heartbeat`)).toMatchObject({
      status: 200,
      body: { status: 'open' },
    });
    expect((await stepOf(c, id, 'paid'))?.waitsUntil).toBe(c.clock.now() + 600_000);
  });

  it('takes only what fits its schema, and names what does not', async () => {
    const { c, token } = await begun();
    const bad = await c.post(`/callbacks/${token}/complete`, { output: { amount: 'seven' } });
    expect([bad.status, codeOf(bad)]).toEqual([400, 'bad-output']);
    expect(bad.body['error']).toMatchObject({ details: { issues: [{ path: 'amount' }] } });
    expect(JSON.stringify(bad.body)).not.toContain('seven');
    const none = await c.post(`/callbacks/${token}/complete`);
    expect([none.status, codeOf(none)]).toEqual([400, 'bad-output']);
  });

  it.each([
    ['an unknown field', { result: 1 }, 400, 'bad-request'],
    ['no JSON', '{', 400, 'bad-json'],
    ['too much', { output: 'x'.repeat(300_000) }, 413, 'too-large'],
  ])('refuses %s', async (_, body, status, code) => {
    const { c, token } = await begun();
    const answer = await c.post(`/callbacks/${token}/complete`, body);
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  });

  it.each([
    ['complete', 'x'],
    ['fail', 'e-1.paid.guess'],
    ['heartbeat', 'e-9.paid.guess'],
    ['complete', 'e-1.constructor.x'],
    ['complete', `${'x'.repeat(2_000)}.a.b`],
  ])('%s with the token %s is told nothing', async (what, token) => {
    const { c } = await begun();
    const answer = await c.post(`/callbacks/${token}/${what}`, what === 'complete' ? { output: {} } : {});
    expect([answer.status, answer.body['error']]).toEqual([
      404,
      { code: 'unknown-callback', message: 'there is no callback with this token' },
    ]);
  });

  it('is named in no note: its token is a secret (S17)', async () => {
    const { c, id, token } = await begun();
    const key = token.split('.').at(-1) as string;
    await c.post(`/callbacks/${token}/heartbeat`);
    await c.post(`/callbacks/${token}/complete`, { output: { amount: 'no' } });
    await c.post(`/callbacks/${token}/complete`, { output: { amount: 1 } });
    await c.post(`/callbacks/${token}0/complete`, { output: { amount: 1 } });
    await c.get(`/executions/${id}/why`);
    expect(JSON.stringify(c.notes)).toContain('answered');
    expect(JSON.stringify(c.notes)).not.toContain(key);
    expect(JSON.stringify((await c.get('/executions')).body)).not.toContain(key);
    expect(JSON.stringify((await c.get(`/executions/${id}/why`)).body)).not.toContain(key);
  });
});

it('a failure of ours while it is answered is logged without the path', async () => {
  const c = client(
    NOTHING,
    (world) => {
      const read = async (): Promise<never> => {
        throw new TypeError('the store is away');
      };
      return { ...world, store: Object.assign(Object.create(world.store), { read }) };
    },
    waits,
  );
  const answer = await c.post('/callbacks/e-1.paid.secret/complete', { output: {} });
  expect([answer.status, codeOf(answer)]).toEqual([500, 'internal']);
  expect(c.notes.at(-1)).toEqual({ what: 'request-failed', detail: 'TypeError' });
});

describe('an approval', () => {
  it('takes a comment and nothing else; the body does not say who gives it', async () => {
    const { c, id, token } = await begun();
    await c.post(`/callbacks/${token}/complete`, { output: { amount: 1 } });
    const path = `/callbacks/${(await stepOf(c, id, 'ok'))?.token}/complete`;
    for (const output of [
      { approved: false },
      { by: 'ann' },
      { comment: 5 },
      { comment: 'x'.repeat(501) },
      { sure: 'yes' },
    ]) {
      const bad = await c.post(path, { output });
      expect([bad.status, codeOf(bad)]).toEqual([400, 'bad-output']);
    }
    const named = await c.post(path, { output: { by: 'ann' } });
    expect((named.body['error'] as { message?: string }).message).toContain('leave it out, because');
    expect(await c.post(path, { output: { comment: 'ok' } })).toMatchObject({ status: 200 });
    expect(await c.post(path, { output: { comment: 'ok' } })).toMatchObject({ status: 200 });
    expect((await stepOf(c, id, 'ok'))?.output).toEqual({ approved: true, comment: 'ok' });
  });
});

it('a step with executions of its own shows how many there are, and their ids', async () => {
  const { c, id, token } = await begun();
  await c.post(`/callbacks/${token}/complete`, { output: { amount: 1 } });
  await c.post(`/callbacks/${(await stepOf(c, id, 'ok'))?.token}/complete`);
  await c.run(id);
  expect((await stepOf(c, id, 'sub'))?.children).toEqual({
    executionIds: [`${id}.sub.0`],
    count: 1,
    started: 1,
    ended: { succeeded: 1 },
  });
  expect((await stepOf(c, id, 'all'))?.children).toMatchObject({ executionIds: [`${id}.all.0`], count: 1 });
  const child = (await c.get(`/executions/${id}.sub.0`)).body;
  expect(child).toMatchObject({ workflow: 'part', parent: { executionId: id, step: 'sub', index: 0 } });
  // Lists show executions that a caller started, so the child is not among them.
  expect((await c.get('/executions?workflow=waits')).body['items']).toHaveLength(1);
});

it('a workflow shows what is special of each kind of step', async () => {
  const { body } = await client(NOTHING, undefined, waits).get('/workflows/waits');
  const steps = body['steps'] as unknown as { name: string }[];
  expect(Object.fromEntries(steps.map(({ name, ...step }) => [name, step]))).toEqual({
    paid: { kind: 'callback', after: [], withinMs: 3_600_000, heartbeatMs: 600_000 },
    ok: { kind: 'approval', after: ['paid'], withinMs: 7_200_000 },
    pause: { kind: 'wait', after: ['ok'], forMs: 60_000 },
    until: { kind: 'wait', after: ['ok'], until: { $ref: 'input', path: ['at'] } },
    sub: { kind: 'child', after: ['pause', 'until'], workflow: 'part', undo: 'none' },
    all: {
      kind: 'map',
      after: ['sub'],
      agent: 'worker',
      effect: 'idempotent',
      undo: 'required',
      recovery: [{ kind: 'retry', attempts: 3 }],
      over: { $ref: 'input', path: ['parts'] },
      concurrency: 2,
      tolerate: { percent: 10 },
    },
  });
});
