/**
 * Message ids: any text is allowed; a repeated id gets the first answer, within the life of the execution.
 */

import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { erase } from '../../lib/scheduler/erase.ts';
import { type MessageRequest, sendMessage } from '../../lib/scheduler/messages.ts';
import { anyObject, harness, type Harness } from '../engine/harness.ts';

const flow = workflow('flow', { input: anyObject, within: '9h' }, (w) => {
  const paid = w.receive('paid', { message: z.object({ amount: z.number() }), within: '1h' });
  w.receive('rated', { message: z.unknown(), within: '1h', after: [paid] });
}) as Workflow;

const world = (): Harness => harness(flow, {});
const paid = (amount: number, id: string): MessageRequest => ({ name: 'paid', body: { amount }, id });
const sender = (h: Harness, executionId: string) => (request: MessageRequest) =>
  sendMessage(h.scheduler, { executionId }, request);
const refusal = (code: string) => ({ code });

describe('a message', () => {
  it.each(['constructor', '__proto__'])('may have the id %s, which every object has', async (name) => {
    const h = world();
    const { id } = await h.begin();
    await sender(h, id)(paid(1, name));
    expect((await h.state(id)).steps['paid']).toMatchObject({ status: 'done', received: { id: name } });
  });

  it('that was accepted and never taken is answered as the first time, also after the end (M2)', async () => {
    const h = world();
    const { id } = await h.begin();
    const send = sender(h, id);
    const early = await send({ name: 'rated', body: 1, id: 'm-1' });
    h.clock.advanceTo(h.clock.now() + 5_000);
    await cancel(h.scheduler, id, {});
    expect((await h.state(id)).execution.endedAt).toBeGreaterThan(early.at);
    expect(await send({ name: 'rated', body: 1, id: 'm-1' })).toEqual(early);
    await expect(send({ name: 'rated', body: 1, id: 'm-2' })).rejects.toMatchObject(refusal('ended'));
  });

  it('is not said to be accepted where its id has another life once it is written (M1)', async () => {
    const h = world();
    const { id } = await h.begin();
    const { read } = h.store;
    const accepting = h.mailboxes.accept;
    Object.assign(h.mailboxes, {
      accept: async (...given: Parameters<typeof accepting>) => {
        const result = await accepting(...given);
        Object.assign(h.store, {
          read: async (executionId: string) => {
            const state = await read(executionId);
            return state && { ...state, steps: {}, execution: { ...state.execution, life: 'another' } };
          },
        });
        return result;
      },
    });
    await expect(sender(h, id)({ name: 'rated', body: 1 })).rejects.toMatchObject(
      refusal('unknown-execution'),
    );
  });
});

it('an erasure takes along what is sent while it removes', async () => {
  const h = harness(flow, {}, 1, (memory) => {
    const all = memory.store.inventory();
    let isFirst = true;
    const remove: typeof all.remove = async (found) => {
      if (found.kind === 'mail' && isFirst) {
        isFirst = false;
        const about = { executionId: found.executionId, life: found.life };
        const before = (await memory.mailboxes.readMailbox(found.executionId, found.life))!;
        const entry = { order: 9, name: 'rated', id: 'm-9', at: 9, bytes: 1 };
        await memory.mailboxes.accept(
          { ...before, version: before.version + 1, writeId: 'w-9', entries: [...before.entries, entry] },
          { ...about, id: 'm-9', name: 'rated', order: 9, at: 9, body: 1 },
        );
      }
      return all.remove(found);
    };
    return { ...memory, erasure: { ...all, remove } };
  });
  const { id } = await h.begin();
  await sender(h, id)({ name: 'rated', body: 1, id: 'm-1' });
  await cancel(h.scheduler, id, {});
  h.clock.advanceTo(h.clock.now() + 60_000);
  await h.sweep();
  h.clock.advanceTo(h.clock.now() + 60_000);
  expect(await erase(h.scheduler, id)).toMatchObject({ status: 'erased' });
  const left = await h.store.inventory(10_000).page({ index: 0, of: 1 });
  expect(left.items).toEqual([]);
});
