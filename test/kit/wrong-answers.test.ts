/**
 * An agent returns an invalid output: the work may be done, so a person is asked before any undo (S6, S10).
 * Values that JSON leaves out do not make an output invalid.
 */

import { agent, type AgentOptions, done, askPerson, useAgent, withInput, workflow } from 'steadfast';
import { crashEverywhere, externalWorld, testWorkflow, type TestRun } from 'steadfast/testing';
import * as z from 'zod/mini';

const Receipt = z.object({ id: z.string(), note: z.optional(z.string()) });
const anything = { input: z.any(), effect: 'idempotent' } as const;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const circle: { self?: unknown } = {};
circle.self = circle;

interface Ways {
  readonly options?: Partial<AgentOptions<unknown, unknown>>;
  readonly recovery?: readonly ReturnType<typeof askPerson | typeof withInput | typeof useAgent>[];
  readonly within?: `${number}${'h' | 'd'}`;
  readonly more?: Record<string, unknown>;
  readonly probe?: () => unknown;
}

/** Runs a step and then the tested step, whose agent gives the test's answer. */
async function charged(answer: (n: number) => unknown, ways: Ways = {}) {
  const world = externalWorld();
  let answers = 0;
  const charge = agent('charge', { ...anything, output: Receipt, ...ways.options } as AgentOptions<
    unknown,
    { id: string }
  >);
  const reserve = agent('reserve', { ...anything, output: z.any() });
  const flow = workflow('pay', { input: z.any(), within: ways.within ?? '10d' }, (w) => {
    const first = w.step('reserve', reserve, {});
    const { recovery } = ways;
    const step = { after: [first], ...ways.more, ...(recovery === undefined ? {} : { recovery }) };
    const paid = w.step('charge', charge as never, {}, step as never);
    w.step('tell', reserve, {}, { after: [paid] });
  });
  const agents = [
    charge.handler({
      execute: async (ctx: { idempotencyKey: string }) => {
        await world.actOnce(ctx.idempotencyKey, 'charge');
        answers += 1;
        return answer(answers);
      },
      ...(ways.probe === undefined ? {} : { probe: ways.probe }),
      ...(ways.options?.undo === 'none'
        ? {}
        : { undo: (ctx: { idempotencyKey: string }) => world.undo(ctx.idempotencyKey) }),
    } as never),
    reserve.handler({
      execute: async (ctx: { idempotencyKey: string }) =>
        void (await world.actOnce(ctx.idempotencyKey, 'other')),
      undo: (ctx: { idempotencyKey: string }) => world.undo(ctx.idempotencyKey),
    } as never),
  ];
  // The bound is that of a record.
  const trial = testWorkflow(flow, { agents, largeValues: false });
  const run = await trial.start({});
  const charges = () => world.effects().filter(({ kind }) => kind === 'charge');
  return { run, trial, world, flow, agents, charges };
}

const question = async (run: TestRun) => {
  const asked = await run.waitForIncident();
  return { ...asked, names: asked.choices.map(({ choice }) => choice) };
};

it('why says once that the work is done, and of no unknown outcome', async () => {
  const { run } = await charged(() => ({ id: 5 }));
  await run.waitForIncident();
  const because = (await run.why()).steps.find(({ name }) => name === 'charge')?.because ?? '';
  expect(because).toContain('the work is done, and its answer cannot be used: it does not fit');
  expect(because.match(/work is done/g)).toHaveLength(1);
  expect(because).not.toMatch(/failed|unknown outcome/);
  const past = (await run.why()).past.map(({ what }) => what).join('; ');
  expect(past).toContain(': answered: the work is done');
  expect(past).not.toContain('failed');
});

