/**
 * Results that are too late, too large, or whose side effects fail must not undo, hide or delay finished
 * work.
 */

import * as z from 'zod/mini';
import { outputOf } from '../../lib/core/execution/output.ts';
import { declareAgent, type Agent } from '../../lib/core/plan/agent.ts';
import type { Away } from '../../lib/core/values/away.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { start } from '../../lib/scheduler/start.ts';
import { sweepOnce } from '../../lib/supervisor/sweep.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { anAgent, anyObject, harness, PROCESS_MS } from '../engine/harness.ts';

const a = anAgent('a');
const b = anAgent('b');
const ok = { execute: async () => ({}), undo: async () => undefined };
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('an execution whose last step was done in time', () => {
  it('succeeds although nobody looked before its deadline', async () => {
    const only = workflow('only', { input: anyObject, within: '20s' }, (w) => {
      w.step('work', a, {});
    });
    const h = harness(only, { a: ok });
    const { id } = await h.begin();
    const [send] = h.sent.splice(0);
    // The process dies between the report and what follows from it.
    const write = h.store.write;
    Object.assign(h.store, {
      write: (one: Parameters<typeof write>[0]) =>
        one.execution === undefined ? write(one) : new Promise(() => undefined),
    });
    void h.deliver(send!);
    await settle();
    Object.assign(h.store, { write });
    expect((await h.state(id)).steps['work']?.status).toBe('done');
    h.clock.advanceTo(h.clock.now() + 60_000);
    await h.sweep();
    expect((await h.state(id)).execution.status).toBe('succeeded');
  });

  it('succeeds although its output is too large to be kept, and says how large it is', async () => {
    const large = workflow('large', { input: anyObject, within: '1h' }, (w) => {
      const one = w.step('one', a, {});
      const two = w.step('two', b, {});
      return { one: one.output, two: two.output };
    });
    const big = { ...ok, execute: async () => ({ text: 'x'.repeat(210_000) }) };
    const h = harness(large, { a: big, b: big });
    const { id } = await h.begin();
    const { execution } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    expect(execution.output).toBeUndefined();
    expect(execution.outputBytes).toBeGreaterThan(420_000);
  });
});

