/** What becomes of a message that a trigger delivers, on ports in memory. */

import * as z from 'zod/mini';
import type { Ports } from '../../lib/core/ports.ts';
import type { StartMessage, Trigger } from '../../lib/scheduler/trigger.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { startFrom } from '../../lib/scheduler/starter.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, harness, type Harness } from '../engine/harness.ts';

const worker = anAgent('worker');
const input = z.object({ orderId: z.string().check(z.minLength(1)) });
const flow = workflow('flow', { input, within: '1h' }, (w) => {
  w.step('a', worker, {});
  return {};
}) as Workflow;

const world = (wrap?: (memory: MemoryWorld) => Ports): Harness =>
  harness(flow, { worker: { execute: async () => ({}), undo: async () => undefined } }, 1, wrap);

const trigger: Trigger = {
  name: 'sold',
  workflow: 'flow',
  from: 'event',
  input: { orderId: { $ref: 'input', path: ['detail', 'order'] } },
  key: [{ $ref: 'input', path: ['id'] }],
};
const message = (body: object, id = 'm-1'): StartMessage => ({
  id,
  body: JSON.stringify(body),
  attributes: {},
});
const event = { id: 'e-1', detail: { order: 'o-1' } };

it('starts one execution of an event, however often it comes (S11)', async () => {
  const { scheduler } = world();
  const first = await startFrom(scheduler, trigger, message(event));
  expect(first).toEqual({ kind: 'started', executionId: expect.any(String) });
  const again = { ...event, 'delivery-attempt': 2 };
  expect(await startFrom(scheduler, trigger, message(again, 'm-2'))).toEqual(first);
  const executionId = first.kind === 'started' ? first.executionId : '';
  const stored = await scheduler.ports.store.readExecution(executionId);
  expect(stored).toMatchObject({ workflow: 'flow', input: { orderId: 'o-1' }, tags: { trigger: 'sold' } });
});

it.each<[string, object, Partial<Trigger>, string]>([
  ['an input that does not fit', { ...event, detail: { order: '' } }, {}, 'bad-input'],
  ['a workflow that is gone', event, { workflow: 'gone' }, 'unknown-workflow'],
  ['an event without its key', { detail: event.detail }, {}, 'bad-event'],
  ['too much', { ...event, detail: { order: 'x'.repeat(300_000) } }, {}, 'too-large'],
])('refuses for good: %s', async (_, body, change, code) => {
  const { scheduler } = world();
  const outcome = await startFrom(scheduler, { ...trigger, ...change }, message(body));
  expect(outcome).toMatchObject({ kind: 'refused', code, message: expect.any(String) });
});

it('sets both of two events aside whose 64-bit ids would be rounded to one, and starts none', async () => {
  const { scheduler, store } = world();
  const idOnly = { ...trigger, key: [{ $ref: 'input', path: ['detail', 'id'] }] };
  for (const id of ['9007199254740992', '9007199254740993']) {
    const body = `{"id":"e-1","detail":{"order":"o-1","id":${id}}}`;
    expect(await startFrom(scheduler, idOnly, { id: 'm', body, attributes: {} })).toEqual({
      kind: 'refused',
      code: 'unsafe-number',
      message: expect.stringContaining(
        "the message has at 'detail.id' a whole number beyond ±9007199254740991",
      ),
    });
  }
  expect((await store.list({ workflows: ['flow'], limit: 9 })).items).toEqual([]);
});

it('refuses another input under a key that has started something', async () => {
  const { scheduler } = world();
  await startFrom(scheduler, trigger, message(event));
  const other = { ...event, detail: { order: 'o-2' } };
  expect(await startFrom(scheduler, trigger, message(other))).toMatchObject({ code: 'key-reused' });
});

it('rejects when the store is away, so that the message comes again', async () => {
  const away = async (): Promise<never> => {
    throw new Error('away');
  };
  const { scheduler } = world((memory) => ({
    ...memory,
    store: Object.assign(Object.create(memory.store) as typeof memory.store, { create: away }),
  }));
  await expect(startFrom(scheduler, trigger, message(event))).rejects.toThrow('away');
});

