/**
 * Open duties of a tolerated failure (S20): its undo, child executions, items of a list, and the reports
 * about them.
 */

import * as z from 'zod/mini';
import { eq, failed } from '../../lib/author/references.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { retry as again, workflow } from '../../lib/author/builder/workflow.ts';
import { cancel, pause, resume, retry } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { explain } from '../../lib/explain/why.ts';
import { anyObject, type Harness, harness, PROCESS_MS } from './harness.ts';
import { book, cars, DAY, decline, does, flights, losesFirst, mails, once } from './holiday.ts';
import { aProcess, deferred, never } from './process.ts';

beforeEach(() => book.splice(0));

describe('the undo of a failed step', () => {
  /** The car's attempt is lost with an unknown outcome, and its undo answers as the test says. */
  const flow = workflow('undone', { input: anyObject, within: '1h' }, (w) => {
    const flight = w.step('flight', flights, {}, once);
    const car = w.step('car', cars, {}, { ...once, after: [flight], mayFail: true });
    w.step('mail', mails, {}, { after: [car] });
  });
  const lost = async (undo: () => Promise<unknown>): Promise<{ h: Harness; id: string }> => {
    const h = harness(flow, {
      flights: does('flights'),
      cars: { execute: () => never, undo },
      mails: does('mails'),
    });
    const portsOf = losesFirst(h, 'cars');
    const { id } = await h.begin();
    await h.run(id, { portsOf, until: ({ steps }) => steps['car']?.status === 'failed' });
    return { h, id };
  };

  it('waits for the end of a pause', async () => {
    const { h, id } = await lost(async () => book.push('undone'));
    await pause(h.scheduler, id, {});
    h.clock.advanceTo(h.clock.now() + 2 * PROCESS_MS);
    await h.sweep();
    expect(book).toEqual(['flight by flights']);
    await resume(h.scheduler, id, {});
    const { execution, steps } = await h.run(id);
    expect([execution.status, steps['car']?.status]).toEqual(['succeeded', 'tolerated']);
    expect(book).toEqual(['flight by flights', 'undone', 'mail by mails']);
  });

  it('that had begun before a pause is not forgotten by a stop that undoes', async () => {
    let tries = 0;
    const { h, id } = await lost(async () => {
      tries += 1;
      if (tries === 1) throw new Error('not now');
      book.push('undone');
    });
    await h.run(id, { until: ({ steps }) => tries === 1 && steps['car']?.leaseUntil === undefined });
    await pause(h.scheduler, id, {});
    await cancel(h.scheduler, id, {});
    const { execution } = await h.run(id);
    expect(execution.status).toBe('canceled');
    expect(book).toEqual(['flight by flights', 'undone', 'undo flight by flights']);
  });

  it('is not begun once the execution ends as it is: what may stand is said, and a retry neither renews it nor is blocked', async () => {
    const { h, id } = await lost(async () => book.push('undone'));
    await cancel(h.scheduler, id, { undo: false });
    const ended = await h.run(id);
    expect(ended.execution.status).toBe('failed');
    expect(ended.steps['car']).toMatchObject({ status: 'tolerated', mayHaveActed: true });
    expect(h.announced.at(-1)?.standing?.first).toEqual([
      { step: 'flight', effect: 'stands' },
      { step: 'car', effect: 'may-stand' },
    ]);
    // The retry is refused while the attempt may still act: it would act at the same time as its successors.
    await expect(retry(h.scheduler, id, {})).rejects.toMatchObject({
      message: expect.stringContaining("an attempt of 'car' may still be acting"),
    });
    h.clock.advanceTo(h.clock.now() + 2 * PROCESS_MS);
    await retry(h.scheduler, id, {});
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps['car']).toMatchObject({ status: 'tolerated', attempt: 1 });
    expect(book).toEqual(['flight by flights', 'mail by mails']);
  });

  it.each([
    ['retry', 'tolerated', false],
    ['skip', 'tolerated', false],
    ['continue', 'tolerated', true],
  ] as const)(
    'that failed for good is asked about; after %s the execution goes on',
    async (choice, status, stands) => {
      let works = false;
      const { h, id } = await lost(async () => {
        if (!works) throw new PermanentError('cannot');
        book.push('undone');
      });
      const asked = await h.run(id, { until: ({ questions }) => questions?.[1] !== undefined });
      expect(asked.steps['car']?.status).toBe('compensation-failed');
      expect(asked.questions?.[1]).toMatchObject({ kind: 'undo', otherwise: 'continue' });
      expect(explain(flow.plan, asked, h.clock.now()).next.what).toContain(
        "without an answer 'continue' is chosen",
      );
      works = true;
      h.clock.advanceTo(h.clock.now() + 2 * PROCESS_MS);
      await resolveIncident(h.scheduler, id, { incident: 1, choice });
      const { execution, steps } = await h.run(id);
      expect(execution.status).toBe('succeeded');
      expect(steps['car']).toMatchObject({ status, mayHaveActed: stands, failure: { code: 'lease-ended' } });
      expect(h.announced.at(-1)?.standing?.mayStand).toBe(stands ? 1 : undefined);
    },
  );

  it('that failed, and a person who ends it: nothing is undone, and what stands is said', async () => {
    const { h, id } = await lost(async () => {
      throw new PermanentError('cannot');
    });
    await h.run(id, { until: ({ questions }) => questions?.[1] !== undefined });
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'keep' });
    const { execution } = await h.run(id);
    expect(execution).toMatchObject({ status: 'failed', cause: { step: 'car', undo: false } });
    expect(h.announced.at(-1)?.standing).toMatchObject({ stands: 1, mayStand: 1 });
  });
});

