/**
 * Messages to executions, on the production roles: early, late, two at once, during a pause, after a retry,
 * from a sender that dies after its write (L1, S12, M1, M3, M6).
 */

import type { Ports } from '../../lib/core/ports.ts';
import { decisionInputsOf } from '../../lib/engine/decision-inputs.ts';
import { decideWith } from '../../lib/engine/large-values.ts';
import { pause, resume, retry } from '../../lib/scheduler/commands.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { book } from './book.ts';
import { drain, harness, type Harness, settle } from './harness.ts';
import { FOUND_MS, mailboxOf, messageOf, paying, sendAndDie, sendTo, thrice } from './mail.ts';
import { deferred, withStore } from './process.ts';

function open(otherwise?: 'fail' | 'continue', wrap?: (world: MemoryWorld) => Ports): Harness {
  const { implementation } = book();
  return harness(paying(otherwise), { 'agent-a': implementation, 'agent-b': implementation }, 1, wrap);
}
const HOUR_MS = 3_600_000;

/** Starts an execution and runs it until its step waits for the message. */
async function waiting(h: Harness): Promise<string> {
  const { id } = await h.begin();
  await drain(h);
  return id;
}

describe('a message', () => {
  it('that comes before its turn is taken when the turn comes, without a supervisor', async () => {
    const h = open();
    const { id } = await h.begin();
    await sendTo(h, id, 1);
    // The sender has evaluated it: nothing is left to be found.
    expect(await mailboxOf(h, id)).toMatchObject({ entries: [{ id: 'm-1' }] });
    expect(await mailboxOf(h, id)).not.toHaveProperty('wakeAt');
    const end = await h.run(id, { supervised: false });
    expect(end.execution).toMatchObject({
      status: 'succeeded',
      output: { got: { got: { paid: { n: 1 } } } },
    });
    expect(end.steps['paid']?.received?.id).toBe('m-1');
    expect(await messageOf(h, id, 'm-1')).toMatchObject({ taken: { step: 'paid' } });
    expect(await messageOf(h, id, 'm-1')).not.toHaveProperty('body');
  });

  it('is taken by its sender where a step waits for it', async () => {
    const h = open();
    const id = await waiting(h);
    await sendTo(h, id, 1);
    expect((await h.state(id)).steps['paid']).toMatchObject({ status: 'done', output: { n: 1 } });
    expect(await mailboxOf(h, id)).toMatchObject({ entries: [], accepted: 1 });
    expect((await h.run(id, { supervised: false })).execution.status).toBe('succeeded');
  });

  it.each([
    ['waits for it', true],
    ['does not wait for it yet', false],
  ])('whose sender dies is found by the wake time of the mailbox where a step %s (M1)', async (_, isOpen) => {
    const h = open();
    const { id } = await h.begin();
    if (isOpen) await drain(h);
    await h.sweep();
    const { wakeAt } = (await h.state(id)).execution;
    await sendAndDie(h, id, 1);
    expect((await h.state(id)).execution.wakeAt).toBe(wakeAt);
    h.clock.advanceTo(h.clock.now() + FOUND_MS);
    await h.sweep();
    expect(await mailboxOf(h, id)).not.toHaveProperty('wakeAt');
    expect((await h.state(id)).steps['paid']?.status).toBe(isOpen ? 'done' : undefined);
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it('is taken in the order of acceptance, each once', async () => {
    const h = harness(thrice, {});
    const { id } = await h.begin();
    // Each sender that loses the race waits a moment, and comes again.
    const sending = Promise.all([sendTo(h, id, 1), sendTo(h, id, 2), sendTo(h, id, 3)]);
    const end = await h.run(id);
    await sending;
    const order = await Promise.all([1, 2, 3].map((n) => messageOf(h, id, `m-${n}`)));
    const inOrder = [...order].sort((one, other) => (one?.order ?? 0) - (other?.order ?? 0));
    expect(inOrder.map((message) => message?.taken?.step)).toEqual(['one', 'two', 'three']);
    expect(end.execution.output).toEqual({ all: inOrder.map((message) => Number(message?.id.slice(2))) });
  });

  it('of an id that is known counts once', async () => {
    const h = harness(thrice, {});
    const { id } = await h.begin();
    const first = await sendTo(h, id, 1);
    expect(await sendTo(h, id, 1)).toEqual(first);
    await sendTo(h, id, 2);
    expect(await sendTo(h, id, 1)).toEqual(first);
    const { steps } = await h.state(id);
    expect([steps['one'], steps['two'], steps['three']].map((step) => step?.status)).toEqual([
      'done',
      'done',
      undefined,
    ]);
  });

  it('that was accepted in time is taken, however late a supervisor comes (M6)', async () => {
    const h = open();
    const id = await waiting(h);
    await h.sweep();
    h.clock.advanceTo(h.clock.now() + HOUR_MS - 2 * FOUND_MS);
    await sendAndDie(h, id, 1);
    h.clock.advanceTo(h.clock.now() + HOUR_MS);
    await h.sweep();
    expect((await h.state(id)).steps['paid']?.status).toBe('done');
  });

  it('that was accepted later is not, and is kept', async () => {
    const h = open();
    const id = await waiting(h);
    await h.sweep();
    h.clock.advanceTo(h.clock.now() + HOUR_MS + 1);
    await sendAndDie(h, id, 1);
    await h.sweep();
    expect((await h.state(id)).steps['paid']).toMatchObject({ failure: { code: 'no-message' } });
    expect(await mailboxOf(h, id)).toMatchObject({ entries: [{ id: 'm-1' }] });
  });

  it('is not waited for beyond the time: with `continue` it goes on with null', async () => {
    const h = open('continue');
    const { id } = await h.begin();
    const end = await h.run(id, { maxMs: 2 * HOUR_MS });
    expect(end.execution.output).toEqual({ got: { got: { paid: null } } });
  });
});

describe('a message and a pause', () => {
  it('is kept meanwhile and moves no wake time; the resume takes it', async () => {
    const h = open();
    const id = await waiting(h);
    await pause(h.scheduler, id, { reason: 'x', withinMs: HOUR_MS });
    const { wakeAt } = (await h.state(id)).execution;
    await sendTo(h, id, 1);
    const { execution, steps } = await h.state(id);
    expect([execution.status, execution.wakeAt, steps['paid']]).toEqual(['paused', wakeAt, undefined]);
    expect(await mailboxOf(h, id)).not.toHaveProperty('wakeAt');
    await resume(h.scheduler, id, { reason: 'x' });
    expect((await h.state(id)).steps['paid']?.status).toBe('done');
  });

  it('extends the time in which it may come', async () => {
    const h = open();
    const id = await waiting(h);
    h.clock.advanceTo(h.clock.now() + HOUR_MS - FOUND_MS);
    await pause(h.scheduler, id, { reason: 'x', withinMs: 3 * HOUR_MS });
    h.clock.advanceTo(h.clock.now() + HOUR_MS);
    await sendAndDie(h, id, 1);
    h.clock.advanceTo(h.clock.now() + HOUR_MS);
    await resume(h.scheduler, id, { reason: 'x' });
    expect((await h.state(id)).steps['paid']?.status).toBe('done');
  });
});

describe('a message and a retry', () => {
  it('is taken by a step whose time was over before, and not again by one that is done', async () => {
    const h = harness(thrice, {});
    const { id } = await h.begin();
    await sendTo(h, id, 1);
    const failed = await h.run(id, { maxMs: 2 * HOUR_MS });
    expect([failed.execution.status, failed.steps['two']?.status]).toEqual(['failed', 'failed']);
    await sendTo(h, id, 2);
    expect((await h.state(id)).steps['two']?.status).toBe('failed');
    await retry(h.scheduler, id, { reason: 'x' });
    await sendTo(h, id, 3);
    const end = await h.run(id);
    expect(end.execution.output).toEqual({ all: [1, 2, 3] });
  });
});

describe('a mailbox', () => {
  it('keeps its wake time where another message came since it was read', async () => {
    const gate = deferred<void>();
    let isHeld = false;
    const h = open('fail', (world) =>
      withStore(world, (store) => ({
        read: async (id) => {
          const state = await store.read(id);
          isHeld = true;
          await gate.promise;
          return state;
        },
      })),
    );
    const { id } = await h.begin();
    const sending = sendTo(h, id, 1);
    await settle();
    expect(isHeld).toBe(true);
    await sendAndDie(h, id, 2);
    gate.resolve();
    await sending;
    expect((await mailboxOf(h, id))?.wakeAt).toBe(h.clock.now() + FOUND_MS);
  });

  it('is read for each decision anew: one that came since may be in time (M6)', async () => {
    const h = open();
    const id = await waiting(h);
    const state = await h.state(id);
    await sendAndDie(h, id, 1);
    const plan = (await h.store.readPlan(state.execution.plan))!;
    // An evaluation that read the mailbox, and then waited for an answer of a queue, has this state.
    const before = { ...state, mailbox: { messages: {} } };
    const looked = { affected: [], fresh: true, readAt: h.clock.now(), by: 'agent' } as const;
    const event = { type: 'evaluate', ...looked, ...decisionInputsOf(h) } as const;
    const { decision } = await decideWith(h, plan, before, event);
    expect(decision.write?.taken?.message.id).toBe('m-1');
  });

  it('is read again after each write: what came between is not overlooked', async () => {
    let reads = 0;
    const h: Harness = harness(thrice, {}, 1, (world) => ({
      ...world,
      mailboxes: {
        ...world.mailboxes,
        readMailbox: async (id, life) => {
          reads += 1;
          const mailbox = await world.mailboxes.readMailbox(id, life);
          // The second comes once the first was read, by a sender that dies.
          if (reads === 3) await sendAndDie(h, id, 2);
          return mailbox;
        },
      },
    }));
    const { id } = await h.begin();
    await sendTo(h, id, 1);
    const { steps } = await h.state(id);
    expect([steps['one']?.output, steps['two']?.output]).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('has no wake time once its execution has ended or is gone', async () => {
    const h = open();
    const { id } = await h.begin();
    await sendAndDie(h, id, 1);
    const { life } = (await h.state(id)).execution;
    h.store.expire(id);
    h.clock.advanceTo(h.clock.now() + FOUND_MS);
    await h.sweep();
    expect((await h.store.due(0, h.clock.now())).items).toEqual([]);
    expect(await h.mailboxes.readMailbox(id, life)).toMatchObject({ entries: [{ id: 'm-1' }] });
  });

  it('of another life of the id is not that of the execution', async () => {
    const h = open();
    const { id } = await h.begin({}, 'key');
    await sendAndDie(h, id, 1);
    h.store.expire(id);
    const { id: again } = await h.begin({}, 'key');
    expect(again).toBe(id);
    h.clock.advanceTo(h.clock.now() + FOUND_MS);
    await drain(h);
    await h.sweep();
    expect((await h.state(id)).steps['paid']).toBeUndefined();
    expect((await h.store.due(0, h.clock.now())).items).toEqual([]);
  });

  it('whose message is lost is passed over, and said', async () => {
    const h = harness(thrice, {}, 1, (world) => ({
      ...world,
      mailboxes: {
        ...world.mailboxes,
        readMessage: async (id, life, message) =>
          message === 'm-1' ? undefined : world.mailboxes.readMessage(id, life, message),
      },
    }));
    const { id } = await h.begin();
    await sendAndDie(h, id, 1);
    await sendAndDie(h, id, 2);
    h.clock.advanceTo(h.clock.now() + FOUND_MS);
    await h.sweep();
    expect((await h.state(id)).steps['one']?.received?.id).toBe('m-2');
    expect(h.notes).toContainEqual({ what: 'message-lost', executionId: id });
  });
});
