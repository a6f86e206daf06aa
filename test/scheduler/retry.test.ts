/** Retrying a failed or waiting execution: it continues where it failed, and never repeats undone work. */

import { PermanentError } from '../../lib/core/values/errors.ts';
import { explain } from '../../lib/explain/why.ts';
import { obeyedOf } from '../../lib/core/operators/obey.ts';
import { askPerson, retry as again, workflow } from '../../lib/author/builder/workflow.ts';
import { cancel, pause, retry } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { start } from '../../lib/scheduler/start.ts';
import { anAgent, anyObject, type Harness, harness } from '../engine/harness.ts';

const first = anAgent('first', { undo: 'none' });
const second = anAgent('second', { effect: 'probed', undo: 'none' });
const blind = anAgent('blind', { effect: 'unsafe', undo: 'none' });
const undone = anAgent('undone');
const chain = workflow('chain', { input: anyObject, within: '1h' }, (w) => {
  const a = w.step('a', first, {}, { recovery: [again(1)] });
  const b = w.step('b', second, {}, { after: [a], recovery: [again(1)] });
  w.step('c', first, {}, { after: [b] });
});
const decline = async (): Promise<never> => {
  throw new PermanentError('declined');
};
const lose = async (): Promise<never> => {
  throw new Error('socket hang up');
};

/** Fails until the test ends that. */
const failing = (
  fail: () => Promise<object>,
  probe: () => Promise<never> | Promise<{ verdict: 'not-done' | 'cannot-tell' }> = async () => ({
    verdict: 'cannot-tell',
  }),
) => {
  const world = { isBroken: true, a: 0, b: 0, probes: 0 };
  const h = harness(chain, {
    first: {
      execute: async () => {
        world.a += 1;
        return {};
      },
    },
    second: {
      execute: async () => {
        world.b += 1;
        return world.isBroken ? fail() : {};
      },
      probe: async () => {
        world.probes += 1;
        return world.isBroken ? probe() : { verdict: 'not-done' };
      },
    },
  });
  return { h, world };
};

const failed = async (h: Harness): Promise<string> => {
  const { id } = await h.begin();
  expect((await h.run(id)).execution.status).toBe('failed');
  return id;
};

describe('the retry of a failed execution', () => {
  it('goes on where it failed, in one write, and is announced again at its new end (S1)', async () => {
    const { h, world } = failing(decline);
    const id = await failed(h);
    const before = await h.state(id);
    world.isBroken = false;
    const answer = await retry(h.scheduler, id, { reason: 'the bank is back' });
    expect(answer).toMatchObject({ status: 'running', epoch: 2, version: before.execution.version + 1 });
    expect(answer).not.toHaveProperty('cause');
    expect(answer).not.toHaveProperty('endedAt');
    expect((await h.state(id)).steps).toEqual(before.steps);
    expect(answer.deadlineAt).toBe(h.clock.now() + chain.plan.withinMs);
    expect(answer.wakeAt).toBeLessThanOrEqual(h.clock.now() + 10_000);
    expect(explain(chain.plan, await h.state(id), h.clock.now())).toMatchObject({
      steps: [{ status: 'done' }, { status: 'ready', because: 'it waits for an agent to take it' }, {}],
      past: expect.arrayContaining([
        expect.objectContaining({ what: expect.stringContaining('retried it: the bank is back') }),
      ]),
    });
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps['b']).toMatchObject({ attempt: 2, stage: 0, epoch: 2 });
    expect(world).toMatchObject({ a: 2, b: 2 });
    expect(h.announced.map(({ status }) => status)).toEqual(['failed', 'succeeded']);
  });

  it('is found by the wake time when its operator dies with the write (S12)', async () => {
    const { h, world } = failing(decline);
    const id = await failed(h);
    world.isBroken = false;
    await retry(h.scheduler, id, {});
    h.sent.splice(0);
    expect((await h.run(id)).execution.status).toBe('succeeded');
  });

  it('may fail again, and be tried again', async () => {
    const { h, world } = failing(decline);
    const id = await failed(h);
    await retry(h.scheduler, id, {});
    const { execution, steps } = await h.run(id);
    expect(execution).toMatchObject({ status: 'failed', epoch: 2, cause: { step: 'b' } });
    expect(steps['b']).toMatchObject({ attempt: 2 });
    world.isBroken = false;
    await retry(h.scheduler, id, {});
    expect((await h.run(id)).execution).toMatchObject({ status: 'succeeded', epoch: 3 });
  });

  it('asks first, where an attempt may have acted, and then begins the recovery anew (S6)', async () => {
    const { h, world } = failing(lose);
    const id = await failed(h);
    const before = (await h.state(id)).steps['b'];
    expect(before).toMatchObject({ status: 'failed', mayHaveActed: true, attempt: 1 });
    world.isBroken = false;
    world.probes = 0;
    await retry(h.scheduler, id, {});
    expect(h.sent).toMatchObject([{ message: { step: 'b', mode: 'probe' } }]);
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps['b']).toMatchObject({ attempt: 2, mayHaveActed: false });
    expect(world).toMatchObject({ b: 2, probes: 1 });
  });

  it('repeated under the same command id is answered, not obeyed twice', async () => {
    const { h } = failing(decline);
    const id = await failed(h);
    await retry(h.scheduler, id, { commandId: 'r1' });
    await h.run(id);
    const again2 = await retry(h.scheduler, id, { commandId: 'r1' });
    expect(again2).toMatchObject({ status: 'failed', epoch: 2 });
  });

  it('may be canceled before anything has begun: what counts as ready is fenced (S10)', async () => {
    const { h, world } = failing(decline);
    const id = await failed(h);
    await retry(h.scheduler, id, {});
    const stale = await h.state(id);
    const [send] = h.sent.splice(0);
    await cancel(h.scheduler, id, {});
    let reads = 0;
    const late = {
      ...h,
      store: Object.assign(Object.create(h.store) as typeof h.store, {
        read: async (of: string) => ((reads += 1) === 1 ? stale : h.store.read(of)),
      }),
    };
    await h.deliver(send as never, late);
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('canceled');
    expect(steps['b']).toMatchObject({ status: 'fenced', attempt: 1, epoch: 2 });
    expect(world.b).toBe(1);
  });

  it('may be paused before anything has begun', async () => {
    const { h } = failing(decline);
    const id = await failed(h);
    await retry(h.scheduler, id, {});
    await pause(h.scheduler, id, {});
    const { execution, steps } = await h.state(id);
    expect(execution.status).toBe('paused');
    expect(steps['b']).toMatchObject({ status: 'failed', attempt: 1, epoch: 1 });
  });
});

