/** Timers, callbacks and approvals, on the production roles. */

import * as z from 'zod/mini';
import { eq, type Ref } from '../../lib/author/references.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { callbackToken } from '../../lib/core/records/state.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { closeCallback } from '../../lib/scheduler/callbacks.ts';
import { cancel, pause as pauseExecution, retry } from '../../lib/scheduler/commands.ts';
import { book, statuses } from '../engine/book.ts';
import { anAgent, anyObject, harness, type Harness } from '../engine/harness.ts';

const agentA = anAgent('agent-a');
const agentB = anAgent('agent-b');
const input = anyObject as never;

const tokenOf = async (world: Harness, id: string, step: string): Promise<string> =>
  callbackToken((await world.state(id)).execution, step) ?? '';

describe('a wait', () => {
  it('is over after its time, and not before', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      const a = w.step('a', agentA, {});
      const pause = w.wait('pause', { for: '1h', after: [a] });
      w.step('b', agentB, {}, { after: [pause] });
    });
    const { implementation } = book();
    const world = harness(flow, { 'agent-a': implementation, 'agent-b': implementation });
    const { id, startedAt } = await world.begin();
    const end = await world.run(id, { maxMs: 3 * 3_600_000 });
    expect(end.execution.status).toBe('succeeded');
    const { pause, b } = end.steps;
    expect((pause?.changedAt ?? 0) - startedAt).toBeGreaterThanOrEqual(3_600_000);
    expect((b?.changedAt ?? 0) - startedAt).toBeLessThan(3_600_000 + 60_000);
  });

  it('is evaluated no more often than needed: no process wakes before its time', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      w.wait('pause', { for: '1h' });
    });
    const world = harness(flow, {});
    const { id } = await world.begin();
    await world.run(id, { maxMs: 3 * 3_600_000 });
    // From a start with a wake time of a minute: one evaluation that sets a far wake time, one that ends it.
    expect((await world.state(id)).execution.version).toBeLessThanOrEqual(5);
  });

  it('until a time that the data names ends then; an invalid time fails the step', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      w.wait('pause', { until: (w.input as never as { at: never }).at });
    });
    const world = harness(flow, {});
    const at = world.clock.now() + 600_000;
    const { id } = await world.begin({ at: new Date(at).toISOString() });
    const end = await world.run(id);
    expect(end.execution.status).toBe('succeeded');
    expect(end.steps['pause']?.changedAt).toBeGreaterThanOrEqual(at);
    // Seconds instead of milliseconds are a time in 1970.
    for (const no of ['tomorrow', '2026-13-45', Math.floor((at + 2 * 86_400_000) / 1_000)]) {
      const bad = await world.begin({ at: no });
      const failed = await world.run(bad.id);
      expect(failed.execution.status).toBe('failed');
      expect(failed.steps['pause']?.failure?.code).toBe('bad-time');
    }
  });
});

const waitsForPayment = (heartbeatEvery?: string): Workflow =>
  workflow('flow', { input, within: '3h' }, (w) => {
    const a = w.step('a', agentA, {});
    const paid = w.callback('paid', {
      output: z.object({ amount: z.number() }),
      within: '1h',
      after: [a],
      ...(heartbeatEvery === undefined ? {} : { heartbeatEvery }),
    });
    w.step('b', agentB, { amount: paid.output.amount });
    return { amount: paid.output.amount };
  }) as Workflow;

