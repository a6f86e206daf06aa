/**
 * Every check of `steadfast verify` passes for a correct deployment, and fails for one with the check's
 * planted fault. No check has two names.
 */

import { type Check, isCheck } from '../../../cli/verify/check.ts';
import { ENTRIES, REASONS } from '../../../cli/verify/checks/table.ts';
import { ApiError } from '../../../lib/api/client.ts';
import { FakeDeployment, fakePorts } from './fake-deployment.ts';

const checks = ENTRIES.filter(isCheck);

/** The names of planted faults that differ from the check's id. */
const PLANTED: Readonly<Record<string, string>> = {
  'nothing-doubled': 'effects-begun',
  dies: 'effects-die-after',
  metrics: 'metric Started',
  sweeps: 'metric Sweeps',
};

const run = async (check: Check, planted?: string) => {
  const fake = new FakeDeployment();
  if (planted !== undefined) fake.planted.add(planted);
  return check.run(fakePorts(fake));
};

it.each(checks)('$id holds for a good deployment, and fails for a bad one', async (check) => {
  const good = await run(check);
  expect([good.ok, good.evidence]).toEqual([true, expect.any(String)]);
  const bad = await run(check, PLANTED[check.id] ?? check.id).catch(() => ({ ok: false, evidence: 'threw' }));
  expect(bad.ok).toBe(false);
  expect(bad.evidence).not.toBe('');
});

it.each(checks)(
  '$id begins two executions at once at most: a new account runs ten functions',
  async (check) => {
    const ports = fakePorts(new FakeDeployment());
    let [under, most] = [0, 0];
    const start = (async (...given: Parameters<typeof ports.api.start>) => {
      under += 1;
      most = Math.max(most, under);
      const started = await ports.api.start(...given);
      under -= 1;
      return started;
    }) as typeof ports.api.start;
    await check.run({ ...ports, api: { ...ports.api, start } });
    expect(most).toBeLessThanOrEqual(2);
  },
);

it('has one check or one reason for each row, and no row twice', () => {
  const ids = ENTRIES.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(ENTRIES.map(({ row }) => row)).size).toBe(ids.length);
  expect(Object.keys(PLANTED).filter((id) => !ids.includes(id))).toEqual([]);
  // A check whose function is gone would count as a row without a check.
  const reasons = Object.values(REASONS);
  for (const entry of ENTRIES) if (!isCheck(entry)) expect(reasons).toContain(entry.byHand);
});

it.each(['event-trigger', 'message-trigger'])(
  '%s: a second execution that comes later is seen',
  async (id) => {
    const fake = new FakeDeployment();
    const ports = fakePorts(fake);
    const sleep = async (ms: number): Promise<void> => {
      await ports.clock.sleep(ms);
      const [begun] = [...fake.executions.values()].filter(({ workflow }) => workflow === 'verify-event');
      if (begun !== undefined && ms === 10_000) fake.begin('verify-event', begun.input, 'later');
    };
    const check = checks.find((each) => each.id === id) as Check;
    const found = await check.run({ ...ports, clock: { ...ports.clock, sleep } });
    expect(found.ok).toBe(false);
  },
);

it('an end that is announced again later is seen', async () => {
  const fake = new FakeDeployment();
  const ports = fakePorts(fake);
  const sleep = async (): Promise<void> => {
    for (const [id, count] of fake.ends) fake.ends.set(id, count + 1);
  };
  const check = checks.find(({ id }) => id === 'end-once') as Check;
  expect((await check.run({ ...ports, clock: { ...ports.clock, sleep } })).ok).toBe(false);
});

it('takes no execution that an earlier run has seen for one of the schedule', async () => {
  const fake = new FakeDeployment();
  fake.begin('verify-event', { id: '2026-11-25T10:00:00Z' }, 'before').status = 'succeeded';
  fake.planted.add('schedule-trigger');
  const ports = fakePorts(fake);
  const list: typeof ports.api.list = async (options) =>
    options?.since === undefined ? ports.api.list(options) : ({ items: [] } as never);
  const check = checks.find(({ id }) => id === 'schedule-trigger') as Check;
  expect((await check.run({ ...ports, api: { ...ports.api, list } })).ok).toBe(false);
});

it('takes no execution that it erased for a lost one', async () => {
  const ports = fakePorts(new FakeDeployment());
  for (const id of ['erase', 'nothing-doubled']) {
    const found = await checks.find((check) => check.id === id)?.run(ports);
    expect([id, found?.ok]).toEqual([id, true]);
  }
});

it('acts twice, and the order’s check says so', async () => {
  const order = checks.find(({ id }) => id === 'order');
  const found = await run(order as Check, 'effects-lose-answer');
  expect(found).toEqual({
    ok: false,
    evidence: expect.stringContaining('effects of the second step: 2, not 1'),
  });
});

it.each([
  ['lost', 'gone'],
  ['stuck', 'verify-order.begun'],
])('an execution that is %s is named', async (what, id) => {
  const fake = new FakeDeployment();
  const ports = fakePorts(fake);
  const get = async (asked: string) => {
    if (asked === 'gone') throw new ApiError('unknown-execution', 'none', { status: 404 });
    return { executionId: asked, status: 'running' };
  };
  const api = { ...ports.api, get } as unknown as typeof ports.api;
  const check = checks.find((each) => each.id === 'nothing-doubled') as Check;
  const found = await check.run({ ...ports, api, begun: new Map([[id, 'verify-order']]) });
  expect(found).toEqual({ ok: false, evidence: `${id} ${what}` });
});
