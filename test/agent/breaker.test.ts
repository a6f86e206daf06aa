/** While a service is down, its work is deferred without using up attempts (P8, S9). */

import { PermanentError, TransientError } from '../../lib/core/values/errors.ts';
import type { Breaker } from '../../lib/core/step/breaker.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { ProcessBreaker } from '../../lib/agent/breaker.ts';
import type { Breakers, Ports } from '../../lib/core/ports.ts';
import { memoryBreakers } from '../../lib/memory/side-records.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, type Harness, harness, settle } from '../engine/harness.ts';
import { withStore } from '../engine/process.ts';

const T0 = 1_700_000_000_000;
const carrier = anAgent('carrier');
const ship = workflow('shipping', { input: anyObject, within: '2h' }, (w) => {
  w.step('ship', carrier, {}, { recovery: [retry(2, { delay: '1s', maxDelay: '2s' })] });
  return {};
});

interface Counted {
  readonly breakers: Breakers;
  reads: number;
  writes: number;
}

function counted(): Counted {
  const inner = memoryBreakers();
  const counts: Counted = {
    reads: 0,
    writes: 0,
    breakers: {
      read: async (agent) => {
        counts.reads += 1;
        return inner.read(agent);
      },
      write: async (breaker) => {
        counts.writes += 1;
        return inner.write(breaker);
      },
    },
  };
  return counts;
}

const openBreaker = (changes: Partial<Breaker> = {}): Breaker => ({
  agent: 'carrier',
  version: 1,
  writeId: 'w-0',
  score: 8,
  failedAt: T0,
  openedAt: T0,
  openUntil: T0 + 60_000,
  cooldowns: 5,
  ...changes,
});

interface Service {
  dead: boolean;
  calls: number;
  failure: () => Error;
}

function open(changes: Partial<Service> = {}): { h: Harness; service: Service; counts: Counted } {
  const counts = counted();
  const service: Service = { dead: false, calls: 0, failure: () => new TransientError('503'), ...changes };
  const call = async (): Promise<Record<string, unknown>> => {
    service.calls += 1;
    if (service.dead) throw service.failure();
    return {};
  };
  const wrap = (world: MemoryWorld): Ports => ({ ...world, breakers: counts.breakers });
  const h = harness(ship, { carrier: { execute: call, undo: call } }, 1, wrap);
  return { h, service, counts };
}

const stepOf = async (h: Harness, id: string) => (await h.state(id)).steps['ship'];

describe('a healthy agent', () => {
  it('reads its breaker once per process and writes it never (C1)', async () => {
    const { h, counts } = open();
    for (let count = 0; count < 5; count += 1) await h.run((await h.begin()).id, { supervised: false });
    expect(counts).toMatchObject({ reads: 1, writes: 0 });
  });

  it('counts its lease from after it has asked, however long that took (S12)', async () => {
    const { h, counts } = open();
    const { id } = await h.begin();
    const slow: Breakers = {
      ...counts.breakers,
      read: async (agent) => {
        // Less than a process waits for it.
        await h.clock.sleep(900);
        return counts.breakers.read(agent);
      },
    };
    const writes: number[] = [];
    const ports = withStore({ ...h, breakers: slow }, (store) => ({
      write: async (write) => {
        if (write.step?.leaseUntil !== undefined) writes.push(write.step.leaseUntil);
        return store.write(write);
      },
    }));
    const handled = h.deliver(h.sent.splice(0)[0] as never, ports);
    await settle();
    h.clock.advanceTo(T0 + 900);
    await handled;
    expect(writes).toEqual([T0 + 10_900]);
    expect((await h.state(id)).execution.status).toBe('succeeded');
  });

  it('that refuses is alive: a declined card opens nothing', async () => {
    const { h, service, counts } = open({ dead: true, failure: () => new PermanentError('declined') });
    for (let count = 0; count < 20; count += 1) await h.run((await h.begin()).id);
    expect(service.calls).toBe(20);
    expect(counts.writes).toBe(0);
  });
});

