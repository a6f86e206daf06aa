/**
 * How much time a process must have left to carry on with the next agent's attempt, and when this is checked.
 */

import { handleAndCarryOn } from '../../lib/agent/carry-on.ts';
import type { HostedAgent, Neighbours } from '../../lib/agent/kept-message.ts';
import { ProcessRate } from '../../lib/agent/process-rate.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import type { Agent } from '../../lib/core/plan/agent.ts';
import type { Rates } from '../../lib/core/ports.ts';
import { memoryRates } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';
import { agents, driven, processOf, taking } from './carrying-process.ts';

it('gives a message to its queue if the attempt might not end in time, before it takes a slot', async () => {
  const rates = memoryRates();
  const writes: unknown[] = [];
  const counted: Rates = { ...rates, write: (record) => (writes.push(record), rates.write(record)) };
  const p = await processOf({
    leftMs: 30_000 + 3_499,
    around: (ports) => ({ ...ports, rates: counted }),
    more: (name) => (name === 'agent-1' ? { rate: new ProcessRate(name, 1) } : {}),
  });
  await p.handle();
  expect([p.performed, p.sentTo(), writes]).toEqual([['agent-0'], ['agent-1'], []]);
  const more = await processOf({ leftMs: 30_000 + 3_500 });
  await more.handle();
  expect(more.performed).toHaveLength(3);
});

it('keeps a message that has its trial, although a lost race costs it the time', async () => {
  let writes = 0;
  const trials: string[] = [];
  const p = await processOf({
    steps: 2,
    leftMs: 30_000 + 3_500,
    more: () => ({
      breaker: {
        pass: async () => ({ trial: (trials.push('asked'), 't') }),
        answered: async () => undefined,
      } as never,
    }),
    around: (ports) => ({
      ...ports,
      store: {
        ...ports.store,
        write: async (write) => {
          // The third write is the claim of the second step; the first two are the first step's.
          if ((writes += 1) !== 3) return ports.store.write(write);
          p.clock.advanceTo(p.clock.now() + 1);
          return 'conflict';
        },
      },
    }),
  });
  await p.handle();
  expect([p.performed, p.sentTo()]).toEqual([['agent-0', 'agent-1'], []]);
  expect(trials).toEqual(['asked', 'asked']);
});

it('gives a message to its queue if the process would cut its lease short', async () => {
  const [first, slow] = [agents[0]!, anAgent('slow', { timeout: '5s', lease: '40s', claimWithin: '30s' })];
  const flow = workflow('flow', { input: anyObject, within: '2h' }, (w) => {
    const before = w.step('first', first, {});
    w.step('slow', slow, { before: before.output });
  });
  const performed = async (leftMs: number): Promise<string[]> => {
    const done: string[] = [];
    const hosted = (agent: Agent): HostedAgent => ({
      ports: h,
      worker: { agent, implementation: { execute: async () => (done.push(agent.spec.name), {}) } },
    });
    const h = harness(flow, {});
    await h.begin();
    const [send] = h.sent.splice(0) as [Send];
    const endAt = h.clock.now() + leftMs;
    const neighbours: Neighbours = { has: () => true, of: async () => hosted(slow as Agent) };
    const own = hosted(first as Agent);
    await driven(
      h,
      handleAndCarryOn(own, new Map(), send.message, () => endAt, neighbours),
    );
    return [...done, ...h.sent.map(({ agent }) => `sent ${agent}`)];
  };
  expect(await performed(29_999)).toEqual([first.spec.name, 'sent slow']);
  expect(await performed(30_000)).toEqual([first.spec.name, 'slow']);
});

it('goes by the time that its process has left, also where its clock is set right meanwhile', async () => {
  let wrongMs = 3_600_000;
  const p = await processOf({
    steps: 8,
    execute: taking(4_000),
    leftMs: 3_660_000,
    around: (ports) => ({
      ...ports,
      clock: { ...ports.clock, now: () => ports.clock.now() + wrongMs },
      store: {
        ...ports.store,
        read: async (id) => {
          wrongMs = 0;
          return ports.store.read(id);
        },
      },
    }),
    deadline: (endAt) => endAt + wrongMs,
  });
  await p.handle();
  expect([p.performed.length, wrongMs]).toEqual([3, 0]);
});
