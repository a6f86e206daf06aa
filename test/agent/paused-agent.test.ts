/** A person pauses an agent by opening its breaker; this uses up no try of any recovery (S9). */

import { timeText } from '../../lib/core/values/text.ts';
import { CLOSED_FRESH_MS } from '../../lib/agent/breaker.ts';
import { breakersNow } from '../../lib/api/agents.ts';
import { explain } from '../../lib/explain/why.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { afterCalls, afterTrial, type Breaker, notBeforeOf } from '../../lib/core/step/breaker.ts';
import { pauseAgent, resumeAgent } from '../../lib/scheduler/holds.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { memoryBreakers } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, drain, harness, settle } from '../engine/harness.ts';

const T = 1_700_000_000_000;
const ann = { kind: 'local', name: 'ann' } as const;
const carrier = anAgent('carrier');
const ship = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
  w.step('ship', carrier, {});
});

function world(of = ship) {
  const service = { calls: 0 };
  const reads = { refused: 0 };
  const execute = async () => {
    service.calls += 1;
    return {};
  };
  const breakers = memoryBreakers();
  const wrap = (memory: Parameters<NonNullable<Parameters<typeof harness>[3]>>[0]) => ({
    ...memory,
    breakers: {
      ...breakers,
      read: (agent: string) => {
        reads.refused -= 1;
        return reads.refused < 0 ? breakers.read(agent) : Promise.reject(new Error('throttled'));
      },
    },
  });
  return { ...harness(of, { carrier: { execute, undo: execute } }, 1, wrap), service, breakers, reads };
}

it('is not called any more, also by a process that was well, and its step says who holds it and since when', async () => {
  const w = world();
  await w.run((await w.begin()).id);
  const { id } = await w.begin();
  const pausedAt = w.clock.now();
  await pauseAgent(w.scheduler, 'carrier', { by: ann, reason: 'asked to' });
  w.clock.advanceTo(pausedAt + CLOSED_FRESH_MS);
  expect(CLOSED_FRESH_MS).toBeLessThanOrEqual(10_000);
  await drain(w);
  const state = await w.state(id);
  const { retryAt = 0, ...step } = state.steps['ship'] as Step;
  const pause = { by: ann, reason: 'asked to' };
  const deferred = { mode: 'execute', why: 'paused', at: w.clock.now(), since: pausedAt, pause };
  expect(step).toMatchObject({ deferred, attempt: 0 });
  // The deferred work is evaluated again soon, however long the pause lasts (S12).
  expect(retryAt - w.clock.now()).toBeLessThan(36_000);
  const now = await breakersNow(w.scheduler, ['carrier']);
  const [said] = explain(ship.plan, state, w.clock.now(), () => true, now).steps;
  expect(said?.status).toBe('ready');
  expect(said?.because).toBe(
    `not tried yet: agent 'carrier' has been paused since ${timeText(pausedAt)}, by local:ann: asked to; it is not called until that ends, and no attempt is charged`,
  );
  expect(said?.next.what).toBe(
    "a supervisor sends it to agent 'carrier' unless that is still paused: attempt 1",
  );
  expect(w.service.calls).toBe(1);
});

it('waits as long as the pause lasts, without a trial, and goes on after it within six minutes', async () => {
  const w = world();
  await pauseAgent(w.scheduler, 'carrier', {});
  const { id } = await w.begin();
  const pausedFor = 3_600_000;
  const until = w.clock.now() + pausedFor;
  await w.run(id, { until: () => w.clock.now() >= until, maxMs: pausedFor + 600_000 });
  expect(w.service.calls).toBe(0);
  expect((await w.state(id)).steps['ship']).toMatchObject({ deferred: { why: 'paused' }, attempt: 0 });
  await resumeAgent(w.scheduler, 'carrier', { by: ann });
  const resumedAt = w.clock.now();
  const { execution } = await w.run(id);
  expect(execution.status).toBe('succeeded');
  expect((execution.endedAt ?? 0) - resumedAt).toBeLessThan(6 * 60_000);
  // The time of the execution went on during the pause.
  expect(execution.deadlineAt).toBe(execution.startedAt + 2 * 3_600_000);
  expect((await w.breakers.read('carrier'))?.lastPause).toMatchObject({ endedBy: ann, endedAt: resumedAt });
  expect(w.news.filter(({ about }) => about === 'breaker')).toMatchObject([
    { about: 'breaker', change: 'paused', agent: 'carrier' },
    { about: 'breaker', change: 'resumed', agent: 'carrier', by: ann, since: until - pausedFor },
  ]);
});