describe('a dead service', () => {
  it('is called until the threshold and then by trials alone, and nobody fails because of it', async () => {
    const { h, service } = open({ dead: true });
    const ids: string[] = [];
    for (let count = 0; count < 30; count += 1) ids.push((await h.begin()).id);
    await h.run(ids[0] as string, { until: () => h.clock.now() > T0 + 300_000 });
    const trials = h.notes.filter(({ what }) => what === 'breaker-trial').length;
    // All 30 were under way when it opened.
    expect(service.calls).toBeLessThanOrEqual(30 + trials);
    expect(trials).toBeLessThanOrEqual(6);
    for (const id of ids) expect((await h.state(id)).execution.status).toBe('running');
    service.dead = false;
    for (const id of ids) expect((await h.run(id)).execution.status).toBe('succeeded');
    // Nothing of the service's own words is kept (S17).
    const opened = h.notes.filter(({ what }) => what === 'breaker-opened');
    expect(opened).toEqual([{ what: 'breaker-opened', agent: expect.any(String) }]);
    expect(h.notes.filter(({ what }) => what === 'breaker-closed')).toHaveLength(1);
    const ofBreakers = h.news.filter(({ about }) => about === 'breaker');
    const [first, last] = ofBreakers;
    expect(ofBreakers).toHaveLength(2);
    expect(first).toEqual({ about: 'breaker', change: 'opened', agent: 'carrier', at: T0, view: '/agents' });
    expect(last).toMatchObject({ about: 'breaker', change: 'closed', agent: 'carrier', since: T0 });
  });

  it('costs no attempt once its breaker is open, though each try is numbered (S9)', async () => {
    const { h, service } = open({ dead: true });
    const { id } = await h.begin();
    const others = await Promise.all(Array.from({ length: 9 }, () => h.begin()));
    await h.run(id, { until: () => h.clock.now() > T0 + 1_800_000 });
    for (const each of [id, ...others.map((other) => other.id)]) {
      const step = await stepOf(h, each);
      expect(step?.status).toBe('retrying');
      // The recovery has two more attempts, and the trials alone were more than that.
      expect(step?.stage).toBeLessThanOrEqual(1);
      expect(step?.stageAttempt).toBeLessThanOrEqual(2);
    }
    const trials = h.notes.filter(({ what }) => what === 'breaker-trial').length;
    expect(trials).toBeGreaterThan(10);
    service.dead = false;
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });
});

