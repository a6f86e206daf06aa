/**
 * Running executions need an agent that is not deployed: other agents continue, the missing one is reported,
 * and its work resumes when it is back.
 */

import type { Ports, Queue } from '../../lib/core/ports.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { refuse, TransientError } from '../../lib/core/values/errors.ts';
import { admissionControl } from '../../lib/supervisor/admission.ts';
import { receiptBook } from '../../lib/supervisor/receipts.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { SWEEP_EVERY_MS, sweepOnce, tick } from '../../lib/supervisor/sweep.ts';
import { memoryWorld } from '../../lib/memory/world.ts';
import { memoryReceipts } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, harness, type Harness } from '../engine/harness.ts';

const HOUR_MS = 3_600_000;
/** The longest pause before the agent is tried again, plus a sweep. */
const BACK_WITHIN_MS = 45_000 + SWEEP_EVERY_MS;

const fine = { execute: async () => ({}), undo: async () => undefined };

/** A queue that refuses to send to an agent that is not deployed, as the real one does. */
function withDeployed(queue: Queue, deployed: ReadonlySet<string>): Queue {
  return {
    reaches: (agent) => deployed.has(agent),
    send: async (sends) => {
      const stranger = sends.find(({ agent }) => !deployed.has(agent));
      if (stranger !== undefined) throw refuse('unknown-agent', `agent '${stranger.agent}' has no queue`);
      await queue.send(sends);
    },
  };
}

const trip = workflow('trip', { input: anyObject, within: '30d' }, (w) => {
  const book = w.step('book', anAgent('book'), {});
  w.step('pay', anAgent('pay'), {}, { after: [book] });
  w.step('tell', anAgent('tell'), {}, { after: [book] });
});

function onStage(gone: readonly string[] = ['pay']) {
  const deployed = new Set(['book', 'pay', 'tell'].filter((name) => !gone.includes(name)));
  const h = harness(trip, { book: fine, pay: fine, tell: fine }, 1, (world) => ({
    ...world,
    queue: withDeployed(world.queue, deployed),
  }));
  return { h, deployed };
}

const noted = (h: Harness, what: string) => h.notes.filter((note) => note.what === what);
const until = (h: Harness, at: number) => (): boolean => h.clock.now() >= at;

describe('a step whose agent is not deployed', () => {
  it('is held back without a charge, and the others go on', async () => {
    const { h } = onStage();
    const { id } = await h.begin();
    const startedAt = h.clock.now();
    const { execution, steps } = await h.run(id, {
      until: until(h, startedAt + HOUR_MS),
      maxMs: 2 * HOUR_MS,
    });
    expect(steps['tell']?.status).toBe('done');
    expect(steps['pay']).toMatchObject({
      status: 'retrying',
      attempt: 0,
      deferred: { why: 'not-deployed', mode: 'execute' },
    });
    expect(execution.status).toBe('running');
    for (const what of ['evaluation-failed', 'dispatched', 'sent']) expect(noted(h, what)).toEqual([]);
  });

  it('is said with the sentence that says what to do, and since when', async () => {
    const { h } = onStage();
    const { id } = await h.begin();
    const startedAt = h.clock.now();
    const { steps } = await h.run(id, { until: until(h, startedAt + HOUR_MS), maxMs: 2 * HOUR_MS });
    const { since = 0, at = 0 } = steps['pay']?.deferred ?? {};
    expect(since - startedAt).toBeLessThan(60_000);
    expect(at - since).toBeGreaterThan(HOUR_MS - 120_000);
    const said = noted(h, 'agent-missing');
    // Every 45 s at most, so that a value per minute never misses it.
    expect(said.length).toBeGreaterThan(HOUR_MS / 50_000);
    expect(said[0]).toEqual({
      what: 'agent-missing',
      agent: 'pay',
      detail: "no agent 'pay' is deployed, and executions under way need it: deploy it again",
    });
  });

  it.each([
    ['a moment', 1_000],
    ['six hours', 6 * HOUR_MS],
  ])('goes on within a minute when it is back after %s', async (_, awayMs) => {
    const { h, deployed } = onStage();
    const { id } = await h.begin();
    const met = await h.run(id, { until: ({ steps }) => steps['pay']?.deferred !== undefined });
    expect(met.steps['pay']?.attempt).toBe(0);
    const away = await h.run(id, { until: until(h, h.clock.now() + awayMs), maxMs: 2 * awayMs + HOUR_MS });
    expect(away.execution.status).toBe('running');
    deployed.add('pay');
    const backAt = h.clock.now();
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps['pay']).toMatchObject({ attempt: 1, attempts: [{ outcome: 'done' }] });
    expect((steps['pay']?.changedAt ?? 0) - backAt).toBeLessThanOrEqual(BACK_WITHIN_MS);
  });

  it('does not fail who comes to it: the message is handled, and a supervisor is left to send', async () => {
    const { h } = onStage();
    await h.begin();
    const [first] = h.sent.splice(0);
    expect(await h.deliver(first as never)).toBe('handled');
    expect(h.sent.map(({ agent }) => agent)).toEqual(['tell']);
    expect(noted(h, 'not-sent')).toMatchObject([
      { agent: 'pay', step: 'pay', detail: expect.stringMatching(/^no agent 'pay' is known here/) },
    ]);
  });
});