describe('a trigger that sends', () => {
  const receives = workflow('flow', { input, within: '9h' }, (w) => {
    const paid = w.receive('paid', { message: z.object({ amount: z.number() }), within: '1h' });
    const more = w.receive('more', { message: z.unknown(), within: '1h', after: [paid] });
    return { amount: paid.output.amount, more: more.output };
  }) as Workflow;
  const sends: Trigger = {
    name: 'flow-paid',
    workflow: 'flow',
    from: 'event',
    input: { amount: { $ref: 'input', path: ['detail', 'amount'] } },
    key: [{ $ref: 'input', path: ['id'] }],
    send: { message: 'paid', key: [{ $ref: 'input', path: ['detail', 'order'] }], startedBy: 'sold' },
  };
  const payment = (amount: unknown = 7, order = 'o-1') => ({ id: 'p-1', detail: { order, amount } });
  const started = { ...trigger, key: [{ $ref: 'input', path: ['detail', 'order'] }] };

  it('reaches the execution of its key, once for each event, however often it comes (M2)', async () => {
    const h = harness(receives, {});
    const first = await startFrom(h.scheduler, started, message(event));
    for (const id of ['m-1', 'm-2', 'm-3'])
      expect(await startFrom(h.scheduler, sends, message(payment(), id))).toEqual(first);
    const id = first.kind === 'started' ? first.executionId : '';
    const messages = h.store.mailboxes.messagesOf(id);
    expect(messages).toMatchObject([{ name: 'paid', order: 1, by: 'trigger:flow-paid' }]);
    expect((await h.state(id)).steps['paid']?.output).toEqual({ amount: 7 });
  });

  it('reaches one that a call has started with that key', async () => {
    const h = harness(receives, {});
    const { id } = await h.begin({ orderId: 'o-1' }, 'o-1');
    const { startedBy: _, ...send } = sends.send!;
    await startFrom(h.scheduler, { ...sends, send }, message(payment()));
    expect((await h.state(id)).steps['paid']?.output).toEqual({ amount: 7 });
  });

  it('starts an execution if none exists, if it has the input', async () => {
    const h = harness(receives, {});
    const startWith = { orderId: { $ref: 'input', path: ['detail', 'order'] } };
    const starts = { ...sends, send: { ...sends.send!, startWith } };
    const outcome = await startFrom(h.scheduler, starts, message(payment()));
    const id = outcome.kind === 'started' ? outcome.executionId : '';
    const { execution, steps } = await h.state(id);
    // The tags are those of the trigger that starts it elsewhere: with the same input both are one start.
    expect(execution).toMatchObject({ input: { orderId: 'o-1' }, tags: { trigger: 'sold' } });
    expect(steps['paid']?.output).toEqual({ amount: 7 });
    expect(await startFrom(h.scheduler, starts, message(payment(), 'm-2'))).toEqual(outcome);
  });

  it('is given back where the execution is not there yet', async () => {
    const h = harness(receives, {});
    await expect(startFrom(h.scheduler, sends, message(payment()))).rejects.toMatchObject({
      code: 'unknown-execution',
    });
  });

  it.each<[string, object, Partial<Trigger>, string]>([
    ['a body that does not fit', payment('x'), {}, 'bad-message'],
    [
      'a message that no step takes',
      payment(),
      { send: { ...sends.send!, message: 'payed' } },
      'unknown-message',
    ],
    ['an event that names no execution', { id: 'p-1', detail: { amount: 1 } }, {}, 'bad-event'],
    ['an execution whose steps are done', { ...payment(), id: 'p-2' }, {}, 'ended'],
  ])('is set aside for good: %s', async (_, body, change, code) => {
    const h = harness(receives, {});
    await startFrom(h.scheduler, started, message(event));
    if (code === 'ended') await startFrom(h.scheduler, sends, message(payment()));
    expect(await startFrom(h.scheduler, { ...sends, ...change }, message(body))).toMatchObject({
      kind: 'refused',
      code,
    });
  });
});
