/**
 * A process carries an execution on through several agents: it keeps their messages, and handles or sends
 * each of them in every case (S12, S13).
 */

import { handleAndCarryOn } from '../../lib/agent/carry-on.ts';
import { type HostedAgent, KeptMessage, type Neighbours } from '../../lib/agent/kept-message.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Send } from '../../lib/core/decisions/decision.ts';
import type { Agent } from '../../lib/core/plan/agent.ts';
import { pause } from '../../lib/scheduler/commands.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { anyObject, harness, settle } from '../engine/harness.ts';
import { agents, driven, NAMES, processOf, taking } from './carrying-process.ts';

it('carries a chain on to its end, and sends nothing', async () => {
  const p = await processOf();
  expect(await p.handle()).toBe('handled');
  expect(p.performed).toEqual(['agent-0', 'agent-1', 'agent-2']);
  expect(p.sentTo()).toEqual([]);
  expect((await p.state(p.id)).execution.status).toBe('succeeded');
  // The log lists the attempts that were carried on: not the one that came from a queue.
  expect(p.notes.filter((note) => note.startsWith('carried-on'))).toEqual(['carried-on s1', 'carried-on s2']);
});

it('sends what is for an agent of another process', async () => {
  const p = await processOf({ here: (agent) => agent !== 'agent-1' });
  await p.handle();
  expect(p.performed).toEqual(['agent-0']);
  expect(p.sentTo()).toEqual(['agent-1']);
});

it.each([0, 1])('keeps one of several messages, after the others have left; %i sends fail', async (fails) => {
  const order: string[] = [];
  const fan = workflow('fan', { input: anyObject, within: '2h' }, (w) => {
    const first = w.step('first', agents[0]!, {});
    w.step('left', agents[1]!, { before: first.output });
    w.step('right', agents[2]!, { before: first.output });
  });
  const execute = (name: string) => async () => {
    order.push(name);
    return {};
  };
  const h = harness(fan, { 'agent-0': { execute: execute('agent-0') } });
  let failures = fails;
  const queue = {
    send: async (sends: readonly Send[]) => {
      // The evaluation is repeated, and sends the kept message again.
      if ((failures -= 1) >= 0) throw new Error('503');
      order.push(...sends.map(({ agent }) => `sent ${agent}`));
    },
  };
  const of = async ({ agent }: Pick<Send, 'agent'>): Promise<HostedAgent> => ({
    ports: { ...h, queue },
    worker: { agent: agents[NAMES.indexOf(agent)] as Agent, implementation: { execute: execute(agent) } },
  });
  await h.begin();
  const [first] = h.sent.splice(0) as [Send];
  const endAt = h.clock.now() + 60_000;
  const neighbours: Neighbours = { has: () => true, of };
  await driven(
    h,
    handleAndCarryOn(await of(first), new Map(), first.message, () => endAt, neighbours),
  );
  expect(order).toEqual(['agent-0', 'sent agent-2', 'agent-1']);
});

it('sends the work of other executions, and anything but a first attempt to execute', async () => {
  const p = await processOf();
  const neighbours = { has: () => true, of: () => Promise.reject(new Error('unused')) };
  const kept = new KeptMessage(neighbours, () => 60_000);
  const { queue } = kept.behind(p, p.id);
  const { message } = p.first;
  const others: Partial<Send['message']>[] = [
    { execution: 'another' },
    { mode: 'probe' },
    { mode: 'undo' },
    { attempt: 2 },
  ];
  const sends = others.map((other) => ({ ...p.first, message: { ...message, ...other } }));
  await queue.send([...sends, { ...p.first, delayMs: 1 }]);
  expect(p.sent).toHaveLength(5);
  expect(kept.take()).toBeUndefined();
  await queue.send([p.first]);
  expect(p.sent).toHaveLength(5);
  expect(kept.take()).toEqual(p.first);
});

it('carries on at most 16 steps, and sends the next', async () => {
  const p = await processOf({ steps: 20 });
  await p.handle();
  expect(p.performed).toHaveLength(17);
  expect(p.sentTo()).toEqual(['agent-17']);
});

it.each([
  ['10 s', {}, 4_000, 3],
  ['2 s where its function has so many processes and no more', { longestMs: 2_000 }, 900, 3],
  ['1 s for an execution of a group', { fairBy: true as const }, 400, 3],
])('carries on for %s, and sends the next', async (_, options, eachMs, steps) => {
  const p = await processOf({ steps: 8, execute: taking(eachMs), ...options });
  await p.handle();
  expect(p.performed).toHaveLength(steps);
  expect(p.sentTo()).toEqual([`agent-${steps}`]);
});

