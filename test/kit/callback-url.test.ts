/** The notifications of a start with a `callbackUrl`, in a test: its own end and questions, and no others. */

import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';
import { workflow } from '../../lib/index.ts';

const input = z.object({});
const callbackUrl = 'https://shop.example/news?token=known';
const inner = workflow('inner', { input, within: '1h' }, (w) => {
  w.approval('ok', { within: '30m' });
});
const outer = workflow('outer', { input, within: '3h' }, (w) => {
  const asked = w.approval('first', { within: '30m' });
  w.child('inner', inner, {}, { after: [asked] });
});

it('has the questions and the end of the execution that was started with it', async () => {
  const trial = testWorkflow(outer, { agents: [], workflows: [inner] });
  const run = await trial.start({}, { callbackUrl });
  const other = await trial.start({});
  for (const one of [run, other]) {
    await one.waitForQuestion('first');
    await one.approve('first', { by: 'ann' });
    const [child] = await one.children('inner');
    await child!.waitForQuestion('ok');
    await child!.approve('ok', { by: 'ann' });
    await one.waitForEnd();
  }
  const sent = trial.notifications.map(({ to, news }) => [
    to,
    news.executionId,
    news.about === 'end' ? news.status : `${news.step} ${news.change}`,
  ]);
  expect(sent).toEqual([
    [callbackUrl, run.id, 'first opened'],
    [callbackUrl, run.id, 'first closed'],
    [callbackUrl, run.id, 'succeeded'],
  ]);
  expect(trial.announced.length).toBeGreaterThan(1);
  expect(JSON.stringify([trial.announced, trial.questionNews])).not.toContain('known');
});

it('is another start with another address', async () => {
  const trial = testWorkflow(outer, { agents: [], workflows: [inner] });
  const idempotencyKey = 'k';
  const { id } = await trial.start({}, { idempotencyKey, callbackUrl });
  expect((await trial.start({}, { idempotencyKey, callbackUrl })).id).toBe(id);
  await expect(
    trial.start({}, { idempotencyKey, callbackUrl: 'https://other.example' }),
  ).rejects.toMatchObject({
    code: 'key-reused',
  });
});
