/** The bounds of a mailbox in bytes, and the pauses of senders that meet there. */

import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { sendMessage } from '../../lib/scheduler/messages.ts';
import { anyObject, harness, type Harness } from '../engine/harness.ts';

const flow = workflow('flow', { input: anyObject, within: '9h' }, (w) => {
  const first = w.receive('first', { message: z.unknown(), within: '1h' });
  w.receive('rated', { message: z.unknown(), within: '1h', after: [first] });
}) as Workflow;
const rate = (h: Harness, executionId: string, body: string) =>
  sendMessage(h.scheduler, { executionId }, { name: 'rated', body });

it('a body is measured in bytes', async () => {
  const h = harness(flow, {});
  const { id } = await h.begin();
  await expect(rate(h, id, 'é'.repeat(100_001))).rejects.toMatchObject({ code: 'too-large' });
  expect(await rate(h, id, 'é'.repeat(99_000))).toMatchObject({ order: 1 });
});

it('a body is measured again as its schema makes it', async () => {
  const validate = (value: unknown) => ({ value: String(value).repeat(3) });
  const message = { '~standard': { version: 1, vendor: 'test', validate } } as never;
  const longer = workflow('flow', { input: anyObject, within: '9h' }, (w) => {
    w.receive('rated', { message, within: '1h' });
  }) as Workflow;
  const h = harness(longer, {});
  const { id } = await h.begin();
  await expect(rate(h, id, 'x'.repeat(70_000))).rejects.toMatchObject({ code: 'too-large' });
  expect(await rate(h, id, 'x'.repeat(60_000))).toMatchObject({ order: 1 });
});

it('a mailbox whose ids no record could hold together is full', async () => {
  const h = harness(flow, {});
  const { id, life } = await h.begin();
  const entries = Array.from({ length: 700 }, (_, at) => ({
    order: at + 1,
    name: 'rated',
    id: `${'漢'.repeat(190)}${at}`,
    at: 1,
    bytes: 4,
  }));
  const box = { executionId: id, life, version: 1, writeId: 'w', entries, accepted: 700 };
  expect(await h.mailboxes.writeMailbox(box)).toBe('written');
  await expect(rate(h, id, 'good')).rejects.toMatchObject({ code: 'mailbox-full' });
});

it('a sender that meets others waits longer and longer before it tries again', async () => {
  const pauses: number[] = [];
  const h = harness(flow, {}, 1, (memory) => ({
    ...memory,
    random: { ...memory.random, number: () => 1 },
    clock: { now: memory.clock.now, sleep: async (ms) => void pauses.push(ms) },
    mailboxes: { ...memory.mailboxes, accept: async () => 'conflict' as const },
  }));
  const { id } = await h.begin();
  await expect(rate(h, id, 'good')).rejects.toMatchObject({ code: 'busy' });
  expect(pauses.slice(0, 5)).toEqual([200, 400, 800, 1_000, 1_000]);
});
