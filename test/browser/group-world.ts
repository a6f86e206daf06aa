/**
 * Group bookings, made by the real roles on ports in memory: one undone after its deposit bounced, one that
 * succeeded, some that wait for a manager, and some that wait for an agent whose service is down. Their ids
 * are as long as real ones.
 */

import { createHash } from 'node:crypto';
import { gt } from '../../lib/author/references.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Json } from '../../lib/core/values/json.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { createScheduler, start } from '../../lib/scheduler/start.ts';
import { anAgent, anyObject } from '../engine/harness.ts';
import { memoryApi, type MemoryApi, type MemoryPage } from './memory-world.ts';
import { servePage } from './page-server.ts';

type One = ReturnType<typeof anAgent>;
const AGENTS = ['hold-allotment', 'take-deposit', 'assign-room', 'confirm-booking', 'send-mail'] as const;
const [hold, take, assign, confirm, mail] = AGENTS.map((name) => anAgent(name)) as unknown as readonly [
  One,
  One,
  One,
  One,
  One,
];

const booking = workflow(
  'group-booking',
  { input: anyObject, within: '3d', tags: ['bookingId', 'hotel'] },
  (w) => {
    const held = w.step('hold', hold, {});
    const manager = w.approval('manager', {
      within: '2d',
      otherwise: 'reject',
      when: gt(w.input['total'] as never, 5_000),
      after: [held],
    });
    const deposit = w.step('deposit', take, {}, { after: [manager] });
    const cleared = w.callback('cleared', { output: anyObject, within: '1d', after: [manager] });
    const rooms = w.map(
      'rooms',
      assign,
      w.input['guests'] as never,
      (guest: unknown) => ({ guest }) as never,
      {
        after: [deposit],
      },
    );
    const confirmed = w.step('confirm', confirm, {}, { after: [rooms, cleared] });
    w.step('mail', mail, {}, { after: [confirmed], mayFail: true });
    w.onFailure('tell', mail, {});
  },
) as unknown as Workflow;

export interface Group extends MemoryApi {
  readonly undone: string;
  readonly booked: string;
  /** Executions that wait for a manager. */
  readonly asked: readonly string[];
  /** Executions that wait for an agent whose breaker is open. */
  readonly stuck: readonly string[];
}

export async function groupPage(): Promise<Group & Pick<MemoryPage, 'server'>> {
  const group = await groupBookings();
  return { ...group, server: await servePage(group.api) };
}

async function groupBookings(): Promise<Group> {
  const service = { away: false };
  // The time that a service takes.
  const pass = (ms: number): void => world.clock.advanceTo(world.clock.now() + ms);
  const works = {
    execute: async () => {
      pass(300);
      return { ok: true };
    },
    undo: async () => pass(200),
  };
  const world = memoryApi(booking, {
    ...Object.fromEntries(AGENTS.map((name) => [name, works])),
    'confirm-booking': {
      ...works,
      execute: async () => {
        if (service.away) throw new Error('confirmation answered 500');
        return {};
      },
    },
  });
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
  let count = 0;
  const scheduler = createScheduler(world, [booking], { hash, newId: () => hash(`booking ${(count += 1)}`) });
  const begun = async (hotel: string, total: number): Promise<string> => {
    const bookingId = `b-${count + 10}`;
    const input: Json = { bookingId, hotel, total, guests: ['Ada', 'Grace', 'Edsger'] };
    return (await start(scheduler, { workflow: booking.name, input, tags: { bookingId, hotel } })).id;
  };
  const asks =
    (step: string) =>
    ({ questions = {} }: Snapshot): boolean =>
      questions[step] !== undefined;
  const answer = async (id: string, how: 'complete' | 'fail'): Promise<void> => {
    await world.run(id, {
      until: ({ steps, questions = {} }) =>
        questions['cleared'] !== undefined && steps['rooms']?.status === 'done',
    });
    const token = (await world.view(id)).steps.find(({ name }) => name === 'cleared')?.token;
    await world.post(
      `/callbacks/${token}/${how}`,
      how === 'fail' ? { code: 'bounced', message: 'the deposit bounced' } : { output: {} },
    );
  };
  const undone = await begun('Alpina', 1_200);
  await answer(undone, 'fail');
  await world.run(undone);
  for (let at = 0; at < 4; at += 1) {
    const another = await begun('Seaside', 900);
    await answer(another, 'fail');
    await world.run(another);
  }
  const booked = await begun('Seaside', 900);
  await answer(booked, 'complete');
  await world.run(booked);
  service.away = true;
  const stuck: string[] = [];
  for (let at = 0; at < 8; at += 1) stuck.push(await begun(at % 2 === 0 ? 'Alpina' : 'Seaside', 900));
  for (const id of stuck) await answer(id, 'complete');
  const asked: string[] = [];
  for (let at = 0; at < 9; at += 1) asked.push(await begun('Alpina', 9_000));
  for (const id of asked) await world.run(id, { until: asks('manager') });
  for (const id of stuck)
    await world.run(id, { until: ({ execution }) => execution.riskSince !== undefined, maxMs: 1_800_000 });
  return { ...world, undone, booked, asked, stuck };
}
