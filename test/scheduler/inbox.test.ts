/**
 * Questions on the production roles: their inbox entries, reminders, and the default if there is no answer.
 */

import { asCallback } from '../../lib/core/records/question.ts';
import type { ApprovalOptions } from '../../lib/author/builder/waiting-steps.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Ref } from '../../lib/author/references.ts';
import { explain } from '../../lib/explain/why.ts';
import type { QuestionNews } from '../../lib/core/decisions/news.ts';
import { type Snapshot, incidentsIn } from '../../lib/core/records/snapshot.ts';
import { callbackToken } from '../../lib/core/records/state.ts';
import { closeCallback } from '../../lib/scheduler/callbacks.ts';
import { cancel, pause, resume, retry } from '../../lib/scheduler/commands.ts';
import { start } from '../../lib/scheduler/start.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { book } from '../engine/book.ts';
import { anAgent, anyObject, drain, harness, type Harness } from '../engine/harness.ts';

const agent = anAgent('agent-a');
const HOUR = 3_600_000;
const MINUTE = 60_000;

/** A workflow with an approval and a parallel step. */
const asking = (options: Partial<ApprovalOptions> = {}): Workflow =>
  workflow('flow', { input: anyObject as never, within: '5h' }, (w) => {
    const ok = w.approval('ok', { within: '1h', ...options });
    w.step('beside', agent, {});
    w.step('then', agent, {}, { after: [ok] });
  }) as Workflow;

const open = (options: Partial<ApprovalOptions> = {}, wrap?: (world: MemoryWorld) => MemoryWorld): Harness =>
  harness(asking(options), { 'agent-a': book().implementation }, 1, wrap);

async function begun(
  options: Partial<ApprovalOptions> = {},
): Promise<{ h: Harness; id: string; at: number }> {
  const h = open(options);
  const { id, startedAt } = await h.begin();
  await drain(h);
  return { h, id, at: startedAt };
}

const tokenOf = async (h: Harness, id: string): Promise<string> =>
  callbackToken((await h.state(id)).execution, 'ok') ?? '';
const approve = async (h: Harness, id: string): Promise<unknown> =>
  closeCallback(h.scheduler, await tokenOf(h, id), { kind: 'complete', output: {} });
const changes = (h: Harness): string[] =>
  h.questionNews.map(({ change, reminders }) => (change === 'reminded' ? `reminded ${reminders}` : change));
const listed = async (h: Harness) => (await h.store.inbox(10)).items.map(({ question }) => question.step);

describe('an approval whose turn has come', () => {
  it('is in the inbox and makes its execution wait, and other branches go on (L1)', async () => {
    const { h, id, at } = await begun({ otherwise: 'reject' });
    const { execution, steps } = await h.state(id);
    expect(execution.status).toBe('waiting');
    expect(steps['beside']?.status).toBe('done');
    expect((await h.store.inbox(10)).items).toMatchObject([
      {
        executionId: id,
        question: { kind: 'approval', step: 'ok', otherwise: 'reject', deadlineAt: at + HOUR },
      },
    ]);
    const news: QuestionNews = {
      about: 'question',
      change: 'opened',
      executionId: id,
      workflow: 'flow',
      step: 'ok',
      kind: 'approval',
      at,
      openedAt: at,
      deadlineAt: at + HOUR,
      otherwise: 'reject',
      reminders: 0,
      view: `/executions/${id}`,
    };
    expect(h.questionNews).toStrictEqual([news]);
  });

  it('leaves the inbox with its answer, in one write with its step and its execution (S10)', async () => {
    const { h, id } = await begun();
    await approve(h, id);
    const { execution, steps, questions } = await h.state(id);
    expect([execution.status, steps['ok']?.status]).toEqual(['running', 'done']);
    expect(questions?.['ok']).toMatchObject({ closedBy: 'answer', outcome: 'done' });
    expect(await listed(h)).toEqual([]);
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(changes(h)).toEqual(['opened', 'closed']);
  });

  it('is not an incident: nothing is asked, nothing is retried for it, and no metric counts it', async () => {
    const { h, id } = await begun();
    expect(incidentsIn(await h.state(id))).toEqual([]);
    await expect(retry(h.scheduler, id, {})).rejects.toMatchObject({
      message: expect.stringContaining('none of its open questions is about a step'),
    });
    expect(h.notes.filter(({ what }) => what.startsWith('incident'))).toEqual([]);
  });

  it('leaves the inbox with a cancel, and never outlives its execution', async () => {
    const { h, id } = await begun();
    await cancel(h.scheduler, id, {});
    const end = await h.run(id);
    expect(end.execution.status).toBe('canceled');
    expect(end.questions?.['ok']).toMatchObject({ closedBy: 'moot' });
    expect(changes(h)).toEqual(['opened', 'closed']);
    expect(h.questionNews.at(-1)).not.toHaveProperty('outcome');
  });

  it('is opened again by a retry of its execution', async () => {
    const { h, id } = await begun();
    await cancel(h.scheduler, id, { undo: false });
    expect((await h.run(id)).execution.status).toBe('failed');
    await retry(h.scheduler, id, {});
    await drain(h);
    expect((await h.state(id)).execution.status).toBe('waiting');
    expect((await h.state(id)).questions?.['ok']).toMatchObject({ reminders: 0 });
    expect((await h.state(id)).questions?.['ok']).not.toHaveProperty('closedAt');
    await approve(h, id);
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(changes(h)).toEqual(['opened', 'closed', 'opened', 'closed']);
  });
});

