/**
 * The store or the queue fails, or a process dies, at any call: no work is lost, no try is used up (S9, S15,
 * C2), and redelivery by the queue repairs it without a supervisor.
 */

import type { Ports } from '../../lib/core/ports.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { anAgent, anyObject, harness, type Harness } from './harness.ts';
import { aProcess, type Fault, failingWrite, type Process, withStore } from './process.ts';

const worker = anAgent('worker');
const join = anAgent('join');
const quick = { recovery: [retry(3, { delay: '1s', maxDelay: '1s' })] };
const fork = workflow('fork', { input: anyObject, within: '1h' }, (w) => {
  const a = w.step('a', worker, {}, quick);
  const b = w.step('b', worker, {}, { ...quick, after: [a] });
  const c = w.step('c', worker, {}, { ...quick, after: [a] });
  w.step('d', join, {}, { ...quick, after: [b, c] });
});

const counted = (wrap?: (world: Ports) => Ports): { h: Harness; calls: string[] } => {
  const calls: string[] = [];
  const it = {
    execute: async (ctx: { step: string; attempt: number }) => {
      calls.push(`${ctx.step}${ctx.attempt}`);
      return {};
    },
    undo: async () => undefined,
  };
  return { h: harness(fork, { worker: it, join: it }, 1, wrap), calls };
};
const ALL = ['a1', 'b1', 'c1', 'd1'];
/**
 * The writes of an execution: claims and reports of four steps, the end, the announcement, and the claim that
 * loses the race for the join.
 */
const WRITES = 11;
const nth = Array.from({ length: WRITES }, (_, at) => at + 1);

describe('a write whose answer is lost', () => {
  it('is one of eleven in a run without faults, of which one loses a race (C1)', async () => {
    const results: string[] = [];
    const { h, calls } = counted((world) =>
      withStore(world, (store) => ({
        write: async (write) => {
          const result = await store.write(write);
          results.push(result);
          return result;
        },
      })),
    );
    const { id } = await h.begin();
    await h.run(id, { supervised: false });
    expect([results.length, results.filter((one) => one === 'conflict').length]).toEqual([WRITES, 1]);
    expect([...calls].sort()).toEqual(ALL);
  });

  it.each(nth.flatMap((at) => (['before', 'after'] as Fault[]).map((fault): [number, Fault] => [at, fault])))(
    'number %i, %s it took place, costs no attempt and no supervisor (C2)',
    async (at, fault) => {
      const { h, calls } = counted((world) => failingWrite(world, at, fault));
      const { id } = await h.begin();
      const { execution, steps } = await h.run(id, { supervised: false });
      expect(execution.status).toBe('succeeded');
      expect([...calls].sort()).toEqual(ALL);
      expect(Object.values(steps).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
    },
  );
});

describe('a send that fails after its write', () => {
  it.each([2, 3])('number %i, is made good by the agent itself, without a supervisor', async (at) => {
    let sends = 0;
    const { h, calls } = counted((world) => ({
      ...world,
      queue: {
        send: async (all) => {
          sends += 1;
          if (sends === at) throw new Error('throttled');
          await world.queue.send(all);
        },
      },
    }));
    const { id } = await h.begin();
    const { execution } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    expect([...calls].sort()).toEqual(ALL);
  });

  it('because the process died, is made good when the queue delivers its message again (F13)', async () => {
    const { h, calls } = counted();
    const doomed = aProcess({
      ...h,
      queue: {
        send: async () => {
          doomed.kill();
        },
      },
    });
    const { id } = await h.begin();
    const [first] = h.sent;
    await h.run(id, {
      supervised: false,
      portsOf: () => doomed.ports,
      until: ({ steps }) => steps['a']?.status === 'done',
    });
    expect(h.sent).toEqual([]);
    if (first !== undefined) h.sent.push(first);
    const { execution } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    expect([...calls].sort()).toEqual(ALL);
  });
});

describe('a read that fails', () => {
  it.each(Array.from({ length: 8 }, (_, at) => at + 1))('number %i, costs no attempt (S9)', async (at) => {
    let reads = 0;
    const { h } = counted((world) => ({
      ...world,
      store: {
        ...world.store,
        read: async (id) => {
          reads += 1;
          if (reads === at) throw new Error('throttled');
          return world.store.read(id);
        },
      },
    }));
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    expect(Object.values(steps).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
  });
});

/** A process that dies at its n-th call of a port. */
const dyingAt = (h: Harness, call: number): Process => {
  let calls = 0;
  const count = <Target extends object>(target: Target): Target =>
    Object.fromEntries(
      Object.entries(target).map(([name, value]) => [
        name,
        typeof value !== 'function'
          ? value
          : async (...args: never[]) => {
              calls += 1;
              if (calls === call) doomed.kill();
              return (value as (...of: never[]) => Promise<unknown>)(...args);
            },
      ]),
    ) as Target;
  const doomed: Process = aProcess({
    ...h,
    store: count(h.store),
    queue: count(h.queue),
    announcer: count(h.announcer),
  });
  return doomed;
};

describe('a process that dies', () => {
  const deaths = ['a', 'b', 'd'].flatMap((step) =>
    Array.from({ length: 8 }, (_, at): [string, number] => [step, at + 1]),
  );
  it.each(deaths)('with step %s at its call %i of a port leaves nothing stuck (P1)', async (step, call) => {
    const { h, calls } = counted();
    const doomed = dyingAt(h, call);
    let first = true;
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, {
      portsOf: ({ message }) => {
        if (message.step !== step || !first) return undefined;
        first = false;
        return doomed.ports;
      },
    });
    expect(execution.status).toBe('succeeded');
    expect(Object.values(steps).every(({ status, attempt }) => status === 'done' && attempt <= 2)).toBe(true);
    expect(new Set(calls.map((one) => one[0]))).toEqual(new Set(['a', 'b', 'c', 'd']));
    expect(h.announced.length).toBeGreaterThanOrEqual(1);
    expect(h.announced.length).toBeLessThanOrEqual(2);
  });
});