describe('executions of its own', () => {
  const inner = (name: string) =>
    workflow(name, { input: z.object({ ok: z.boolean() }), within: '1h' }, (w) => {
      const car = w.step('car', cars, {}, { ...once, when: eq(w.input.ok, true) });
      w.step('mail', mails, {}, { recovery: [again(0)], after: [car] });
    });

  it('a child that failed and left nothing is tolerated; one that left something is not, if a condition rests on it', async () => {
    const outer = (asks: boolean, undo: () => Promise<unknown>) => {
      const flow = workflow('outer', { input: anyObject, within: '10d' }, (w) => {
        const child = w.child('sub', inner('inner'), { ok: true }, { mayFail: true });
        w.step('after', flights, {}, { ...once, after: [child], ...(asks ? { when: failed(child) } : {}) });
      });
      return harness(flow, {
        flights: does('flights'),
        cars: { ...does('cars'), undo },
        mails: { execute: decline },
      });
    };
    const clean = outer(true, async () => book.push('undone'));
    const { id } = await clean.begin();
    const good = await clean.run(id);
    expect(good.execution.status).toBe('succeeded');
    expect(good.steps).toMatchObject({ sub: { status: 'tolerated' }, after: { status: 'done' } });
    expect(book).toEqual(['car by cars', 'undone', 'after by flights']);

    const cannot = async (): Promise<never> => {
      throw new PermanentError('cannot');
    };
    const resting = outer(true, cannot);
    const bad = await resting.run((await resting.begin()).id, { maxMs: 9 * DAY });
    expect(bad.execution).toMatchObject({ status: 'failed', cause: { step: 'sub' } });
    expect(bad.steps['after']?.status ?? 'none').not.toBe('done');

    const plain = outer(false, cannot);
    const said = await plain.run((await plain.begin()).id, { maxMs: 9 * DAY });
    expect(said.execution.status).toBe('succeeded');
    expect(plain.announced.at(-1)?.standing?.first).toMatchObject([{ step: 'sub', effect: 'may-stand' }]);
  });

  it.each([true, false])('that were stopped with it go on with it (mayFail: %s)', async (mayFail) => {
    const inside = workflow('inside', { input: z.object({}), within: '1h' }, (w) => {
      const slow = w.step('slow', cars, {}, once);
      w.step('mail', mails, {}, { after: [slow] });
    });
    const flow = workflow('outside', { input: anyObject, within: '10d' }, (w) => {
      w.child('sub', inside, {}, { mayFail });
    });
    const slow = deferred<object>();
    const h = harness(flow, { cars: { ...does('cars'), execute: () => slow.promise }, mails: does('mails') });
    const { id } = await h.begin();
    await h.run(id, { until: ({ steps }) => steps['sub']?.status === 'running' });
    const at = h.clock.now();
    await h.run(id, { until: () => h.clock.now() > at + 3_000 });
    await cancel(h.scheduler, id, { undo: false });
    await h.run(id, { until: () => true });
    slow.resolve({});
    const ended = await h.run(id);
    await retry(h.scheduler, id, {});
    const end = await h.run(id);
    const statuses = [ended, end].map(({ execution, steps }) => [execution.status, steps['sub']?.status]);
    expect(statuses).toEqual([
      ['failed', 'failed'],
      ['succeeded', 'done'],
    ]);
  });

  it('that left something are not clean for a condition further out', async () => {
    const inmost = workflow('inmost', { input: z.object({}), within: '1h' }, (w) => {
      const car = w.step('car', cars, {}, once);
      w.step('mail', mails, {}, { recovery: [again(0)], after: [car] });
    });
    const middle = workflow('middle', { input: z.object({}), within: '10d' }, (w) => {
      const sub = w.child('sub', inmost, {}, { mayFail: true });
      w.step('mail', mails, {}, { recovery: [again(0)], after: [sub] });
    });
    const flow = workflow('outmost', { input: anyObject, within: '20d' }, (w) => {
      const mid = w.child('mid', middle, {}, { mayFail: true });
      w.step('instead', flights, {}, { ...once, when: failed(mid) });
    });
    const h = harness(flow, {
      cars: { ...does('cars'), undo: decline },
      mails: { execute: decline },
      flights: does('flights'),
    });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { maxMs: 19 * DAY });
    expect(execution).toMatchObject({ status: 'failed', cause: { step: 'mid' } });
    expect(steps['instead']?.status ?? 'none').not.toBe('done');
    const announced = h.announced.find(({ executionId }) => executionId === id);
    expect(announced?.standing?.first).toEqual([
      { step: 'mid', effect: 'may-stand', executionId: `${id}.mid.0` },
    ]);
  });
});