describe('a callback', () => {
  it('waits for the external party, whose answer becomes its output', async () => {
    const { implementation, done } = book();
    const world = harness(waitsForPayment(), { 'agent-a': implementation, 'agent-b': implementation });
    const { id } = await world.begin();
    await world.run(id, { until: ({ steps }) => steps['a']?.status === 'done' });
    await closeCallback(world.scheduler, await tokenOf(world, id, 'paid'), {
      kind: 'complete',
      output: { amount: 7 },
    });
    const end = await world.run(id, { supervised: false });
    expect(end.execution.output).toEqual({ amount: 7 });
    expect(done).toEqual([`${id}.a`, `${id}.b`]);
  });

  it('that is answered before its turn counts when the turn comes', async () => {
    const { implementation } = book();
    const world = harness(waitsForPayment(), { 'agent-a': implementation, 'agent-b': implementation });
    const { id } = await world.begin();
    const answer = { kind: 'complete', output: { amount: 3 } } as const;
    await closeCallback(world.scheduler, await tokenOf(world, id, 'paid'), answer);
    expect(statuses(await world.state(id))).toEqual({ paid: 'answered' });
    const end = await world.run(id, { supervised: false });
    expect(end.execution.output).toEqual({ amount: 3 });
  });

  it('that is answered while the step before it is under way counts with that step’s report', async () => {
    const { implementation } = book();
    const answer = { kind: 'complete', output: { amount: 3 } } as const;
    const answering = {
      ...implementation,
      execute: async (ctx: { idempotencyKey: string; executionId: string }, given: unknown) => {
        await closeCallback(world.scheduler, await tokenOf(world, ctx.executionId, 'paid'), answer);
        return implementation.execute(ctx, given);
      },
    };
    const world = harness(waitsForPayment(), { 'agent-a': answering, 'agent-b': implementation });
    const { id } = await world.begin();
    const end = await world.run(id, { supervised: false });
    expect(end.execution.output).toEqual({ amount: 3 });
  });

  it('whose condition does not hold is skipped, also when the external party has said that it is at it', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      const a = w.step('a', agentA, {});
      w.callback('paid', {
        output: z.object({}),
        within: '1h',
        after: [a],
        when: eq((w.input as never as { pays: Ref<boolean> }).pays, true),
      });
    }) as Workflow;
    const { implementation } = book();
    const world = harness(flow, { 'agent-a': implementation });
    const { id } = await world.begin({ pays: false });
    await closeCallback(world.scheduler, await tokenOf(world, id, 'paid'), { kind: 'heartbeat' });
    const end = await world.run(id, { supervised: false });
    expect(statuses(end)).toEqual({ a: 'done', paid: 'skipped' });
    expect(end.execution.status).toBe('succeeded');
  });

  it('that is answered twice alike gets the same reply; another answer is refused', async () => {
    const { implementation } = book();
    const world = harness(waitsForPayment(), { 'agent-a': implementation, 'agent-b': implementation });
    const { id } = await world.begin();
    const token = await tokenOf(world, id, 'paid');
    await closeCallback(world.scheduler, token, { kind: 'complete', output: { amount: 3 } });
    await closeCallback(world.scheduler, token, { kind: 'complete', output: { amount: 3 } });
    const other = closeCallback(world.scheduler, token, { kind: 'complete', output: { amount: 4 } });
    await expect(other).rejects.toMatchObject({ code: 'already-closed' });
  });

  it.each([
    ['another step of it', (token: string) => token.replace('.paid.', '.a.')],
    ['another key', (token: string) => `${token}0`],
    ['another execution', (token: string) => `e-9${token.slice(token.indexOf('.'))}`],
    ['no token at all', () => 'x'],
  ])('is not open to whoever has the token of %s', async (_what, forge) => {
    const world = harness(waitsForPayment(), { 'agent-a': book().implementation });
    const { id } = await world.begin();
    const answer = closeCallback(world.scheduler, forge(await tokenOf(world, id, 'paid')), {
      kind: 'heartbeat',
    });
    await expect(answer).rejects.toMatchObject({ code: 'unknown-callback' });
  });

  it('refuses an output that does not fit its schema, naming the place', async () => {
    const world = harness(waitsForPayment(), { 'agent-a': book().implementation });
    const { id } = await world.begin();
    const answer = closeCallback(world.scheduler, await tokenOf(world, id, 'paid'), {
      kind: 'complete',
      output: { amount: 'seven' },
    });
    await expect(answer).rejects.toMatchObject({
      code: 'bad-output',
      message: expect.stringContaining('amount'),
    });
  });

  it('without an answer in time fails, and what has acted is undone', async () => {
    const { implementation, undone } = book();
    const world = harness(waitsForPayment(), { 'agent-a': implementation, 'agent-b': implementation });
    const { id, startedAt } = await world.begin();
    const end = await world.run(id, { maxMs: 7_200_000 });
    expect(end.execution.status).toBe('compensated');
    expect(end.steps['paid']?.failure?.code).toBe('no-answer');
    expect(undone).toEqual([`${id}.a`]);
    expect((end.execution.endedAt ?? 0) - startedAt).toBeLessThan(3_600_000 + 60_000);
  });

  it('that must send heartbeats fails when the external party falls silent, and lives on while it heartbeats', async () => {
    const { implementation } = book();
    const world = harness(waitsForPayment('5m'), { 'agent-a': implementation, 'agent-b': implementation });
    const { id, startedAt } = await world.begin();
    await world.run(id, { until: ({ steps }) => steps['a']?.status === 'done' });
    const token = await tokenOf(world, id, 'paid');
    for (let heartbeats = 1; heartbeats <= 3; heartbeats += 1) {
      world.clock.advanceTo(startedAt + heartbeats * 240_000);
      await world.sweep();
      await closeCallback(world.scheduler, token, { kind: 'heartbeat' });
    }
    expect((await world.state(id)).steps['paid']?.status).toBe('waiting');
    const end = await world.run(id, { maxMs: 7_200_000 });
    expect(end.steps['paid']?.status).toBe('failed');
    expect((end.steps['paid']?.changedAt ?? 0) - startedAt).toBeGreaterThanOrEqual(3 * 240_000 + 300_000);
    expect((end.steps['paid']?.changedAt ?? 0) - startedAt).toBeLessThan(3 * 240_000 + 360_000);
  });

  it('is closed by a cancel', async () => {
    const { implementation } = book();
    const world = harness(waitsForPayment(), { 'agent-a': implementation });
    const { id } = await world.begin();
    await world.run(id, { until: ({ steps }) => steps['a']?.status === 'done' });
    await cancel(world.scheduler, id, {});
    const end = await world.run(id);
    expect(statuses(end)).toEqual({ a: 'compensated', paid: 'fenced' });
    const answer = closeCallback(world.scheduler, await tokenOf(world, id, 'paid'), {
      kind: 'complete',
      output: { amount: 1 },
    });
    await expect(answer).rejects.toMatchObject({ code: 'already-closed' });
  });
});

