/**
 * An operator has an agent with an open breaker tried now; if the trial succeeds, all waiting work follows.
 */

import { workflow } from '../../lib/author/builder/workflow.ts';
import { type Breaker, newBreaker, OPEN_FRESH_MS } from '../../lib/core/step/breaker.ts';
import { waitingFor } from '../../lib/core/supervision/dispatch.ts';
import { TransientError } from '../../lib/core/values/errors.ts';
import { pauseAgent, resumeAgent } from '../../lib/scheduler/holds.ts';
import { tryNow } from '../../lib/scheduler/try-now.ts';
import { memoryBreakers } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, drain, type Harness, harness } from '../engine/harness.ts';

/** A sweep comes this much later than the due time. */
const SWEEP_MS = 2_000;
const carrier = anAgent('carrier');
const other = anAgent('other');
const ship = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
  w.step('ship', carrier, {});
  w.step('bill', other, {});
});

function world(of = ship) {
  const service = { calls: 0, isWell: true };
  const execute = async () => {
    service.calls += 1;
    if (!service.isWell) throw new TransientError('503');
    return {};
  };
  const breakers = memoryBreakers();
  const made = harness(
    of,
    { carrier: { execute, undo: execute }, other: { execute: async () => ({}) } },
    1,
    (memory) => ({ ...memory, breakers }),
  );
  return { ...made, service, breakers };
}

type World = ReturnType<typeof world>;

async function opened(w: World, more: Partial<Breaker> = {}): Promise<void> {
  const before = await w.breakers.read('carrier');
  const [version, now] = [(before?.version ?? 0) + 1, w.clock.now()];
  const open = { version, openedAt: now - 600_000, openUntil: now + 100_000, cooldowns: 4 };
  await w.breakers.write({ ...newBreaker('carrier'), ...open, failedAt: now, score: 8, ...more });
}

/** Starts executions whose work is deferred until after the cooldown. */
async function waiting(w: World, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.push((await w.begin()).id);
  await drain(w);
  for (const id of ids) {
    const { steps } = await w.state(id);
    expect(steps['ship']?.deferred?.why).toBe('breaker');
    expect(steps['ship']?.retryAt).toBeGreaterThan(w.clock.now() + 100_000);
    expect(steps['bill']?.status).toBe('done');
  }
  return ids;
}

const endedOf = async (w: Harness, ids: readonly string[]): Promise<readonly string[]> => {
  const states = await Promise.all(ids.map((id) => w.state(id)));
  return states
    .filter(({ execution }) => execution.endedAt !== undefined)
    .map(({ execution }) => execution.id);
};

it('begins the trial within seconds, with one waiting step, and the others once the breaker has closed', async () => {
  const w = world();
  await opened(w);
  const ids = await waiting(w, 5);
  const askedAt = w.clock.now();
  const tried = await tryNow(w.scheduler, 'carrier');
  expect(tried).toMatchObject({ woken: 1, dueAt: askedAt + OPEN_FRESH_MS, first: { step: 'ship' } });
  expect(tried.breaker).toMatchObject({ openUntil: askedAt });
  const { executionId } = tried.first as { executionId: string };
  await w.run(executionId);
  expect(w.clock.now() - askedAt).toBeLessThanOrEqual(OPEN_FRESH_MS + SWEEP_MS);
  expect(await endedOf(w, ids)).toEqual([executionId]);
  expect((await w.breakers.read('carrier'))?.openedAt).toBeUndefined();

  const again = await tryNow(w.scheduler, 'carrier');
  expect(again).toMatchObject({ woken: 4 });
  expect(again.atLeast).toBeUndefined();
  const closedAt = w.clock.now();
  for (const id of ids) await w.run(id);
  expect(w.clock.now() - closedAt).toBeLessThanOrEqual(OPEN_FRESH_MS + SWEEP_MS);
  expect(w.service.calls).toBe(5);
  expect(await tryNow(w.scheduler, 'carrier')).toMatchObject({ woken: 0 });
});

it('opens it again where the trial fails, at no attempt of the step; and may be asked again', async () => {
  const w = world();
  await opened(w);
  const [id = ''] = await waiting(w, 1);
  w.service.isWell = false;
  const askedAt = w.clock.now();
  await tryNow(w.scheduler, 'carrier');
  await w.run(id, { until: ({ steps }) => steps['ship']?.status === 'retrying' && w.service.calls === 1 });
  const after = await w.breakers.read('carrier');
  expect(after).toMatchObject({ cooldowns: 5 });
  expect(after?.openUntil).toBeGreaterThan(w.clock.now() + 60_000);
  expect((await w.state(id)).steps['ship']).toMatchObject({ stageAttempt: 0, deferred: { why: 'breaker' } });
  w.service.isWell = true;
  expect(await tryNow(w.scheduler, 'carrier')).toMatchObject({ woken: 1 });
  await w.run(id);
  expect(w.clock.now() - askedAt).toBeLessThanOrEqual(2 * (OPEN_FRESH_MS + SWEEP_MS));
});

