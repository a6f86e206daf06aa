/** Operators' commands in a user's test. */

import { testWorkflow, type WorkflowTest } from 'steadfast/testing';
import { bookHotel, bookTrip, confirmTrip, goodAgents, type Input } from './trip.ts';

const input = { trip: 'to Ghent' };
const aTest = (): WorkflowTest<Input> => testWorkflow(bookTrip, { agents: goodAgents().agents });

it('pause and resume: what is next begins after the pause', async () => {
  const trial = aTest();
  const run = await trial.start(input);
  await run.pause('a look at the hotel', { within: '2d', by: 'Ann' });
  await trial.skip('1d');
  expect(trial.calls()).toEqual([]);
  const { state } = await run.records();
  expect(state.execution).toMatchObject({
    status: 'paused',
    pauses: [{ reason: 'a look at the hotel', withinMs: 2 * 86_400_000, by: { kind: 'local', name: 'Ann' } }],
  });
  await expect(run.retry()).rejects.toMatchObject({ code: 'not-retryable' });
  await run.resume();
  expect((await run.waitForEnd()).status).toBe('succeeded');
  await expect(run.resume()).rejects.toMatchObject({ code: 'not-resumable' });
  await expect(run.pause()).rejects.toMatchObject({ code: 'not-pausable' });
});

it('cancel and leave what has acted, and have it go on again and again', async () => {
  const trial = aTest();
  trial.delay(confirmTrip, { by: '20s' });
  const run = await trial.start(input);
  await run.until(({ steps }) => steps['hotel']?.status === 'done' && steps['flight']?.status === 'done');
  for (const reason of ['the first', 'the second']) {
    await run.cancel(reason, { undo: false });
    expect(await run.waitForEnd()).toMatchObject({ status: 'failed', failure: { message: reason } });
    await run.retry();
  }
  expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(trial.calls(bookHotel)).toHaveLength(1);
});
