/** Outputs of a list that were too large to store: a step that reads them gets no other value instead. */

import { agent, and, eq, exists, orElse, required, type Workflow, workflow } from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Part = z.object({ text: z.string() });
const read = agent('read', {
  input: z.object({ at: z.number() }),
  output: Part,
  effect: 'none',
});
const join = agent('join', { input: z.any(), output: z.any(), effect: 'none' });
const input = z.object({ list: z.array(z.number()) });

type Reading =
  | 'plain'
  | 'orElse'
  | 'present'
  | 'whole'
  | 'child'
  | 'list'
  | 'condition'
  | 'asked'
  | 'answered';

const part = workflow('part', { input: z.any(), within: '1h' }, (w) => {
  w.step('it', join, w.input);
});

const flowOf = (how: Reading): Workflow =>
  workflow('reduce', { input, within: '1h' }, (w) => {
    const all = w.map('all', read, w.input.list, (at) => ({ at }));
    const { items } = all.output;
    const after = [all];
    if (how === 'plain') w.step('join', join, { items });
    if (how === 'orElse') w.step('join', join, { items: orElse(items, []) });
    if (how === 'present') w.step('join', join, { items: required(items as never) });
    if (how === 'whole') w.step('join', join, { all: all.output });
    if (how === 'child') w.child('join', part as never, { items } as never);
    if (how === 'list') w.map('join', join, items, (item) => ({ item }));
    if (how === 'condition')
      w.step('join', join, {}, { when: eq(orElse(items[0], 0) as never, null), after });
    if (how === 'asked')
      w.step('join', join, { total: all.output.total }, { when: and(exists(items)), after });
    return how === 'answered' ? { items } : { of: all.output.total };
  }) as Workflow;

const ran = async (how: Reading, bytes: number) => {
  const agents = [
    read.handler({ execute: async () => ({ text: 'x'.repeat(bytes) }) }),
    join.handler({ execute: async () => ({ joined: true }) }),
  ];
  const run = await testWorkflow(flowOf(how), { agents: agents as never, largeValues: false }).start({
    list: [...Array(10).keys()],
  });
  return run.waitForEnd();
};

const READERS: readonly Reading[] = ['plain', 'orElse', 'present', 'whole', 'child', 'list', 'condition'];

it.each(READERS)('what reads them fails, and says both sizes: %s', async (how) => {
  expect((await ran(how, 1_000)).status).toBe('succeeded');
  expect(await ran(how, 11_000)).toMatchObject({
    status: 'failed',
    failure: {
      code: 'list-too-large',
      message: expect.stringMatching(
        /items of 'all', which have 110121 bytes in all; at most 100000 are allowed/,
      ),
    },
  });
});

it('a condition that only asks whether they exist is false', async () => {
  const end = await ran('asked', 11_000);
  expect(end).toMatchObject({ status: 'succeeded', output: { of: 10 } });
  expect(end.steps['join']?.status).toBe('skipped');
});

it('an output of the workflow is not shown without them, and nothing is undone for that', async () => {
  expect(await ran('answered', 1_000)).toMatchObject({ output: { items: expect.any(Array) } });
  const end = await ran('answered', 11_000);
  expect(end.status).toBe('succeeded');
  expect(end.output).toBeUndefined();
});
