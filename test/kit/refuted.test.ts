/** After a person retries a step with a wrong answer, that answer no longer decides anything. */

import { accepted, agent, cannotTell, done, notDone, running, workflow } from 'steadfast';
import { testWorkflow, type TestRun } from 'steadfast/testing';
import * as z from 'zod/mini';

const Booked = z.object({ id: z.string() });

interface World {
  readonly execute: (n: number) => unknown;
  readonly probe: (n: number) => unknown;
  readonly recovery?: readonly never[];
  readonly acceptedWithin?: `${number}h`;
}

async function booking({ execute, probe, recovery, acceptedWithin }: World) {
  const calls = { execute: 0, probe: 0, undo: 0 };
  const book = agent('book', {
    input: z.object({}),
    output: Booked,
    effect: 'probed',
    ...(acceptedWithin === undefined ? {} : { acceptedWithin }),
  });
  const pack = agent('pack', { input: z.object({}), output: z.object({}), effect: 'idempotent' });
  const trip = workflow('trip', { input: z.object({}), within: '5d' }, (w) => {
    const packed = w.step('pack', pack, {});
    w.step('book', book, {}, { after: [packed], ...(recovery === undefined ? {} : { recovery }) });
  });
  const handler = book.handler({
    execute: (async () => execute((calls.execute += 1))) as never,
    probe: (async () => probe((calls.probe += 1))) as never,
    undo: async () => {},
  });
  const packing = pack.handler({
    execute: async () => ({}),
    undo: async () => {
      calls.undo += 1;
    },
  });
  const trial = testWorkflow(trip, { agents: [handler, packing] });
  return { run: await trial.start({}), calls };
}

const lost = (): never => {
  throw new Error('200 {"error": …}');
};

const whyOf = async (run: TestRun): Promise<string> => {
  const { past, steps } = await run.why();
  return [...past.map(({ what }) => what), ...steps.map(({ because }) => because)].join('\n');
};

describe('a wrong answer that a person had asked for again, and that was found not done', () => {
  it.each<[string, World]>([
    [
      'is performed, after a probe that trusted its service',
      {
        execute: (n) => (n === 1 ? lost() : { id: 'b-1' }),
        probe: (n) => (n === 1 ? done({ error: 'x' }) : notDone()),
      },
    ],
    [
      'is performed, also where its recovery has nothing left',
      {
        execute: (n) => (n === 1 ? lost() : { id: 'b-1' }),
        probe: (n) => (n === 1 ? done({ error: 'x' }) : notDone()),
        recovery: [],
      },
    ],
    [
      'is performed, after an attempt that answered so',
      { execute: (n) => ({ id: n === 1 ? 5 : 'b-1' }), probe: () => notDone(), recovery: [] },
    ],
    [
      'is performed, after it was found under way for a while',
      {
        execute: (n) => (n === 1 ? lost() : { id: 'b-1' }),
        probe: (n) => (n === 1 ? done({}) : n < 4 ? running() : notDone()),
        recovery: [],
      },
    ],
    [
      'is performed, where its service had accepted it',
      {
        execute: (n) => (n === 1 ? accepted() : { id: 'b-1' }),
        probe: (n) => (n === 1 ? done({ error: 'x' }) : notDone()),
        acceptedWithin: '2h',
        recovery: [],
      },
    ],
  ])('%s', async (_, world) => {
    const { run, calls } = await booking(world);
    await run.waitForIncident();
    await run.resolve({ choice: 'retry' });
    const { status, steps } = await run.waitForEnd();
    expect([status, steps['book']?.output, calls.execute, calls.undo]).toEqual([
      'succeeded',
      { id: 'b-1' },
      2,
      0,
    ]);
    expect(await whyOf(run)).not.toMatch(/no attempt left/);
  });

  it('and fails then is undone for that failure, and why says so alone', async () => {
    const { run, calls } = await booking({ execute: lost, probe: (n) => (n === 1 ? done({}) : notDone()) });
    await run.waitForIncident();
    await run.resolve({ choice: 'retry' });
    const { status, failure } = await run.waitForEnd();
    expect([status, calls.undo]).toEqual(['compensated', 1]);
    expect(failure?.message).not.toMatch(/work is done|answer/);
    const { steps } = await run.why();
    expect(steps.find(({ name }) => name === 'book')?.because).not.toMatch(/work is done/);
  });
});

it.each<[string, World]>([
  ['cannot be told', { execute: lost, probe: (n) => (n === 1 ? done({}) : cannotTell('503')), recovery: [] }],
  [
    'is under way until its time is over',
    {
      execute: () => accepted(),
      probe: (n) => (n === 1 ? done({}) : running()),
      acceptedWithin: '2h',
      recovery: [],
    },
  ],
])('a person is asked again about a wrong answer, asked for again, that %s', async (_, world) => {
  const { run, calls } = await booking(world);
  await run.waitForIncident();
  await run.resolve({ choice: 'retry' });
  const asked = await run.waitForIncident();
  expect([asked.number, asked.wrongAnswer, calls.undo]).toEqual([2, '{}', 0]);
});
