/** Messages to executions: each is accepted once, in order, and refused if no remaining step can take it. */

import * as z from 'zod/mini';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Ports } from '../../lib/core/ports.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { cancel, pause, resume } from '../../lib/scheduler/commands.ts';
import { erase } from '../../lib/scheduler/erase.ts';
import type { FoundMail } from '../../lib/core/supervision/audit.ts';
import { memoryReceipts, memoryWorkflowPauses } from '../../lib/memory/side-records.ts';
import { pauseWorkflow } from '../../lib/scheduler/holds.ts';
import { audit } from '../../lib/supervisor/audit.ts';
import { type MessageRequest, sendMessage } from '../../lib/scheduler/messages.ts';
import { anAgent, anyObject, drain, harness, type Harness } from '../engine/harness.ts';

const worker = anAgent('worker');
const Paid = z.object({ amount: z.number(), note: z._default(z.string(), '-') });
const flow = workflow('flow', { input: anyObject, within: '9h' }, (w) => {
  const paid = w.receive('paid', { message: Paid, within: '1h' });
  const again = w.receive('again', { message: Paid, name: 'paid', within: '1h', after: [paid] });
  const last = w.step('last', worker, {}, { after: [again], recovery: [retry(0)] });
  w.receive('rated', { message: z.unknown(), within: '1h', otherwise: 'continue', after: [last] });
  return { first: paid.output.amount, second: again.output.amount };
}) as Workflow;

const world = (wrap?: (memory: MemoryWorld) => Ports, served = flow): Harness =>
  harness(served, { worker: { execute: async () => ({}) } }, 1, wrap);

const paid = (amount: number, id?: string): MessageRequest => ({
  name: 'paid',
  body: { amount },
  ...(id === undefined ? {} : { id }),
});

const sender = (h: Harness, executionId: string) => (request: MessageRequest) =>
  sendMessage(h.scheduler, { executionId }, request);

const refusal = (code: string, details?: object) => ({
  code,
  ...(details === undefined ? {} : { details: expect.objectContaining(details) }),
});

