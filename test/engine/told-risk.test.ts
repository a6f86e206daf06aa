/** An execution at risk is announced once each time, with its id. */

import { TransientError } from '../../lib/core/values/errors.ts';
import { retry, workflow } from '../../lib/author/builder/workflow.ts';
import { anAgent, anyObject, harness } from './harness.ts';

const undo = async (): Promise<void> => undefined;
const fine = { execute: async () => ({}), undo };

const tried = workflow('tried', { input: anyObject, within: '10d' }, (w) => {
  const recovery = [retry(1, { delay: '1h' }), retry(1, { delay: '1h' })];
  const first = w.step('first', anAgent('first'), {}, { recovery });
  w.step('second', anAgent('second'), {}, { recovery, after: [first] });
});
/** Fails this many times. */
const failing = (times: number) => {
  let left = times;
  const execute = async (): Promise<object> => {
    left -= 1;
    if (left >= 0) throw new TransientError('secret');
    return {};
  };
  return { execute, undo };
};

it('is announced once when a step is on its last stage, and again when another one is', async () => {
  const h = harness(tried, { first: failing(2), second: failing(2) });
  const { id, deadlineAt, startedAt } = await h.begin();
  const { execution } = await h.run(id, { maxMs: 86_400_000 });
  expect(execution.status).toBe('succeeded');
  const atRisk = {
    about: 'risk',
    change: 'at-risk',
    executionId: id,
    workflow: 'tried',
    startedAt,
    deadlineAt,
  };
  expect(h.news).toMatchObject([{ ...atRisk, view: `/executions/${id}/why` }, atRisk]);
  expect(JSON.stringify(h.news)).not.toContain('secret');
});

it('is not announced if a retry ends it', async () => {
  const h = harness(tried, { first: failing(1), second: fine });
  const { id } = await h.begin();
  await h.run(id, { maxMs: 86_400_000 });
  expect(h.news).toEqual([]);
});

const long = workflow('long', { input: anyObject, within: '4m' }, (w) => {
  const slow = w.wait('slow', { for: '190s' });
  const first = w.step('first', anAgent('first'), {}, { after: [slow] });
  w.step('second', anAgent('second'), {}, { after: [first] });
});

it('is announced when three quarters of its time are over, by the next writer', async () => {
  const h = harness(long, { first: fine, second: fine });
  const { id, startedAt } = await h.begin();
  await h.run(id, { maxMs: 86_400_000 });
  expect(h.news).toHaveLength(1);
  const [news] = h.news;
  expect(news).toMatchObject({ about: 'risk', executionId: id, workflow: 'long' });
  expect(news?.at).toBeGreaterThanOrEqual(startedAt + 180_000);
});

it('holds nothing up where nobody listens', async () => {
  const h = harness(tried, { first: failing(2), second: fine }, 1, (world) => ({
    ...world,
    announcer: {
      announce: async (news) => {
        if (news.about === 'risk') throw new Error('away');
        await world.announcer.announce(news);
      },
    },
  }));
  const { id } = await h.begin();
  expect((await h.run(id, { maxMs: 86_400_000 })).execution.status).toBe('succeeded');
  expect(h.notes).toContainEqual({ what: 'not-announced', executionId: id, detail: 'Error' });
});
