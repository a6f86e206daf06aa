/** An agent's `rate` limits how many of its attempts begin in a second, without using up tries (S9). */

import { ProcessRate } from '../../lib/agent/process-rate.ts';
import { explain } from '../../lib/explain/why.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Rates } from '../../lib/core/ports.ts';
import { NEAR_MS, shareOf, withSlots } from '../../lib/core/records/slots.ts';
import { perSecondOf } from '../../lib/core/values/rate.ts';
import { memoryBreakers, memoryRates } from '../../lib/memory/side-records.ts';
import { memoryWorld } from '../../lib/memory/world.ts';
import { pauseAgent } from '../../lib/scheduler/holds.ts';
import { anAgent, anyObject, drain, harness, settle } from '../engine/harness.ts';

const carrier = anAgent('carrier');
const ship = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
  w.step('ship', carrier, {});
});

/** Makes executions of a workflow whose agent has this rate, and records when its service is called. */
function world(perSecond: number, rates: Rates | undefined = memoryRates()) {
  const calledAt: number[] = [];
  const writes = { count: 0 };
  const execute = async () => {
    calledAt.push(h.clock.now());
    return {};
  };
  const counted = rates && {
    ...rates,
    write: (record: Parameters<Rates['write']>[0]) => {
      writes.count += 1;
      return rates.write(record);
    },
  };
  const h = harness(
    ship,
    { carrier: { execute, undo: execute } },
    1,
    (memory) => ({ ...memory, breakers: memoryBreakers(), ...(counted && { rates: counted }) }),
    { rates: { carrier: perSecond } },
  );
  return { ...h, calledAt, writes };
}

/** The most calls within any one second. */
const mostInASecond = (times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));

async function runAll(w: ReturnType<typeof world>, count: number): Promise<void> {
  const begun = [];
  for (let at = 0; at < count; at += 1) begun.push(await w.begin());
  for (const { id } of begun) await w.run(id, { maxMs: 600_000 });
}

it('begins no more attempts in a second than its rate, and at that pace, in the order in which they came', async () => {
  const w = world(5);
  const from = w.clock.now();
  await runAll(w, 60);
  expect(w.calledAt).toHaveLength(60);
  expect(mostInASecond(w.calledAt)).toBeLessThanOrEqual(5);
  const tookMs = (w.calledAt.at(-1) ?? 0) - from;
  expect(tookMs).toBeGreaterThan(59_000 / 5 - 1);
  // A sweep every two seconds finds those whose turn has come.
  expect(tookMs).toBeLessThan(60_000 / 5 + 6_000);
});

it('defers what is too much, charges nothing, and says so', async () => {
  const w = world(0.05);
  const { id: first } = await w.begin();
  const { id } = await w.begin();
  await drain(w);
  expect((await w.state(first)).execution.status).toBe('succeeded');
  const state = await w.state(id);
  const { ship: step } = state.steps;
  expect(step).toMatchObject({ status: 'retrying', attempt: 0, stageAttempt: 0, deferred: { why: 'rate' } });
  expect(state.execution).not.toHaveProperty('riskSince');
  // S12: the wake time is no later than the deferred claim, whatever else the execution waits for.
  expect(state.execution.wakeAt).toBeLessThanOrEqual(step?.retryAt ?? 0);
  const [said] = explain(ship.plan, state, w.clock.now()).steps;
  expect(said?.because).toContain("not tried yet: the rate of agent 'carrier' was used up");
  const [message] = w.sent.splice(0);
  expect(message).toBeUndefined();
  const ended = await w.run(id, { maxMs: 120_000 });
  expect(ended.steps['ship']).toMatchObject({ status: 'done', attempt: 1 });
});

it('is open to no late message before its turn', async () => {
  const w = world(0.05);
  await w.begin();
  const { id } = await w.begin();
  const [sent] = w.sent.filter(({ message }) => message.execution === id);
  await drain(w);
  if (sent === undefined) throw new Error('nothing was sent');
  await w.deliver(sent);
  expect((await w.state(id)).steps['ship']).toMatchObject({ attempt: 0, deferred: { why: 'rate' } });
  expect(w.calledAt).toHaveLength(1);
});

it('counts what comes late in the second in which it comes', async () => {
  const w = world(0.4);
  for (let at = 0; at < 20; at += 1) await w.begin();
  await drain(w);
  // No supervisor works for a minute: when one comes, all turns are long over.
  w.clock.advanceTo(w.clock.now() + 60_000);
  await settle();
  const open = (await w.store.due(0, Number.MAX_SAFE_INTEGER)).items;
  for (const { executionId } of open) await w.run(executionId, { maxMs: 600_000 });
  expect(w.calledAt).toHaveLength(20);
  expect(mostInASecond(w.calledAt)).toBe(1);
});