describe('an agent', () => {
  it('changes its input and what it has answered, and no record', async () => {
    const passed = workflow('passed', { input: anyObject, within: '1h' }, (w) => {
      const one = w.step('one', a, {});
      w.step('two', b, { of: one.output });
      return { one: one.output };
    });
    const answer = { deep: { n: 1 } };
    const changes = async (_: unknown, input: unknown): Promise<object> => {
      answer.deep.n = 2;
      (input as { of: typeof answer }).of.deep.n += 2;
      return {};
    };
    const h = harness(passed, { a: { ...ok, execute: async () => answer }, b: { ...ok, execute: changes } });
    const { execution } = await h.run((await h.begin()).id, { supervised: false });
    expect(execution.output).toEqual({ one: { deep: { n: 1 } } });
  });

  it('undoes what it did although a later version of it would refuse that input', async () => {
    const loose = declareAgent('book', { input: z.object({}), output: z.object({}), effect: 'idempotent' });
    const trip = workflow('trip', { input: anyObject, within: '1h' }, (w) => {
      const booked = w.step('booked', loose as Agent, {});
      w.step('paid', a, {}, { after: [booked], recovery: [retry(0)] });
    });
    let undone = 0;
    const book = {
      ...ok,
      undo: async () => {
        undone += 1;
      },
    };
    const pay = {
      ...ok,
      execute: async () => {
        // From here on the agent needs a field that the stored input does not have.
        Object.assign(loose, { input: z.object({ seat: z.string() }) });
        throw new PermanentError('declined');
      },
    };
    const h = harness(trip, { book, a: pay });
    const { id } = await h.begin();
    const { execution } = await h.run(id);
    expect([execution.status, undone]).toEqual(['compensated', 1]);
  });

  it('is not held by an event bus that is away: it tries twice, and the wake time makes good', async () => {
    const only = workflow('only', { input: anyObject, within: '1h' }, (w) => {
      w.step('work', a, {});
    });
    const h = harness(only, { a: ok });
    let tries = 0;
    const { announce } = h.announcer;
    Object.assign(h.announcer, {
      announce: async () => {
        tries += 1;
        throw new Error('the bus is away');
      },
    });
    const { id } = await h.begin();
    const [send] = h.sent.splice(0);
    const startedAt = h.clock.now();
    const handled = h.deliver(send!);
    for (let at = 0; at < 20; at += 1) {
      await settle();
      h.clock.advanceTo(h.clock.now() + 100);
    }
    await expect(handled).resolves.toBe('handled');
    expect(h.clock.now() - startedAt).toBeLessThan(PROCESS_MS / 10);
    expect(tries).toBe(2);
    Object.assign(h.announcer, { announce });
    h.clock.advanceTo((await h.state(id)).execution.wakeAt ?? 0);
    await h.sweep();
    expect(h.announced).toMatchObject([{ executionId: id, status: 'succeeded' }]);
  });

  it('that does not return after its time is over keeps its process, which the platform then ends', async () => {
    const slow = anAgent('slow', { effect: 'probed', timeout: '10s', lease: '10s' });
    const only = workflow('only', { input: anyObject, within: '1h' }, (w) => {
      w.step('work', slow, {});
    });
    const h = harness(only, {
      slow: {
        ...ok,
        execute: () => new Promise(() => undefined),
        probe: async () => ({ verdict: 'not-done' as const }),
      },
    });
    const { id } = await h.begin();
    const [send] = h.sent.splice(0);
    let returned = false;
    void h.deliver(send!).then(() => {
      returned = true;
    });
    for (let at = 0; at < 40; at += 1) {
      await settle();
      h.clock.advanceTo(h.clock.now() + 1_000);
    }
    expect((await h.state(id)).steps['work']).toMatchObject({
      status: 'unknown',
      failure: {
        code: 'timeout',
        message: expect.stringMatching(/^the attempt took longer than timeout: '\d+s'$/),
      },
    });
    expect(returned).toBe(false);
  });

  it('that does not return keeps its process also where no report of it can be written', async () => {
    const slow = anAgent('slow', { effect: 'probed', timeout: '10s', lease: '10s' });
    const only = workflow('only', { input: anyObject, within: '1h' }, (w) => {
      w.step('work', slow, {});
    });
    let begun = 0;
    const execute = () => {
      begun += 1;
      return new Promise<object>(() => undefined);
    };
    const probe = async () => ({ verdict: 'not-done' as const });
    const h = harness(only, { slow: { ...ok, execute, probe } });
    await h.begin();
    const [send] = h.sent.splice(0);
    let isOver = false;
    void h.deliver(send!).then(
      () => (isOver = true),
      () => (isOver = true),
    );
    await settle();
    expect(begun).toBe(1);
    Object.assign(h.store, { write: async () => Promise.reject(new Error('the store is away')) });
    for (let ms = 0; ms < PROCESS_MS + 10_000; ms += 1_000) {
      await settle();
      h.clock.advanceTo(h.clock.now() + 1_000);
    }
    // Nothing gives the process back before the platform ends it: the code would go on beside another
    // message.
    expect(isOver).toBe(false);
  });

  it.each([0, 75_000])('is charged with no time in which nothing ran: %i ms', async (awayMs) => {
    const slow = anAgent('slow', { effect: 'probed', timeout: '10s', lease: '10s' });
    const only = workflow('only', { input: anyObject, within: '1h' }, (w) => {
      w.step('work', slow, {});
    });
    const probe = async () => ({ verdict: 'not-done' as const });
    const h = harness(only, { slow: { ...ok, execute: () => new Promise(() => undefined), probe } });
    const { id } = await h.begin();
    const [send] = h.sent.splice(0);
    const away: Away[] = [];
    void h.deliver(send!, { ...h, away: () => away });
    const statusAfter = async (seconds: number): Promise<string | undefined> => {
      for (let at = 0; at < seconds; at += 1) {
        await settle();
        h.clock.advanceTo(h.clock.now() + 1_000);
      }
      await settle();
      return (await h.state(id)).steps['work']?.status;
    };
    await statusAfter(5);
    // A server notices it before it runs the timers of that time.
    away.push({ untilAt: h.clock.now() + awayMs, ms: awayMs });
    h.clock.advanceTo(h.clock.now() + awayMs);
    expect(await statusAfter(4)).toBe('running');
    expect(await statusAfter(9)).toBe('unknown');
  });

  it('says the limit where the code passes on what the end of its signal throws', async () => {
    const slow = anAgent('slow', { effect: 'probed', timeout: '10s', lease: '10s' });
    const only = workflow('only', { input: anyObject, within: '1h' }, (w) => {
      w.step('work', slow, {});
    });
    const execute: (ctx: { signal: AbortSignal }) => Promise<never> = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const probe = async () => ({ verdict: 'not-done' as const });
    const h = harness(only, { slow: { ...ok, execute, probe } });
    const { id } = await h.begin();
    const [send] = h.sent.splice(0);
    void h.deliver(send!);
    for (let at = 0; at < 20; at += 1) {
      await settle();
      h.clock.advanceTo(h.clock.now() + 1_000);
    }
    const message = "the attempt took longer than timeout: '10s'";
    expect((await h.state(id)).steps['work']).toMatchObject({
      status: 'unknown',
      failure: { code: 'timeout', message },
    });
  });
});