describe('what is not tried again', () => {
  const oneStep = (agent: typeof undone, recovery = [again(1)] as never) =>
    workflow('one', { input: anyObject, within: '10d' }, (w) => {
      const a = w.step('a', undone, {});
      w.step('b', agent, {}, { after: [a], recovery });
    });

  it('is what was undone: the way forward is gone (S10)', async () => {
    const h = harness(oneStep(second), {
      undone: { execute: async () => ({}), undo: async () => undefined },
      second: { execute: decline },
    });
    const { id } = await h.begin();
    expect((await h.run(id)).execution.status).toBe('compensated');
    await expect(retry(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-retryable',
      message: expect.stringContaining(`"replaces": "${id}"`),
    });
    const next = await start(h.scheduler, { workflow: 'one', input: {}, replaces: id });
    expect(next).toMatchObject({ replaces: id, status: 'running' });
    await expect(
      start(h.scheduler, { workflow: 'one', input: {}, replaces: 'nothing' }),
    ).rejects.toMatchObject({ code: 'unknown-execution' });
  });

  it('is what failed to be undone', async () => {
    const h = harness(oneStep(second), {
      undone: { execute: async () => ({}), undo: decline },
      second: { execute: decline },
    });
    const { id } = await h.begin();
    expect((await h.run(id, { maxMs: 10 * 86_400_000 })).execution.status).toBe('failed');
    await expect(retry(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-retryable',
      message: expect.stringContaining("the undo of 'a' has begun"),
    });
  });

  it('is an effect that may have taken place and can be neither probed nor repeated (S6)', async () => {
    const h = harness(oneStep(blind, [askPerson()] as never), {
      undone: { execute: async () => ({}), undo: async () => undefined },
      blind: { execute: lose },
    });
    const { id } = await h.begin();
    await h.run(id, { until: ({ execution }) => execution.status === 'waiting' });
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'keep' });
    expect((await h.run(id)).execution.status).toBe('failed');
    await expect(retry(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-retryable',
      message: expect.stringContaining("'b' may have acted"),
    });
  });

  it.each(['running', 'paused'])('is an execution that is %s', async (status) => {
    const { h } = failing(decline);
    const { id } = await h.begin();
    if (status === 'paused') await pause(h.scheduler, id, {});
    await expect(retry(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-retryable',
      message: expect.stringContaining(`it is ${status}`),
    });
  });
});

describe('the retry of a waiting execution', () => {
  const asking = workflow('asking', { input: anyObject, within: '10d' }, (w) => {
    w.step('a', undone, {}, { recovery: [askPerson()] });
    w.step('b', second, {}, { recovery: [askPerson()] });
  });
  const asked = async (fail: () => Promise<never>) => {
    const tries = { a: 0, b: 0 };
    const h = harness(asking, {
      undone: { execute: async () => ((tries.a += 1) === 1 ? decline() : {}), undo: async () => undefined },
      second: {
        execute: async () => ((tries.b += 1) === 1 ? fail() : {}),
        probe: async () => ({ verdict: 'cannot-tell' }),
      },
    });
    const { id } = await h.begin();
    await h.run(id, { until: ({ questions }) => questions?.[2] !== undefined });
    return { h, id };
  };

  it('answers all its questions', async () => {
    const { h, id } = await asked(decline);
    const answered = await retry(h.scheduler, id, { commandId: 'r1', reason: 'fixed' });
    expect(obeyedOf(answered, { type: 'retry', commandId: 'r1' })?.at).toBeGreaterThan(0);
    const { execution, questions } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(Object.values(questions ?? {})).toMatchObject([
      { choice: 'retry', closedBy: 'answer', reason: 'fixed' },
      { choice: 'retry', closedBy: 'answer', reason: 'fixed' },
    ]);
  });

  it('answers none where one is not safe, and names it', async () => {
    const { h, id } = await asked(lose);
    await expect(retry(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-retryable',
      message: expect.stringMatching(/incident 2, step 'b': an attempt may have acted/),
    });
    const { questions } = await h.state(id);
    expect(Object.values(questions ?? {}).map(({ closedAt }) => closedAt)).toEqual([undefined, undefined]);
  });
});
