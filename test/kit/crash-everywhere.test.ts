/**
 * `crashEverywhere`: correct agents survive a fault at every point, and each planted mistake of an agent is
 * found.
 */

import { agent, askPerson, type AttemptContext, done, notDone, PermanentError, workflow } from 'steadfast';
import { crashEverywhere, type CrashOptions, externalWorld } from 'steadfast/testing';
import * as z from 'zod/mini';
import {
  bookFlight,
  bookHotel,
  bookTrip,
  confirmTrip,
  goodAgents,
  type Input,
  insteadOf,
  oneStep,
} from './trip.ts';

const input = { trip: 'to Ghent' };
const soldOut: NonNullable<CrashOptions<Input>['scenario']> = (trial, given) => {
  trial.fail(confirmTrip, { times: 2 });
  return trial.start(given);
};

/** Runs `crashEverywhere` with correct agents. */
const ofGoodAgents = (options: Partial<CrashOptions<Input>>): ReturnType<typeof crashEverywhere> => {
  const { world, agents } = goodAgents();
  return crashEverywhere(bookTrip, { input, agents, world, ...options });
};

describe('agents that do what they declare', () => {
  it('survive everything on the way to success', async () => {
    const report = await ofGoodAgents({ slowest: '1s' });
    expect(report.text).toContain('nothing lost, doubled or stuck');
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
    expect(report).toMatchObject({ runs: report.points.length, leftOut: 0, blind: [] });
  });

  it('survive everything on the way back', async () => {
    const report = await ofGoodAgents({ scenario: soldOut });
    expect(report.findings).toEqual([]);
    expect(report.points).toEqual(
      expect.arrayContaining(['before:undo:1', 'after:undo:2', 'unanswered:undo:1', 'late:undo:1']),
    );
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });

  it('survive a cancel in between', async () => {
    const report = await ofGoodAgents({
      scenario: async (trial, given) => {
        const run = await trial.start(given);
        await run.until(({ steps }) => steps['flight']?.status === 'done');
        await run.cancel();
        return run;
      },
    });
    expect(report.findings).toEqual([]);
    expect(Object.keys(report.ends)).toEqual(['canceled']);
  });

  it('survive a question that a person answers', async () => {
    const report = await ofGoodAgents({
      scenario: async (trial, given) => {
        const run = await soldOut(trial, given);
        await run.waitForIncident();
        await run.resolve({ choice: 'retry' });
        return run;
      },
    });
    expect(report.findings).toEqual([]);
    expect(Object.keys(report.ends).toSorted()).toEqual(['compensated', 'succeeded']);
  });

  it('are believed if the test sees no effects outside, and the report says so', async () => {
    const { agents } = goodAgents();
    const report = await crashEverywhere(bookTrip, { input, agents });
    expect(report.findings).toEqual([]);
    expect(report.blind).toEqual([
      expect.stringContaining('only the agents’ code is seen'),
      "effects that come later than an agent’s lateEffectWithin (book-flight 1s, book-hotel 1s, confirm-trip 1s); say how late a service may act, for example slowest: '45s'",
    ]);
  });
});

it('does not take a repeated read for a double: an agent without a lasting effect may answer anything', async () => {
  const look = agent('look', {
    input: z.object({}),
    output: z.object({ seen: z.int() }),
    effect: 'none',
    undo: 'none',
  });
  let looks = 0;
  const handler = look.handler({
    execute: async () => {
      looks += 1;
      return { seen: looks };
    },
  });
  const watch = workflow('watch', { input: z.object({}), within: '1h' }, (w) => {
    w.step('look', look, {});
  });
  const report = await crashEverywhere(watch, { input: {}, agents: [handler] });
  expect(report.findings).toEqual([]);
  expect(looks).toBeGreaterThan(report.runs + 1);
});

