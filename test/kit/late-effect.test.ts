/**
 * An effect that occurs after its caller has given up: within the agent's `lateEffectWithin` it does no harm;
 * a later one does, and is found if the test says how slow the service is.
 */

import { done, notDone, PermanentError } from 'steadfast';
import { crashEverywhere, type CrashOptions, testWorkflow } from 'steadfast/testing';
import { bookFlight, bookTrip, confirmTrip, goodAgents, type Input } from './trip.ts';

const input = { trip: 'to Ghent' };

const declined: CrashOptions<Input>['scenario'] = (trial, given) => {
  trial.fail(confirmTrip, { times: Infinity, with: new PermanentError('no') });
  return trial.start(given);
};

describe('lateEffect', () => {
  const book = async (by: string) => {
    const { world, agents } = goodAgents();
    const trial = testWorkflow(bookTrip, { agents });
    const verdicts: string[] = [];
    trial.replace(bookFlight, {
      probe: async (ctx) => {
        const booking = await world.find(ctx.idempotencyKey);
        verdicts.push(`${trial.now() - startedAt} ms: ${booking === undefined ? 'not done' : 'done'}`);
        return booking === undefined ? notDone() : done({ booking });
      },
    });
    trial.lateEffect(bookFlight, { by });
    const startedAt = trial.now();
    const run = await trial.start(input);
    const { status } = await run.waitForEnd();
    await trial.skip('10m');
    const flights = world.effects().filter(({ kind }) => kind === 'flight');
    return { status, verdicts, flights: flights.length, calls: trial.calls(bookFlight) };
  };

  it('within lateEffectWithin: nothing is repeated before it has come, and then it is found', async () => {
    const { status, verdicts, flights } = await book('1s');
    expect([status, flights]).toEqual(['succeeded', 1]);
    expect(verdicts).toEqual([expect.stringMatching(/not done$/), expect.stringMatching(/: done$/)]);
  });

  it('later than lateEffectWithin: the probe is believed, the work is done again, and both take effect', async () => {
    const { status, verdicts, flights, calls } = await book('45s');
    expect([status, flights]).toEqual(['succeeded', 2]);
    expect(verdicts).toEqual([expect.stringMatching(/not done$/), expect.stringMatching(/not done$/)]);
    expect(calls.filter(({ on }) => on === 'execute').map(({ outcome }) => outcome)).toEqual([
      'returned',
      'returned',
    ]);
  });
});

describe('crashEverywhere', () => {
  it.each([
    ['to success', undefined],
    ['on the way back', declined],
  ])('finds nothing where lateEffectWithin is as long as the slowest request, %s', async (_, scenario) => {
    const { world, agents } = goodAgents();
    const ways = scenario === undefined ? {} : { scenario };
    const report = await crashEverywhere(bookTrip, { input, agents, world, slowest: '1s', ...ways });
    expect(report.points).toEqual(expect.arrayContaining(['late:execute:1', 'late:request:1']));
    expect([report.findings, report.blind]).toEqual([[], []]);
  });

  it('finds that a slower service acts twice, and says what lateEffectWithin must be', async () => {
    const { world, agents } = goodAgents();
    const slowest = { 'book-flight': '45s', 'book-hotel': '1m' };
    const { findings, blind } = await crashEverywhere(bookTrip, { input, agents, world, slowest });
    expect(findings.map(({ kind, point, message }) => [kind, point, message])).toEqual(
      ['late:execute:1', 'late:request:1'].map((point) => [
        'doubled',
        point,
        "step 'flight': 'flight' took place 2 times; agent 'book-flight' has lateEffectWithin: '1s', and its service may act 45s after its caller is gone: write lateEffectWithin: '45s' or more",
      ]),
    );
    expect(blind).toEqual([expect.stringContaining('(confirm-trip 1s)')]);
  });

  it('takes no invalid time, and no unknown agent', async () => {
    const { world, agents } = goodAgents();
    const options = { input, agents, world };
    await expect(crashEverywhere(bookTrip, { ...options, slowest: 'soon' })).rejects.toMatchObject({
      code: 'bad-duration',
    });
    await expect(
      crashEverywhere(bookTrip, { ...options, slowest: { 'book-car': '1s' } }),
    ).rejects.toMatchObject({
      code: 'unknown-agent',
      message: "slowest names 'book-car'; the agents are: book-flight, book-hotel, confirm-trip",
    });
  });
});
