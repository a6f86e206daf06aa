/**
 * On-failure steps after an unsuccessful end (S21): they begin once every outcome is known, with their own
 * effect keys, and their result does not change the end.
 */

import { incidentsIn } from '../../lib/core/records/snapshot.ts';
import { concat, eq, exists, orElse } from '../../lib/author/references.ts';
import { askPerson, retry as again, workflow } from '../../lib/author/builder/workflow.ts';
import type { AttemptContext } from '../../lib/core/plan/agent.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { executionView } from '../../lib/api/views.ts';
import { cancel, pause, resume, retry } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { anAgent, anyObject, type Harness, harness, type RunOptions } from './harness.ts';
import { decline, does, flights, once } from './holiday.ts';
import { failingWrite, withStore } from './process.ts';

const DAY = 86_400_000;
const desk = anAgent('desk', { undo: 'none' });

/** A service that deduplicates by key: it sends one message for each key. */
const deskBook = (): {
  readonly said: Map<string, unknown>;
  readonly execute: (ctx: AttemptContext, input: unknown) => Promise<object>;
} => {
  const said = new Map<string, unknown>();
  return {
    said,
    execute: async ({ idempotencyKey }, input) => {
      if (said.has(idempotencyKey) && JSON.stringify(said.get(idempotencyKey)) !== JSON.stringify(input))
        throw new Error('another request under this key');
      said.set(idempotencyKey, input);
      return { ticket: 't-1' };
    },
  };
};

/**
 * A workflow whose flight is booked and whose hotel is not: customer service gets a message, then its ticket
 * is filed.
 */
const trip = workflow('trip', { input: anyObject, within: '1h' }, (w) => {
  const flight = w.step('flight', flights, {}, once);
  w.step('hotel', anAgent('hotels'), {}, { ...once, after: [flight] });
  const tell = w.onFailure('tell', desk, {
    what: concat(w.failure.kind, ': ', w.failure.code, ', ', w.failure.message),
    step: orElse(w.failure.step, 'none'),
    flight: orElse(flight.output['id'] as never, 'none'),
    customer: w.input['customer'] as never,
  });
  w.onFailure('file', desk, { ticket: orElse(tell.output['ticket'] as never, 'none') });
});

const aTrip = (
  said: ReturnType<typeof deskBook>,
  wrap?: (world: Ports) => Ports,
  hotels: Harness['implementations'][string] = { execute: decline },
): Harness =>
  harness(trip, { flights: does('flights'), hotels, desk: { execute: said.execute as never } }, 1, wrap);

/** Runs until the execution is following up; the first message to the desk is lost. */
const untilFollowingUp: RunOptions = {
  supervised: false,
  until: ({ execution }) => execution.status === 'following-up',
  deliverable: ({ agent }) => agent !== 'desk',
};