describe('whose record cannot be read', () => {
  const forEver = Number.POSITIVE_INFINITY;

  it('is asked for twice, and not called where it is paused', async () => {
    const w = world();
    await pauseAgent(w.scheduler, 'carrier', { by: ann });
    w.reads.refused = 1;
    const { id } = await w.begin();
    const until = w.clock.now() + 60_000;
    const { steps } = await w.run(id, { until: () => w.clock.now() >= until });
    expect(w.service.calls).toBe(0);
    expect(steps['ship']).toMatchObject({ deferred: { why: 'paused' }, attempt: 0 });
  });

  it('is called by nobody; the message is answered, within 2 s, and the wake time brings another (S9)', async () => {
    const w = world();
    w.reads.refused = 2;
    const { id } = await w.begin();
    const beganAt = w.clock.now();
    const answers: string[] = [];
    const handled = w.deliver(w.sent.splice(0)[0] as never).then((answer) => answers.push(answer));
    await settle();
    for (let step = 0; step < 2; step += 1) {
      w.clock.advanceTo(w.clock.now() + 1_000);
      await settle();
    }
    await handled;
    expect(answers).toEqual(['handled']);
    expect(w.clock.now() - beganAt).toBe(2_000);
    expect(w.service.calls).toBe(0);
    expect((await w.state(id)).steps['ship']).toBeUndefined();
    const { execution, steps } = await w.run(id);
    expect([execution.status, steps['ship']?.attempt, w.service.calls]).toEqual(['succeeded', 1, 1]);
  });

  it('is called where it was read within 10 s, and not a moment later', async () => {
    const w = world();
    await w.run((await w.begin()).id);
    const readAt = w.clock.now();
    w.reads.refused = forEver;
    w.clock.advanceTo(readAt + CLOSED_FRESH_MS - 1);
    await w.run((await w.begin()).id);
    expect(w.service.calls).toBe(2);
    w.clock.advanceTo(readAt + CLOSED_FRESH_MS);
    const late = await w.begin();
    await w.run(late.id, { until: () => w.clock.now() > readAt + CLOSED_FRESH_MS + 120_000 });
    expect(w.service.calls).toBe(2);
  });

  it('ends by the deadline of its execution, at no cost of an attempt (L1)', async () => {
    const w = world();
    w.reads.refused = forEver;
    const { execution } = await w.run((await w.begin()).id, { maxMs: 3 * 3_600_000 });
    expect(execution).toMatchObject({ status: 'failed', cause: { kind: 'deadline' } });
    expect(w.service.calls).toBe(0);
  });

  it('is a question to a person after a day of an undo (L1)', async () => {
    const w = world(
      workflow('shipping', { input: anyObject, within: '2h' }, (s) => {
        s.wait('rest', { for: '1h', after: [s.step('ship', carrier, {})] });
      }) as never,
    );
    const { id } = await w.begin();
    await w.run(id, { until: ({ steps }) => steps['ship']?.status === 'done' });
    w.clock.advanceTo(w.clock.now() + 60_000);
    w.reads.refused = forEver;
    await cancel(w.scheduler, id, {});
    const canceledAt = w.clock.now();
    const asked = await w.run(id, {
      until: ({ questions }) => questions?.[1] !== undefined,
      maxMs: 2 * 86_400_000,
    });
    expect(asked.questions?.[1]).toMatchObject({ kind: 'undo', failure: { code: 'undo-overdue' } });
    expect((asked.questions?.[1]?.openedAt ?? 0) - canceledAt).toBeLessThan(86_400_000 + 3_600_000);
    expect(w.service.calls).toBe(1);
  });
});

it('if two operators pause it, one does and the other gets the existing pause; an unknown agent is refused', async () => {
  const w = world();
  const first = await pauseAgent(w.scheduler, 'carrier', { reason: 'first' });
  expect(await pauseAgent(w.scheduler, 'carrier', { reason: 'second' })).toEqual(first);
  expect((await resumeAgent(w.scheduler, 'carrier', {}))?.pause).toBeUndefined();
  expect((await resumeAgent(w.scheduler, 'carrier', {}))?.pause).toBeUndefined();
  await expect(pauseAgent(w.scheduler, 'gone', {})).rejects.toMatchObject({ code: 'unknown-agent' });
});

describe('the breaker of a paused agent', () => {
  const inputs = { now: T, writeId: 'w-9', random: 0 };
  const paused: Breaker = {
    agent: 'carrier',
    version: 4,
    writeId: 'w-4',
    score: 8,
    failedAt: T - 20_000,
    openedAt: T - 20_000,
    openUntil: T - 1,
    cooldowns: 1,
    trial: 'w-3',
    trialUntil: T + 5_000,
    pause: { at: T - 10_000, reason: 'asked to' },
  };

  it('lets no trial through, nor counts what was under way; a trial that was under way still closes what had opened', () => {
    const until = notBeforeOf({ ...paused, trialUntil: 0 }, T);
    expect(until).toMatchObject({ why: 'paused', since: T - 10_000, at: T + 30_000 });
    const { openedAt: _, ...well } = paused;
    const calls = { failed: 1, answered: 0, failure: { code: 'x', message: '' } };
    expect(afterCalls(well, 'carrier', calls, inputs)).toBeUndefined();
    const after = afterTrial(paused, 'w-3', 'answered', inputs) as Breaker;
    expect(after.openedAt).toBeUndefined();
    expect(notBeforeOf(after, T)?.at).toBeGreaterThan(T);
  });

  it('is tried first after the pause, where its service was dead before', () => {
    const { pause: _, ...resumed } = paused;
    expect(notBeforeOf({ ...resumed, trialUntil: 0 }, T)?.at).toBe(T);
  });
});