describe('the points', () => {
  it('are around every write, send, delivery, announcement, call of an agent and request of its own', async () => {
    const { world, agents } = goodAgents();
    const { points } = await crashEverywhere(bookTrip, { input, agents, world, only: 'none' });
    const kinds = new Set(points.map((point) => point.replace(/:\d+$/, '')));
    expect([...kinds].sort()).toEqual([
      'after:announce',
      'after:create',
      'after:execute',
      'after:request',
      'after:send',
      'after:write',
      'after:writePlan',
      'before:announce',
      'before:create',
      'before:delivery',
      'before:execute',
      'before:request',
      'before:send',
      'before:write',
      'before:writePlan',
      'frozen:execute',
      'late:execute',
      'late:request',
      'refused:request',
      'twice:delivery',
      'unanswered:execute',
      'unanswered:request',
    ]);
  });

  it('can be run alone, one or all at one place, and are the same every time', async () => {
    const { world, agents } = goodAgents();
    const options = { input, agents, world };
    const one = await crashEverywhere(bookTrip, { ...options, only: 'after:write:3' });
    expect(one.runs).toBe(1);
    expect((await crashEverywhere(bookTrip, { ...options, only: 'write:3' })).runs).toBe(2);
    expect((await crashEverywhere(bookTrip, { ...options, only: 'execute:1' })).runs).toBe(5);
    expect((await crashEverywhere(bookTrip, { ...options, maxRuns: 10 })).runs).toBe(10);
    const again = await crashEverywhere(bookTrip, { ...options, only: 'after:write:3' });
    expect(again).toEqual(one);
    await expect(crashEverywhere(bookTrip, { ...options, only: 'write:900' })).rejects.toMatchObject({
      code: 'unknown-point',
      message: expect.stringContaining('before:create:1'),
    });
  });
});