it('asks before a trial of its breaker, and an agent that is paused uses up no slot', async () => {
  const w = world(1);
  await pauseAgent(w.scheduler, 'carrier', {});
  const { id } = await w.begin();
  await drain(w);
  expect((await w.state(id)).steps['ship']?.deferred?.why).toBe('paused');
  const { count } = w.writes;
  await w.begin();
  await drain(w);
  expect(w.writes.count).toBe(count);
});

it('begins nothing while its record cannot be written, and comes again', async () => {
  const memory = memoryRates();
  let away = true;
  const rates: Rates = {
    ...memory,
    write: (record) => (away ? Promise.reject(new Error('throttled')) : memory.write(record)),
  };
  const w = world(5, rates);
  const { id } = await w.begin();
  await drain(w);
  expect(w.calledAt).toHaveLength(0);
  expect(w.notes).toContainEqual(expect.objectContaining({ detail: "its agent's rate cannot be read" }));
  away = false;
  const ended = await w.run(id, { maxMs: 120_000 });
  expect(ended.execution.status).toBe('succeeded');
});

describe('one process', () => {
  const now = 1_700_000_000_000;

  it('takes a share of a second at once when it is busy, and one slot otherwise', async () => {
    const w = memoryWorld();
    const rate = new ProcessRate('carrier', 500);
    let writes = 0;
    const ports = {
      ...w,
      rates: {
        ...w.rates,
        write: (record: Parameters<Rates['write']>[0]) => {
          writes += 1;
          return w.rates.write(record);
        },
      },
    };
    const asked: Promise<unknown>[] = [];
    for (let at = 0; at < 500; at += 1) asked.push(rate.slot(ports, false));
    for (let at = 0; at < 400; at += 1) {
      await settle();
      w.clock.advanceTo(w.clock.now() + 5);
    }
    const slots = await Promise.all(asked);
    expect(slots.every((slot) => typeof slot === 'object' && slot !== null && 'untilAt' in slot)).toBe(true);
    // 1, 2, 4, 8, 16, and then shares of 25.
    expect(writes).toBeLessThan(30);
  });

  it('gives slots one after the other, also by a clock that is behind, and turns behind them', () => {
    const inputs = { now, writeId: 'w' };
    const asked = { wanted: 1, hasTurn: false };
    const first = withSlots(undefined, 'carrier', 2, asked, inputs);
    expect(first).toMatchObject({ slots: { fromAt: now, untilAt: now + 500, count: 1 } });
    const behind = withSlots(first.record, 'carrier', 2, asked, { ...inputs, now: now - 400 });
    expect(behind).toMatchObject({ slots: { fromAt: now + 500 } });
    const far = { ...first.record, givenUntil: now + NEAR_MS + 1 };
    const later = withSlots(far, 'carrier', 2, asked, inputs);
    expect(later).toMatchObject({ turnAt: now + NEAR_MS + 501 });
    // A claim without a turn does not pass those that have one; a claim with a turn does.
    const soon = { ...inputs, now: now + NEAR_MS };
    expect(withSlots(later.record, 'carrier', 2, asked, soon)).toHaveProperty('turnAt');
    expect(withSlots(later.record, 'carrier', 2, { ...asked, hasTurn: true }, soon)).toHaveProperty('slots');
  });

  it.each([
    ['50/s', 50, 2],
    ['30/min', 0.5, 1],
    ['500/s', 500, 25],
  ])('reads %s', (text, perSecond, share) => {
    expect(perSecondOf(text)).toBe(perSecond);
    expect(shareOf(perSecond)).toBe(share);
  });

  it.each(['501/s', '40000/min', '0/s', '5', '5/h', '1.5/s', 'fast'])('refuses %s', (text) => {
    expect(() => perSecondOf(text)).toThrow(
      /^(the rate )?'.*' is (not a rate; write it like|too high; at most)/,
    );
  });
});

describe('behind three hundred of one tenant', () => {
  /** Makes the tenants' claims in this many processes; a deferred claim is repeated at the next sweep. */
  async function claims(groups: readonly string[], processes: number) {
    const { clock, ...memory } = memoryWorld();
    const ports = { ...memory, clock, rates: memoryRates() };
    const beganAt: Record<string, number[]> = {};
    const rates = Array.from({ length: processes }, () => new ProcessRate('carrier', 40));
    const from = clock.now();
    const claim = async (group: string, at: number): Promise<void> => {
      const rate = rates[at % processes] as ProcessRate;
      for (let hasTurn = false; ; hasTurn = true) {
        const slot = await rate.slot(ports, hasTurn, group);
        if (slot !== 'unread' && 'untilAt' in slot) break;
        const dueAt = slot === 'unread' ? clock.now() : slot.turnAt;
        await clock.sleep(Math.ceil((dueAt - from) / 2_000) * 2_000 + from - clock.now());
      }
      (beganAt[group] ??= []).push(clock.now() - from);
    };
    const open = { count: groups.length };
    groups.forEach((group, at) => void claim(group, at).then(() => (open.count -= 1)));
    while (open.count > 0) {
      await settle();
      clock.advanceTo(clock.now() + 5);
    }
    return beganAt;
  }
  const threeHundred = Array.from({ length: 300 }, () => 'a');

  it.each([
    [1, 100],
    [30, 1_300],
  ])('in %d processes, the one of another begins within %d ms', async (processes, withinMs) => {
    const { a = [], b = [] } = await claims([...threeHundred, 'b'], processes);
    expect(b[0]).toBeLessThanOrEqual(withinMs);
    expect(mostInASecond([...a, ...b])).toBeLessThanOrEqual(46);
    // One sweep is missed at the beginning, and no slot is lost after it.
    expect(a.at(-1)).toBeLessThan(300_000 / 40 + 4_000);
  });

  it('sixty of another are done while most of the first still wait', async () => {
    const { a = [], b = [] } = await claims([...threeHundred, ...threeHundred.slice(240).map(() => 'b')], 30);
    expect(a.filter((at) => at < (b.at(-1) ?? 0)).length).toBeLessThan(200);
  });
});