describe('work for a dead service', () => {
  const meet = async (breaker: Breaker) => {
    const world = open();
    await world.counts.breakers.write(breaker);
    const { id } = await world.h.begin();
    return { ...world, id };
  };

  it('is deferred by the agent: one write, no call, no attempt, no message; its first attempt is still to come', async () => {
    const { h, id, service } = await meet(openBreaker());
    const [message] = h.sent.splice(0);
    expect(await h.deliver(message as never)).toBe('handled');
    const step = await stepOf(h, id);
    expect(step).toMatchObject({ status: 'retrying', version: 1, attempt: 0, stage: 0, stageAttempt: 0 });
    expect(step?.deferred).toEqual({ mode: 'execute', why: 'breaker', at: T0, since: T0 });
    expect(step?.retryAt).toBeGreaterThan(T0 + 60_000);
    expect([service.calls, h.sent.length]).toEqual([0, 0]);
    // A second delivery of the message is early: it does not wait, and changes nothing.
    await h.deliver(message as never);
    expect((await stepOf(h, id))?.version).toBe(1);
  });

  it('gets a wake time as late as its own time, and is then sent by a supervisor', async () => {
    const { h, id, service } = await meet(openBreaker());
    await h.deliver(h.sent.splice(0)[0] as never);
    const { retryAt } = (await stepOf(h, id)) as { retryAt: number };
    h.clock.advanceTo((await h.state(id)).execution.wakeAt as number);
    await h.sweep();
    expect((await h.state(id)).execution.wakeAt).toBe(retryAt);
    expect(h.sent).toEqual([]);
    h.clock.advanceTo(retryAt);
    await h.sweep();
    expect(h.sent.map(({ message }) => message.attempt)).toEqual([1]);
    const { execution, steps } = await h.run(id);
    expect([execution.status, steps['ship']?.attempt, service.calls]).toEqual(['succeeded', 1, 1]);
  });

  it('that was deferred for long as unclaimed is evaluated when the service may be tried again (S12)', async () => {
    const { h, id, counts } = await meet(openBreaker({ openUntil: T0, cooldowns: 0, score: 0 }));
    const [late] = h.sent.splice(0);
    const execution = async () => (await h.state(id)).execution;
    while (((await execution()).wakeAt as number) - h.clock.now() < 200_000) {
      h.clock.advanceTo((await execution()).wakeAt as number);
      await h.sweep();
    }
    expect((await stepOf(h, id))?.deferred?.why).toBe('unclaimed');
    const openUntil = h.clock.now() + 20_000;
    await counts.breakers.write(openBreaker({ version: 2, openedAt: h.clock.now(), openUntil }));
    await h.deliver(late as never);
    const step = await stepOf(h, id);
    expect(step?.deferred?.why).toBe('breaker');
    expect((await execution()).wakeAt).toBe(step?.retryAt);
  });

  it('is deferred by a supervisor that would send it, and the breaker is asked once for all of a sweep', async () => {
    const { h, counts } = await meet(openBreaker({ openUntil: T0 + 120_000 }));
    const ids = await Promise.all(Array.from({ length: 9 }, () => h.begin()));
    h.sent.splice(0);
    h.clock.advanceTo(T0 + 10_000);
    counts.reads = 0;
    await h.sweep();
    expect(counts.reads).toBe(1);
    expect(h.sent).toEqual([]);
    const times = await Promise.all(ids.map(async ({ id }) => (await stepOf(h, id))?.retryAt ?? 0));
    expect(Math.min(...times)).toBeGreaterThan(T0 + 120_000);
    expect(new Set(times).size).toBeGreaterThan(5);
    for (const { id } of ids) expect(await stepOf(h, id)).toMatchObject({ attempt: 0, version: 1 });
  });

  it('is sent as one message a sweep once a trial is possible, and the rest waits a little longer', async () => {
    const { h } = await meet(openBreaker({ openUntil: T0 + 5_000 }));
    for (let count = 0; count < 9; count += 1) await h.begin();
    h.sent.splice(0);
    h.clock.advanceTo(T0 + 10_000);
    await h.sweep();
    expect(h.sent).toHaveLength(1);
    expect(h.notes.filter(({ what }) => what === 'deferred')).toHaveLength(9);
  });

  it('is tried by one of all who come to a half-open breaker', async () => {
    const { h, service } = await meet(openBreaker({ openUntil: T0 }));
    for (let count = 0; count < 9; count += 1) await h.begin();
    service.dead = true;
    await Promise.all(h.sent.splice(0).map((send) => h.deliver(send)));
    expect(service.calls).toBe(1);
  });

  it('goes on where the breaker cannot be written: it is a favour, not a promise', async () => {
    const { h, service, counts } = open();
    const unwritten = { ...counts.breakers, write: () => Promise.reject(new Error('away')) };
    service.dead = true;
    const { id } = await h.begin();
    const ports = { ...h, breakers: unwritten };
    expect(await h.deliver(h.sent.splice(0)[0] as never, ports)).toBe('handled');
    expect(await stepOf(h, id)).toMatchObject({ status: 'retrying', attempt: 1, stageAttempt: 0, stage: 1 });
  });
});

