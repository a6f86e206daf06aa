/** After a step's `within`, no new work begins, and open outcomes are resolved first. Pauses extend it. */

import { failed, orElse, required } from '../../lib/author/references.ts';
import { askPerson, retry, withInput, workflow } from '../../lib/author/builder/workflow.ts';
import { decide } from '../../lib/core/decide.ts';
import type { Children } from '../../lib/core/records/children.ts';
import type { Step } from '../../lib/core/records/state.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { TransientError } from '../../lib/core/values/errors.ts';
import { anAgent, anyObject, harness, PROCESS_MS } from './harness.ts';
import { book, cars, decline, does, flights, losesFirst, once } from './holiday.ts';
import { deferred, never } from './process.ts';

const MINUTE = 60_000;
const PATIENT = { recovery: [retry(50, { delay: '5s', maxDelay: '5s' })], within: '1m' } as const;
const busy = async (): Promise<never> => {
  throw new TransientError('busy');
};

beforeEach(() => book.splice(0));

describe('a step that is not over within its time', () => {
  it('is not tried again, and fails with `within`; what takes its place begins then', async () => {
    const flow = workflow('busy', { input: anyObject, within: '1h' }, (w) => {
      const car = w.step('car', cars, {}, { ...PATIENT, mayFail: true });
      const taxi = w.step('taxi', flights, { why: required(car.failure.code) }, { when: failed(car) });
      return { id: orElse(taxi.output['id'] as never, 'none') };
    });
    const at: number[] = [];
    const h = harness(flow, {
      cars: { execute: () => (at.push(h.clock.now()), busy()), undo: async () => undefined },
      flights: does('flights'),
    });
    const startedAt = h.clock.now();
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect(execution).toMatchObject({ status: 'succeeded', output: { id: 'taxi' } });
    expect(steps['car']).toMatchObject({ status: 'tolerated', failure: { code: 'within' } });
    expect(at.every((one) => one < startedAt + MINUTE)).toBe(true);
    const failedAt = steps['car']?.changedAt ?? 0;
    expect(failedAt).toBeGreaterThanOrEqual(startedAt + MINUTE);
    expect(failedAt).toBeLessThan(startedAt + MINUTE + 2_000);
  });

  it('and that no agent takes fails in the same way, also where a message comes late', async () => {
    const flow = workflow('alone', { input: anyObject, within: '1h' }, (w) => {
      w.step('car', cars, {}, PATIENT);
    });
    const h = harness(flow, { cars: does('cars') });
    const { id } = await h.begin();
    const [message] = h.sent.splice(0);
    const end = await h.run(id, { deliverable: () => false });
    expect(end.execution).toMatchObject({ status: 'failed', cause: { failure: { code: 'within' } } });
    expect(end.steps['car']).toMatchObject({ status: 'failed', attempt: 0 });
    await h.deliver(message as never);
    expect(book).toEqual([]);
  });

  it('has the attempt under way aborted, and a late answer to that still counts', async () => {
    const flow = workflow('slow', { input: anyObject, within: '1h' }, (w) => {
      w.step('car', cars, {}, { recovery: [askPerson()], within: '30s' });
      return {};
    });
    const aborted: number[] = [];
    const slow = (answer: () => Promise<object>) =>
      harness(flow, {
        cars: {
          execute: async (ctx) => {
            const abortSeen = deferred<void>();
            ctx.signal.addEventListener('abort', () => abortSeen.resolve());
            await abortSeen.promise;
            aborted.push(h.clock.now());
            return answer();
          },
          undo: async () => void book.push('undo'),
        },
      });
    let h = slow(async () => ({ id: 'just so' }));
    const startedAt = h.clock.now();
    let { id } = await h.begin();
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(aborted).toEqual([startedAt + MINUTE / 2]);
    // A person is not asked on a stage that has no time left; possible effects are undone.
    h = slow(async () => Promise.reject(new Error('gone')));
    ({ id } = await h.begin());
    const end = await h.run(id);
    expect(end.execution).toMatchObject({ status: 'compensated', cause: { failure: { code: 'within' } } });
    expect(end.questions ?? {}).toEqual({});
    expect(book).toEqual(['undo']);
  });

  it('whose outcome is unknown is asked for first, however long that takes', async () => {
    const probed = anAgent('cars', { effect: 'probed' });
    const flow = workflow('asked', { input: anyObject, within: '1h' }, (w) => {
      const car = w.step('car', probed, {}, { ...PATIENT, within: '40s', mayFail: true });
      w.step('taxi', flights, {}, { when: failed(car) });
    });
    const run = async (isDone: boolean) => {
      const h = harness(flow, {
        cars: {
          execute: () => never,
          probe: async () => (isDone ? { verdict: 'done', output: { id: 'c' } } : { verdict: 'not-done' }),
          undo: async () => undefined,
        },
        flights: does('flights'),
      });
      const portsOf = losesFirst(h, 'cars');
      const startedAt = h.clock.now();
      const { id } = await h.begin();
      const end = await h.run(id, { portsOf });
      return { startedAt, end };
    };
    const { end, startedAt } = await run(false);
    expect(end.steps['car']).toMatchObject({
      status: 'tolerated',
      mayHaveActed: false,
      attempt: 1,
      failure: { code: 'within' },
    });
    // The failure counts only once the lost process is certainly dead and its settle time has passed.
    expect(end.steps['car']?.changedAt).toBeGreaterThan(startedAt + PROCESS_MS);
    expect(end.steps['taxi']?.status).toBe('done');
    expect((await run(true)).end.steps['car']?.status).toBe('done');
  });

  it('of an unsafe agent that may have acted is a question to a person, who gives it its time once more', async () => {
    const unsafe = anAgent('cars', { effect: 'unsafe' });
    const flow = workflow('unsafe', { input: anyObject, within: '1d' }, (w) => {
      w.step('car', unsafe, {}, { within: '30s' });
    });
    const h = harness(flow, { cars: { execute: () => never, undo: async () => undefined } });
    const { id } = await h.begin();
    await h.run(id, { until: ({ questions }) => questions?.[1] !== undefined });
    h.implementations['cars'] = does('cars');
    h.clock.advanceTo(h.clock.now() + 10 * MINUTE);
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry', nothingHappened: true });
    expect((await h.run(id)).execution.status).toBe('succeeded');
    expect(book).toEqual(['car by cars']);
  });

  it('on its last try fails with `within`, too, unless the attempt failed for good', async () => {
    const flow = workflow('last', { input: anyObject, within: '1h' }, (w) => {
      w.step('car', cars, {}, { ...once, within: '30s' });
    });
    const codeOf = async (execute: (aborted: Promise<void>) => Promise<object>) => {
      const aborted = deferred<void>();
      const h = harness(flow, {
        cars: {
          execute: (ctx) => {
            ctx.signal.addEventListener('abort', () => aborted.resolve());
            return execute(aborted.promise);
          },
          undo: async () => undefined,
        },
      });
      const { id } = await h.begin();
      return (await h.run(id)).execution.cause?.failure.code;
    };
    expect(await codeOf(() => never)).toBe('within');
    expect(await codeOf((aborted) => aborted.then(busy))).toBe('within');
    expect(await codeOf((aborted) => aborted.then(decline))).toBe('PermanentError');
  });

  it('asks nobody what it did for a stage that it has no time for, where that can be undone', async () => {
    const flow = workflow('unsettled', { input: anyObject, within: '1h' }, (w) => {
      const recovery = [withInput({ is: 2 }), askPerson()];
      w.step('car', anAgent('cars', { probe: 'none' }), { is: 1 }, { recovery, within: '30s' });
    });
    const h = harness(flow, { cars: { execute: () => never, undo: async () => void book.push('undo') } });
    const { id } = await h.begin();
    const { execution, questions } = await h.run(id);
    expect(execution).toMatchObject({ status: 'compensated', cause: { failure: { code: 'within' } } });
    expect([questions ?? {}, book]).toEqual([{}, ['undo']]);
  });

  it('begins no further stage', async () => {
    const inputs: unknown[] = [];
    const flow = workflow('stages', { input: anyObject, within: '1h' }, (w) => {
      w.step(
        'car',
        anAgent('cars', { probe: 'none' }),
        { is: 1 },
        {
          recovery: [retry(9, { delay: '9s', maxDelay: '9s' }), withInput({ is: 2 })],
          within: '30s',
        },
      );
    });
    const h = harness(flow, {
      cars: { execute: (_, input) => (inputs.push(input), busy()), undo: async () => undefined },
    });
    const { id } = await h.begin();
    const end = await h.run(id);
    expect(end.execution).toMatchObject({ status: 'failed', cause: { failure: { code: 'within' } } });
    expect(inputs).not.toContainEqual({ is: 2 });
  });
});