describe('a start', () => {
  it('refuses an input that its schema turns into something that cannot be stored', async () => {
    const dated = workflow(
      'dated',
      {
        input: z.pipe(
          z.object({}),
          z.transform(() => ({ at: new Date(0) })),
        ),
        within: '1h',
      },
      (w) => {
        w.step('work', a, {});
      },
    );
    const h = harness(dated, { a: ok });
    await expect(start(h.scheduler, { workflow: 'dated', input: {} })).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining('/at'),
    });
  });
});

describe('a sweep', () => {
  it('reads the other shards although one cannot be read, and says so', async () => {
    const only = workflow('only', { input: anyObject, within: '1h' }, (w) => {
      w.step('work', a, {});
    });
    const h = harness(only, { a: ok });
    await h.begin();
    const { due } = h.store;
    const store = Object.assign({}, h.store, {
      shards: 2,
      due: async (shard: number, untilAt: number) => {
        if (shard === 0) throw new Error('throttled');
        return due(0, untilAt);
      },
    });
    h.clock.advanceTo(h.clock.now() + 60_000);
    const sweep = await sweepOnce({ ...h, store }, new Map(), h.clock.now());
    expect(sweep).toMatchObject({ due: 1, failed: 1, busy: true });
    expect(h.notes).toContainEqual(expect.objectContaining({ what: 'sweep-failed' }));
  });
});

describe('the output of an execution', () => {
  const echoing = workflow('echoing', { input: anyObject, within: '1h' }, (w) => {
    const one = w.step('one', a, {});
    return { text: one.output };
  });
  const answering = (bytes: number) => ({ ...ok, execute: async () => ({ text: 'x'.repeat(bytes) }) });

  it('that is small is kept with the execution', async () => {
    const h = harness(echoing, { a: answering(50) });
    const { id } = await h.begin();
    const { execution } = await h.run(id, { supervised: false });
    expect(execution.output).toEqual({ text: { text: 'x'.repeat(50) } });
  });

  it('that is not is made anew from the steps whenever it is shown', async () => {
    const h = harness(echoing, { a: answering(1_000) });
    const { id } = await h.begin();
    const state = await h.run(id, { supervised: false });
    expect(state.execution.output).toBeUndefined();
    expect(outputOf(echoing.plan, state)).toEqual({ output: { text: { text: 'x'.repeat(1_000) } } });
  });

  it('that an older version kept is shown as it is', async () => {
    const h = harness(echoing, { a: answering(1_000) });
    const { id } = await h.begin();
    const state = await h.run(id, { supervised: false });
    const { outputBytes: _, ...older } = state.execution;
    const kept = { ...state, execution: { ...older, output: { text: 'as it was' } } };
    expect(outputOf(echoing.plan, kept)).toEqual({ output: { text: 'as it was' } });
  });
});
