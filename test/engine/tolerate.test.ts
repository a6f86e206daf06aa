/**
 * Steps that may fail (S20): later steps wait until the failure is certain, replacements until it is undone;
 * if neither is possible, a person is asked.
 */

import { failed, orElse, required, succeeded } from '../../lib/author/references.ts';
import { retry as again, workflow } from '../../lib/author/builder/workflow.ts';
import { closeCallback } from '../../lib/scheduler/callbacks.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { anyObject, harness, PROCESS_MS, settle } from './harness.ts';
import { book, cars, DAY, decline, does, flights, losesFirst, mails, once } from './holiday.ts';
import { aProcess, deferred, never } from './process.ts';

const SETTLE_MS = 5_000;

beforeEach(() => book.splice(0));

/** A flight; a car, or another one instead; a mail about the result. */
const holiday = workflow('holiday', { input: anyObject, within: '1h' }, (w) => {
  const flight = w.step('flight', flights, {}, once);
  const car = w.step('car', cars, {}, { ...once, after: [flight], mayFail: true });
  const other = w.step(
    'other-car',
    flights,
    { why: required(car.failure.code) },
    { ...once, when: failed(car) },
  );
  const carId = orElse(car.output['id'] as never, orElse(other.output['id'] as never, 'none'));
  w.step('mail', mails, { car: carId }, { recovery: [again(0)], after: [other], mayFail: true });
  return { car: carId };
});

describe('a step that may fail', () => {
  it('and does so for certain is tolerated at once; the fallback reads why, and the end stands', async () => {
    const inputs: unknown[] = [];
    const h = harness(holiday, {
      flights: {
        ...does('flights'),
        execute: async (ctx, input) => {
          inputs.push(input);
          return does('flights').execute(ctx);
        },
      },
      cars: { ...does('cars'), execute: decline },
      mails: { execute: decline },
    });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(execution).toMatchObject({ status: 'succeeded', output: { car: 'other-car' } });
    expect(steps).toMatchObject({
      flight: { status: 'done' },
      car: {
        status: 'tolerated',
        mayHaveActed: false,
        failure: { code: 'PermanentError', message: 'declined' },
      },
      'other-car': { status: 'done' },
      mail: { status: 'tolerated' },
    });
    expect(inputs[1]).toEqual({ why: 'PermanentError' });
    expect(book).toEqual(['flight by flights', 'other-car by flights']);
    // Nothing that could be in effect is left.
    expect(h.announced.at(-1)).not.toHaveProperty('standing');
  });

  it('and succeeds lets its fallback be skipped', async () => {
    const h = harness(holiday, { flights: does('flights'), cars: does('cars'), mails: does('mails') });
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { supervised: false });
    expect(execution).toMatchObject({ status: 'succeeded', output: { car: 'car' } });
    expect(steps['other-car']?.status).toBe('skipped');
  });

  it('and may have acted is undone when nothing of it can act any more, and only then the fallback begins', async () => {
    const times: [string, number][] = [];
    const h = harness(holiday, {
      flights: {
        ...does('flights'),
        execute: async (ctx) => {
          times.push([ctx.step, h.clock.now()]);
          return does('flights').execute(ctx);
        },
      },
      cars: {
        execute: () => never,
        undo: async (ctx) => {
          times.push([`undo ${ctx.step}`, h.clock.now()]);
          return does('cars').undo(ctx);
        },
      },
      mails: does('mails'),
    });
    const portsOf = losesFirst(h, 'cars');
    const startedAt = h.clock.now();
    const { id } = await h.begin();
    const { execution, steps } = await h.run(id, { portsOf });
    expect(execution.status).toBe('succeeded');
    expect(steps['car']).toMatchObject({
      status: 'tolerated',
      mayHaveActed: false,
      failure: { code: 'lease-ended' },
    });
    expect(times.map(([what]) => what)).toEqual(['flight', 'undo car', 'other-car']);
    expect((times[1]?.[1] ?? 0) - startedAt).toBeGreaterThanOrEqual(PROCESS_MS + SETTLE_MS);
    expect(book.slice(-3)).toEqual(['undo car by cars', 'other-car by flights', 'mail by mails']);
  });

  it('is asked about where it may have acted and cannot be undone; without an answer it is tolerated, and the end says so', async () => {
    const h = harness(holiday, {
      flights: does('flights'),
      cars: does('cars'),
      mails: { execute: () => never },
    });
    const portsOf = losesFirst(h, 'mails');
    const { id } = await h.begin();
    const waiting = await h.run(id, { portsOf, until: ({ questions }) => questions?.[1] !== undefined });
    expect(waiting.execution.status).toBe('waiting');
    expect(waiting.questions?.[1]).toMatchObject({
      kind: 'recovery',
      otherwise: 'continue',
      deadlineAt: expect.any(Number),
    });
    // Half of the remaining time: then it goes on, and is not undone because of a mail.
    const { openedAt = 0, deadlineAt = 0 } = waiting.questions?.[1] ?? {};
    expect(deadlineAt - openedAt).toBe((waiting.execution.deadlineAt - openedAt) / 2);
    await expect(resolveIncident(h.scheduler, id, { incident: 1, choice: 'undo-all' })).rejects.toMatchObject(
      {
        code: 'unsafe-choice',
        message: expect.stringContaining('continue'),
      },
    );
    const { execution, steps } = await h.run(id, { maxMs: 2 * DAY });
    expect(execution.status).toBe('succeeded');
    expect(steps['mail']).toMatchObject({ status: 'tolerated', mayHaveActed: true });
    expect(h.announced.at(-1)).toMatchObject({
      status: 'succeeded',
      standing: { stands: 0, mayStand: 1, first: [{ step: 'mail', effect: 'may-stand' }] },
    });
  });

  it('on which a condition rests stops everything where nobody says what it did (the usual default)', async () => {
    const flow = workflow('rests', { input: anyObject, within: '1h' }, (w) => {
      const flight = w.step('flight', flights, {}, once);
      const mail = w.step('mail', mails, {}, { recovery: [again(0)], after: [flight], mayFail: true });
      w.step('letter', flights, {}, { ...once, when: failed(mail) });
    });
    const begun = async () => {
      const h = harness(flow, { flights: does('flights'), mails: { execute: () => never } });
      const portsOf = losesFirst(h, 'mails');
      const { id } = await h.begin();
      const { questions } = await h.run(id, {
        portsOf,
        until: (state) => state.questions?.[1] !== undefined,
      });
      expect(questions?.[1]).toMatchObject({ otherwise: 'undo-all' });
      return { h, id };
    };
    const silent = await begun();
    const end = await silent.h.run(silent.id, { maxMs: 2 * DAY });
    expect(end.execution).toMatchObject({ status: 'compensated', cause: { kind: 'failure', step: 'mail' } });
    expect(end.steps['letter']?.status ?? 'none').not.toBe('done');
    const resolved = await begun();
    await resolveIncident(resolved.h.scheduler, resolved.id, { incident: 1, choice: 'continue' });
    const { execution, steps } = await resolved.h.run(resolved.id);
    expect(execution.status).toBe('succeeded');
    expect(steps['letter']?.status).toBe('done');
  });

  it('can still succeed late, until its failure is tolerated or its undo has begun', async () => {
    const flow = workflow('late', { input: anyObject, within: '1h' }, (w) => {
      const car = w.step('car', cars, {}, { ...once, mayFail: true });
      w.step('mail', mails, { car: required(car.output['id'] as never) }, { when: succeeded(car) });
    });
    const slow = deferred<object>();
    const h = harness(flow, { cars: { ...does('cars'), execute: () => slow.promise }, mails: does('mails') });
    const frozen = aProcess(h);
    const { id } = await h.begin();
    const portsOf = ({ message }: { message: { mode: string } }) =>
      message.mode === 'execute' ? frozen.ports : undefined;
    await h.run(id, { portsOf, until: ({ steps }) => steps['car']?.status === 'running' });
    frozen.freeze();
    await h.run(id, { until: ({ steps }) => steps['car']?.status === 'failed' });
    slow.resolve({ id: 'late' });
    frozen.thaw();
    await settle();
    const { execution, steps } = await h.run(id);
    expect(steps['car']).toMatchObject({ status: 'done', output: { id: 'late' } });
    expect(execution.status).toBe('succeeded');
    expect(book).toEqual(['mail by mails']);
  });
});