describe('a callback of an execution that is tried again', () => {
  it('takes an answer once more, which is not what was answered before', async () => {
    const { implementation } = book();
    let fails = true;
    const failing: typeof implementation = {
      ...implementation,
      execute: (ctx, given) => {
        if (fails) throw new PermanentError('no');
        return implementation.execute(ctx, given);
      },
    };
    const world = harness(waitsForPayment(), { 'agent-a': failing, 'agent-b': implementation });
    const { id } = await world.begin();
    const token = await tokenOf(world, id, 'paid');
    const failure = { code: 'expired', message: 'the card has expired' };
    await closeCallback(world.scheduler, token, { kind: 'fail', failure });
    expect(statuses(await world.run(id))).toEqual({ a: 'failed', paid: 'fenced' });
    fails = false;
    await retry(world.scheduler, id, {});
    await closeCallback(world.scheduler, token, { kind: 'complete', output: { amount: 3 } });
    const { execution, steps } = await world.run(id, { supervised: false });
    expect(execution).toMatchObject({ status: 'succeeded', output: { amount: 3 } });
    expect(steps['paid']).not.toHaveProperty('failure');
  });

  it('that nobody had answered in time may be answered now', async () => {
    const flow = workflow('flow', { input, within: '3h' }, (w) => {
      w.callback('paid', { output: z.object({}), within: '1h' });
    }) as Workflow;
    const world = harness(flow, {});
    const { id } = await world.begin();
    expect((await world.run(id, { maxMs: 7_200_000 })).execution.status).toBe('failed');
    await retry(world.scheduler, id, {});
    await closeCallback(world.scheduler, await tokenOf(world, id, 'paid'), { kind: 'complete', output: {} });
    const { execution, steps } = await world.state(id);
    expect([execution.status, steps['paid']?.status]).toEqual(['succeeded', 'done']);
    expect(steps['paid']).not.toHaveProperty('failure');
  });
});

