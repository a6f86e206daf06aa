/**
 * When a process calls a supervisor: L2 a dead agent is noticed as soon in a quiet system as in a busy one;
 * no supervisor is called while one is present, and its presence is not read again.
 */

import type { Ports, Presences } from '../../lib/core/ports.ts';
import type { Presence } from '../../lib/core/supervision/presence.ts';
import { callbackToken } from '../../lib/core/records/state.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { closeCallback } from '../../lib/scheduler/callbacks.ts';
import { tick } from '../../lib/supervisor/sweep.ts';
import { CALL_MS, callSupervisor, withoutCalls } from '../../lib/engine/wake-up.ts';
import { memoryPresences, memoryWakeUps } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, drain, harness, type Harness } from './harness.ts';

const worker = anAgent('worker');
const fine = { execute: async () => ({}), undo: async () => undefined };
const pair = workflow('pair', { input: anyObject, within: '1h' }, (w) => {
  const first = w.step('first', worker, {}, { recovery: [retry(1)] });
  w.step('second', worker, {}, { recovery: [retry(1)], after: [first] });
});
const patient = workflow('patient', { input: anyObject, within: '1h' }, (w) => {
  const answer = w.callback('answer', { output: anyObject, within: '30m' });
  w.step('it', worker, {}, { recovery: [retry(1)], after: [answer] });
});

interface Quiet {
  readonly h: Harness;
  readonly presences: Presences;
  readonly calls: Presence[];
  readonly reads: () => number;
  /** The ports of another process in the same system. */
  readonly otherProcess: () => Ports;
}

function quiet(of: Workflow = pair as Workflow, call?: (presence: Presence) => Promise<void>): Quiet {
  const calls: Presence[] = [];
  let reads = 0;
  const stored = memoryPresences();
  const presences: Presences = {
    read: () => {
      reads += 1;
      return stored.read();
    },
    write: stored.write,
  };
  const wakeUps = () =>
    memoryWakeUps(presences, async (presence) => {
      calls.push(presence);
      await call?.(presence);
    });
  const h = harness(of, { worker: fine }, 1, (world) => ({ ...world, wakeUps: wakeUps() }));
  const otherProcess = (): Ports => ({ ...h.scheduler.ports, wakeUps: wakeUps() });
  return { h, presences, calls, reads: () => reads, otherProcess };
}

const presentFor = async ({ h, presences }: Quiet, ms: number): Promise<void> => {
  const version = ((await presences.read())?.version ?? 0) + 1;
  await presences.write({ version, writeId: `w-${version}`, untilAt: h.clock.now() + ms });
};

describe('a start in a quiet system', () => {
  it('calls one supervisor, which is expected within five seconds (L2)', async () => {
    const world = quiet();
    await world.h.begin();
    expect(world.calls).toEqual([
      { version: 1, writeId: expect.any(String), untilAt: world.h.clock.now() + CALL_MS },
    ]);
    expect(await world.presences.read()).toEqual(world.calls[0]);
    expect(world.h.notes).toContainEqual({ what: 'supervisor-called' });
  });

  it('and everything that follows calls no other, and does not ask whether one is there', async () => {
    const world = quiet();
    const { id } = await world.h.begin();
    await drain(world.h);
    expect((await world.h.state(id)).execution.status).toBe('succeeded');
    await world.h.begin();
    expect(world.calls).toHaveLength(1);
    expect(world.reads()).toBe(1);
  });

  it('calls again when the one before is not there by then', async () => {
    const world = quiet();
    await world.h.begin();
    world.h.clock.advanceTo(world.h.clock.now() + CALL_MS - 1);
    await world.h.begin();
    expect(world.calls).toHaveLength(1);
    world.h.clock.advanceTo(world.h.clock.now() + 1);
    await world.h.begin();
    expect(world.calls.map(({ version }) => version)).toEqual([1, 2]);
  });

  it('is valid even if the call fails: that is logged, and the next tick finds the work', async () => {
    const world = quiet(pair as Workflow, async () => {
      throw new TypeError('no such bus');
    });
    const { id } = await world.h.begin();
    expect(world.h.notes).toContainEqual({ what: 'wake-up-failed', detail: 'TypeError' });
    world.h.sent.splice(0);
    world.h.clock.advanceTo(world.h.clock.now() + 60_000);
    await tick(world.h.scheduler.ports, new Map(), { untilAt: world.h.clock.now(), sweepEveryMs: 2_000 });
    expect(world.h.sent.map(({ message }) => message.execution)).toEqual([id]);
  });

  it.each(['read', 'write'] as const)('is a start also where the presence cannot be %s', async (method) => {
    const world = quiet();
    const broken = { ...world.presences, [method]: () => Promise.reject(new Error('away')) };
    const wakeUps = memoryWakeUps(broken, async () => undefined);
    await callSupervisor({ ...world.h.scheduler.ports, wakeUps }, world.h.clock.now());
    expect(world.h.notes).toContainEqual({ what: 'wake-up-failed', detail: 'Error' });
  });
});

