/**
 * Reminders of incidents, on the production roles: when one is due, with pauses, and none after an answer.
 */

import { explain } from '../../lib/explain/why.ts';
import { askPerson, workflow } from '../../lib/author/builder/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import type { QuestionNews } from '../../lib/core/decisions/news.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { pause, resume } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { DEADLINE, planOf, see, stateOf } from '../core/one-step.ts';
import { callbackOf } from '../core/small-steps.ts';
import { NOW } from '../core/states.ts';
import { anAgent, anyObject, harness, type Harness } from '../engine/harness.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const refuses = async (): Promise<never> => {
  throw new PermanentError('no');
};
const asked = ({ questions }: Snapshot): boolean => questions !== undefined;

type HumanOptions = NonNullable<Parameters<typeof askPerson>[0]>;

const asking = (options: HumanOptions = {}) =>
  workflow('asking', { input: anyObject, within: '10d' }, (w) => {
    w.step(
      'it',
      anAgent('worker', { lease: '10m', claimWithin: '10m', timeout: '12m' }),
      {},
      {
        recovery: [askPerson({ within: '1h', remindEvery: '20m', ...options })],
      },
    );
  });

async function begun(
  options: HumanOptions = {},
  wrap?: (world: MemoryWorld) => MemoryWorld,
): Promise<{ h: Harness; id: string; at: number }> {
  const h = harness(asking(options), { worker: { execute: refuses, undo: async () => undefined } }, 1, wrap);
  const { id } = await h.begin();
  await h.run(id, { until: asked });
  return { h, id, at: h.clock.now() };
}

const news = (h: Harness): QuestionNews[] => h.questionNews;
const changes = (h: Harness): string[] =>
  news(h).map(({ change, reminders }) => (change === 'reminded' ? `reminded ${reminders}` : change));
const incident = async (h: Harness, id: string) => (await h.state(id)).questions?.[1];

describe('a person who was asked', () => {
  it('is reminded at the interval, as long as there is no answer and the time is not over', async () => {
    const { h, id, at } = await begun();
    await h.run(id);
    expect(changes(h)).toEqual(['opened', 'reminded 1', 'reminded 2', 'closed']);
    const [, first, second, resolved] = news(h).map((one) => one.at - at);
    expect(first).toBeGreaterThanOrEqual(20 * MINUTE);
    expect(first).toBeLessThan(21 * MINUTE);
    expect(second).toBeGreaterThanOrEqual(40 * MINUTE);
    expect(second).toBeLessThan(42 * MINUTE);
    expect(resolved).toBeLessThan(61 * MINUTE);
    const past = explain(asking().plan, await h.state(id), h.clock.now()).past.map(({ what }) => what);
    expect(past).toContain('reminder 2 was sent: there was no answer yet');
  });

  it('is not reminded without an interval, or after the answer', async () => {
    const none = harness(
      workflow('asking', { input: anyObject, within: '10d' }, (w) => {
        w.step('it', anAgent('worker'), {}, { recovery: [askPerson({ within: '1h' })] });
      }),
      { worker: { execute: refuses, undo: async () => undefined } },
    );
    const other = await none.begin();
    await none.run(other.id);
    expect(changes(none)).toEqual(['opened', 'closed']);
    const { h, id, at } = await begun();
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'keep' });
    h.clock.advanceTo(at + HOUR);
    await h.sweep();
    expect(changes(h)).toEqual(['opened', 'closed']);
    expect(await incident(h, id)).not.toHaveProperty('remindAt');
  });

  it('is reminded once of several times that were missed, and then as often as before', async () => {
    const { h, id, at } = await begun({ remindEvery: '10m' });
    h.clock.advanceTo(at + 45 * MINUTE);
    await h.sweep();
    expect(changes(h)).toEqual(['opened', 'reminded 1']);
    expect(await incident(h, id)).toMatchObject({ reminders: 1, remindAt: at + 55 * MINUTE });
  });

  it('is reminded of a failed undo of the same step as well, of which a day has gone by', async () => {
    const point = workflow('asking', { input: anyObject, within: '10d' }, (w) => {
      const recovery = [askPerson({ within: '2d', remindEvery: '1d' })];
      const it = w.step('it', anAgent('worker'), {}, { recovery });
      w.step('then', anAgent('refuses'), {}, { after: [it], recovery: [] });
    });
    const execute = async (): Promise<object> => ({});
    const h = harness(point, { worker: { execute, undo: refuses }, refuses: { execute: refuses } });
    const { id } = await h.begin();
    await h.run(id, { maxMs: 8 * 24 * HOUR });
    expect(await incident(h, id)).toMatchObject({ kind: 'undo', reminders: 6 });
  });
});

