/**
 * Answers that are no outputs where they are not of a plain step: of the items of a list, of on-failure steps; and inputs that are
 * refused when the time of their step is over.
 */

import { agent, PermanentError, workflow } from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Receipt = z.object({ id: z.string() });

it('of a list the items are asked about one by one, and listeners are told once', async () => {
  const act = agent('act', { input: z.any(), output: Receipt, effect: 'idempotent', undo: 'none' });
  const flow = workflow('many', { input: z.object({ list: z.array(z.number()) }), within: '10d' }, (w) => {
    w.map('all', act, w.input.list, (item) => ({ item }));
  });
  const handler = act.handler({ execute: async () => ({ id: 5 }) as never } as never);
  const trial = testWorkflow(flow, { agents: [handler] });
  const run = await trial.start({ list: [1, 2, 3] });
  await trial.skip('1h');
  const [part] = await run.children('all');
  expect((await part?.incidents())?.map(({ step, wrongAnswer }) => [step, wrongAnswer])).toEqual([
    ['i0', '{"id":5}'],
    ['i1', '{"id":5}'],
    ['i2', '{"id":5}'],
  ]);
  expect(trial.incidentNews.map(({ change, step }) => [change, step])).toEqual([['opened', 'i0']]);
});

it('of an on-failure step nobody is asked', async () => {
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
  const end = await (await trial.start({})).untilEnd();
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
  trial.slow(strict, { by: '2m' });
  const run = await trial.start({ n: 'text' });
  expect(await run.untilIncident()).toMatchObject({ failure: { code: 'input-refused' } });
});
