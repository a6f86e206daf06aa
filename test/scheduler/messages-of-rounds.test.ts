/**
 * Messages to executions whose rounds begin with messages: which are refused, and which round takes each (M4,
 * M7).
 */

import * as z from 'zod/mini';
import { executionView } from '../../lib/api/views.ts';
import { received } from '../../lib/author/builder/received.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import { agent, eq } from '../../lib/index.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { sendMessage } from '../../lib/scheduler/messages.ts';
import { anyObject, drain, harness, type Harness } from '../engine/harness.ts';

const worker = agent('worker', {
  input: z.object({
    message: z.object({ n: z.number() }),
    last: z.nullable(z.object({ over: z.boolean() })),
  }),
  output: z.object({ over: z.boolean() }),
  effect: 'idempotent',
  timeout: '30s',
  undo: 'none',
});
const sender = (h: Harness, executionId: string) => (request: Parameters<typeof sendMessage>[2]) =>
  sendMessage(h.scheduler, { executionId }, request);
const refusal = (code: string, details: object = {}) => ({ code, details: expect.objectContaining(details) });

describe('rounds that begin with messages', () => {
  const Body = z.object({ n: z.number() });
  const rounds = workflow('rounds', { input: anyObject, within: '9h' }, (w) => {
    w.repeat(
      'all',
      worker,
      { message: { n: 0 }, last: null },
      {
        next: received('next', Body),
        until: (last) => eq(last.over, true),
        maxRounds: 3,
        within: '1h',
      },
    );
  }) as Workflow;
  const begun = async (over: boolean) => {
    const h = harness(rounds, { worker: { execute: async () => ({ over }) } }, 1);
    const { id } = await h.begin();
    await drain(h);
    return { h, id, send: (n: number) => sender(h, id)({ name: 'next', body: { n }, id: `m-${n}` }) };
  };

  it('take as many as rounds may follow, and then no more (M4)', async () => {
    const { h, id, send } = await begun(false);
    await send(1);
    await send(2);
    await drain(h);
    const { steps } = await h.state(id);
    expect(steps['all']).toMatchObject({
      attempts: [{ number: 1 }, { number: 2, message: 'm-1' }, { number: 3, message: 'm-2' }],
      failure: { code: 'too-many-rounds' },
    });
    await expect(send(3)).rejects.toMatchObject(refusal('ended'));
  });

  it('refuse a body that no input of a round has room for', async () => {
    const { h, id } = await begun(false);
    const send = (large: number) =>
      sender(h, id)({ name: 'next', body: { n: 1, more: 'x'.repeat(large) } as never, id: 'm' });
    await expect(send(100_001)).rejects.toMatchObject({ code: 'too-large' });
    expect(await send(10)).toMatchObject({ order: 1 });
  });

  it('show what the next one waits for, also before it waits', async () => {
    const { h, id, send } = await begun(false);
    const shown = async () => executionView(await h.state(id), rounds.plan, h.clock.now()).steps[0]?.message;
    expect(await shown()).toEqual({ name: 'next' });
    await send(1);
    const took = { name: 'next', id: 'm-1', at: expect.any(Number) };
    expect(await shown()).toEqual({ ...took, next: 'next' });
    await drain(h);
    await send(2);
    expect(await shown()).toEqual({ ...took, id: 'm-2' });
  });

  it('take none once the last has begun, or the rounds are over', async () => {
    const { h, id, send } = await begun(false);
    await send(1);
    await drain(h);
    await send(2);
    expect((await h.state(id)).steps['all']).toMatchObject({ status: 'running', children: { try: 3 } });
    await expect(send(3)).rejects.toMatchObject(refusal('ended', { status: 'running' }));
    expect(await send(2)).toMatchObject({ order: 2 });
    const over = await begun(true);
    await expect(over.send(1)).rejects.toMatchObject(refusal('ended', { status: 'succeeded' }));
  });

  it('take that of the first round only before it begins (M4)', async () => {
    const opened = workflow('opened', { input: anyObject, within: '9h' }, (w) => {
      w.repeat('all', worker, received('open', Body), {
        next: received('next', Body),
        until: (last) => eq(last.over, true),
        maxRounds: 2,
        within: '1h',
      });
    }) as Workflow;
    const h = harness(opened, { worker: { execute: async () => ({ over: false }) } }, 1);
    const { id } = await h.begin();
    await drain(h);
    const send = (name: string, n: number) => sender(h, id)({ name, body: { n }, id: `m-${n}` });
    await send('open', 1);
    await expect(send('open', 2)).rejects.toMatchObject(refusal('ended', { status: 'running' }));
    await drain(h);
    await expect(send('open', 3)).rejects.toMatchObject(refusal('ended', { status: 'running' }));
    expect(await send('next', 4)).toMatchObject({ order: 2 });
  });

  it.each(['retrying', 'waiting'] as const)('take none while the last is %s (M4)', async (status) => {
    const { h, id, send } = await begun(false);
    await send(1);
    await drain(h);
    await send(2);
    const { steps } = await h.state(id);
    const last = { ...steps['all'], status } as Step;
    const read = async () => ({ ...(await h.state(id)), steps: { all: last } });
    Object.assign(h.store, { readSteps: read });
    await expect(send(3)).rejects.toMatchObject(refusal('ended'));
    expect(h.store.mailboxes.messagesOf(id).map((message) => message.id)).toEqual(['m-1', 'm-2']);
  });
});
