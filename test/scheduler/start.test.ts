/** Starts and commands: S11, and the code of each refusal. */

import * as z from 'zod/mini';
import type { AttemptContext } from '../../lib/core/plan/agent.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { obeyedOf } from '../../lib/core/operators/obey.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { IDS } from '../../lib/scheduler/ids.ts';
import { list } from '../../lib/scheduler/lists.ts';
import { createScheduler, start } from '../../lib/scheduler/start.ts';
import { memoryWorld } from '../../lib/memory/world.ts';
import { anAgent, anyObject, harness, settle } from '../engine/harness.ts';
import { deferred, withStore } from '../engine/process.ts';

const worker = anAgent('worker');
const quick = { recovery: [retry(0)] };
const chain = workflow('chain', { input: anyObject, within: '1m' }, (w) => {
  const a = w.step('a', worker, { n: w.input }, quick);
  w.step('b', worker, {}, { ...quick, after: [a] });
});
const fine = { execute: async () => ({}), undo: async () => undefined };
const open = () => harness(chain, { worker: fine });

describe('a start', () => {
  it('with the same key and body is the same execution, and starts nothing twice (S11)', async () => {
    const h = open();
    const first = await h.begin({ n: 1 }, 'order-1');
    const second = await h.begin({ n: 1 }, 'order-1');
    expect(second.id).toBe(first.id);
    expect(h.sent).toHaveLength(1);
    await h.run(first.id);
    expect((await h.begin({ n: 1 }, 'order-1')).status).toBe('succeeded');
  });

  it('with the same key and the same body in another order is the same execution', async () => {
    const h = open();
    const first = await h.begin({ a: 1, b: { c: 2, d: 3 } }, 'order-1');
    expect((await h.begin({ b: { d: 3, c: 2 }, a: 1 }, 'order-1')).id).toBe(first.id);
  });

  it('with the same key and another body is refused (S11)', async () => {
    const h = open();
    const { id } = await h.begin({ n: 1 }, 'order-1');
    await expect(h.begin({ n: 2 }, 'order-1')).rejects.toMatchObject({
      code: 'key-reused',
      details: { executionId: id },
    });
    const tagged = { workflow: 'chain', input: { n: 1 }, idempotencyKey: 'order-1', tags: { a: 'b' } };
    await expect(start(h.scheduler, tagged)).rejects.toMatchObject({ code: 'key-reused' });
  });

  it('with the same key and another address for its notifications is refused; a repeat is the same without callbacks', async () => {
    const h = open();
    const request = { workflow: 'chain', input: { n: 1 }, idempotencyKey: 'order-1' };
    const sends = { ...h.scheduler, notifies: true };
    const { id } = await start(sends, { ...request, callbackUrl: 'https://shop.example/a' });
    for (const callbackUrl of ['https://shop.example/b', undefined])
      await expect(
        start(sends, { ...request, ...(callbackUrl === undefined ? {} : { callbackUrl }) }),
      ).rejects.toMatchObject({ code: 'key-reused' });
    const again = await start(h.scheduler, { ...request, callbackUrl: 'https://shop.example/a' });
    expect(again.id).toBe(id);
  });

  it('with another key, or none, is another execution', async () => {
    const h = open();
    const ids = await Promise.all(['k-1', 'k-2', undefined, undefined].map((key) => h.begin({ n: 1 }, key)));
    expect(new Set(ids.map(({ id }) => id)).size).toBe(4);
  });

  it('of many at once with one key is one execution', async () => {
    const h = open();
    const all = await Promise.all(Array.from({ length: 20 }, () => h.begin({ n: 1 }, 'k')));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    const { execution } = await h.run(all[0]?.id ?? '', { supervised: false });
    expect(execution.status).toBe('succeeded');
  });

  it('with an unknown workflow, or with an input that does not fit, is refused and writes nothing', async () => {
    const strict = workflow(
      'strict',
      { input: z.object({ items: z.array(z.object({ sku: z.string() })) }), within: '1m' },
      (w) => {
        w.step('a', worker, {}, quick);
      },
    );
    const h = harness(strict, { worker: fine });
    await expect(start(h.scheduler, { workflow: 'nobody', input: {} })).rejects.toMatchObject({
      code: 'unknown-workflow',
      message: expect.stringContaining('strict'),
    });
    await expect(h.begin({ items: [{ sku: 'a' }, { sku: 5 }] })).rejects.toMatchObject({
      code: 'bad-input',
      details: { issues: [{ path: 'items.1.sku', message: expect.any(String) }] },
    });
    expect((await list(h.scheduler, { limit: 10 })).items).toEqual([]);
  });

  it('is listed with those of all workflows, latest first, page by page; a status shows what has it at once', async () => {
    const flows = ['one', 'two', 'three'].map((name) =>
      workflow(name, { input: anyObject, within: '1h' }, (w) => {
        w.step('a', worker, {}, quick);
      }),
    ) as Workflow[];
    const world = memoryWorld();
    const ids = { hash: (text: string) => text.replaceAll(/[^a-z0-9]/g, '-'), newId: () => 'new' };
    const scheduler = createScheduler(world, flows, ids);
    const started: string[] = [];
    for (let at = 0; at < 9; at += 1) {
      world.clock.advanceTo(world.clock.now() + 1);
      const name = ['one', 'two', 'three'][at % 3] ?? '';
      const { id } = await start(scheduler, { workflow: name, input: {}, idempotencyKey: `k${at}` });
      started.unshift(id);
    }
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await list(scheduler, { limit: 4, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(page.items.map(({ id }) => id));
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(pages).toEqual([started.slice(0, 4), started.slice(4, 8), started.slice(8)]);
    await cancel(scheduler, started[1] ?? '', {});
    const canceled = await list(scheduler, { limit: 1, statuses: ['canceled'] });
    expect(canceled.items.map(({ id }) => id)).toEqual([started[1]]);
  });

  it('whose answer was lost is found again by its key, and one sweep brings it on its way', async () => {
    let lost = 0;
    const h = harness(chain, { worker: fine }, 1, (world) =>
      withStore(world, (store) => ({
        create: async (execution) => {
          const result = await store.create(execution);
          lost += 1;
          if (lost === 1) throw new Error('the connection was lost');
          return result;
        },
      })),
    );
    await expect(h.begin({}, 'k')).rejects.toThrow('lost');
    const { id } = await h.begin({}, 'k');
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(h.notes.filter(({ what }) => what === 'dispatched')).toHaveLength(1);
    expect([steps['a']?.attempt, steps['b']?.attempt]).toEqual([1, 1]);
  });

  it('whose first message could not be sent is accepted, and the wake time makes it good', async () => {
    let sends = 0;
    const h = harness(chain, { worker: fine }, 1, (world) => ({
      ...world,
      queue: {
        send: async (all) => {
          sends += 1;
          if (sends === 1) throw new Error('throttled');
          await world.queue.send(all);
        },
      },
    }));
    const { id } = await h.begin();
    const { execution } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(h.notes.filter(({ what }) => what === 'dispatched')).toHaveLength(1);
  });
});

describe('an execution that is not over within its time', () => {
  it('is undone, and says why', async () => {
    const undone: string[] = [];
    const undo = async (ctx: AttemptContext): Promise<void> => void undone.push(ctx.step);
    const execute = async (ctx: AttemptContext): Promise<object> => {
      if (ctx.step === 'b') await h.clock.sleep(29_000);
      return {};
    };
    const slow = workflow('slow', { input: anyObject, within: '20s' }, (w) => {
      const a = w.step('a', worker, {}, quick);
      const b = w.step('b', worker, {}, { ...quick, after: [a] });
      w.step('c', worker, {}, { ...quick, after: [b] });
    });
    const h = harness(slow, { worker: { execute, undo } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect(execution).toMatchObject({
      status: 'compensated',
      cause: { kind: 'deadline', failure: { code: 'deadline' } },
    });
    expect(execution.cause?.at).toBe(execution.deadlineAt);
    expect(undone).toEqual(['b', 'a']);
    expect(steps['c']).toMatchObject({ status: 'fenced', attempt: 0 });
  });
});

describe('a cancel', () => {
  it('of a running execution undoes what was done, and ends as canceled', async () => {
    const undone: string[] = [];
    const undo = async (ctx: AttemptContext): Promise<void> => void undone.push(ctx.step);
    const work = deferred<object>();
    const execute = async (ctx: AttemptContext): Promise<unknown> => (ctx.step === 'a' ? {} : work.promise);
    const h = harness(chain, { worker: { execute, undo } });
    const { id } = await h.begin();
    await h.run(id, { until: ({ steps }) => steps['b']?.status === 'running' });
    const answer = await cancel(h.scheduler, id, { reason: 'customer changed their mind', commandId: 'c-1' });
    expect(answer).toMatchObject({ status: 'compensating' });
    expect(obeyedOf(answer, { type: 'cancel', commandId: 'c-1' })?.at).toBeGreaterThan(0);
    work.resolve({});
    await settle();
    const { execution } = await h.run(id, { supervised: false });
    expect(execution).toMatchObject({
      status: 'canceled',
      cause: { kind: 'cancel', failure: { code: 'canceled', message: 'customer changed their mind' } },
    });
    expect(undone).toEqual(['b', 'a']);
    expect(h.announced).toMatchObject([{ status: 'canceled' }]);
  });

  it('twice, with the same command or another, is the same cancel', async () => {
    const work = deferred<object>();
    const h = harness(chain, { worker: { ...fine, execute: () => work.promise } });
    const { id } = await h.begin();
    await h.run(id, { until: ({ steps }) => steps['a']?.status === 'running' });
    const first = await cancel(h.scheduler, id, { commandId: 'c-1' });
    const second = await cancel(h.scheduler, id, { commandId: 'c-1' });
    const third = await cancel(h.scheduler, id, { commandId: 'c-2' });
    expect([first.status, second.cause, third.cause]).toEqual(['compensating', first.cause, first.cause]);
    work.resolve({});
    await h.run(id, { supervised: false });
    const late = await cancel(h.scheduler, id, { commandId: 'c-1' });
    expect(late.status).toBe('canceled');
  });

  it('after the end is refused, saying which end it was', async () => {
    const h = open();
    const { id } = await h.begin();
    await h.run(id);
    await expect(cancel(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-cancelable',
      message: expect.stringContaining('succeeded'),
      details: { status: 'succeeded' },
    });
  });

  it('of an execution that is being undone for another reason is refused, with that reason', async () => {
    const work = deferred<object>();
    const refused = async (ctx: AttemptContext): Promise<object> => {
      if (ctx.step === 'a') return {};
      throw new PermanentError('declined');
    };
    const h = harness(chain, { worker: { execute: refused, undo: () => work.promise } });
    const { id } = await h.begin();
    await h.run(id, { until: ({ execution }) => execution.status === 'compensating' });
    await expect(cancel(h.scheduler, id, {})).rejects.toMatchObject({
      code: 'not-cancelable',
      message: expect.stringContaining('already being undone'),
    });
    work.resolve({});
  });

  it('of an unknown execution is refused', async () => {
    const h = open();
    for (const id of ['nobody', '', 'A#B', 'x'.repeat(65)]) {
      await expect(cancel(h.scheduler, id, {})).rejects.toMatchObject({ code: 'unknown-execution' });
    }
  });

  it('that meets the end of the execution loses cleanly', async () => {
    const h = harness(chain, { worker: fine }, 1, (world) =>
      withStore(world, (store) => ({
        // The execution succeeds between the cancel's read and its write.
        write: async (write) => {
          if (write.execution?.cause?.kind === 'cancel' && !raced) {
            raced = true;
            await h.run(write.executionId, { supervised: false });
          }
          return store.write(write);
        },
      })),
    );
    let raced = false;
    const { id } = await h.begin();
    await expect(cancel(h.scheduler, id, {})).rejects.toMatchObject({ code: 'not-cancelable' });
    expect((await h.state(id)).execution.status).toBe('succeeded');
  });
});

describe('the same start after a deployment (S11)', () => {
  const release = (accepts: (input: unknown) => boolean) =>
    workflow(
      'order',
      {
        input: {
          '~standard': {
            version: 1,
            vendor: 'test',
            validate: (value: unknown) => (accepts(value) ? { value } : { issues: [{ message: 'no' }] }),
          },
        },
        within: '1h',
      } as never,
      (w) => {
        w.wait('rest', { for: '1m' });
      },
    ) as never;
  const request = { workflow: 'order', input: { order: 'o-1' }, idempotencyKey: 'o-1' };
  const deployed = async () => {
    const world = memoryWorld();
    const first = await start(createScheduler(world, [release(() => true)], IDS), request);
    return { world, first };
  };

  it.each([
    ['whose schema asks for more', [release(() => false)]],
    ['that has the workflow no more', []],
  ])('%s is the same execution; with another body it is refused', async (_, workflows) => {
    const { world, first } = await deployed();
    const later = createScheduler(world, workflows, IDS);
    expect((await start(later, request)).id).toBe(first.id);
    await expect(start(later, { ...request, input: { order: 'o-2' } })).rejects.toMatchObject({
      code: 'key-reused',
    });
    await expect(start(later, { ...request, idempotencyKey: 'o-2' })).rejects.toMatchObject({
      code: workflows.length === 0 ? 'unknown-workflow' : 'bad-input',
    });
  });

  it('that no longer has the execution which it makes good for is the same execution', async () => {
    const { world, first } = await deployed();
    const later = createScheduler(world, [release(() => true)], IDS);
    const again = { ...request, idempotencyKey: 'again', replaces: first.id };
    const other = await start(later, again);
    world.store.expire(first.id);
    expect((await start(later, again)).id).toBe(other.id);
    await expect(start(later, { ...again, idempotencyKey: 'o-3' })).rejects.toMatchObject({
      code: 'unknown-execution',
    });
  });
});