describe('an item of a list', () => {
  it('is tolerated without a question, also where its undo failed for good; its lane goes on, and the end says what may stand', async () => {
    const flow = workflow('list', { input: z.object({ list: z.array(z.number()) }), within: '1h' }, (w) => {
      w.map('all', cars, w.input.list, (item) => ({ item }), { ...once, mayFail: 1, concurrency: 1 });
    });
    const h = harness(flow, { cars: { ...does('cars'), undo: decline } });
    const dead = aProcess(h);
    const live = does('cars').execute;
    const lost = (): Promise<never> => {
      dead.kill();
      return never;
    };
    h.implementations['cars'] = {
      execute: (ctx) => (ctx.step === 'all[0]' ? lost() : live(ctx)),
      undo: decline,
    };
    const { id } = await h.begin({ list: [1, 2, 3] });
    const { execution } = await h.run(id, {
      portsOf: ({ message }) =>
        message.step === 'all[0]' && message.mode === 'execute' ? dead.ports : undefined,
    });
    const part = await h.state(`${id}.all.0`);
    expect(part.questions ?? {}).toEqual({});
    expect(part.steps).toMatchObject({
      'all[0]': { status: 'tolerated', mayHaveActed: true },
      'all[1]': { status: 'done' },
      'all[2]': { status: 'done' },
    });
    expect(execution.status).toBe('succeeded');
    expect(h.announced.at(-1)?.standing).toMatchObject({
      mayStand: 1,
      first: [{ step: 'all', effect: 'may-stand', executionId: `${id}.all.0` }],
    });
  });
});
