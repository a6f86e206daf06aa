/**
 * `testWorkflow`: what a user sees of a run, and how a test can influence it. The kit drives the production
 * roles.
 */

import { PermanentError, TransientError } from 'steadfast';
import { testWorkflow, type WorkflowTest } from 'steadfast/testing';
import {
  bookFlight,
  bookHotel,
  bookTrip,
  confirmTrip,
  goodAgents,
  insteadOf,
  type Input,
  oneStep,
} from './trip.ts';

const input = { trip: 'to Ghent' };
const aTest = (): WorkflowTest<Input> => testWorkflow(bookTrip, { agents: goodAgents().agents });

describe('a run', () => {
  it('goes to its end in the test’s own time, in which a call takes 10 ms', async () => {
    const run = await aTest().start(input);
    const state = await run.waitForEnd();
    expect(state).toMatchObject({
      status: 'succeeded',
      output: { mail: 'mail-3' },
      steps: {
        flight: { status: 'done', attempts: 1, output: { booking: 'flight-1' } },
        hotel: { status: 'done' },
        confirm: { status: 'done' },
      },
      incidents: [],
      tookMs: 20,
    });
  });

  it('does nothing before time goes on, and stops at the given time', async () => {
    const trial = aTest();
    const run = await trial.start(input);
    expect((await run.state()).steps).toMatchObject({
      flight: { status: 'ready' },
      confirm: { status: 'pending' },
    });
    expect(trial.calls()).toEqual([]);
    trial.delay(bookHotel, { by: '1s' });
    const state = await run.until(({ steps }) => steps['flight']?.status === 'done');
    expect(state.steps['hotel']).toMatchObject({ status: 'running', attempts: 1 });
  });

  it('tells what was called, announced and noted, and why', async () => {
    const trial = aTest();
    const run = await trial.start(input);
    await run.waitForEnd();
    expect(trial.calls(confirmTrip)).toMatchObject([
      {
        agent: 'confirm-trip',
        on: 'execute',
        step: 'confirm',
        idempotencyKey: expect.stringMatching(new RegExp(`^${run.id}\\.confirm\\.[a-z0-9]+$`)),
        outcome: 'returned',
      },
    ]);
    expect(trial.announced).toMatchObject([{ executionId: run.id, status: 'succeeded' }]);
    expect(trial.notes.map(({ what }) => what)).toContain('started');
    expect((await run.why()).past.at(-1)?.what).toBe('it ended: succeeded');
  });

  it('tells what the agents logged, and in which attempt', async () => {
    const trial = aTest();
    trial.replace(bookHotel, {
      execute: async ({ log, attempt }) => {
        log.info('asking', { rooms: 1 });
        if (attempt === 2) return { booking: 'hotel-1' };
        log.error('no answer', new Error('hung up'));
        throw new TransientError('try later');
      },
    });
    trial.kill(bookFlight, { when: 'before' });
    const run = await trial.start(input);
    const beganAt = trial.now();
    await run.waitForEnd();
    const about = { agent: 'book-hotel', on: 'execute', executionId: run.id, step: 'hotel' };
    expect(trial.logged).toEqual([
      { ...about, attempt: 1, level: 'info', message: 'asking', fields: { rooms: 1 }, at: beganAt + 10 },
      expect.objectContaining({ attempt: 1, level: 'error', fields: { error: new Error('hung up') } }),
      expect.objectContaining({ ...about, attempt: 2, level: 'info', message: 'asking' }),
    ]);
  });

  it('is the same every time', async () => {
    const once = async (): Promise<unknown> => {
      const trial = aTest();
      trial.fail(bookHotel, { times: 2 });
      trial.loseReply(bookFlight);
      const run = await trial.start(input);
      const calls = trial.calls().map(({ step, on, at, outcome }) => [step, on, at, outcome]);
      return [await run.waitForEnd(), calls, trial.notes.map(({ what, step }) => [what, step])];
    };
    expect(await once()).toEqual(await once());
  });

  it('starts once for one key, and refuses an input that does not fit', async () => {
    const trial = aTest();
    const first = await trial.start(input, { idempotencyKey: 'k' });
    expect((await trial.start(input, { idempotencyKey: 'k' })).id).toBe(first.id);
    await expect(trial.start({ trip: 'b' }, { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'key-reused',
    });
    await expect(trial.start({ trip: '' })).rejects.toMatchObject({ code: 'bad-input' });
  });
});

describe('a fault', () => {
  it('fails an agent n times, and the recovery goes on', async () => {
    const trial = aTest();
    trial.fail('book-flight', { times: 2, with: new TransientError('503', { retryAfter: '1m' }) });
    const state = await (await trial.start(input)).waitForEnd();
    expect(state.status).toBe('succeeded');
    expect(state.steps['flight']).toMatchObject({ attempts: 3 });
    expect(state.steps['flight']?.history.map(({ outcome }) => outcome)).toEqual([
      'failed',
      'failed',
      'done',
    ]);
    expect(state.tookMs).toBeGreaterThanOrEqual(120_000);
  });

  it('fails an agent for good, and what acted is undone', async () => {
    const { world, agents } = goodAgents();
    const trial = testWorkflow(bookTrip, { agents });
    trial.fail(bookFlight, { with: new PermanentError('sold out') });
    const state = await (await trial.start(input)).waitForEnd();
    expect(state).toMatchObject({ status: 'compensated', failure: { message: 'sold out' } });
    expect(state.steps['hotel']?.status).toBe('compensated');
    expect(world.effects()).toMatchObject([{ kind: 'hotel', undone: true }]);
  });

  it('of another kind of call: an undo that fails twice is tried a third time', async () => {
    const trial = aTest();
    trial.fail(bookHotel, { on: 'undo', times: 2 });
    const run = await trial.start(input);
    await run.until(({ steps }) => steps['hotel']?.status === 'done');
    await run.cancel('changed my mind');
    expect((await run.waitForEnd()).status).toBe('canceled');
    expect(trial.calls(bookHotel).map(({ on, outcome }) => `${on} ${outcome}`)).toEqual([
      'execute returned',
      'undo open',
      'undo open',
      'undo returned',
    ]);
  });

  it('loses a reply after the work: the probe finds it, and nothing is repeated', async () => {
    const { world, agents } = goodAgents();
    const trial = testWorkflow(bookTrip, { agents });
    trial.loseReply(bookFlight);
    const state = await (await trial.start(input)).waitForEnd();
    expect(state.status).toBe('succeeded');
    expect(trial.calls(bookFlight).map(({ on }) => on)).toEqual(['execute', 'probe']);
    expect(world.effects().filter(({ kind }) => kind === 'flight')).toHaveLength(1);
  });

  it('lets a call hang until its timeout, with no real time spent', async () => {
    const trial = aTest();
    trial.hang(bookHotel);
    const real = globalThis.setTimeout;
    const delays: unknown[] = [];
    globalThis.setTimeout = ((run: () => void, ms?: number) => {
      delays.push(ms);
      return real(run, ms);
    }) as typeof real;
    const state = await (await trial.start(input)).waitForEnd().finally(() => {
      globalThis.setTimeout = real;
    });
    expect(delays.filter((ms) => Number(ms ?? 0) > 0)).toEqual([]);
    expect(state.status).toBe('succeeded');
    expect(state.steps['hotel']?.history[0]).toMatchObject({
      outcome: 'unknown',
      failure: { code: 'timeout' },
    });
  });

  it('slows a call down within its time', async () => {
    const trial = aTest();
    trial.delay(bookHotel, { by: '15s' });
    const state = await (await trial.start(input)).waitForEnd();
    expect(state).toMatchObject({ status: 'succeeded', tookMs: 15_020 });
  });

  it.each(['before', 'after'] as const)('kills the process %s the work', async (when) => {
    const { world, agents } = goodAgents();
    const trial = testWorkflow(bookTrip, { agents });
    trial.kill(bookFlight, { when });
    const state = await (await trial.start(input)).waitForEnd();
    expect(state.status).toBe('succeeded');
    expect(state.steps['flight']?.history[0]).toMatchObject({ outcome: 'unknown' });
    expect(world.effects().filter(({ kind }) => kind === 'flight')).toHaveLength(1);
  });

  it('meets one step alone, if asked to', async () => {
    const trial = aTest();
    trial.fail(bookHotel, { step: 'another' });
    expect((await (await trial.start(input)).waitForEnd()).steps['hotel']?.attempts).toBe(1);
  });
});

describe('an agent', () => {
  it('is replaced, and keeps what is not given', async () => {
    const trial = aTest();
    trial.replace(confirmTrip, {
      execute: async (_ctx, { flight, hotel }) => ({ mail: `${flight} ${hotel}` }),
    });
    const state = await (await trial.start(input)).waitForEnd();
    expect(state.output).toEqual({ mail: 'flight-1 hotel-2' });
  });

  it('may wait for something real', async () => {
    const trial = aTest();
    const real = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    trial.replace(bookHotel, { execute: () => real(20).then(() => ({ booking: 'h' })) });
    expect(await (await trial.start(input)).waitForEnd()).toMatchObject({ status: 'succeeded', tookMs: 20 });
  });

  it('may wait for its signal, which is aborted in the test’s own time', async () => {
    const trial = testWorkflow(bookTrip, { agents: goodAgents().agents, patienceMs: 5 });
    let calls = 0;
    trial.replace(bookHotel, {
      execute: (ctx) => {
        calls += 1;
        if (calls > 1) return Promise.resolve({ booking: 'h' });
        return new Promise((_, reject) =>
          ctx.signal.addEventListener('abort', () => reject(new Error('aborted'))),
        );
      },
    });
    const state = await (await trial.start(input)).waitForEnd();
    expect(state.status).toBe('succeeded');
    expect(state.tookMs).toBeGreaterThanOrEqual(20_000);
  });
});

describe('people', () => {
  it('are asked, and their answer counts', async () => {
    const trial = aTest();
    trial.fail(confirmTrip, { times: 2 });
    const run = await trial.start(input);
    const incident = await run.waitForIncident();
    expect(incident).toMatchObject({ number: 1, step: 'confirm', kind: 'recovery' });
    expect(incident.choices.map(({ choice }) => choice)).toContain('give-output');
    await expect(run.resolve({ choice: 'give-output', output: { mail: '' } })).rejects.toMatchObject({
      code: 'bad-input',
    });
    await run.resolve({ choice: 'give-output', output: { mail: 'by hand' } });
    expect(await run.waitForEnd()).toMatchObject({ status: 'succeeded', output: { mail: 'by hand' } });
    await expect(run.resolve({ choice: 'retry' })).rejects.toMatchObject({ code: 'unknown-incident' });
  });

  it('need not answer: the question answers itself at its deadline', async () => {
    const trial = aTest();
    trial.fail(confirmTrip, { times: 2 });
    const run = await trial.start(input);
    await run.waitForIncident();
    await trial.skip('1h59m');
    expect((await run.state()).status).toBe('waiting');
    await trial.skip('2m');
    expect((await run.state()).status).toBe('compensated');
  });

  it('cannot cancel what has ended', async () => {
    const run = await aTest().start(input);
    await run.waitForEnd();
    await expect(run.cancel()).rejects.toMatchObject({ code: 'not-cancelable' });
  });
});

describe('time', () => {
  it('is moved by exactly as much as is asked for', async () => {
    const trial = testWorkflow(bookTrip, { agents: goodAgents().agents, startsAt: 1_000_000 });
    await trial.start(input);
    await trial.skip('2h');
    expect(trial.now()).toBe(1_000_000 + 7_200_000);
  });
});

describe('what is wrong is said', () => {
  const { agents } = goodAgents();

  it('an agent that is missing: of which step, and what to pass', () => {
    expect(() => testWorkflow(bookTrip, { agents: agents.slice(1) })).toThrow(
      /no implementation of agent 'book-flight' \(step 'flight' of workflow 'book-trip'\); add the handler/,
    );
  });

  it('an agent without its work, something else, and one twice', () => {
    expect(() => testWorkflow(bookTrip, { agents: [bookFlight as never] })).toThrow(
      "agents[0] is agent 'book-flight' without its work",
    );
    expect(() => testWorkflow(bookTrip, { agents: [undefined as never] })).toThrow('agents[0] is no handler');
    expect(() => testWorkflow(bookTrip, { agents: [...agents, ...agents] })).toThrow(
      "two implementations of 'book-flight'",
    );
  });

  it('an agent without what it declares, although nothing would have been asked or undone', () => {
    const { undo: _, ...rest } = goodAgents().agents[0]!.worker.implementation;
    const lame = bookFlight.handler(rest as never);
    expect(() => testWorkflow(bookTrip, { agents: insteadOf(agents, lame) })).toThrow(
      "agent 'book-flight' is declared with undo, and its handler has none",
    );
  });

  it('a fault for an unknown agent, and an invalid duration', async () => {
    const trial = aTest();
    expect(() => trial.fail('book-boat')).toThrow(
      "there is no agent 'book-boat' in this test; there are: book-flight, book-hotel, confirm-trip",
    );
    await expect(trial.skip('soon')).rejects.toThrow('what is skipped is "soon"; allowed: a duration');
  });

  it('a run that does not end in the time it is given: where it stands and what it waits for', async () => {
    const trial = aTest();
    trial.fail(confirmTrip, { times: 2 });
    const run = await trial.start(input);
    await expect(run.waitForEnd('1h')).rejects.toMatchObject({
      code: 'stuck',
      message: expect.stringMatching(
        /did not end within 1h of the test's time: the time is over. It is waiting.*confirm: waiting/s,
      ),
    });
    await expect(run.until(() => false)).rejects.toThrow(
      /^execution \S+ has ended, and did not come to what is waited for\. It is compensated\./,
    );
  });
});

test('the platform’s limits hold: a message whose process hangs to its end comes back and breaks nothing', async () => {
  const { only, flow } = oneStep();
  const trial = testWorkflow(flow, { agents: [only.handler({ execute: async () => ({}) } as never)] });
  trial.hang('only-agent', { times: 2 });
  const state = await (await trial.start({})).waitForEnd();
  expect(state).toMatchObject({ status: 'succeeded', steps: { only: { attempts: 3 } } });
});