describe('an undo whose agent is not deployed', () => {
  const booked = async () => {
    const { h, deployed } = onStage([]);
    const { id } = await h.begin();
    await h.run(id, {
      until: ({ steps }) => steps['pay']?.status === 'done',
      deliverable: ({ agent }) => agent !== 'tell',
    });
    deployed.delete('pay');
    await cancel(h.scheduler, id, { reason: 'off' });
    return { h, deployed, id };
  };

  it('waits, and is done when it is back', async () => {
    const { h, deployed, id } = await booked();
    const at = h.clock.now();
    const { execution, steps } = await h.run(id, { until: until(h, at + 8 * 60_000) });
    expect(execution.status).toBe('compensating');
    expect(steps['pay']).toMatchObject({ status: 'done', deferred: { why: 'not-deployed', mode: 'undo' } });
    deployed.add('pay');
    const backAt = h.clock.now();
    const ended = await h.run(id);
    expect(ended.execution.status).toBe('canceled');
    expect(ended.steps['pay']).toMatchObject({ status: 'compensated', undoAttempt: 1 });
    expect((ended.steps['pay']?.changedAt ?? 0) - backAt).toBeLessThanOrEqual(BACK_WITHIN_MS);
  });

  it('is put to a person after a day (L1)', async () => {
    const { h, id } = await booked();
    const { steps: before } = await h.run(id, {
      until: (state) => state.steps['pay']?.deferred !== undefined,
    });
    h.clock.advanceTo((before['pay']?.undoDeferredAt ?? 0) + 24 * HOUR_MS);
    const { questions, steps } = await h.run(id, { until: ({ questions: open }) => open !== undefined });
    expect(steps['pay']?.failure?.message).toContain('or its agent is not deployed');
    expect(Object.values(questions ?? {})).toMatchObject([{ step: 'pay' }]);
  });
});

it('one that waits for a missing agent does not slow the sweep of the others', async () => {
  const rests: number[] = [];
  const { h } = onStage();
  await h.begin();
  await h.run('e-1', { until: ({ steps }) => steps['tell']?.status === 'done' });
  h.clock.advanceTo(h.clock.now() + HOUR_MS);
  const clock = { now: h.clock.now, sleep: async (ms: number) => void rests.push(ms) };
  const ports = { ...h.scheduler.ports, clock } as Ports;
  await sweepOnce(ports, new Map(), h.clock.now() + 60_000);
  expect((await h.state('e-1')).steps['pay']?.deferred?.why).toBe('not-deployed');
  expect(rests).toEqual([]);
});