describe('an answer with something in it that JSON leaves out', () => {
  it.each<[string, unknown, unknown]>([
    ['a key that is undefined', { id: 'r', note: undefined }, { id: 'r' }],
    ['a function', { id: 'r', refund: () => undefined }, { id: 'r' }],
    [
      'keys that objects inherit',
      { id: 'r', constructor: 1, prototype: 2 },
      { id: 'r', constructor: 1, prototype: 2 },
    ],
    ['undefined in a list', { id: 'r', list: [1, undefined] }, { id: 'r', list: [1, null] }],
  ])('is the output without it: %s', async (_, answer, output) => {
    const options = { output: z.looseObject({ id: z.string() }) };
    const { run, charges } = await charged(() => answer, { options });
    const { status, steps } = await run.waitForEnd();
    expect([status, steps['charge']?.output]).toEqual(['succeeded', output]);
    expect(charges()).toMatchObject([{ undone: false }]);
  });

  it('is taken also by a schema that takes no such key', async () => {
    const { run } = await charged(() => ({ id: 'r', note: undefined }), {
      options: { output: z.strictObject({ id: z.string() }) },
    });
    expect((await run.waitForEnd()).status).toBe('succeeded');
  });

  it('is left out of an answer to a callback and of outputs that a test gives as well', async () => {
    const Start = z.object({ a: z.string(), b: z.exactOptional(z.string()) });
    const made = z.pipe(
      z.any(),
      z.transform((given: object) => ({ ...given, more: undefined })),
    );
    const flow = workflow('ask', { input: Start, within: '1d' }, (w) => {
      const seat = w.callback('seat', { output: made as never, within: '1h' });
      return { seat: (seat as { output: unknown }).output };
    });
    const run = await testWorkflow(flow, { agents: [] }).start({ a: 'x', b: undefined } as never);
    await run.complete('seat', { seat: 1, window: undefined });
    const end = await run.waitForEnd();
    expect([end.status, end.output]).toEqual(['succeeded', { seat: { seat: 1 } }]);
    await expect(testWorkflow(flow, { agents: [] }).start({ a: new Date(0) } as never)).rejects.toThrow(
      'the input that the test gives: /a is not plain JSON but of class Date: give its toISOString()',
    );
  });
});