describe('a message', () => {
  it('is taken by the step that waits for it, in the order of acceptance (M3)', async () => {
    const h = world();
    const { id } = await h.begin();
    const send = sender(h, id);
    const first = await send(paid(1));
    expect(first).toMatchObject({ executionId: id, order: 1, at: h.clock.now() });
    expect((await h.state(id)).steps['paid']).toMatchObject({
      status: 'done',
      output: { amount: 1, note: '-' },
    });
    expect(await send(paid(2))).toMatchObject({ order: 2 });
    await drain(h);
    const { steps } = await h.state(id);
    expect([steps['again']?.output, steps['last']?.status]).toEqual([{ amount: 2, note: '-' }, 'done']);
    expect(await send({ name: 'rated', body: null })).toMatchObject({ order: 3 });
    expect((await h.state(id)).execution).toMatchObject({
      status: 'succeeded',
      output: { first: 1, second: 2 },
    });
  });

  it('is found by the key that its execution was started with', async () => {
    const h = world();
    const { id } = await h.begin({}, 'o-1');
    const to = { workflow: 'flow', key: 'o-1' };
    expect(await sendMessage(h.scheduler, to, paid(1))).toMatchObject({ executionId: id, order: 1 });
    for (const [other, code] of [
      [{ ...to, key: 'o-2' }, 'unknown-execution'],
      [{ ...to, workflow: 'flaw' }, 'unknown-workflow'],
      [{ executionId: 'e-7' }, 'unknown-execution'],
      [{ executionId: 'no id' }, 'unknown-execution'],
    ] as const)
      await expect(sendMessage(h.scheduler, other, paid(1))).rejects.toMatchObject(refusal(code));
  });

  it('counts once by its id, and is answered as the first was, also when it is taken or the plan is over (M2)', async () => {
    const h = world();
    const { id } = await h.begin();
    const send = sender(h, id);
    const first = await send(paid(1, 'm-1'));
    h.clock.advanceTo(h.clock.now() + 5_000);
    expect(await send(paid(7, 'm-1'))).toEqual(first);
    expect(await send({ name: 'paid', body: { amount: 'x' }, id: 'm-1' })).toEqual(first);
    const second = await send(paid(2, 'm-2'));
    expect(await send(paid(2, 'm-2'))).toEqual(second);
    expect((await h.state(id)).steps['again']?.output).toEqual({ amount: 2, note: '-' });
    await drain(h);
    await send({ name: 'rated', body: 'good', id: 'm-3' });
    expect((await h.state(id)).execution.status).toBe('succeeded');
    expect(await send(paid(1, 'm-1'))).toEqual(first);
    await expect(send(paid(3, 'm-4'))).rejects.toMatchObject(refusal('ended', { status: 'succeeded' }));
  });

  it('may come before its turn, and waits for it (M1)', async () => {
    const h = world();
    const { id } = await h.begin();
    const send = sender(h, id);
    await send({ name: 'rated', body: { stars: 5 }, id: 'early' });
    await send(paid(1));
    await send(paid(2));
    await drain(h);
    const { execution, steps } = await h.state(id);
    expect([execution.status, steps['rated']?.output]).toEqual(['succeeded', { stars: 5 }]);
  });

  it('is refused with the names that the plan has, or with what its schema says (M5)', async () => {
    const h = world();
    const { id } = await h.begin();
    const send = sender(h, id);
    await expect(send({ name: 'payed', body: 1 })).rejects.toMatchObject(
      refusal('unknown-message', { messages: ['paid', 'rated'] }),
    );
    await expect(send({ name: 'paid', body: { amount: 'x' } })).rejects.toMatchObject(
      refusal('bad-message', { issues: [expect.objectContaining({ path: 'amount' })] }),
    );
    await expect(send({ name: 'rated', body: 'x'.repeat(200_001) })).rejects.toMatchObject(
      refusal('too-large'),
    );
    expect(h.store.mailboxes.messagesOf(id)).toEqual([]);
  });

  it('is kept during a pause, and the resume takes it (M6)', async () => {
    const h = world();
    const { id } = await h.begin();
    await pause(h.scheduler, id, {});
    const { wakeAt } = (await h.state(id)).execution;
    await sender(h, id)(paid(1));
    const paused = await h.state(id);
    expect([paused.execution.wakeAt, paused.steps['paid']?.status]).toEqual([wakeAt, undefined]);
    await resume(h.scheduler, id, {});
    expect((await h.state(id)).steps['paid']).toMatchObject({ status: 'done', output: { amount: 1 } });
  });

  it('is refused once no step of its name is left, or the execution is stopped (M4)', async () => {
    const h = world();
    const { id } = await h.begin();
    const send = sender(h, id);
    await send(paid(1));
    await send(paid(2));
    await expect(send(paid(3))).rejects.toMatchObject(refusal('ended', { status: 'running' }));
    await cancel(h.scheduler, id, {});
    await expect(send({ name: 'rated', body: 1 })).rejects.toMatchObject(refusal('ended'));
  });

  it('is refused where the execution ends while it is being written (M4)', async () => {
    let during = async (): Promise<unknown> => undefined;
    const h = world((memory) => ({
      ...memory,
      mailboxes: {
        ...memory.mailboxes,
        accept: async (...given) => {
          await during();
          return memory.mailboxes.accept(...given);
        },
      },
    }));
    const { id } = await h.begin();
    during = () => cancel(h.scheduler, id, {});
    await expect(sender(h, id)(paid(1, 'm-1'))).rejects.toMatchObject(refusal('ended'));
    // The sender sends the message again, and gets the same answer.
    during = async () => undefined;
    await expect(sender(h, id)(paid(1, 'm-1'))).rejects.toMatchObject(refusal('ended'));
  });

  it('of a sender that dies after the write is found by a supervisor (M1, L1)', async () => {
    const h = world((memory) => ({
      ...memory,
      mailboxes: {
        ...memory.mailboxes,
        accept: async (...given) => {
          await memory.mailboxes.accept(...given);
          throw new Error('killed');
        },
      },
    }));
    const { id } = await h.begin();
    await expect(sender(h, id)(paid(1))).rejects.toThrow('killed');
    const { execution, steps } = await h.state(id);
    expect(steps['paid']).toBeUndefined();
    // By the mailbox alone: the execution itself is not due yet.
    const foundAt = h.clock.now() + 5_000;
    expect(execution.wakeAt).toBeGreaterThan(foundAt);
    h.clock.advanceTo(foundAt);
    await h.sweep();
    expect((await h.state(id)).steps['paid']).toMatchObject({ status: 'done', output: { amount: 1 } });
    const due = (await h.store.due(0, Number.MAX_SAFE_INTEGER)).items;
    expect(due.some(({ mailbox }) => mailbox === true)).toBe(false);
  });

  it('is refused where as many wait as are kept, and taken up again once one is taken', async () => {
    const h = world();
    const { id } = await h.begin();
    await pause(h.scheduler, id, {});
    const { execution } = await h.state(id);
    const entries = Array.from({ length: 1_000 }, (_, at) => ({
      order: at + 1,
      name: 'rated',
      id: `m-${at}`,
      at: 1,
      bytes: 4,
    }));
    const box = { executionId: id, life: execution.life, version: 1, writeId: 'w', entries, accepted: 1_000 };
    await h.mailboxes.writeMailbox(box);
    await expect(sender(h, id)(paid(1))).rejects.toMatchObject(refusal('mailbox-full'));
    await h.mailboxes.writeMailbox({ ...box, version: 2, writeId: 'w-2', entries: entries.slice(1) });
    expect(await sender(h, id)(paid(1))).toMatchObject({ order: 1_001 });
    // 16 MB of bodies.
    const large = entries.slice(0, 80).map((one) => ({ ...one, bytes: 200_000 }));
    const version = ((await h.mailboxes.readMailbox(id, execution.life))?.version ?? 0) + 1;
    const last = { ...box, version, writeId: 'w-3', entries: large };
    expect(await h.mailboxes.writeMailbox(last)).toBe('written');
    await expect(sender(h, id)(paid(1))).rejects.toMatchObject(refusal('mailbox-full'));
  });

  it('is refused as busy where others come first, time after time, and nothing is written', async () => {
    let tries = 0;
    const h = world((memory) => ({
      ...memory,
      clock: { now: memory.clock.now, sleep: async () => undefined },
      mailboxes: {
        ...memory.mailboxes,
        accept: async () => {
          tries += 1;
          return 'conflict' as const;
        },
      },
    }));
    const { id } = await h.begin();
    await expect(sender(h, id)(paid(1))).rejects.toMatchObject(refusal('busy'));
    expect(tries).toBeGreaterThan(3);
    expect(h.store.mailboxes.messagesOf(id)).toEqual([]);
  });
});

