/**
 * What each opening of a breaker leaves: begun, noticed, ended, which calls failed, how
 * each unknown outcome was resolved.
 */

import { cannotTell, done } from '../../lib/core/plan/agent.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { TransientError } from '../../lib/core/values/errors.ts';
import type { Ports } from '../../lib/core/ports.ts';
import {
  type FailedCall,
  MAX_CALLS,
  outageAfter,
  outageBegun,
  knownOutcome,
} from '../../lib/core/step/outage.ts';
import { outagesOf } from '../../lib/scheduler/outages.ts';
import { memoryBreakers, memoryOutages } from '../../lib/memory/side-records.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';

const T = 1_700_000_000_000;
const ship = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
  w.step('ship', anAgent('carrier'), {}, { recovery: [retry(5, { first: '1s', max: '2s' })] });
});

function world(change: (ports: Ports) => Partial<Ports> = () => ({})) {
  const service = { dead: true };
  const execute = async () => {
    // Not a TransientError: whether it was done is not known.
    if (service.dead) throw new Error('socket hang up');
    return {};
  };
  const wrap = (memory: MemoryWorld): Ports => {
    const ports = { ...memory, breakers: memoryBreakers(), outages: memoryOutages() };
    return { ...ports, ...change(ports) };
  };
  return { ...harness(ship, { carrier: { execute, undo: async () => undefined } }, 1, wrap), service };
}

it('says when it began, was noticed and ended, and of each unknown outcome how it was settled', async () => {
  const w = world();
  const ids: string[] = [];
  for (let at = 0; at < 10; at += 1) ids.push((await w.begin()).id);
  await w.run(ids[0] as string, { until: () => w.clock.now() > T + 120_000 });
  w.service.dead = false;
  for (const id of ids) expect((await w.run(id)).execution.status).toBe('succeeded');
  const [outage, ...others] = await outagesOf(w.scheduler, 'carrier');
  expect(others).toEqual([]);
  expect(outage).toMatchObject({ agent: 'carrier', beganAt: T, failure: { message: 'socket hang up' } });
  const { calls = [], openedAt = 0, closedAt = 0, failed } = outage ?? {};
  expect(openedAt - T).toBeLessThan(30_000);
  expect(closedAt).toBeGreaterThan(T + 120_000);
  const first = { attempt: 1, mode: 'execute', at: T, unknown: true, settled: 'repeated', step: 'ship' };
  expect(new Set(calls.map(({ executionId }) => executionId))).toEqual(new Set(ids));
  expect(calls).toContainEqual({ ...first, executionId: ids[0] });
  // Those before it opened, those that were under way then, and the trials.
  const trials = w.notes.filter(({ what }) => what === 'breaker-trial').length;
  expect([calls.length, failed]).toEqual([10 + trials - 1, 10 + trials - 1]);
});

describe('a service that answers nonsense to a few calls, each with its probes', () => {
  const book = anAgent('carrier', { effect: 'probed' });
  const pick = workflow('picking', { input: anyObject, within: '2h' }, (w) => {
    w.step('pick', book, {}, { recovery: [retry(5, { first: '1s', max: '2s' })] });
  });
  const nonsense = () => {
    const service = { broken: true, probes: 0 };
    const carrier = {
      execute: async () => {
        if (service.broken) throw new Error('status 501');
        return {};
      },
      probe: async () => {
        service.probes += 1;
        return service.broken ? cannotTell('status 501') : done({});
      },
      undo: async () => undefined,
    };
    const wrap = (memory: MemoryWorld): Ports => ({
      ...memory,
      breakers: memoryBreakers(),
      outages: memoryOutages(),
    });
    const w = harness(pick, { carrier }, 1, wrap);
    return { w, service };
  };

  it('has failed since the first, long before its breaker opens; each unknown outcome is counted once', async () => {
    const { w, service } = nonsense();
    const ids: string[] = [];
    for (let minute = 0; minute < 6; minute += 1) {
      const id = (await w.begin()).id;
      ids.push(id);
      await w.run(id, { until: () => w.clock.now() > T + (minute + 1) * 60_000 });
    }
    expect(await outagesOf(w.scheduler, 'carrier')).toEqual([]);
    expect((await w.scheduler.ports.breakers?.read('carrier'))?.failingSince).toBe(T);
    for (let more = 0; more < 8; more += 1) ids.push((await w.begin()).id);
    await w.run(ids[0] as string, { until: () => w.clock.now() > T + 400_000 });
    const [outage] = await outagesOf(w.scheduler, 'carrier');
    expect(outage).toMatchObject({ beganAt: T });
    expect(outage?.openedAt).toBeGreaterThan(T + 360_000);
    const unknown = outage?.calls.filter((call) => call.unknown === true) ?? [];
    const about = unknown.map(({ executionId }) => executionId);
    expect(about).toHaveLength(new Set(about).size);
    expect(about.slice(0, 6)).toEqual(ids.slice(0, 6));
    expect(new Set(unknown.map(({ settled }) => settled))).toEqual(new Set(['open']));
    service.broken = false;
    for (const id of ids) expect((await w.run(id)).execution.status).toBe('succeeded');
    const [after] = await outagesOf(w.scheduler, 'carrier');
    expect(after?.calls.filter((call) => call.settled === 'open')).toEqual([]);
  });

  it('puts an execution at risk once a probe could not tell', async () => {
    const { w } = nonsense();
    const { id } = await w.begin();
    const state = await w.run(id, { until: ({ execution }) => execution.riskSince !== undefined });
    expect(w.clock.now() - T).toBeLessThan(60_000);
    expect(state.steps['pick']).toMatchObject({ failure: { code: 'cannot-tell', message: 'status 501' } });
  });

  it('opens no breaker for one order, and holds no trial of others, however often that is probed', async () => {
    const { w, service } = nonsense();
    const { id } = await w.begin();
    await w.run(id, { until: ({ steps }) => (steps['pick']?.probes ?? 0) > 15 });
    expect(service.probes).toBeGreaterThan(15);
    const breaker = await w.scheduler.ports.breakers?.read('carrier');
    expect(breaker).toMatchObject({ score: 2 });
    expect(breaker).not.toHaveProperty('openedAt');
  });
});