describe('a mistake is found:', () => {
  it('in a process that acts after the end of the execution', async () => {
    const { only, flow } = oneStep();
    const world = externalWorld();
    const report = await crashEverywhere(flow, {
      input: {},
      agents: [only.handler({ execute: (ctx: AttemptContext) => world.act(ctx.idempotencyKey) } as never)],
      world,
      only: 'frozen:execute:1',
    });
    expect(report.findings).toMatchObject([{ kind: 'doubled', point: 'frozen:execute:1' }]);
  });

  it('declared idempotent, and acts with every call', async () => {
    const { world, agents } = goodAgents();
    const careless = bookHotel.handler({
      execute: async (ctx) => ({ booking: await world.act(ctx.idempotencyKey, 'hotel') }),
      undo: async (ctx) => world.undo(ctx.idempotencyKey),
    });
    const options = { input, agents: insteadOf(agents, careless) };
    const report = await crashEverywhere(bookTrip, { ...options, world });
    expect(new Set(report.findings.map(({ kind, step }) => `${kind} ${step}`))).toEqual(
      new Set(['doubled hotel']),
    );
    expect(report.findings.map(({ point }) => point)).toEqual(
      expect.arrayContaining([
        expect.stringMatching('after:execute'),
        expect.stringMatching('unanswered:execute'),
      ]),
    );
    const [finding] = report.findings;
    expect(finding).toMatchObject({
      message: "step 'hotel': 'hotel' took place 2 times",
      replay: `crashEverywhere(bookTrip, { …, only: '${finding?.point}' })`,
    });
    const alone = await crashEverywhere(bookTrip, { ...options, world, only: finding?.point ?? '' });
    expect(alone.findings.map(({ message }) => message)).toEqual([finding?.message]);
    expect(alone.text).toContain(`doubled at ${finding?.point} (`);
    const byCalls = await crashEverywhere(bookTrip, options);
    expect(byCalls.findings.map(({ kind, point }) => [kind, point])).toEqual(
      report.findings
        .filter(({ point }) => !point.includes('request'))
        .map(({ kind, point }) => [kind, point]),
    );
  });

  it('a probe that does not find what was done', async () => {
    const { world, agents } = goodAgents();
    const blind = bookFlight.handler({
      execute: async (ctx) => ({ booking: await world.act(ctx.idempotencyKey, 'flight') }),
      probe: async () => notDone(),
      undo: async (ctx) => world.undo(ctx.idempotencyKey),
    });
    const options = { input, agents: insteadOf(agents, blind) };
    for (const external of [{ world }, {}]) {
      const report = await crashEverywhere(bookTrip, { ...options, ...external });
      expect(report.findings.length).toBeGreaterThan(1);
      expect(new Set(report.findings.map(({ kind }) => kind))).toEqual(new Set(['doubled']));
    }
  });

  it('a probe that finds what was not done', async () => {
    const { world, agents } = goodAgents();
    const lying = bookFlight.handler({
      execute: async (ctx) => ({ booking: await world.act(ctx.idempotencyKey, 'flight') }),
      probe: async () => done({ booking: 'of course' }),
      undo: async (ctx) => world.undo(ctx.idempotencyKey),
    });
    const options = { input, agents: insteadOf(agents, lying) };
    for (const external of [{ world }, {}]) {
      const report = await crashEverywhere(bookTrip, { ...options, ...external });
      expect(report.findings).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            kind: 'lost',
            message: expect.stringMatching(
              /^step 'flight': it is done, but '(flight|effect)' did not take place or was undone$/,
            ),
            point: 'before:execute:1',
          }),
        ]),
      );
    }
  });

  it('an undo that undoes nothing', async () => {
    const { world, agents } = goodAgents();
    const lazy = bookHotel.handler({
      execute: async (ctx) => ({ booking: await world.actOnce(ctx.idempotencyKey, 'hotel') }),
      undo: async () => {},
    });
    const report = await crashEverywhere(bookTrip, {
      input,
      agents: insteadOf(agents, lazy),
      world,
      scenario: soldOut,
    });
    // It happens without any fault, so nothing else is run.
    expect(report).toMatchObject({ runs: 0, findings: [{ kind: 'lost', point: 'none', step: 'hotel' }] });
    expect(report.text).toContain('\nlost without any fault\n');
  });

  it('an undo that goes by the output, which is not there when the outcome is unknown', async () => {
    const { world, agents } = goodAgents();
    const forgetful = bookHotel.handler({
      execute: async (ctx) => ({ booking: await world.actOnce(ctx.idempotencyKey, 'hotel') }),
      undo: async (ctx, _input, output) => {
        if (output !== undefined) await world.undo(ctx.idempotencyKey);
      },
    });
    const report = await crashEverywhere(bookTrip, {
      input,
      agents: insteadOf(agents, forgetful),
      world,
      scenario: async (trial, given) => {
        const run = await trial.start(given);
        await run.until(({ steps }) => steps['hotel']?.status === 'running');
        await run.cancel();
        return run;
      },
    });
    expect(report.findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kind: 'lost',
          message: "step 'hotel': the execution has ended canceled, but 'hotel' was not undone",
        }),
      ]),
    );
  });

  it('an undo that pays back twice', async () => {
    const { only } = oneStep({ undo: 'required' });
    const refunds = new Map<string, number>();
    const world = externalWorld();
    const generous = only.handler({
      execute: async (ctx: { idempotencyKey: string }) => await world.actOnce(ctx.idempotencyKey),
      undo: async (ctx: { idempotencyKey: string }) => {
        refunds.set(ctx.idempotencyKey, (refunds.get(ctx.idempotencyKey) ?? 0) + 1);
      },
    } as never);
    const flow = workflow('refund', { input: z.any(), within: '1h' }, (w) => {
      const paid = w.step('pay', only, {});
      w.step('refuse', bookHotel, { trip: 'x' }, { after: [paid] });
    });
    const { agents } = goodAgents();
    const report = await crashEverywhere(flow, {
      input: {},
      agents: [generous, ...agents.slice(1, 2)],
      effects: () => world.effects().map((effect) => ({ ...effect, undone: refunds.get(effect.key) ?? 0 })),
      scenario: (trial, given) => {
        trial.fail(bookHotel, { with: new PermanentError('no') });
        return trial.start(given);
      },
    });
    expect(report.findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'doubled', message: "step 'pay': 'effect' was undone 2 times" }),
      ]),
    );
  });

  it('a book that knows nothing of a step is named, for nothing of it can be missed', async () => {
    const { agents } = goodAgents();
    const report = await crashEverywhere(bookTrip, { input, agents, effects: () => [], only: 'execute:1' });
    expect(report.blind).toContain(
      "the effects given have none of step 'flight', so a missing one would not be noticed",
    );
  });

  it('an execution that does not end in time is stuck, with what it waits for', async () => {
    const { only } = oneStep({ effect: 'unsafe' });
    const flow = workflow('slow-people', { input: z.any(), within: '30d' }, (w) => {
      w.step('only', only, {}, { recovery: [askPerson({ within: '20d' })] });
    });
    const report = await crashEverywhere(flow, {
      input: {},
      agents: [only.handler({ execute: async () => 1 } as never)],
      within: '10d',
      only: 'after:execute:1',
    });
    expect(report.findings).toMatchObject([
      { kind: 'stuck', message: expect.stringMatching(/did not end within 10d.*only: waiting/s) },
    ]);
    expect(report.ends).toEqual({ succeeded: 1, stuck: 1 });
  });
});