describe('a message that may start its execution', () => {
  const input = { n: 1 };
  const to = { workflow: 'flow', key: 'o-1', startWith: { input, tags: { from: 'shop' } } };

  it('starts it if none exists, in one write, and is taken', async () => {
    const h = world();
    const first = await sendMessage(h.scheduler, to, paid(1, 'm-1'));
    expect(first).toMatchObject({ id: 'm-1', order: 1 });
    const { execution, steps } = await h.state(first.executionId);
    expect([execution.input, execution.tags, steps['paid']?.output]).toEqual([
      input,
      { from: 'shop' },
      { amount: 1, note: '-' },
    ]);
    // The sender sends the first message again.
    expect(await sendMessage(h.scheduler, to, paid(1, 'm-1'))).toEqual(first);
    const second = await sendMessage(h.scheduler, { ...to, startWith: { input: { n: 2 } } }, paid(2));
    expect(second).toMatchObject({ executionId: first.executionId, order: 2 });
    expect((await h.begin(input, 'o-2')).id).not.toBe(first.executionId);
  });

  it('says where its notifications go, where there are any', async () => {
    const h = world();
    const where = { ...to, startWith: { input, callbackUrl: 'https://shop.example/news' } };
    await expect(sendMessage(h.scheduler, where, paid(1))).rejects.toMatchObject({
      code: 'no-callback-urls',
    });
    const { executionId } = await sendMessage({ ...h.scheduler, notifies: true }, where, paid(1));
    expect((await h.state(executionId)).execution).toMatchObject(where.startWith);
  });

  it('reaches one that another start made meanwhile, whatever its input', async () => {
    let before = async (): Promise<unknown> => undefined;
    const h = world((memory) => {
      // The copy inherits from the store, whose methods are own properties, and replaces one.
      const store = Object.create(memory.store, {
        create: {
          value: async (...given: Parameters<Ports['store']['create']>) => {
            await before();
            return memory.store.create(...given);
          },
        },
      }) as Ports['store'];
      return { ...memory, store };
    });
    before = async () => {
      before = async () => undefined;
      await h.begin({ n: 7 }, 'o-1');
    };
    const { executionId, order } = await sendMessage(h.scheduler, to, paid(1));
    const { execution, steps } = await h.state(executionId);
    expect([order, execution.input, steps['paid']?.status]).toEqual([1, { n: 7 }, 'done']);
  });

  it('is kept by one that is born paused', async () => {
    const h = world((memory) => ({ ...memory, workflowPauses: memoryWorkflowPauses() }));
    await pauseWorkflow(h.scheduler, 'flow', {});
    const { executionId } = await sendMessage(h.scheduler, to, paid(1));
    expect((await h.state(executionId)).execution.status).toBe('paused');
    await resume(h.scheduler, executionId, {});
    expect((await h.state(executionId)).steps['paid']?.status).toBe('done');
  });

  it('starts nothing where message or input are refused, or the execution is over', async () => {
    const h = world();
    const refusals = [
      [to, { name: 'payed', body: 1 }, 'unknown-message'],
      [to, { name: 'paid', body: 1 }, 'bad-message'],
      [{ ...to, startWith: { input: 7 } }, paid(1), 'bad-input'],
      [{ ...to, workflow: 'flaw' }, paid(1), 'unknown-workflow'],
    ] as const;
    for (const [where, request, code] of refusals)
      await expect(sendMessage(h.scheduler, where, request)).rejects.toMatchObject({ code });
    await expect(h.state('e-1')).rejects.toThrow();
    const { executionId } = await sendMessage(h.scheduler, to, paid(1));
    await cancel(h.scheduler, executionId, {});
    await expect(sendMessage(h.scheduler, to, paid(2))).rejects.toMatchObject({ code: 'ended' });
  });
});