it('sends what follows from a failure that is tolerated', async () => {
  const some = workflow('some', { input: anyObject, within: '2h' }, (w) => {
    const tried = w.step('tried', agents[0]!, {}, { mayFail: true, recovery: [] });
    w.step('then', agents[1]!, {}, { after: [tried] });
  });
  const fails = { execute: () => Promise.reject(new PermanentError('no')) };
  const h = harness(some, { 'agent-0': fails });
  const of = async (): Promise<HostedAgent> => ({
    ports: h,
    worker: { agent: agents[0] as Agent, implementation: fails },
  });
  await h.begin();
  const [first] = h.sent.splice(0) as [Send];
  const endAt = h.clock.now() + 60_000;
  const neighbours: Neighbours = { has: () => true, of };
  const handling = handleAndCarryOn(await of(), new Map(), first.message, () => endAt, neighbours);
  await driven(h, handling);
  expect(h.sent.map(({ agent }) => agent)).toEqual(['agent-1']);
});

it('sends what it kept if it cannot be handled here: then no attempt is charged', async () => {
  const p = await processOf({ of: () => Promise.reject(new Error('the module does not load')) });
  expect(await p.handle()).toBe('handled');
  expect(p.sentTo()).toEqual(['agent-1']);
  expect(p.notes).toContain('follow-up-failed s1');
  expect((await p.state(p.id)).steps['s1']).toBeUndefined();
});

it('notes a send that fails, and acknowledges its message: the wake time is there', async () => {
  const send = (): Promise<never> => Promise.reject(new Error('503'));
  const p = await processOf({
    of: () => Promise.reject(new Error('the module does not load')),
    around: (ports) => ({ ...ports, queue: { send } }),
  });
  expect(await p.handle()).toBe('handled');
  expect(p.notes.filter((note) => note.startsWith('follow-up-failed'))).toHaveLength(2);
  expect((await p.run(p.id)).execution.status).toBe('succeeded');
});

it('keeps nothing that follows from a report whose write got no clear answer', async () => {
  let writes = 0;
  const p = await processOf({
    around: (ports) => ({
      ...ports,
      store: {
        ...ports.store,
        write: async (write) => {
          const result = await ports.store.write(write);
          // The first write is the claim, the second the report.
          if ((writes += 1) === 2) throw new Error('no answer');
          return result;
        },
      },
    }),
  });
  await p.handle();
  expect(p.performed).toEqual(['agent-0']);
  expect(p.sentTo()).toEqual(['agent-1']);
});

it('reads all again before a claim: a pause in between is obeyed', async () => {
  const p = await processOf({
    meanwhile: async (h, { execution }) => void (await pause(h.scheduler, execution, {})),
  });
  await p.handle();
  expect(p.performed).toEqual(['agent-0']);
  expect(p.sentTo()).toEqual([]);
  expect((await p.state(p.id)).execution.status).toBe('paused');
});

it('dies between a report and the next claim as between a write and its message: nothing is lost or charged', async () => {
  // The process stops for ever before its next attempt.
  const p = await processOf({ of: () => new Promise(() => undefined) });
  void p.handle().catch(() => undefined);
  await settle();
  const ended = await p.run(p.id);
  expect(ended.execution.status).toBe('succeeded');
  expect(ended.steps['s1']).toMatchObject({ status: 'done', attempt: 1 });
});

it('dies in the next attempt: its lease ends, and the first message, which comes again, costs nobody anything', async () => {
  let isFirst = true;
  const p = await processOf({
    execute: async (_, agent) => {
      if (agent !== 'agent-1' || !isFirst) return;
      isFirst = false;
      await new Promise(() => undefined);
    },
    around: (ports) => ({ ...ports, clock: { ...ports.clock, sleep: () => new Promise(() => undefined) } }),
  });
  void p.handle().catch(() => undefined);
  for (let at = 0; at < 3; at += 1) await settle();
  expect((await p.state(p.id)).steps['s1']).toMatchObject({ status: 'running', attempt: 1 });
  expect(await p.handle(p.first)).toBe('handled');
  const { steps, execution } = await p.run(p.id);
  expect(execution.status).toBe('succeeded');
  expect([steps['s0']?.attempt, steps['s1']?.attempt, steps['s2']?.attempt]).toEqual([1, 2, 1]);
});