it('leaves nothing of what was known to have failed but that it did, and nothing at all where no breaker opens', async () => {
  const w = world();
  w.implementations['carrier'] = {
    execute: async () => {
      throw new TransientError('503');
    },
    undo: async () => undefined,
  };
  await w.run((await w.begin()).id, { until: () => w.clock.now() > T + 1_000 });
  expect(await outagesOf(w.scheduler, 'carrier')).toEqual([]);
  for (let at = 0; at < 9; at += 1) await w.begin();
  await w.run((await w.begin()).id, { until: () => w.clock.now() > T + 20_000 });
  const [outage] = await outagesOf(w.scheduler, 'carrier');
  expect(outage?.calls.every((call) => !('unknown' in call) && !('settled' in call))).toBe(true);
  expect(outage).not.toHaveProperty('closedAt');
});

it('that cannot be written holds nothing up', async () => {
  const away = async (): Promise<never> => {
    throw new Error('away');
  };
  const w = world(() => ({ outages: { read: away, write: away } }));
  const ids: string[] = [];
  for (let at = 0; at < 10; at += 1) ids.push((await w.begin()).id);
  await w.run(ids[0] as string, { until: () => w.clock.now() > T + 60_000 });
  expect(w.notes).toContainEqual({ what: 'outage-failed', agent: 'carrier' });
  w.service.dead = false;
  for (const id of ids) expect((await w.run(id)).execution.status).toBe('succeeded');
});

it('is refused of an agent that there is not', async () => {
  await expect(outagesOf(world().scheduler, 'gone')).rejects.toMatchObject({ code: 'unknown-agent' });
});

describe('the record', () => {
  const inputs = { now: T, writeId: 'w', random: 0 };
  const call = (at: number): FailedCall => ({ executionId: 'e', step: 's', attempt: 1, mode: 'execute', at });

  it('names the first calls and counts all', () => {
    const failure = { code: 'x', message: '' };
    const opening = { at: T, since: T - 9, failure, calls: [call(T - 5), call(T)], failed: undefined };
    const begun = outageBegun('carrier', opening, inputs);
    expect(begun).toMatchObject({ beganAt: T - 9, openedAt: T, failed: 2 });
    expect(outageBegun('carrier', { ...opening, since: T, failed: 9 }, inputs)).toMatchObject({
      beganAt: T - 5,
      failed: 9,
    });
    const many = Array.from({ length: 60 }, (_, at) => call(T + at));
    const after = outageAfter(begun, { calls: many, closedAt: T + 99 }, inputs);
    expect(after).toMatchObject({ version: 2, failed: 62, closedAt: T + 99 });
    expect(after.calls).toHaveLength(MAX_CALLS);
  });

  const acted = { number: 1, mode: 'execute', claimedAt: T, endedAt: T, outcome: 'unknown' } as const;
  const probe = (outcome: string) => ({ ...acted, mode: 'probe', outcome });
  it.each([
    ['done', { attempts: [acted, probe('done')] }],
    ['not-done', { attempts: [acted, probe('cannot-tell'), probe('not-done')] }],
    ['undone', { attempts: [acted, { ...acted, mode: 'undo', outcome: 'compensated' }] }],
    ['repeated', { attempts: [acted, { ...acted, number: 2 }] }],
    ['repeated', { attempts: [acted], attempt: 2 }],
    ['done', { attempts: [acted], status: 'done' }],
    ['open', { attempts: [acted], status: 'unknown' }],
    ['open', { attempts: [acted, { ...acted, number: 2, key: 2 }], key: 2 }],
    ['gone', { attempts: [] }],
  ])('says %s of %j', (settled, record) => {
    const step = { attempt: 1, key: 1, status: 'unknown', ...record };
    expect(knownOutcome(call(T), { execution: {}, steps: { s: step } } as never)).toBe(settled);
  });

  it('says that a person decided, and that an execution is gone', () => {
    const questions = { 1: { number: 1, step: 's', openedAt: T + 1, choice: 'give-output' } };
    const steps = { s: { attempt: 1, key: 1, status: 'done', attempts: [acted] } };
    expect(knownOutcome(call(T), { execution: {}, steps, questions } as never)).toBe('person');
    expect(knownOutcome(call(T), undefined)).toBe('gone');
  });
});