describe('an end without success', () => {
  it('runs its steps once everything is undone, with the cause and the outputs; then it is announced', async () => {
    const book = deskBook();
    const h = aTrip(book);
    const { id } = await h.begin({ customer: 'c-1' });
    const during = await h.run(id, untilFollowingUp);
    expect(during.steps['flight']?.status).toBe('compensated');
    expect(during.execution.end).toMatchObject({ status: 'compensated', version: during.execution.version });
    expect(h.announced).toEqual([]);
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('compensated');
    expect(steps).toMatchObject({ tell: { status: 'done' }, file: { status: 'done' } });
    const { life } = execution;
    expect([...book.said]).toEqual([
      [
        `${id}.on-failure-1.tell.${life}`,
        {
          what: 'failure: PermanentError, declined',
          step: 'hotel',
          flight: 'flight',
          customer: 'c-1',
        },
      ],
      [`${id}.on-failure-1.file.${life}`, { ticket: 't-1' }],
    ]);
    expect(h.announced).toHaveLength(1);
    expect(h.announced[0]).toMatchObject({ status: 'compensated', cause: 'failure' });
    expect(h.announced[0]).not.toHaveProperty('onFailureFailed');
  });

  it('names no step after a cancel', async () => {
    const book = deskBook();
    const h = aTrip(book);
    const { id } = await h.begin();
    await cancel(h.scheduler, id, { reason: 'changed my mind' });
    const { execution } = await h.run(id);
    expect(execution.status).toBe('canceled');
    expect([...book.said.values()][0]).toEqual({
      what: 'cancel: canceled, changed my mind',
      step: 'none',
      flight: 'none',
    });
  });

  it('runs its steps after the deadline', async () => {
    const book = deskBook();
    const h = aTrip(book);
    const { id } = await h.begin();
    const { execution } = await h.run(id, { maxMs: DAY, deliverable: ({ agent }) => agent !== 'hotels' });
    expect(execution.cause?.kind).toBe('deadline');
    expect([...book.said.values()][0]).toMatchObject({ step: 'none' });
  });

  it('runs no step after a success', async () => {
    const book = deskBook();
    const h = aTrip(book, undefined, does('hotels'));
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(execution.status).toBe('succeeded');
    expect(execution).not.toHaveProperty('end');
    expect([book.said.size, steps['tell']]).toEqual([0, undefined]);
  });

  it.each(['before', 'after'] as const)(
    'is told once, and announced as it was made, where any write is lost (%s it took place)',
    async (fault) => {
      let nth = 0;
      for (let isBeyond = false; !isBeyond; ) {
        nth += 1;
        const book = deskBook();
        let writes = 0;
        const counted = (world: Ports): Ports =>
          withStore(failingWrite(world, nth, fault), (store) => ({
            write: (write) => {
              writes += 1;
              return store.write(write);
            },
          }));
        const h = aTrip(book, counted);
        const begun = await h.begin({ customer: 'c-1' });
        const { execution, steps } = await h.run(begun.id, { maxMs: 10 * DAY });
        expect([nth, execution.status, execution.end?.status]).toEqual([nth, 'compensated', 'compensated']);
        expect([steps['tell']?.status, steps['file']?.status]).toEqual(['done', 'done']);
        expect([...book.said.keys()]).toEqual(
          ['tell', 'file'].map((step) => `${begun.id}.on-failure-1.${step}.${execution.life}`),
        );
        expect(new Set(h.announced.map(({ endedAt }) => endedAt)).size).toBe(1);
        isBeyond = writes < nth;
      }
      expect(nth).toBeGreaterThan(12);
    },
  );
});

describe('while its steps run', () => {
  const begun = async (): Promise<{ h: Harness; id: string; book: ReturnType<typeof deskBook> }> => {
    const book = deskBook();
    const h = aTrip(book);
    const { id } = await h.begin({});
    await h.run(id, untilFollowingUp);
    return { h, id, book };
  };

  it.each([
    ['canceled', 'not-cancelable', (h: Harness, id: string) => cancel(h.scheduler, id, {})],
    ['paused', 'not-pausable', (h: Harness, id: string) => pause(h.scheduler, id, {})],
    ['resumed', 'not-resumable', (h: Harness, id: string) => resume(h.scheduler, id, {})],
    ['tried again', 'not-retryable', (h: Harness, id: string) => retry(h.scheduler, id, {})],
  ])('nothing is %s', async (_, code, command) => {
    const { h, id } = await begun();
    await expect(command(h, id)).rejects.toMatchObject({
      code,
      message: expect.stringContaining('on-failure steps'),
    });
  });

  it('its view says how it ended, and lists what follows', async () => {
    const { h, id } = await begun();
    const view = executionView(await h.state(id), trip.plan, h.clock.now());
    expect(view).toMatchObject({
      status: 'following-up',
      end: { status: 'compensated', at: h.clock.now() },
      standing: { stands: 0 },
    });
    const shown = view.steps.map(({ name, status, onFailure }) => [name, status, onFailure]);
    expect(shown.slice(2)).toEqual([
      ['tell', 'ready', true],
      ['file', 'pending', true],
    ]);
  });
});

