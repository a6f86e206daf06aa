/** The pause after a round: it follows every round except the last. */

import { agent, type Condition, eq, exists, gte, not, orElse, type Ref, retry, workflow } from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';
import { batch, copier } from './rounds.ts';

const Asked = z.object({ job: z.string(), most: z.number() });
const Answer = z.object({ state: z.string(), round: z.number() });
type Answered = z.infer<typeof Answer>;
const ask = agent('ask', { input: Asked, output: Answer, effect: 'none', undo: 'none' });

/** An agent that answers 'done' the n-th time. */
function askedUntil(times: number) {
  let round = 0;
  return ask.handler({
    execute: async () => {
      round += 1;
      return { state: round < times ? 'running' : 'done', round };
    },
  });
}

type Until<Last> = (last: Ref<Last>, given: Ref<z.infer<typeof Asked>>) => Condition;

const polling = (until: Until<Answered>, maxRounds = 10) =>
  workflow('polling', { input: Asked, within: '1d' }, (w) => {
    return w.repeat('poll', ask, w.input, { until, every: '1m', maxRounds }).output;
  });

const isDone: Until<Answered> = (last) => eq(last.state, 'done');

/** The whole minutes that an execution took. */
async function minutes(run: Awaited<ReturnType<ReturnType<typeof testWorkflow>['start']>>): Promise<number> {
  const { execution } = (await run.records()).state;
  const ms = (execution.endedAt ?? Number.NaN) - execution.startedAt;
  expect(ms % 60_000).toBeLessThan(20_000);
  return Math.floor(ms / 60_000);
}

describe('a pause between rounds', () => {
  it.each([
    ['one round', 1, 0],
    ['three rounds', 3, 2],
  ])('of an agent: %s take as many pauses as lie between them', async (_, rounds, pauses) => {
    const trial = testWorkflow(polling(isDone), { agents: [askedUntil(rounds)] });
    const run = await trial.start({ job: 'j', most: 1 });
    const { status, output } = await run.waitForEnd();
    expect(status).toBe('succeeded');
    expect(output).toMatchObject({ rounds, last: { state: 'done' } });
    expect(await minutes(run)).toBe(pauses);
  });

  it('reads what a round was given, and a condition of several parts', async () => {
    const until: Until<Answered> = (last, given) => not(not(gte(last.round, given.most)));
    const trial = testWorkflow(polling(until), { agents: [askedUntil(9)] });
    const run = await trial.start({ job: 'j', most: 4 });
    expect((await run.waitForEnd()).output).toMatchObject({ rounds: 4 });
    expect(await minutes(run)).toBe(3);
  });

  it('comes before the failure that one more round would be needed', async () => {
    const trial = testWorkflow(polling(isDone, 2), { agents: [askedUntil(5)] });
    const run = await trial.start({ job: 'j', most: 1 });
    expect((await run.waitForEnd()).failure).toMatchObject({ code: 'too-many-rounds' });
    expect(await minutes(run)).toBe(2);
  });

  it('follows no round that failed: its retry waits as it says', async () => {
    let calls = 0;
    const flaky = agent('flaky', { input: Asked, output: Answer, effect: 'none', undo: 'none' });
    const handler = flaky.handler({
      execute: async () => {
        calls += 1;
        if (calls === 1) throw new Error('not yet');
        return { state: calls === 3 ? 'done' : 'running', round: calls };
      },
    });
    const once = workflow('once', { input: Asked, within: '1h' }, (w) => {
      const asked = w.step('ask', flaky, w.input, { recovery: [retry(0)] });
      return { state: asked.output.state };
    });
    const retrying = workflow('retrying', { input: Asked, within: '1d' }, (w) => {
      const recovery = [retry(2, { delay: '1s', maxDelay: '1s' })];
      const until = (last: Ref<{ state: string }>) => eq(last.state, 'done');
      return w.repeat('poll', once, w.input, { until, every: '1m', maxRounds: 5, recovery }).output;
    });
    const trial = testWorkflow(retrying, { agents: [handler] });
    const run = await trial.start({ job: 'j', most: 1 });
    expect((await run.waitForEnd()).output).toMatchObject({ rounds: 2 });
    expect(await minutes(run)).toBe(1);
  });
});

type Batch = { readonly at: number; readonly more: boolean };