describe('of the other kinds', () => {
  it('a wait until a time that comes later fails', async () => {
    const flow = workflow('waits', { input: anyObject, within: '2h' }, (w) => {
      const until = (w.input as never as { until: never }).until;
      const wait = w.wait('wait', { until, within: '10m', mayFail: true });
      w.step('car', cars, {}, { when: failed(wait) });
    });
    const h = harness(flow, { cars: does('cars') });
    const late = await h.begin({ until: h.clock.now() + 60 * MINUTE });
    const { steps } = await h.run(late.id);
    expect(steps['wait']).toMatchObject({ status: 'tolerated', failure: { code: 'within' } });
    expect((steps['wait']?.changedAt ?? 0) - late.startedAt).toBeLessThan(11 * MINUTE);
    const soon = await h.begin({ until: h.clock.now() + 5 * MINUTE });
    expect((await h.run(soon.id)).steps).toMatchObject({
      wait: { status: 'done' },
      car: { status: 'skipped' },
    });
  });

  const inner = workflow('inner', { input: anyObject, within: '1h' }, (w) => {
    const first = w.step('first', flights, {}, once);
    w.step('second', cars, {}, { recovery: [retry(999, { delay: '5s', maxDelay: '5s' })], after: [first] });
  });

  it('a child is stopped and undone first, and only then what takes its place begins', async () => {
    const flow = workflow('family', { input: anyObject, within: '2h' }, (w) => {
      const sub = w.child('sub', inner, {}, { within: '5m', mayFail: true });
      w.step('other', flights, { why: required(sub.failure.code) }, { when: failed(sub) });
    });
    const h = harness(flow, {
      flights: does('flights'),
      cars: { execute: busy, undo: async () => undefined },
    });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps['sub']).toMatchObject({ status: 'tolerated', failure: { code: 'within' } });
    expect((await h.state(`${id}.sub.0`)).execution).toMatchObject({ status: 'canceled' });
    expect(book).toEqual(['first by flights', 'undo first by flights', 'other by flights']);
  });

  it('a child that succeeds in its time has succeeded', async () => {
    const flow = workflow('close', { input: anyObject, within: '2h' }, (w) => {
      w.child('sub', inner, {}, { within: '5m' });
    });
    const h = harness(flow, {
      flights: does('flights'),
      cars: { execute: busy, undo: async () => undefined },
    });
    const { id } = await h.begin();
    const { startedAt } = await h.state(id).then(({ execution }) => execution);
    await h.run(id, { until: () => h.clock.now() > startedAt + 4 * MINUTE });
    h.implementations['cars'] = does('cars');
    const { execution, steps } = await h.run(id);
    expect([execution.status, steps['sub']?.status]).toEqual(['succeeded', 'done']);
  });

  it('a child that has failed by itself when its time is over asks no person', async () => {
    const flow = workflow('late', { input: anyObject, within: '2h' }, (w) => {
      w.child('sub', inner, {}, { within: '5m', recovery: [askPerson()] });
    });
    const h = harness(flow, {
      flights: does('flights'),
      cars: { execute: busy, undo: async () => undefined },
    });
    const { id, startedAt } = await h.begin();
    const state = await h.run(id, { until: ({ steps }) => steps['sub']?.status === 'running' });
    const sub = state.steps['sub'] as Step;
    const decided = (afterMs: number, clean: boolean) => {
      const ended = { 0: { status: 'failed', version: 9, clean } } as const;
      const children = { ...(sub.children as Children), ended };
      const now = startedAt + afterMs;
      const inputs = { now, readAt: now, writeId: 'w', random: 0 };
      const event = { type: 'evaluate', by: 'agent', affected: 'all', fresh: true, ...inputs } as const;
      const steps = { ...state.steps, sub: { ...sub, children } };
      return decide(flow.plan, { ...state, steps }, event).write?.step?.status;
    };
    expect(decided(4 * MINUTE, true)).toBe('waiting');
    expect(decided(5 * MINUTE, true)).toBe('failed');
    expect(decided(5 * MINUTE, false)).toBe('waiting');
  });

  it('a list stops the parts that are under way, starts no other, and then fails', async () => {
    const flow = workflow('many', { input: anyObject, within: '2h' }, (w) => {
      const items = (w.input as never as { items: readonly number[] }).items as never;
      w.map('list', cars, items, (n) => ({ n }) as never, {
        recovery: [retry(999, { delay: '1m', maxDelay: '1m' })],
        concurrency: 25,
        within: '5m',
      });
    });
    const h = harness(flow, {
      cars: {
        execute: async (_, given) => ((given as { n: number }).n < 25 ? { id: 'done' } : busy()),
        undo: async () => void book.push('undo'),
      },
    });
    const { id } = await h.begin({ items: Array.from({ length: 60 }, (_, n) => n) });
    const { execution, steps } = await h.run(id);
    expect(execution).toMatchObject({ status: 'compensated', cause: { failure: { code: 'within' } } });
    expect(Object.values(steps['list']?.children?.ended ?? {}).map(({ status }) => status)).toEqual([
      'canceled',
      'canceled',
      'canceled',
    ]);
    expect(book).toHaveLength(25);
  });
});