describe('the time of a reminder', () => {
  it('is the wake time, also where that is sooner than anything else is due (S12)', async () => {
    const { h, id, at } = await begun({ remindEvery: '2m' });
    expect((await h.state(id)).execution.wakeAt).toBeLessThanOrEqual(at + 2 * MINUTE);
    await h.sweep();
    expect((await h.state(id)).execution.wakeAt).toBeLessThanOrEqual(at + 2 * MINUTE);
  });

  it('stands still during a pause, and is given back with that of the answer', async () => {
    const { h, id, at } = await begun();
    await pause(h.scheduler, id, {});
    h.clock.advanceTo(at + 2 * HOUR);
    await h.sweep();
    expect(changes(h)).toEqual(['opened']);
    await resume(h.scheduler, id, {});
    expect(await incident(h, id)).toMatchObject({
      deadlineAt: at + 3 * HOUR,
      remindAt: at + 2 * HOUR + 20 * MINUTE,
    });
    await h.run(id);
    expect(changes(h)).toEqual(['opened', 'reminded 1', 'reminded 2', 'closed']);
  });
});

describe('a reminder of an approval', () => {
  const approving = (remindEvery: string) =>
    workflow('asking', { input: anyObject, within: '10d' }, (w) => {
      w.approval('ok', { within: '5h', remindEvery });
    });

  it('does not come during a pause, in which nobody may answer', async () => {
    const h = harness(approving('20m'), {});
    const { id, startedAt } = await h.begin();
    await pause(h.scheduler, id, {});
    h.clock.advanceTo(startedAt + 45 * MINUTE);
    await h.sweep();
    expect(changes(h)).toEqual(['opened']);
    await resume(h.scheduler, id, {});
    h.clock.advanceTo(startedAt + 64 * MINUTE);
    await h.sweep();
    expect(changes(h)).toEqual(['opened']);
    h.clock.advanceTo(startedAt + 66 * MINUTE);
    await h.sweep();
    expect(changes(h)).toEqual(['opened', 'reminded 1']);
  });

  it('is in the wake time of the very write that opens it (S12)', () => {
    const state = stateOf([], { wakeAt: NOW + DEADLINE });
    const { write } = see(planOf(callbackOf('ok', { kind: 'approval', remindMs: 7_000 })), state);
    expect(write?.question).toMatchObject({ step: 'ok', remindAt: NOW + 7_000 });
    expect(write?.execution?.wakeAt).toBe(NOW + 7_000);
  });
});

describe('a reminder', () => {
  it('is written before it is announced, and announced when the bus is back', async () => {
    const bus = { isAway: false };
    const { h, id, at } = await begun({}, (world) => ({
      ...world,
      announcer: {
        announce: async (one) => {
          if (bus.isAway) throw new Error('the bus is away');
          await world.announcer.announce(one);
        },
      },
    }));
    bus.isAway = true;
    h.clock.advanceTo(at + 20 * MINUTE);
    await h.sweep();
    expect(await incident(h, id)).toMatchObject({ reminders: 1, unannounced: ['reminded'] });
    expect(h.notes).toContainEqual({ what: 'not-announced', executionId: id, step: 'it', detail: 'Error' });
    bus.isAway = false;
    h.clock.advanceTo(at + 32 * MINUTE);
    await h.sweep();
    expect(changes(h)).toEqual(['opened', 'reminded 1']);
    expect(news(h)[1]?.at).toBe(at + 20 * MINUTE);
    expect(await incident(h, id)).not.toHaveProperty('unannounced');
  });

  it('is one of those that are announced when the bus is back, and the opening is another', async () => {
    const bus = { isAway: true };
    const { h, id, at } = await begun({}, (world) => ({
      ...world,
      announcer: {
        announce: async (one) => {
          if (bus.isAway) throw new Error('the bus is away');
          await world.announcer.announce(one);
        },
      },
    }));
    for (const minutes of [20, 41]) {
      h.clock.advanceTo(at + minutes * MINUTE);
      await h.sweep();
    }
    expect(await incident(h, id)).toMatchObject({ reminders: 2, unannounced: ['opened', 'reminded'] });
    bus.isAway = false;
    await h.run(id);
    expect(changes(h)).toEqual(['opened', 'reminded 2', 'closed']);
  });

  it('that an answer overtakes is left out', async () => {
    const { h, id, at } = await begun({}, (world) => ({
      ...world,
      announcer: {
        announce: async (one) => {
          if (one.about === 'question') throw new Error('the bus is away');
          await world.announcer.announce(one);
        },
      },
    }));
    h.clock.advanceTo(at + 20 * MINUTE);
    await h.sweep();
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'keep' });
    const { execution, questions } = await h.run(id, {
      until: (state) => state.execution.status === 'failed',
    });
    expect(execution.status).toBe('failed');
    const unannounced = ['opened', 'closed'];
    expect(questions?.[1]).toMatchObject({ reminders: 1, choice: 'keep', unannounced });
  });

  it('comes while on-failure steps are performed, too', async () => {
    const reminding = workflow('asking', { input: anyObject, within: '10d' }, (w) => {
      w.step('it', anAgent('refuses'), {}, { recovery: [] });
      w.onFailure(
        'tell',
        anAgent('other'),
        {},
        {
          recovery: [askPerson({ within: '1h', remindEvery: '25m' })],
        },
      );
    });
    const undo = async (): Promise<undefined> => undefined;
    const h = harness(reminding, { refuses: { execute: refuses, undo }, other: { execute: refuses, undo } });
    const { id } = await h.begin();
    await h.run(id);
    expect(changes(h)).toEqual(['opened', 'reminded 1', 'reminded 2', 'closed']);
  });
});