describe('behind a point of no return', () => {
  it('a failure that is tolerated asks nobody, and its undo is made', async () => {
    const flow = workflow('point', { input: anyObject, within: '1h' }, (w) => {
      const paid = w.step('pay', flights, {}, { recovery: [again(0)], pointOfNoReturn: true });
      const car = w.step('car', cars, {}, { ...once, after: [paid], mayFail: true });
      w.step('mail', mails, {}, { after: [car], recovery: [again(0)], mayFail: true });
    });
    const h = harness(flow, {
      flights: does('flights'),
      cars: { execute: () => never, undo: async () => book.push('undone') },
      mails: { execute: decline },
    });
    const portsOf = losesFirst(h, 'cars');
    const { id } = await h.begin();
    const { execution, questions } = await h.run(id, { portsOf });
    expect(execution.status).toBe('succeeded');
    expect(questions ?? {}).toEqual({});
    expect(book).toEqual(['pay by flights', 'undone']);
  });
});

describe('of the other kinds', () => {
  it('a rejected approval is a failure that a condition may ask for', async () => {
    const flow = workflow('asks', { input: anyObject, within: '1h' }, (w) => {
      const yes = w.approval('yes', { within: '10m', mayFail: true });
      w.step('go', flights, { by: orElse(yes.output.by, 'nobody') }, { when: succeeded(yes) });
      w.step('refuse', cars, { why: required(yes.failure.message) }, { when: failed(yes) });
    });
    const h = harness(flow, { flights: does('flights'), cars: does('cars') });
    const { id, callbackKeys } = await h.begin();
    await h.run(id, { until: () => true });
    await closeCallback(h.scheduler, `${id}.yes.${callbackKeys?.['yes']}`, {
      kind: 'fail',
      failure: { code: 'rejected', message: 'too dear' },
    });
    const { execution, steps } = await h.run(id);
    expect(execution.status).toBe('succeeded');
    expect(steps).toMatchObject({
      yes: { status: 'tolerated' },
      go: { status: 'skipped' },
      refuse: { status: 'done' },
    });
  });
});