describe('a slot', () => {
  const agent = 'carrier';
  const at = (now: number) => ({ now, writeId: `w${now}` });
  const first = { wanted: 1, hasTurn: false };

  it('of a slow rate is used in its first second: no two come in one', () => {
    const given = withSlots(undefined, agent, 0.1, first, at(1_000));
    expect(given).toMatchObject({ record: { givenUntil: 11_000 }, slots: { fromAt: 1_000, untilAt: 2_000 } });
  });

  it('is for each group as often as for the others: turns of one of two are two slots apart', () => {
    const queued = { agent, version: 9, writeId: 'w', givenUntil: 5_000, lastTurnOf: { a: 6_000, b: 6_000 } };
    const [one, other] = [{ ...first, group: 'a' }, queued] as const;
    expect(withSlots(other, agent, 10, one, at(1_000))).toHaveProperty('turnAt', 6_200);
    expect(withSlots({ ...other, lastTurnOf: { a: 6_000 } }, agent, 10, one, at(1_000))).toHaveProperty(
      'turnAt',
      6_100,
    );
  });

  it('that nobody has used is lost with its second: the next claim takes another', async () => {
    const memory = memoryWorld();
    const ports = { ...memory, rates: memoryRates() };
    const rate = new ProcessRate(agent, 40);
    for (let claims = 0; claims < 2; claims += 1) {
      const slot = rate.slot(ports, false);
      await settle();
      memory.clock.advanceTo(memory.clock.now() + 30);
      await slot;
    }
    const { version = 0 } = (await ports.rates.read(agent)) ?? {};
    memory.clock.advanceTo(memory.clock.now() + 60_000);
    await rate.slot(ports, false);
    expect((await ports.rates.read(agent))?.version).toBe(version + 1);
  });

  it('is not kept for turns that nobody comes for: what was canceled holds up nobody', () => {
    const queued = { agent, version: 9, writeId: 'w', givenUntil: 10_000, lastTurnOf: { '-': 9_000_000 } };
    expect(withSlots(queued, agent, 0.1, first, at(29_000))).toHaveProperty('turnAt', 9_010_000);
    const idle = withSlots(queued, agent, 0.1, first, at(31_000));
    expect(idle).toMatchObject({ slots: { fromAt: 31_000 } });
    // Claims behind it follow at the rate, and so does one that has an old turn.
    const next = withSlots(idle.record, agent, 0.1, first, at(31_500));
    expect(next).toHaveProperty('turnAt', 51_000);
    expect(withSlots(next.record, agent, 0.1, { wanted: 1, hasTurn: true }, at(40_000))).toMatchObject({
      slots: { fromAt: 41_000 },
    });
  });

  it.each([60_000, 7_200_000, 2 * 365 * 86_400_000])(
    'of a clock that was %d ms ahead holds up nobody',
    (ms) => {
      const ahead = withSlots(undefined, agent, 40, first, at(1_000 + ms));
      const { record } = withSlots(ahead.record, agent, 40, { ...first, group: 'a' }, at(1_000 + ms));
      expect(withSlots(record, agent, 40, first, at(1_000))).toMatchObject({
        record: { version: 3, givenUntil: 1_025 },
        slots: { fromAt: 1_000 },
      });
    },
  );

  it('that is given back beside a later one is lost with its time', async () => {
    const memory = memoryWorld();
    const ports = { ...memory, rates: memoryRates() };
    const rate = new ProcessRate(agent, 2);
    const one = await rate.slot(ports, false);
    if (one === 'unread' || !('untilAt' in one)) throw new Error('no slot');
    memory.clock.advanceTo(memory.clock.now() + 700);
    const two = await rate.slot(ports, false);
    one.giveBack?.();
    const known = await ports.rates.read(agent);
    const third = rate.slot(ports, false);
    await settle();
    expect((await ports.rates.read(agent))?.version).toBe((known?.version ?? 0) + 1);
    memory.clock.advanceTo(memory.clock.now() + 2_000);
    expect([two, await third].map((slot) => slot !== 'unread' && 'untilAt' in slot)).toEqual([true, true]);
  });
});