describe('what an approval shows', () => {
  const shows = workflow('booking', { input: anyObject as never, within: '5h' }, (w) => {
    const { input } = w as unknown as {
      input: Ref<{ total: number; hotel: string; note: string; vip: boolean }>;
    };
    const held = w.step('hold', agent, {});
    const of = held.output as unknown as Ref<{ room: { number: number } }>;
    w.approval('ok', {
      within: '1h',
      remindEvery: '20m',
      show: {
        total: input.total,
        hotel: input.hotel,
        room: of.room,
        note: input.note,
        vip: input.vip,
        why: 'large',
      },
    });
  }) as Workflow;
  const long = `${'x'.repeat(498)}😀y`;

  it('is read when it is opened, typed and cut, and stands in the record and in each event about it', async () => {
    const implementation = { execute: async () => ({ room: { number: 7 } }), undo: async () => undefined };
    const h = harness(shows, { 'agent-a': implementation });
    const tags = { bookingId: '4711' };
    const { id } = await start(h.scheduler, {
      workflow: 'booking',
      input: { total: 5_200, hotel: 'Ritz', note: long },
      tags,
    });
    await drain(h);
    // A missing value is left out; a long one is cut at a whole character, and marked.
    const shown = {
      total: 5_200,
      hotel: 'Ritz',
      room: { number: 7 },
      note: `${'x'.repeat(498)}…`,
      why: 'large',
    };
    const [item] = (await h.store.inbox(10)).items;
    expect(item?.question).toMatchObject({ step: 'ok', workflow: 'booking', tags, shown });
    expect(asCallback(item?.question)?.shown).toStrictEqual(shown);
    await h.run(id, { until: () => h.questionNews.length === 2, maxMs: HOUR });
    await approve(h, id);
    await h.run(id);
    expect(changes(h)).toEqual(['opened', 'reminded 1', 'closed']);
    for (const news of h.questionNews) expect(news).toMatchObject({ workflow: 'booking', tags, shown });
  });

  it('cannot be a secret: the token is refused when the workflow is built', () => {
    const leaks = (): unknown =>
      workflow('leaks', { input: anyObject as never, within: '5h' }, (w) => {
        const paid = w.callback('paid', { output: anyObject as never, within: '1h' });
        w.approval('ok', { within: '1h', show: { token: paid.token } });
      });
    expect(leaks).toThrow("'show' reads a token, which is a secret: anyone with it can answer; leave it out");
  });
});

describe('a callback', () => {
  it('is in the inbox, and its execution stays running: its external party is not a person', async () => {
    const flow = workflow('flow', { input: anyObject as never, within: '5h' }, (w) => {
      w.callback('ok', { output: anyObject as never, within: '1h', remindEvery: '20m' });
    }) as Workflow;
    const h = harness(flow, {});
    const { id } = await h.begin();
    expect((await h.state(id)).execution.status).toBe('running');
    expect(await listed(h)).toEqual(['ok']);
    expect((await h.run(id, { maxMs: 2 * HOUR })).execution.status).toBe('failed');
    expect(changes(h)).toEqual(['opened', 'reminded 1', 'reminded 2', 'closed']);
  });
});

describe('without an answer in time', () => {
  it.each([
    ['approve', 'succeeded', 'done'],
    ['reject', 'compensated', 'failed'],
    ['fail', 'compensated', 'failed'],
  ] as const)('otherwise %s: it has %s', async (otherwise, status, outcome) => {
    const { h, id, at } = await begun({ otherwise });
    const end = await h.run(id, { maxMs: 2 * HOUR });
    expect(end.execution.status).toBe(status);
    const { output, failure, changedAt = 0 } = end.steps['ok'] ?? {};
    expect(output).toEqual(otherwise === 'approve' ? { approved: true } : undefined);
    expect(failure?.code).toBe({ approve: undefined, reject: 'rejected', fail: 'no-answer' }[otherwise]);
    expect(changedAt).toBeGreaterThanOrEqual(at + HOUR);
    expect(h.questionNews.at(-1)).toMatchObject({ change: 'closed', closedBy: 'deadline', outcome });
  });

  it('history says that it is approved by default, and before what silence means', async () => {
    const { h, id } = await begun({ otherwise: 'approve', remindEvery: '40m' });
    const { plan } = asking({ otherwise: 'approve', remindEvery: '40m' });
    const said = explain(plan, await h.state(id), h.clock.now()).steps.find(({ name }) => name === 'ok');
    expect(said?.next.what).toBe('a person approves or rejects; without an answer it is approved');
    const end = await h.run(id, { maxMs: 2 * HOUR });
    const { past, steps } = explain(plan, end, h.clock.now());
    expect(past.filter(({ step }) => step === 'ok').map(({ what }) => what)).toEqual([
      'an answer was asked for',
      'reminder 1 was sent: there was no answer yet',
      'it is approved by default: nobody answered in time',
    ]);
    expect(steps.find(({ name }) => name === 'ok')?.because).toBe(
      'it is approved by default: nobody answered in time',
    );
  });
});