describe('what is left in a mailbox', () => {
  const mailOf = async (h: Harness): Promise<FoundMail[]> =>
    (await h.store.inventory(10_000).page({ index: 0, of: 1 })).items.filter((one) => one.kind === 'mail');

  it('goes with its execution, and what another life was sent stays', async () => {
    const h = world((memory) => ({ ...memory, erasure: memory.store.inventory() }));
    const { id, life } = await h.begin({}, 'o-1');
    const send = sender(h, id);
    await send({ name: 'rated', body: 1 });
    await send(paid(1, 'm-1'));
    await h.run(id, { maxMs: 9 * 3_600_000 });
    h.clock.advanceTo(h.clock.now() + 60_000);
    expect((await mailOf(h)).filter((one) => one.life === life)).toHaveLength(3);
    await erase(h.scheduler, id);
    expect(await mailOf(h)).toEqual([]);
    const again = await h.begin({}, 'o-1');
    // The message id was used in another life, so it is accepted.
    expect(await send(paid(3, 'm-1'))).toMatchObject({ executionId: id, order: 1 });
    expect((await mailOf(h)).map((one) => one.life)).toEqual([again.life, again.life]);
  });

  it('is removed by the audit once the execution of that life is gone, and not before', async () => {
    const h = world();
    const { id } = await h.begin({}, 'o-1');
    await sender(h, id)({ name: 'rated', body: 1 });
    const ports = { ...h, inventory: h.store.inventory(), receipts: memoryReceipts() };
    const run = async () => (await audit(ports, { untilAt: Number.MAX_SAFE_INTEGER, maxPages: 100 })).removed;
    expect(await run()).toBe(0);
    h.store.expire(id);
    await h.begin({}, 'o-1');
    await sender(h, id)({ name: 'rated', body: 2 });
    expect(await run()).toBe(2);
    expect(await mailOf(h)).toHaveLength(2);
  });
});
