/**
 * Steps without an agent behave in a test as in production, and a fault at any point neither loses nor
 * doubles their work.
 */

import { done, notDone, PermanentError, retry, workflow, type Workflow } from 'steadfast';
import { crashEverywhere, externalWorld, type TestAgent, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';
import { bookFlight, bookHotel, confirmTrip, goodAgents, insteadOf } from './trip.ts';

const Input = z.object({ trip: z.string(), guests: z.array(z.string()) });
type Input = z.infer<typeof Input>;

const travel = workflow('travel', { input: z.object({ trip: z.string() }), within: '1d' }, (w) => {
  const flight = w.step('flight', bookFlight, { trip: w.input.trip });
  const seat = w.callback('seat', { output: z.object({ seat: z.string() }), within: '2h', after: [flight] });
  return { flight: flight.output.booking, seat: seat.output.seat };
});

const outing: Workflow<Input> = workflow('outing', { input: Input, within: '3d' }, (w) => {
  const there = w.child('there', travel, { trip: w.input.trip });
  const rooms = w.map('rooms', bookHotel, w.input.guests, (guest) => ({ trip: guest }), {
    concurrency: 2,
    recovery: [retry(1)],
  });
  const ok = w.approval('ok', { within: '1d', after: [there, rooms] });
  const pause = w.wait('pause', { for: '1h', after: [ok] });
  const mail = w.step(
    'mail',
    confirmTrip,
    { flight: there.output.flight, hotel: 'several' },
    { after: [pause], recovery: [retry(1)] },
  );
  return { seat: there.output.seat, rooms: rooms.output.total, by: ok.output.by, mail: mail.output.mail };
});

const input: Input = { trip: 'to Ghent', guests: ['ada', 'ben', 'cy'] };

const scenario = async (trial: ReturnType<typeof testWorkflow<Input>>, given: Input) => {
  const run = await trial.start(given);
  await run.until(({ steps }) => (steps['there']?.children?.started ?? 0) > 0);
  const [travels] = await run.children('there');
  await travels?.waitForQuestion('seat');
  await travels?.complete('seat', { seat: '12A' });
  await run.waitForQuestion('ok');
  await run.approve('ok', { by: 'dee' });
  return run;
};

describe('a run', () => {
  it('goes through a child, a list, an approval and a wait', async () => {
    const trial = testWorkflow(outing, { agents: goodAgents().agents });
    const run = await scenario(trial, input);
    const { status, output, steps, tookMs } = await run.waitForEnd();
    expect(status).toBe('succeeded');
    expect(output).toMatchObject({ seat: '12A', rooms: 3, by: 'local:dee' });
    expect(steps['rooms']?.children).toEqual({ count: 1, started: 1, ended: ['succeeded'] });
    expect(tookMs).toBeGreaterThanOrEqual(3_600_000);
    expect(trial.runs().map(({ id }) => id.slice(run.id.length))).toEqual(['', '.there.0', '.rooms.0']);
    const keys = trial
      .calls(bookHotel)
      .map(({ idempotencyKey }) => idempotencyKey.slice(run.id.length).replace(/\.[a-z0-9]+$/, ''));
    expect(keys).toEqual(['.rooms.0.0', '.rooms.0.1', '.rooms.0.2']);
  });

  it('shows until when a step waits, and time is skipped over it', async () => {
    const trial = testWorkflow(outing, { agents: goodAgents().agents });
    const run = await scenario(trial, input);
    const { steps } = await run.until((state) => state.steps['pause']?.waitsUntil !== undefined);
    expect(steps['pause']?.waitsUntil).toBe(trial.now() + 3_600_000);
    await trial.skip('59m');
    expect((await run.state()).steps['pause']?.status).toBe('ready');
    await trial.skip('2m');
    expect((await run.state()).status).toBe('succeeded');
  });

  it('that is rejected is undone, its children and items too', async () => {
    const { world, agents } = goodAgents();
    const trial = testWorkflow(outing, { agents });
    const run = await trial.start(input);
    await run.until(({ steps }) => (steps['there']?.children?.started ?? 0) > 0);
    const [travels] = await run.children('there');
    await travels?.complete('seat', { seat: '1' }); // before its turn
    await run.waitForQuestion('ok');
    await run.reject('ok', { reason: 'too dear' });
    const { status, failure } = await run.waitForEnd();
    expect([status, failure]).toEqual(['compensated', { code: 'rejected', message: 'too dear' }]);
    expect(world.effects()).toHaveLength(4);
    expect(world.effects().every(({ undone }) => undone)).toBe(true);
  });

  it('that nobody answers fails at its deadline; heartbeats and failures of the external party count', async () => {
    const { agents } = goodAgents();
    const silent = testWorkflow(travel, { agents });
    const run = await silent.start({ trip: 'x' });
    expect((await run.waitForEnd()).failure?.code).toBe('no-answer');
    const failing = await silent.start({ trip: 'x' });
    await failing.waitForQuestion('seat');
    await failing.heartbeat('seat');
    expect((await failing.state()).steps['seat']?.status).toBe('waiting');
    await failing.fail('seat', { code: 'full', message: 'no seat is left' });
    expect((await failing.waitForEnd()).failure).toEqual({ code: 'full', message: 'no seat is left' });
  });

  it('refuses what the API refuses, and names the steps there are', async () => {
    const trial = testWorkflow(outing, { agents: goodAgents().agents });
    const run = await scenario(trial, input);
    await expect(run.approve('nobody')).rejects.toMatchObject({
      code: 'unknown-step',
      message: expect.stringContaining("it has: 'ok' (approval)"),
    });
    await expect(run.children('ok')).rejects.toMatchObject({
      code: 'unknown-step',
      message: expect.stringContaining("it has: 'there' (child), 'rooms' (map)"),
    });
    await expect(run.reject('ok')).rejects.toMatchObject({ code: 'already-closed' });
    const [travels] = await run.children('there');
    const bad = testWorkflow(travel, { agents: goodAgents().agents });
    const other = await bad.start({ trip: 'x' });
    await expect(other.complete('seat', { seat: 12 })).rejects.toMatchObject({ code: 'bad-output' });
    await expect(travels?.complete('seat', { seat: '9' })).rejects.toMatchObject({ code: 'already-closed' });
  });

  it('holds the answer to a callback of a child against its schema, though nobody starts the child by itself', async () => {
    const trial = testWorkflow(outing, { agents: goodAgents().agents });
    const run = await trial.start(input);
    await run.until(({ steps }) => (steps['there']?.children?.started ?? 0) > 0);
    const [travels] = await run.children('there');
    await expect(travels?.complete('seat', { seat: 12 })).rejects.toMatchObject({ code: 'bad-output' });
  });
});

describe('a fault at any point of a workflow with a child, a list, an approval and a wait', () => {
  it('loses and doubles nothing on the way to success', async () => {
    const { world, agents } = goodAgents();
    const report = await crashEverywhere(outing, { input, agents, world, scenario });
    expect(report.text).toContain('nothing lost, doubled or stuck');
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
    expect(report.blind).toEqual([expect.stringContaining('book-flight 1s, book-hotel 1s, confirm-trip 1s')]);
    expect(report.points).toEqual(expect.arrayContaining(['after:create:3', 'before:create:2']));
  });

  it('nor on the way back', async () => {
    const { world, agents } = goodAgents();
    const report = await crashEverywhere(outing, {
      input,
      agents,
      world,
      scenario: (trial, given) => {
        trial.fail(confirmTrip, { times: Infinity, with: new PermanentError('no such address') });
        return scenario(trial, given);
      },
    });
    expect(report.text).toContain('nothing lost, doubled or stuck');
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });

  it('nor when it is canceled under way', async () => {
    const { world, agents } = goodAgents();
    const report = await crashEverywhere(outing, {
      input,
      agents,
      world,
      scenario: async (trial, given) => {
        const run = await trial.start(given);
        await run.until(({ steps }) => steps['rooms']?.children !== undefined);
        await run.cancel();
        return run;
      },
    });
    expect(report.text).toContain('nothing lost, doubled or stuck');
    expect(report.ends).toEqual({ canceled: report.runs + 1 });
  });
});

describe('a mistake of an author', () => {
  const without = (other: TestAgent): readonly TestAgent[] => insteadOf(goodAgents().agents, other);

  it('in the agent of items is found, with the item', async () => {
    const post = externalWorld();
    const careless = bookHotel.handler({
      execute: async (ctx) => ({ booking: await post.act(ctx.idempotencyKey, 'room') }),
      undo: (ctx) => post.undo(ctx.idempotencyKey),
    });
    const { findings } = await crashEverywhere(outing, {
      input,
      agents: without(careless),
      scenario,
      world: post,
    });
    expect(findings).toContainEqual(
      expect.objectContaining({
        kind: 'doubled',
        idempotencyKey: expect.stringMatching(/\.rooms\.0\.\d\.[a-z0-9]+$/),
      }),
    );
  });

  it('in an agent of a child is found, also on the way back', async () => {
    const post = externalWorld();
    const forgetful = bookFlight.handler({
      execute: async (ctx) => ({ booking: await post.act(ctx.idempotencyKey, 'flight') }),
      probe: async (ctx) => {
        const booking = await post.find(ctx.idempotencyKey);
        return booking === undefined ? notDone() : done({ booking });
      },
      undo: async () => undefined,
    });
    const { findings } = await crashEverywhere(outing, {
      input,
      agents: without(forgetful),
      world: post,
      scenario: (trial, given) => {
        trial.fail(confirmTrip, { times: Infinity, with: new PermanentError('no') });
        return scenario(trial, given);
      },
    });
    expect(findings).toEqual([
      expect.objectContaining({
        kind: 'lost',
        point: 'none',
        idempotencyKey: expect.stringMatching(/\.there\.0\.flight\.[a-z0-9]+$/),
      }),
    ]);
  });
});
