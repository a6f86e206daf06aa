/** An explicit input `null` is not replaced by the step's default input. */

import { agent, eq, askPerson, PermanentError, retry, workflow } from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Cursor = z.nullable(z.string());
const read = agent('read', {
  input: Cursor,
  output: z.object({ next: Cursor, at: z.number() }),
  effect: 'idempotent',
});
const nothing = { input: z.object({}), within: '2d' } as const;

/** @returns the input of each attempt; the first attempt is refused if requested */
function reader(refusesFirst = false) {
  const inputs: (string | null)[] = [];
  const handler = read.handler({
    execute: async (_ctx, input) => {
      inputs.push(input);
      if (refusesFirst && inputs.length === 1) throw new PermanentError('no');
      return { next: null, at: inputs.length };
    },
    undo: async () => {},
  });
  return { agents: [handler], inputs };
}

it('is what the next round is given', async () => {
  const pages = workflow('pages', nothing, (w) => {
    w.repeat('read', read, 'from-the-start', {
      next: (last) => last.next,
      until: (last) => eq(last.at, 3),
      maxRounds: 5,
    });
  });
  const { agents, inputs } = reader();
  const run = await testWorkflow(pages, { agents }).start({});
  expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(inputs).toEqual(['from-the-start', null, null]);
});

it('is what a person gives a step', async () => {
  const page = workflow('page', nothing, (w) => {
    w.step('read', read, 'from-the-start', { recovery: [askPerson()] });
  });
  const { agents, inputs } = reader(true);
  const run = await testWorkflow(page, { agents }).start({});
  await run.waitForIncident();
  await run.resolve({ choice: 'retry-with-input', input: null });
  expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(inputs).toEqual(['from-the-start', null]);
});

it('is what a person gives a group', async () => {
  const page = workflow('page', { input: Cursor, within: '1d' }, (w) => {
    w.step('read', read, w.input, { recovery: [retry(0)] });
  });
  const group = workflow('group', nothing, (w) => {
    w.child('page', page, 'from-the-start', { recovery: [askPerson()] });
  });
  const { agents, inputs } = reader(true);
  const run = await testWorkflow(group, { agents }).start({});
  await run.waitForIncident();
  await run.resolve({ choice: 'retry-with-input', input: null });
  expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(inputs).toEqual(['from-the-start', null]);
});