describe('a pause between rounds of a workflow', () => {
  const copies = (until: (last: Ref<Batch>) => Condition) =>
    workflow('copies', { input: z.object({}), within: '1d' }, (w) => {
      const all = w.repeat(
        'batches',
        batch,
        { at: 1 },
        { next: (last) => ({ at: last.at }), until, every: '10m', maxRounds: 5 },
      );
      return { rounds: all.output.rounds };
    });

  it.each<[string, (last: Ref<Batch>) => Condition]>([
    ['a value of its answer', (last) => eq(last.more, false)],
    ['a value that may be absent', (last) => eq(orElse(last.more, true), false)],
    ['a field that is there', (last) => not(eq(last.more, true))],
  ])('ends with the last of them, by %s', async (_, until) => {
    const { agents } = copier(3);
    const trial = testWorkflow(copies(until), { agents });
    const run = await trial.start({});
    expect((await run.waitForEnd()).output).toEqual({ rounds: 3 });
    expect(await minutes(run)).toBe(20);
  });

  it('has the round undone as without it', async () => {
    const { agents, undone } = copier(5, (at) => at === 3);
    const trial = testWorkflow(
      copies((last) => eq(last.more, false)),
      { agents },
    );
    const run = await trial.start({});
    expect((await run.waitForEnd()).status).toBe('compensated');
    expect(undone).toEqual(['batch-2', 'batch-1']);
  });

  it('keeps its name apart from those of on-failure steps', () => {
    const tell = agent('tell', { input: z.object({}), output: z.object({}), effect: 'none', undo: 'none' });
    const failing = workflow('failing', { input: Asked, within: '1h' }, (w) => {
      w.onFailure('pause', tell, {});
      return { state: w.step('ask', ask, w.input, { recovery: [retry(0)] }).output.state };
    });
    const all = workflow('all', { input: Asked, within: '1d' }, (w) => {
      w.repeat('rounds', failing, w.input, {
        until: (last) => eq(last.state, 'done'),
        every: '1m',
        maxRounds: 3,
      });
    });
    expect(all.plan.steps[0]).toMatchObject({ plan: { steps: [{ name: 'ask' }, { name: 'pause-2' }] } });
  });

  it('is refused where the round would keep its place in a lane meanwhile', () => {
    const Input = z.object({ key: z.string() });
    const single = workflow(
      'single',
      { input: Input, within: '1h', concurrency: { key: (input) => input.key, limit: 1, waitWithin: '1h' } },
      (w) => ({ state: w.step('ask', ask, { job: w.input.key, most: 1 }).output.state }),
    );
    expect(() =>
      workflow('all', { input: Input, within: '1d' }, (w) => {
        w.repeat('rounds', single, w.input, {
          until: (last) => exists(last.state),
          every: '1m',
          maxRounds: 3,
        });
      }),
    ).toThrow(/'single' has a 'concurrency', and would keep its place during each pause/);
  });
});

const Round = z.object({ at: z.number() });
const computing = workflow('computing', { input: Round, within: '1h' }, (w) => {
  const one = w.step('ask', ask, { job: 'j', most: 1 });
  return {
    state: orElse(
      w.step('more', ask, { job: one.output.state, most: 1 }, { mayFail: true }).output.state,
      'none',
    ),
  };
});
const around =
  (until: (last: Ref<{ state: string }>, from: Ref<{ at: number }>) => Condition, every: '1m' | '2d') => () =>
    workflow('around', { input: Round, within: '1d' }, (w) => {
      w.repeat('rounds', computing, w.input, { until: (last) => until(last, w.input), every, maxRounds: 3 });
    });

const either = workflow('either', { input: Round, within: '1h' }, (w) => {
  const one = w.step('ask', ask, { job: 'j', most: 1 }, { mayFail: true });
  return { best: orElse(one.output, { state: 'none', round: 0 }) };
});

it.each([
  [
    'a part of what an operator computes',
    () =>
      workflow('around', { input: Round, within: '1d' }, (w) => {
        const until = (last: Ref<{ best: Answered }>) => eq(last.best.state, 'done');
        w.repeat('rounds', either, w.input, { until, every: '1m', maxRounds: 3 });
      }),
    "beside 'every' its 'until' may not read 'best.state' of the answer, which 'either' computes",
  ],
  [
    'what the workflow around the rounds was given',
    around((last, from) => gte(last.state, from.at as never), '1m'),
    "beside 'every' its 'until' may read the round's answer and what it was given, and it reads input",
  ],
  ['longer than the workflow lasts', around((last) => exists(last.state), '2d'), 'it pauses for 2d'],
])('a pause is refused: %s', (_, build, message) => {
  expect(build).toThrow(message);
});

it('asks of an answer that an operator computes as the step around the rounds does', async () => {
  let round = 0;
  const handler = ask.handler({
    execute: async () => ({ state: (round += 1) < 6 ? 'running' : 'done', round }),
  });
  const trial = testWorkflow(around((last) => eq(last.state, 'done'), '1m')(), { agents: [handler] });
  const run = await trial.start({ at: 1 });
  expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(await minutes(run)).toBe(2);
});