describe('of a crowd that waits for a missing agent', () => {
  const crowd = (reaches: Queue['reaches']) => {
    const world = memoryWorld();
    const admissions = admissionControl(
      { ...world, queue: { ...world.queue, ...(reaches && { reaches }) } },
      2_000,
    );
    const laterMs = async (): Promise<number> => {
      const { gone } = await admissions({ gone: 1 });
      expect(gone).toMatchObject({ notBefore: { why: 'not-deployed' }, sends: 0 });
      return (gone?.notBefore.at ?? 0) - world.clock.now();
    };
    return { admissions, laterMs, world };
  };

  it('as many come again at once as could be sent, a quarter of an hour later at most', async () => {
    const { admissions, laterMs, world } = crowd(() => false);
    const first = await laterMs();
    expect(first).toBeGreaterThanOrEqual(30_000);
    expect(first).toBeLessThanOrEqual(45_000);
    await admissions({ gone: 30_000 });
    expect(await laterMs()).toBe(Math.floor((30_001 / 300) * 2_000));
    await admissions({ gone: 3_000_000 });
    expect(await laterMs()).toBe(900_000);
    expect(noted(world as Harness, 'agent-missing')).toHaveLength(1);
  });

  it('nothing is asked of the table', async () => {
    const reads: string[] = [];
    const world = memoryWorld();
    const breakers = {
      read: async (agent: string) => void reads.push(agent),
      write: async () => 'written' as const,
    };
    const queue = { ...world.queue, reaches: (agent: string) => agent !== 'gone' };
    const admissions = admissionControl({ ...world, breakers: breakers as never, queue }, 2_000);
    await admissions({ gone: 1, there: 1 });
    expect(reads).toEqual(['there']);
  });
});

describe('the receipts of a tick', () => {
  const away = 'not there';
  const many = workflow('many', { input: anyObject, within: '30d' }, (w) => {
    w.step('it', anAgent('gone'), {}, { recovery: [retry(1)] });
  });

  it(`name who is ${away}, and how many executions wait for it`, async () => {
    const deployed = new Set<string>();
    const receipts = memoryReceipts();
    const h = harness(many, {}, 1, (world) => ({ ...world, queue: withDeployed(world.queue, deployed) }));
    for (let at = 0; at < 3; at += 1) await h.begin();
    const ticked = async (): Promise<unknown> => {
      const untilAt = h.clock.now() + 57_000;
      const { ports } = h.scheduler;
      // Time passes only by sleeping.
      const clock = { now: h.clock.now, sleep: async (ms: number) => h.clock.advanceTo(h.clock.now() + ms) };
      const own = { ...ports, clock };
      const leave = receiptBook(receipts, own);
      await tick(own, new Map(), { untilAt, sweepEveryMs: SWEEP_EVERY_MS, leave });
      h.clock.advanceTo(untilAt + 3_000);
      const [receipt] = (await receipts.read()).shards;
      return receipt?.missing && [receipt.missing, receipt.missingSince];
    };
    const dueAt = Math.min(
      ...(await h.store.due(0, Number.MAX_SAFE_INTEGER, undefined, 3)).items.map((one) => one.wakeAt),
    );
    expect(await ticked()).toEqual([{ gone: 3 }, { gone: dueAt }]);
    expect(await ticked()).toEqual([{ gone: 3 }, { gone: dueAt }]);
    // The news comes once for each time that the agent is found missing again.
    const expected = {
      about: 'missing',
      change: 'missing',
      agent: 'gone',
      at: expect.any(Number),
      view: '/agents',
    };
    const missing = () => h.news.filter(({ about }) => about === 'missing');
    expect(missing()).toEqual([expected]);
    deployed.add('gone');
    expect(await ticked()).toBeUndefined();
    expect(missing()).toHaveLength(1);
    expect(new Set(h.sent.map(({ message }) => message.execution)).size).toBe(3);
  });
});

it('an agent that throws is not a missing one', async () => {
  let calls = 0;
  const execute = async (): Promise<object> => {
    calls += 1;
    if (calls === 1) throw new TransientError('503');
    return {};
  };
  const { h } = onStage([]);
  Object.assign(h.implementations, { pay: { ...fine, execute } });
  const { id } = await h.begin();
  expect((await h.run(id)).execution.status).toBe('succeeded');
  expect(noted(h, 'agent-missing')).toEqual([]);
});
