/**
 * While the event bus refuses all events, executions continue (L4), and announcements are retried at the wake
 * time.
 */

import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import { pause } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, type Harness, harness } from '../engine/harness.ts';

const MINUTE = 60_000;
const undo = async (): Promise<void> => undefined;

/** A bus that the test can switch off. */
function aBus() {
  const bus = { isAway: false };
  const taken = async (take: () => Promise<void>): Promise<void> => {
    if (bus.isAway) throw new Error('the bus is away');
    await take();
  };
  const on = (world: MemoryWorld): MemoryWorld => ({
    ...world,
    announcer: {
      announce: (news) => taken(() => world.announcer.announce(news)),
    },
  });
  return { bus, on };
}

/** Lets time pass with a sweep each minute; refused announcements are redelivered. */
async function minutes(h: Harness, many: number): Promise<void> {
  for (let minute = 0; minute < many; minute += 1) {
    const under = [h.sweep(), ...h.sent.splice(0).map((send) => h.deliver(send))];
    const over = Promise.allSettled(under);
    for (let second = 0; second < 60; second += 1) {
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
      h.clock.advanceTo(h.clock.now() + 1_000);
    }
    await over;
  }
}

it('an execution whose pause a person ends goes on, though its question is about no step', async () => {
  const flow = workflow('paused', { input: anyObject, within: '60d' }, (w) => {
    w.step('a', anAgent('worker'), {});
  });
  const { bus, on } = aBus();
  const h = harness(flow, { worker: { execute: async () => ({}), undo } }, 1, on);
  const { id } = await h.begin();
  await pause(h.scheduler, id, { reason: 'x', withinMs: 60 * MINUTE });
  await h.run(id, { until: ({ questions }) => questions !== undefined });
  bus.isAway = true;
  await resolveIncident(h.scheduler, id, { incident: 1, choice: 'resume' });
  await minutes(h, 30);
  const { execution, steps, questions } = await h.state(id);
  expect([execution.status, steps['a']?.status]).toEqual(['succeeded', 'done']);
  expect(questions?.[1]?.unannounced).toContain('closed');
  bus.isAway = false;
  await minutes(h, 30);
  expect((await h.state(id)).questions?.[1]).not.toHaveProperty('unannounced');
});

it('a question that was opened while the bus was away is announced during the pause that followed', async () => {
  const flow = workflow('asks', { input: anyObject, within: '60d' }, (w) => {
    w.approval('go', { within: '30d' });
  });
  const { bus, on } = aBus();
  const h = harness(flow, {}, 1, on);
  bus.isAway = true;
  const { id } = await h.begin();
  await minutes(h, 5);
  await pause(h.scheduler, id, { reason: 'x', withinMs: 7 * 24 * 60 * MINUTE });
  await minutes(h, 5);
  expect((await h.state(id)).execution.status).toBe('paused');
  expect((await h.state(id)).questions?.['go']?.unannounced).toEqual(['opened']);
  bus.isAway = false;
  await minutes(h, 10);
  expect((await h.state(id)).questions?.['go']).not.toHaveProperty('unannounced');
});

it('a list goes on when a part has ended whose question is not announced', async () => {
  const flow = workflow('listed', { input: z.object({ list: z.array(z.string()) }), within: '60d' }, (w) => {
    const all = w.map('all', anAgent('worker'), w.input.list, (item) => ({ item }));
    w.step('after', anAgent('later'), {}, { after: [all] });
  });
  const { bus, on } = aBus();
  const execute = async ({ step }: { readonly step: string }) =>
    step === 'all[0]' ? { at: new Date(0) } : {};
  const worker = { execute: execute as never, undo };
  const h = harness(flow, { worker, later: { execute: async () => ({}), undo } }, 1, on);
  const { id } = await h.begin({ list: ['a', 'b'] });
  await minutes(h, 10);
  bus.isAway = true;
  await resolveIncident(h.scheduler, `${id}.all.0`, { incident: 1, choice: 'give-output', output: {} });
  await minutes(h, 30);
  expect((await h.state(id)).steps['after']?.status).toBe('done');
  expect((await h.state(`${id}.all.0`)).questions?.[1]?.unannounced).toEqual(['closed']);
});