describe('a process', () => {
  it('that was held back hears within seconds that the breaker has closed', async () => {
    const { h, counts } = open();
    const process = new ProcessBreaker('carrier');
    const ports = { ...h, breakers: counts.breakers };
    await counts.breakers.write(openBreaker({ openUntil: T0 + 120_000 }));
    expect(await process.pass(ports, 1_000)).toHaveProperty('notBefore');
    const { openedAt: _, openUntil: __, ...rest } = openBreaker();
    await counts.breakers.write({ ...rest, version: 2, writeId: 'w-9', closedAt: T0 });
    expect(await process.pass(ports, 1_000)).toHaveProperty('notBefore');
    h.clock.advanceTo(T0 + 5_000);
    expect(await process.pass(ports, 1_000)).toEqual({});
  });

  describe('whose record is deleted', () => {
    const failure = { code: 'x', message: 'y' };
    const known = async (breaker: Breaker) => {
      const { h } = open();
      let table = memoryBreakers();
      const inTable: Breakers = { read: (agent) => table.read(agent), write: (next) => table.write(next) };
      for (let version = 1; version <= 9; version += 1) await inTable.write({ ...breaker, version });
      const ports = { ...h, breakers: inTable };
      const process = new ProcessBreaker('carrier');
      const pass = () => process.pass(ports, 1_000);
      await pass();
      table = memoryBreakers();
      return { h, ports, process, pass, inTable };
    };

    it('calls again within seconds', async () => {
      const { h, pass } = await known(openBreaker({ openUntil: T0 + 120_000 }));
      expect(await pass()).toHaveProperty('notBefore');
      h.clock.advanceTo(T0 + 5_000);
      expect(await pass()).toEqual({});
    });

    it('hears of the one that others have made anew', async () => {
      const { h, pass, inTable } = await known(openBreaker({ openUntil: T0 + 120_000 }));
      const { openedAt: _, openUntil: __, ...closed } = openBreaker();
      await inTable.write(closed);
      h.clock.advanceTo(T0 + 5_000);
      expect(await pass()).toEqual({});
    });

    it('tells its next failure to a record anew', async () => {
      const { openedAt: _, openUntil: __, ...closed } = openBreaker({ score: 0 });
      const { h, ports, process, inTable } = await known(closed);
      await process.failed(ports, undefined, failure);
      expect(await inTable.read('carrier')).toMatchObject({ version: 1, score: 1, failure });
      expect(h.notes).toEqual([]);
    });

    it('is not thought deleted when an answer from before it was made comes late', async () => {
      const { h } = open();
      const answers: ((breaker: Breaker | undefined) => void)[] = [];
      const read = () => new Promise<Breaker | undefined>((resolve) => void answers.push(resolve));
      const process = new ProcessBreaker('carrier');
      const ports = { ...h, breakers: { read, write: async () => 'written' as const } };
      const first = process.pass(ports, 1_000);
      const second = process.pass(ports, 1_000);
      answers[1]?.(openBreaker({ version: 2, openUntil: T0 + 120_000 }));
      expect(await second).toHaveProperty('notBefore');
      answers[0]?.(undefined);
      expect(await first).toHaveProperty('notBefore');
    });
  });

  it('whose failure meets another one tells it on top, and learns what the other has found', async () => {
    const { h, counts } = open();
    const ports = { ...h, breakers: counts.breakers };
    const both = [new ProcessBreaker('carrier'), new ProcessBreaker('carrier')];
    for (const process of both) await process.pass(ports, 1_000);
    const failure = { code: 'x', message: 'y' };
    for (let count = 0; count < 4; count += 1) {
      await Promise.all(both.map((process) => process.failed(ports, undefined, failure)));
    }
    expect(await counts.breakers.read('carrier')).toMatchObject({ version: 8, openedAt: T0 });
    expect(await both[0]?.failed(ports, undefined, failure)).toMatchObject({ since: T0 });
    expect((await counts.breakers.read('carrier'))?.version).toBe(8);
  });

  it('whose store hangs does not keep its report back for long', async () => {
    const { h } = open();
    const never = new Promise<never>(() => undefined);
    const ports = { ...h, breakers: { read: async () => undefined, write: () => never } };
    const reported = new ProcessBreaker('carrier').failed(ports, undefined, { code: 'x', message: 'y' });
    await settle();
    h.clock.advanceTo(T0 + 2_000);
    expect(await reported).toBeUndefined();
  });
});