it('finds the executions whose calls failed first, however much else is due before', async () => {
  const w = world();
  const { id: first } = await w.begin();
  await opened(w, {
    calls: [{ executionId: first, step: 'ship', attempt: 1, mode: 'execute', at: w.clock.now() }],
  });
  const due = w.store.due;
  Object.assign(w.store, { due: async () => ({ items: [], cursor: 'more' }) });
  await drain(w);
  expect(await tryNow(w.scheduler, 'carrier')).toMatchObject({ woken: 1, first: { executionId: first } });
  Object.assign(w.store, { due });
});

it('wakes nothing while a trial is under way or the agent is paused, and after a pause all that waits', async () => {
  const w = world();
  const now = w.clock.now();
  await opened(w, { openUntil: now - 1, trial: 'w-1', trialUntil: now + 30_000 });
  const { id } = await w.begin();
  await drain(w);
  const underWay = await tryNow(w.scheduler, 'carrier');
  expect(underWay).toMatchObject({ woken: 0, breaker: { trial: 'w-1', trialUntil: now + 30_000 } });

  const p = world();
  await pauseAgent(p.scheduler, 'carrier', {});
  const paused = await p.begin();
  await drain(p);
  const retryAt = (await p.state(paused.id)).steps['ship']?.retryAt;
  expect(await tryNow(p.scheduler, 'carrier')).toMatchObject({ woken: 0, breaker: { pause: {} } });
  expect((await p.state(paused.id)).steps['ship']?.retryAt).toBe(retryAt);
  await resumeAgent(p.scheduler, 'carrier', {});
  expect(await tryNow(p.scheduler, 'carrier')).toMatchObject({ woken: 1 });
  await p.run(paused.id);
  expect(p.clock.now()).toBeLessThan(retryAt as number);
  await expect(tryNow(w.scheduler, 'gone')).rejects.toMatchObject({ code: 'unknown-agent' });
  expect((await w.state(id)).steps['ship']?.attempt).toBe(0);
});

it('is refused where the table cannot be read: something may wait', async () => {
  const w = world();
  await opened(w);
  await waiting(w, 1);
  const away = new Error('throttled');
  const store = Object.assign(Object.create(w.store) as typeof w.store, {
    read: () => Promise.reject(away),
  });
  const scheduler = { ...w.scheduler, ports: { ...w.scheduler.ports, store } };
  await expect(tryNow(scheduler, 'carrier')).rejects.toBe(away);
  expect((await tryNow(w.scheduler, 'carrier')).woken).toBe(1);
});

it('says that there may be more where one of many cannot be read after others were woken', async () => {
  const w = world();
  await opened(w, { openUntil: w.clock.now() + 100_000 });
  const [lost = ''] = await waiting(w, 3);
  await w.breakers.write({ ...newBreaker('carrier'), version: 3 });
  const away = new Error('throttled');
  const store = Object.assign(Object.create(w.store) as typeof w.store, {
    read: (id: string) => (id === lost ? Promise.reject(away) : w.store.read(id)),
  });
  const scheduler = { ...w.scheduler, ports: { ...w.scheduler.ports, store } };
  expect(await tryNow(scheduler, 'carrier')).toMatchObject({ woken: 2, atLeast: true });
});

it('if two operators do it, both are answered, and the service is called once', async () => {
  const w = world();
  await opened(w);
  const [id = ''] = await waiting(w, 1);
  const both = await Promise.all([tryNow(w.scheduler, 'carrier'), tryNow(w.scheduler, 'carrier')]);
  expect(both.map(({ breaker }) => breaker?.openUntil)).toEqual([w.clock.now(), w.clock.now()]);
  await w.run(id);
  expect(w.service.calls).toBe(1);
});

it('an undo that waits is woken, never before an earlier attempt of it is over (S10)', async () => {
  const w = world();
  const { id } = await w.begin();
  await w.run(id, { until: ({ steps }) => steps['ship']?.status === 'done' });
  const state = await w.state(id);
  const ended = state.steps['ship'];
  if (ended === undefined) throw new Error('no record');
  const lost = {
    ...ended,
    status: 'compensating' as const,
    undoAttempt: 1,
    processDeadlineAt: w.clock.now() + 60_000,
    retryAt: w.clock.now() + 300_000,
    deferred: { mode: 'undo' as const, why: 'breaker' as const, at: w.clock.now() },
  };
  const execution = { ...state.execution, status: 'compensating' as const };
  const wanted = { agent: 'carrier', at: w.clock.now() + OPEN_FRESH_MS };
  const [found] = waitingFor(
    ship.plan,
    { ...state, execution, steps: { ...state.steps, ship: lost } },
    wanted,
  );
  expect(found?.dueAt).toBeGreaterThan(lost.processDeadlineAt);
});
