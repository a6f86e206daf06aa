/** Invalid outputs of list items and of on-failure steps, and refused inputs after a step's `within`. */

import {
  agent,
  cannotTell,
  askPerson,
  PermanentError,
  retry,
  TransientError,
  withInput,
  workflow,
} from 'steadfast';
import { externalWorld, testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Receipt = z.object({ id: z.string() });

it('the items of a list are asked about one by one, and listeners are informed once', async () => {
  const act = agent('act', { input: z.any(), output: Receipt, effect: 'idempotent', undo: 'none' });
  const flow = workflow('many', { input: z.object({ list: z.array(z.number()) }), within: '10d' }, (w) => {
    w.map('all', act, w.input.list, (item) => ({ item }));
  });
  const handler = act.handler({ execute: async () => ({ id: 5 }) as never } as never);
  const trial = testWorkflow(flow, { agents: [handler] });
  const run = await trial.start({ list: [1, 2, 3] }, { tags: { booking: '4711' } });
  await trial.skip('1h');
  const [part] = await run.children('all');
  expect((await part?.incidents())?.map(({ step, wrongAnswer }) => [step, wrongAnswer])).toEqual([
    ['all[0]', '{"id":5}'],
    ['all[1]', '{"id":5}'],
    ['all[2]', '{"id":5}'],
  ]);
  expect(trial.questionNews).toMatchObject([
    {
      change: 'opened',
      step: 'all[0]',
      workflow: 'many',
      tags: { booking: '4711' },
      root: { executionId: run.id, workflow: 'many', tags: { booking: '4711' } },
    },
  ]);
  expect(trial.questionNews).toHaveLength(1);
});

it('each part of a list in several parts announces its question, and listeners group them by its root', async () => {
  const act = agent('act', { input: z.any(), output: Receipt, effect: 'idempotent', undo: 'none' });
  const flow = workflow('parts', { input: z.object({ list: z.array(z.number()) }), within: '10d' }, (w) => {
    const recovery = [askPerson({ within: '2d', remindEvery: '12h' })];
    w.map('all', act, w.input.list, (item) => ({ item }), { recovery });
  });
  const handler = act.handler({ execute: async () => ({ id: 5 }) as never } as never);
  const trial = testWorkflow(flow, { agents: [handler] });
  const start = async (many: number) => trial.start({ list: [...Array(many).keys()] });
  const runs = [await start(60), await start(26)];
  const asksOf = (wanted: string, at: number): Set<string> => {
    const its = trial.questionNews.filter(({ root }) => root?.executionId === runs[at]?.id);
    return new Set(its.filter(({ change }) => change === wanted).map(({ executionId }) => executionId));
  };
  await trial.skip('1h');
  const asked = [];
  for (const part of (await runs[0]?.children('all')) ?? []) asked.push(...(await part.incidents()));
  expect(asked.filter(({ wrongAnswer }) => wrongAnswer === '{"id":5}')).toHaveLength(60);
  expect([asksOf('opened', 0).size, asksOf('opened', 1).size]).toEqual([3, 2]);
  expect(trial.questionNews).toHaveLength(5);
  await trial.skip('12h');
  expect(trial.questionNews.filter(({ change }) => change === 'reminded')).toHaveLength(5);
  for (const run of runs) await run.waitForEnd();
  expect([asksOf('closed', 0).size, asksOf('closed', 1).size]).toEqual([3, 2]);
});

it('once the announced question of a part is answered, its next one is announced', async () => {
  const act = agent('act', { input: z.any(), output: Receipt, effect: 'idempotent', undo: 'none' });
  const flow = workflow('again', { input: z.object({ list: z.array(z.number()) }), within: '10d' }, (w) => {
    w.map('all', act, w.input.list, (item) => ({ item }), { recovery: [askPerson({ within: '2d' })] });
  });
  const handler = act.handler({ execute: async () => ({ id: 5 }) as never } as never);
  const trial = testWorkflow(flow, { agents: [handler] });
  const run = await trial.start({ list: [1, 2, 3] });
  await trial.skip('1h');
  const [part] = await run.children('all');
  const news = () => trial.questionNews.filter(({ change }) => change === 'opened');
  expect(news()).toHaveLength(1);

  // Another one is retried, and answers wrongly again: the announced one is open.
  const incidents = (await part?.incidents()) ?? [];
  const other = incidents.find(({ number }) => number !== news()[0]?.incident);
  await part?.resolve({ choice: 'retry', incident: other?.number as number });
  await trial.skip('1h');
  expect(news()).toHaveLength(1);
  const output = { id: 'r' };
  await part?.resolve({ choice: 'give-output', output, incident: news()[0]?.incident as number });
  await part?.resolve({ choice: 'retry' });
  await trial.skip('1h');
  expect(news()).toHaveLength(2);
});

it('each workflow of a list asks for itself, and names the root of all', async () => {
  const one = agent('one', { input: z.any(), output: Receipt, effect: 'idempotent', undo: 'none' });
  const handler = one.handler({ execute: async () => ({ id: 5 }) as never } as never);
  const each = workflow('each', { input: z.object({ item: z.number() }), within: '5d' }, (w) => {
    w.step('a', one, w.input);
  });
  const flow = workflow(
    'of-flows',
    { input: z.object({ list: z.array(z.number()) }), within: '10d' },
    (w) => {
      w.map('all', each, w.input.list, (item) => ({ item }));
    },
  );
  const trial = testWorkflow(flow, { agents: [handler], workflows: [each] });
  const { id } = await trial.start({ list: [1, 2, 3] });
  await trial.skip('1h');
  const root = { executionId: id, workflow: 'of-flows' };
  expect(trial.questionNews.map((news) => [news.step, news.root])).toEqual([1, 2, 3].map(() => ['a', root]));
});

it('an on-failure step asks no person', async () => {
  const act = agent('act', { input: z.any(), output: z.any(), effect: 'idempotent', undo: 'none' });
  const mail = agent('mail', { input: z.any(), output: Receipt, effect: 'idempotent', undo: 'none' });
  const flow = workflow('told', { input: z.any(), within: '10d' }, (w) => {
    w.step('act', act, {});
    w.onFailure('mail', mail, {});
  });
  const agents = [
    act.handler({ execute: async () => Promise.reject(new PermanentError('no')) } as never),
    mail.handler({ execute: async () => ({ id: 5 }) as never } as never),
  ];
  const trial = testWorkflow(flow, { agents });
  const end = await (await trial.start({})).waitForEnd();
  expect([end.status, end.incidents]).toEqual(['failed', []]);
  expect(trial.announced.at(-1)?.onFailureFailed).toEqual([
    { step: 'mail', code: 'bad-output', mayStand: true },
  ]);
});

it('a refused input is asked about also where the time of its step is over', async () => {
  const strict = agent('strict', {
    input: z.object({ n: z.number() }),
    output: z.any(),
    effect: 'idempotent',
    undo: 'none',
  });
  const flow = workflow('late', { input: z.object({ n: z.any() }), within: '10d' }, (w) => {
    w.step('strict', strict, { n: w.input.n }, { within: '1m' });
  });
  const trial = testWorkflow(flow, { agents: [strict.handler({ execute: async () => 1 } as never)] });
  trial.delay(strict, { by: '2m' });
  const run = await trial.start({ n: 'text' });
  expect(await run.waitForIncident()).toMatchObject({ failure: { code: 'input-refused' } });
});

describe('asked for again, work that is done is not undone for what comes of that', () => {
  it.each<[string, Error, object?, object?]>([
    ['it is refused for good', new PermanentError('no')],
    ['the service is down', new TransientError('503')],
    ['outcomes are unknown', new Error('reset')],
    [
      'another stage would come',
      new PermanentError('no'),
      { recovery: [withInput({ n: 2 })] },
      { probe: 'none' },
    ],
    ['it may fail', new PermanentError('no'), { mayFail: true }],
    ['a person is its last stage', new Error('reset'), { recovery: [askPerson({ within: '1d' })] }],
    [
      'its time is over before the next try',
      new TransientError('503'),
      { within: '1m', recovery: [retry(9, { delay: '1h', maxDelay: '1h' })] },
    ],
    ['no probe can tell', new Error('unused'), {}, { effect: 'probed' }],
    ['it has no effect', new PermanentError('no'), {}, { effect: 'none' }],
  ])('%s', async (_, error, step = {}, declared = {}) => {
    const world = externalWorld();
    const charge = agent('charge', {
      input: z.any(),
      output: Receipt,
      effect: 'idempotent',
      ...declared,
    } as never);
    const flow = workflow('again', { input: z.any(), within: '10d' }, (w) => {
      w.step('charge', charge as never, {}, step as never);
    });
    let tries = 0;
    const handler = charge.handler({
      execute: async ({ idempotencyKey }: { idempotencyKey: string }) => {
        await world.actOnce(idempotencyKey, 'charge');
        tries += 1;
        if (tries > 1) throw error;
        return { id: 5 };
      },
      ...('probe' in declared ? {} : { probe: async () => cannotTell('no record') }),
      undo: ({ idempotencyKey }: { idempotencyKey: string }) => world.undo(idempotencyKey),
    } as never);
    const run = await testWorkflow(flow, { agents: [handler] }).start({});
    await run.waitForIncident();
    await run.resolve({ choice: 'retry' });
    const asked = await run.waitForIncident();
    expect(asked).toMatchObject({ number: 2, wrongAnswer: '{"id":5}' });
    expect(asked.choices.map(({ choice }) => choice)).toContain('give-output');
    expect(world.effects()).toMatchObject([{ undone: false }]);
    await run.resolve({ choice: 'give-output', output: { id: 'r' } });
    expect((await run.waitForEnd()).status).toBe('succeeded');
    expect(world.effects()).toMatchObject([{ undone: false }]);
  });

  it('nor where the whole execution is tried again', async () => {
    const world = externalWorld();
    const charge = agent('charge', { input: z.any(), output: Receipt, effect: 'idempotent' });
    const flow = workflow('again', { input: z.any(), within: '10d' }, (w) => {
      w.step('charge', charge, {});
    });
    let tries = 0;
    const handler = charge.handler({
      execute: async ({ idempotencyKey }) => {
        await world.actOnce(idempotencyKey, 'charge');
        tries += 1;
        if (tries > 1) throw new PermanentError('no');
        return { id: 5 } as never;
      },
      undo: ({ idempotencyKey }) => world.undo(idempotencyKey),
    });
    const run = await testWorkflow(flow, { agents: [handler] }).start({});
    await run.waitForIncident();
    await run.resolve({ choice: 'keep' });
    expect((await run.waitForEnd()).status).toBe('failed');
    await run.retry();
    expect(await run.waitForIncident()).toMatchObject({ number: 2, wrongAnswer: '{"id":5}' });
    expect(world.effects()).toMatchObject([{ undone: false }]);
  });
});

describe('a question that got no answer in time is said', () => {
  const input = z.object({ n: z.number() });
  const declared = { output: Receipt, effect: 'idempotent', undo: 'none' } as const;
  const charge = agent('charge', { input, ...declared });
  const wrong = charge.handler({ execute: async () => ({ id: 5 }) as never });
  const failing = charge.handler({ execute: () => Promise.reject(new PermanentError('no')) });
  const unanswered = /nobody answered by 20/g;

  it.each<[string, unknown, typeof wrong, object]>([
    ['of a wrong answer', 1, wrong, { mayFail: true }],
    ['of a failure', 1, failing, { mayFail: true, recovery: [askPerson({ within: '1d' })] }],
    ['that ends it', 1, failing, { recovery: [askPerson({ within: '1d' })] }],
    ['of a refused input', 'text', failing, {}],
  ])('%s, once', async (_, n, handler, options) => {
    const flow = workflow('silent', { input: z.any(), within: '10d' }, (w) => {
      w.step('charge', charge, w.input as never, options);
    });
    const run = await testWorkflow(flow, { agents: [handler] }).start({ n });
    await run.waitForIncident();
    const { status, failure } = await run.waitForEnd();
    const because = (await run.why()).steps[0]?.because ?? '';
    expect(because.match(unanswered)).toHaveLength(1);
    if (status !== 'succeeded') expect(failure?.message.match(unanswered)).toHaveLength(1);
  });
});