describe('an approval', () => {
  const asks = workflow('flow', { input, within: '3h' }, (w) => {
    const ok = w.approval('ok', { within: '1h' });
    w.step('a', agentA, { by: ok.output.by }, { after: [ok] });
  }) as Workflow;

  it('that is given lets the rest go on, and says by whom', async () => {
    const { implementation } = book();
    const world = harness(asks, { 'agent-a': implementation });
    const { id } = await world.begin();
    const output = { comment: 'fine' };
    const by = { kind: 'local', name: 'ann' } as const;
    await closeCallback(world.scheduler, await tokenOf(world, id, 'ok'), { kind: 'complete', output }, by);
    const end = await world.run(id, { supervised: false });
    expect(end.steps['ok']?.output).toEqual({ approved: true, ...output, by: 'local:ann' });
    expect(end.steps['ok']?.by).toEqual(by);
    expect(end.steps['a']?.output).toEqual({ got: { by: 'local:ann' } });
  });

  it('that is rejected fails the execution', async () => {
    const world = harness(asks, {});
    const { id } = await world.begin();
    const failure = { code: 'rejected', message: 'too dear' };
    await closeCallback(world.scheduler, await tokenOf(world, id, 'ok'), { kind: 'fail', failure });
    const end = await world.run(id);
    expect(end.execution.status).toBe('failed');
    expect(end.execution.cause?.failure).toEqual(failure);
  });
});

describe('an answer after its time, before a supervisor has noticed', () => {
  const asking = (kind: 'callback' | 'approval') =>
    workflow('asking', { input, within: '3h' }, (w) => {
      if (kind === 'callback') w.callback('c', { output: z.any(), within: '1h' });
      else w.approval('c', { within: '1h' });
    });
  const late = { kind: 'complete', output: {} } as const;

  it.each(['callback', 'approval'] as const)('is refused, and its step has failed: a %s', async (kind) => {
    const world = harness(asking(kind), {});
    const { id, startedAt } = await world.begin();
    const token = await tokenOf(world, id, 'c');
    world.clock.advanceTo(startedAt + 3_600_000);
    await expect(closeCallback(world.scheduler, token, late)).rejects.toMatchObject({
      code: 'already-closed',
      message: expect.stringMatching(/no longer open: the time for its answer was over at 20/),
      details: { status: 'failed' },
    });
    const { c } = (await world.state(id)).steps;
    expect(c).toMatchObject({ status: 'failed', failure: { code: 'no-answer' } });
    // A later caller gets the same answer.
    await expect(closeCallback(world.scheduler, token, late)).rejects.toMatchObject({
      code: 'already-closed',
    });
  });

  it('is taken a moment before, and during a pause that came in time', async () => {
    const world = harness(asking('callback'), {});
    const first = await world.begin();
    const second = await world.begin();
    await pauseExecution(world.scheduler, second.id, {});
    world.clock.advanceTo(first.startedAt + 3_600_000 - 1);
    await closeCallback(world.scheduler, await tokenOf(world, first.id, 'c'), late);
    expect((await world.state(first.id)).steps['c']?.status).toBe('done');
    world.clock.advanceTo(second.startedAt + 2 * 3_600_000);
    await closeCallback(world.scheduler, await tokenOf(world, second.id, 'c'), late);
    expect((await world.state(second.id)).steps['c']?.status).toBe('answered');
  });
});