describe('an answer that does not fit the output', () => {
  const throwing = {
    '~standard': {
      version: 1,
      vendor: 'x',
      validate: () => {
        throw new TypeError('no schema');
      },
    },
  };
  it.each<[string, unknown, RegExp, string, object?]>([
    [
      'a date',
      { id: 'r', at: new Date(0) },
      /\/at is not plain JSON but of class Date/,
      '"at":"1970-01-01T00:00:00.000Z"',
    ],
    ['no number', { id: 'r', n: Number.NaN }, /\/n is not a finite number/, '"n":"(NaN)"'],
    ['a bigint', { id: 'r', n: 12n }, /\/n is bigint, which JSON cannot hold/, '"n":"12n"'],
    ['a circle', { id: 'r', circle }, /JSON cannot hold a cycle/, '"self":"(a circle)"'],
    ['what does not fit', { id: 5 }, /does not fit the agent's schema: id/, '{"id":5}', { output: Receipt }],
    [
      'what is too large',
      { id: 'x'.repeat(300_000) },
      /it has 300009 bytes; at most 262144 are allowed/,
      '{"id":"xxxx',
    ],
    [
      'a property that throws',
      {
        id: 'r',
        get b() {
          throw new Error('no b');
        },
      },
      /cannot be read: Error: no b/,
      '(it cannot be shown: no b)',
    ],
    [
      'anything, to a schema that throws',
      { id: 'r' },
      /the schema itself threw TypeError: no schema/,
      '{"id":"r"}',
      { output: throwing },
    ],
  ])(
    'is asked about while the work stands: %s',
    async (_, answer, why, shown, options = { output: z.any() }) => {
      const { run, charges } = await charged(() => answer, { options });
      const asked = await question(run);
      expect(asked).toMatchObject({ kind: 'recovery', step: 'charge', otherwise: 'undo-all' });
      expect(asked.failure.message).toMatch(/^the work is done, and its answer cannot be used: /);
      expect(asked.failure.message).toMatch(why);
      expect(asked.wrongAnswer).toContain(shown);
      expect(Buffer.byteLength(asked.wrongAnswer ?? '')).toBeLessThanOrEqual(4_096);
      expect(asked.names).toEqual(['give-output', 'retry', 'undo-all', 'keep']);
      expect(asked.deadlineAt - asked.openedAt).toBe(DAY_MS);
      expect(charges()).toMatchObject([{ undone: false }]);
      await run
        .resolve({ choice: 'give-output', output: { id: 'given' } })
        .catch(() => run.resolve({ choice: 'keep' }));
      const end = await run.waitForEnd();
      expect(end.status).toMatch(/succeeded|failed/);
      expect(charges()).toMatchObject([{ undone: false }]);
    },
  );

  it('is undone without an answer in time, and the end says why', async () => {
    const { run, charges } = await charged(() => ({ id: 5 }));
    const end = await run.waitForEnd();
    expect(end.status).toBe('compensated');
    expect(end.failure?.message).toMatch(
      /^the work is done, .* id: .*; a person was asked, and nobody answered by .*, so what it did is undone$/,
    );
    expect(charges()).toMatchObject([{ undone: true }]);
  });

  it('is asked about before every other stage, for as long as the person stage says', async () => {
    const recovery = [withInput({ other: 1 }), askPerson({ within: '2h', otherwise: 'undo' })];
    const { run, charges } = await charged(() => ({ id: 5 }), {
      options: { probe: 'none' } as never,
      recovery,
    });
    const asked = await question(run);
    expect(asked.deadlineAt - asked.openedAt).toBe(2 * HOUR_MS);
    expect(charges()).toHaveLength(1);
  });

  it('has no longer than the execution', async () => {
    const { run } = await charged(() => ({ id: 5 }), { within: '6h' });
    const { openedAt, deadlineAt } = await question(run);
    expect(deadlineAt - openedAt).toBeLessThanOrEqual(6 * HOUR_MS);
    expect(deadlineAt - openedAt).toBeGreaterThan(5 * HOUR_MS);
  });

  it('of a step that may fail is tolerated after half of the remaining time', async () => {
    const { run, charges } = await charged(() => ({ id: 5 }), { within: '10h', more: { mayFail: true } });
    const asked = await question(run);
    expect([asked.names, asked.otherwise]).toEqual([
      ['give-output', 'retry', 'continue', 'undo-all', 'keep'],
      'continue',
    ]);
    expect(Math.abs(asked.deadlineAt - asked.openedAt - 5 * HOUR_MS)).toBeLessThan(60_000);
    expect(charges()).toMatchObject([{ undone: false }]);
    expect((await run.waitForEnd()).status).toBe('succeeded');
    expect(charges()).toMatchObject([{ undone: true }]);
  });

  it('behind a point of no return has seven days, and stays as it is', async () => {
    const { run, charges } = await charged(() => ({ id: 5 }), {
      more: { pointOfNoReturn: true },
      within: '2h',
    });
    const asked = await question(run);
    expect([asked.otherwise, asked.deadlineAt - asked.openedAt]).toEqual(['keep', 7 * DAY_MS]);
    expect(asked.names).toEqual(['give-output', 'retry', 'keep']);
    const end = await run.waitForEnd();
    expect([end.status, end.failure?.message]).toEqual([
      'failed',
      expect.stringMatching(/so what it did stands$/),
    ]);
    expect(charges()).toMatchObject([{ undone: false }]);
  });

  it('about what has no undo stands, and the end says so', async () => {
    const { run, trial, world } = await charged(() => ({ id: 5 }), { options: { undo: 'none' } });
    const end = await run.waitForEnd();
    expect([end.status, end.failure?.message]).toEqual([
      'failed',
      expect.stringMatching(/so what it did stands$/),
    ]);
    expect(trial.announced.at(-1)).toMatchObject({
      status: 'failed',
      standing: { stands: 1, mayStand: 0, first: [{ step: 'charge', effect: 'stands' }] },
    });
    expect(world.effects()).toMatchObject([
      { kind: 'other', undone: true },
      { kind: 'charge', undone: false },
    ]);
  });

  it('is asked for again by a retry: under the same key', async () => {
    const { run, charges } = await charged((n) => ({ id: n === 1 ? 5 : 'r' }));
    await question(run);
    await run.resolve({ choice: 'retry' });
    expect((await run.waitForEnd()).status).toBe('succeeded');
    expect(charges()).toMatchObject([{ undone: false }]);
  });

  it('of a probed step is probed by a retry, and a misfit that a probe finds asks at once', async () => {
    let probes = 0;
    const probe = async () => done({ id: (probes += 1) === 1 ? 5 : 'r' });
    const { run, charges, trial } = await charged(() => ({ id: 5 }), {
      options: { effect: 'probed' },
      probe,
    });
    expect((await question(run)).names).toEqual(['give-output', 'retry', 'undo-all', 'keep']);
    await run.resolve({ choice: 'retry' });
    expect(await question(run)).toMatchObject({ number: 2, wrongAnswer: '{"id":5}' });
    await run.resolve({ choice: 'retry' });
    expect((await run.waitForEnd()).status).toBe('succeeded');
    expect([probes, charges().length]).toEqual([2, 1]);
    expect(trial.calls().filter(({ on, agent: name }) => on === 'execute' && name === 'charge')).toHaveLength(
      1,
    );
  });

  it('is found by crashEverywhere, which says what became of it', async () => {
    const { flow, agents, world } = await charged(() => ({ id: 5 }));
    const { findings } = await crashEverywhere(flow, { input: {}, agents, world });
    expect(findings).toMatchObject([
      {
        kind: 'wrong-answer',
        step: 'charge',
        point: 'none',
        message: expect.stringMatching(/so it was 'undo-all'; it answered \{"id":5\}$/),
      },
    ]);
  });
});