describe('where a supervisor is present', () => {
  it('no process calls one, and each asks once in the time that was promised', async () => {
    const world = quiet();
    await presentFor(world, 30_000);
    const before = world.reads();
    for (let at = 0; at < 3; at += 1) {
      await world.h.begin();
      world.h.clock.advanceTo(world.h.clock.now() + 9_999);
    }
    expect(world.calls).toEqual([]);
    expect(world.reads() - before).toBe(1);
    world.h.clock.advanceTo(world.h.clock.now() + 3);
    await world.h.begin();
    expect(world.calls).toHaveLength(1);
  });

  it('but only until now, one is called', async () => {
    const world = quiet();
    await presentFor(world, 0);
    await world.h.begin();
    expect(world.calls).toHaveLength(1);
  });
});

describe('among many processes that would call at once', () => {
  it('one does, and the others lose the write to it (S15)', async () => {
    const world = quiet();
    const processes = Array.from({ length: 5 }, world.otherProcess);
    const now = world.h.clock.now();
    await Promise.all(processes.map((ports) => callSupervisor(ports, now + 1_000)));
    expect(world.calls).toHaveLength(1);
    // Processes that lost do not ask again soon.
    await Promise.all(processes.map((ports) => callSupervisor(ports, now + 1_000)));
    expect(world.reads()).toBe(5);
  });

  it('those of one process ask once together', async () => {
    const world = quiet();
    await Promise.all([world.h.begin(), world.h.begin(), world.h.begin()]);
    expect(world.calls).toHaveLength(1);
    expect(world.reads()).toBe(1);
  });
});

describe('an answer from outside', () => {
  it('calls one if it brings the wake time near, and nothing before it does (S12)', async () => {
    const world = quiet(patient as Workflow);
    const { id } = await world.h.begin();
    expect(world.calls).toHaveLength(1);
    world.h.clock.advanceTo(world.h.clock.now() + 61_000);
    await world.h.sweep();
    const { execution } = await world.h.state(id);
    expect(execution.wakeAt).toBeGreaterThan(world.h.clock.now() + 60_000);
    expect(world.calls).toHaveLength(1);
    const token = callbackToken(execution, 'answer') ?? '';
    await closeCallback(world.h.scheduler, token, { kind: 'complete', output: {} });
    expect(world.calls).toHaveLength(2);
  });
});

describe('a supervisor', () => {
  it('calls no other, whatever it starts itself', async () => {
    const inner = workflow('inner', { input: anyObject, within: '30m' }, (w) => {
      w.step('x', worker, {}, { recovery: [retry(1)] });
    });
    const outer = workflow('outer', { input: anyObject, within: '1h' }, (w) => {
      w.child('sub', inner as never as Workflow<object>, {});
    });
    const world = quiet(outer as Workflow);
    const { ports } = world.h.scheduler;
    let isAway = true;
    const create = ports.store.create;
    const store = {
      create: (...given: Parameters<typeof create>) =>
        isAway && given[0].parent !== undefined ? Promise.reject(new Error('away')) : create(...given),
    };
    Object.assign(ports.store, store);
    const { id } = await world.h.begin();
    expect(await world.h.store.read(`${id}.sub.0`)).toBeUndefined();
    // If no agent works in a workflow, its first evaluation is a minute away.
    expect(world.calls).toEqual([]);
    isAway = false;
    world.h.clock.advanceTo(world.h.clock.now() + 60_000);
    const untilAt = world.h.clock.now();
    await tick(ports, new Map(), { untilAt, sweepEveryMs: 2_000 });
    expect((await world.h.state(`${id}.sub.0`)).execution.wakeAt).toBeLessThan(untilAt + 60_000);
    expect(world.calls).toEqual([]);
  });

  it('has every other port, also those of its class', () => {
    const { ports } = quiet().h.scheduler;
    const own = withoutCalls(ports);
    expect(own).not.toBe(ports);
    expect(own.wakeUps).toBeUndefined();
    for (const name of Object.keys(ports) as (keyof Ports)[])
      if (name !== 'wakeUps') expect([name, own[name]]).toEqual([name, ports[name]]);
  });
});