describe('an on-failure step that fails', () => {
  const flat = workflow('flat', { input: anyObject, within: '1h' }, (w) => {
    w.step('flight', flights, {}, once);
    w.onFailure('tell', desk, {}, { recovery: [again(1, { delay: '1s', maxDelay: '1s' })] });
    const page = w.onFailure('page', desk, { urgent: true }, { recovery: [askPerson({ within: '2h' })] });
    w.onFailure('log', desk, {}, { after: [page], when: eq(w.failure.kind, 'deadline') });
    w.onFailure('thank', desk, {}, { after: [page], when: exists(page.output) });
  });

  it('for certain changes no end, and is listed without a question', async () => {
    const h = harness(flat, { flights: { execute: decline }, desk: { execute: decline } });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { maxMs: 10 * DAY });
    expect(execution.status).toBe('failed');
    expect(steps).toMatchObject({
      tell: { status: 'tolerated', failure: { code: 'PermanentError' } },
      page: { status: 'tolerated' },
      log: { status: 'skipped' },
      thank: { status: 'skipped' },
    });
    expect(h.announced).toMatchObject([
      {
        status: 'failed',
        onFailureFailed: [
          { step: 'tell', code: 'PermanentError' },
          { step: 'page', code: 'PermanentError' },
        ],
      },
    ]);
  });

  it('asks a person where it may have acted, and without an answer it ends all the same', async () => {
    const h = harness(flat, {
      flights: { execute: decline },
      desk: {
        execute: async () => {
          throw new Error('the line went dead');
        },
      },
    });
    const { id } = await h.begin();
    const asked = await h.run(id, { until: ({ questions }) => Object.keys(questions ?? {}).length === 2 });
    expect(asked.execution.status).toBe('following-up');
    expect(incidentsIn(asked)).toMatchObject([
      { kind: 'recovery', otherwise: 'continue' },
      { kind: 'recovery', otherwise: 'continue' },
    ]);
    const offered = executionView(asked, flat.plan, h.clock.now()).incidents;
    expect(offered[0]?.choices?.map(({ choice }) => choice)).toEqual([
      'retry',
      'retry-with-input',
      'give-output',
      'skip',
      'continue',
    ]);
    const { execution } = await h.run(id, { maxMs: 10 * DAY });
    expect(execution.status).toBe('failed');
    expect(h.announced.at(-1)).toMatchObject({
      status: 'failed',
      standing: { stands: 0, mayStand: 0 },
      onFailureFailed: [
        { step: 'tell', code: 'Error', mayStand: true },
        { step: 'page', code: 'Error', mayStand: true },
      ],
    });
  });

  it('goes by what a person says of it', async () => {
    let works = false;
    const h = harness(flat, {
      flights: { execute: decline },
      desk: {
        execute: async () => {
          if (works) return {};
          throw new Error('the line went dead');
        },
      },
    });
    const { id } = await h.begin();
    await h.run(id, { until: ({ questions }) => Object.keys(questions ?? {}).length === 2 });
    works = true;
    await resolveIncident(h.scheduler, id, { incident: 1, choice: 'retry' });
    await resolveIncident(h.scheduler, id, { incident: 2, choice: 'give-output', output: {} });
    const { steps } = await h.run(id);
    expect(steps).toMatchObject({
      tell: { status: 'done' },
      page: { status: 'done' },
      thank: { status: 'done' },
    });
    expect(h.announced.at(-1)).not.toHaveProperty('onFailureFailed');
  });

  it('waits for nothing longer than a day without asking', async () => {
    const h = harness(flat, { flights: { execute: decline }, desk: { execute: decline } });
    const { id } = await h.begin();
    const { steps } = await h.run(id, {
      maxMs: 10 * DAY,
      deliverable: ({ agent }) => agent !== 'desk',
      until: ({ questions }) => questions !== undefined,
    });
    expect(steps['tell']).toMatchObject({ status: 'waiting', failure: { code: 'on-failure-overdue' } });
    const { execution } = await h.run(id, { maxMs: 30 * DAY, deliverable: ({ agent }) => agent !== 'desk' });
    expect(execution.status).toBe('failed');
    expect(h.announced.at(-1)?.onFailureFailed).toMatchObject([{ code: 'on-failure-overdue' }, {}]);
  });
});

describe('an execution that is tried again', () => {
  it('tells of its next end anew, under another key', async () => {
    const book = deskBook();
    const kept = workflow('kept', { input: anyObject, within: '1h' }, (w) => {
      w.step('flight', flights, {}, { recovery: once.recovery, undo: 'none' });
      w.onFailure('tell', desk, { code: w.failure.code });
    });
    const h = harness(kept, { flights: { execute: decline }, desk: { execute: book.execute as never } });
    const { id } = await h.begin();
    await h.run(id);
    await retry(h.scheduler, id, {});
    expect((await h.state(id)).execution).not.toHaveProperty('end');
    const { execution, steps } = await h.run(id, {
      until: ({ execution: { wakeAt } }) => wakeAt === undefined,
    });
    expect(execution).toMatchObject({ status: 'failed', epoch: 2 });
    expect([...book.said.keys()]).toEqual(
      [1, 2].map((epoch) => `${id}.on-failure-${epoch}.tell.${execution.life}`),
    );
    expect(steps['tell']).toMatchObject({ status: 'done', attempts: [{ epoch: 1 }, {}] });
    const [view] = executionView(await h.state(id), kept.plan, 0).steps.slice(1);
    expect(view?.attempts.map(({ idempotencyKey }) => idempotencyKey)).toEqual([...book.said.keys()]);
  });
});