describe('reminders', () => {
  it('come at their interval, as long as there is no answer and the time is not over', async () => {
    const { h, id, at } = await begun({ remindEvery: '20m' });
    await h.run(id, { until: () => h.questionNews.length === 3, maxMs: HOUR });
    await approve(h, id);
    await h.run(id);
    expect(changes(h)).toEqual(['opened', 'reminded 1', 'reminded 2', 'closed']);
    const [, first, second] = h.questionNews.map((news) => news.at - at);
    expect(first).toBeGreaterThanOrEqual(20 * MINUTE);
    expect(first).toBeLessThan(21 * MINUTE);
    expect(second).toBeLessThan(42 * MINUTE);
  });

  it('stand still during a pause, whose time is given back to the wait and to them', async () => {
    const { h, id, at } = await begun({ remindEvery: '20m' });
    await pause(h.scheduler, id, {});
    h.clock.advanceTo(at + 2 * HOUR);
    await h.sweep();
    expect(changes(h)).toEqual(['opened']);
    await resume(h.scheduler, id, {});
    const { execution, questions } = await h.state(id);
    expect(execution.status).toBe('waiting');
    expect(questions?.['ok']).toMatchObject({
      deadlineAt: at + 3 * HOUR,
      remindAt: at + 2 * HOUR + 20 * MINUTE,
    });
    const end = await h.run(id, { maxMs: 2 * HOUR });
    expect(end.steps['ok']?.changedAt).toBeGreaterThanOrEqual(at + 3 * HOUR);
    expect(changes(h)).toEqual(['opened', 'reminded 1', 'reminded 2', 'closed']);
  });

  it('that were missed are one, not many', async () => {
    const { h, id, at } = await begun({ remindEvery: '10m' });
    h.clock.advanceTo(at + 45 * MINUTE);
    await h.sweep();
    expect(changes(h)).toEqual(['opened', 'reminded 1']);
    expect((await h.state(id)).questions?.['ok']?.remindAt).toBe(at + 55 * MINUTE);
  });
});

describe('an answer during a pause', () => {
  it('takes the approval out of the inbox at once, and counts when the pause is over', async () => {
    const { h, id } = await begun();
    await pause(h.scheduler, id, {});
    await approve(h, id);
    expect(await listed(h)).toEqual([]);
    expect((await h.state(id)).steps['ok']?.status).toBe('answered');
    await resume(h.scheduler, id, {});
    expect((await h.state(id)).execution.status).toBe('running');
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });
});

describe('an event bus that takes nothing', () => {
  const away = () => {
    const bus = { isAway: true };
    const h = open({}, (world) => ({
      ...world,
      announcer: {
        announce: async (news) => {
          if (bus.isAway && news.about !== 'end') throw new Error('the bus is away');
          await world.announcer.announce(news);
        },
      },
    }));
    return { h, bus };
  };

  it('delays no other step; it gets all announcements once it is back (L4)', async () => {
    const { h, bus } = away();
    const { id } = await h.begin();
    await h.run(id, { supervised: false, until: ({ steps }) => steps['beside']?.status === 'done' });
    expect((await h.state(id)).questions?.['ok']?.unannounced).toEqual(['opened']);
    bus.isAway = false;
    const { wakeAt = 0, startedAt } = (await h.state(id)).execution;
    expect(wakeAt).toBeLessThanOrEqual(startedAt + MINUTE);
    h.clock.advanceTo(wakeAt);
    await h.sweep();
    expect(new Set(changes(h))).toEqual(new Set(['opened']));
  });

  it('keeps the end of an execution until all of it is announced, in order', async () => {
    const { h, bus } = away();
    const { id } = await h.begin();
    await approve(h, id);
    const until = ({ execution }: Snapshot): boolean => execution.status === 'succeeded';
    await h.run(id, { supervised: false, until });
    await h.sweep();
    expect((await h.state(id)).execution.wakeAt).toBeDefined();
    expect(h.announced).toEqual([]);
    bus.isAway = false;
    const end = await h.run(id);
    expect(changes(h)).toEqual(['opened', 'closed']);
    expect(end.questions?.['ok']).not.toHaveProperty('unannounced');
    expect(h.announced).toHaveLength(1);
  });
});
