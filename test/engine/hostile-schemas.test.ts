/** Schemas that throw, answer with anything, or change what they check: none fails a call as internal. */

import * as z from 'zod/mini';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { start } from '../../lib/scheduler/start.ts';
import { check } from '../../lib/engine/schema.ts';
import { anAgent, harness } from './harness.ts';

const answering = (answer: unknown) =>
  ({ '~standard': { version: 1, vendor: 'x', validate: () => answer } }) as never;
const unreadable = {
  get message(): string {
    throw new Error('no message');
  },
};

it.each([
  ['nothing', undefined],
  ['null', null],
  ['issues that are no list', { issues: 5 }],
  ['an issue that is null', { issues: [null] }],
  ['a path that is no list', { issues: [{ message: 'x', path: 7 }] }],
  ['an issue that cannot be read', { issues: [unreadable] }],
])('a schema that answers with %s counts as one that throws', async (_, answer) => {
  const issues = expect.stringContaining('the schema itself threw') as string;
  expect(await check(answering(answer), 1, {})).toMatchObject({ issues, threw: true });
});

const served = (make: (input: Record<string, unknown>) => unknown) => {
  const input = z.pipe(z.record(z.string(), z.any()), z.transform(make));
  const flow = workflow('flow', { input: input as never, within: '1h' }, (w) => {
    w.step('a', anAgent('a'), {});
  });
  const { scheduler } = harness(flow as Workflow, { a: { execute: async () => ({}) } });
  return (idempotencyKey: string) => start(scheduler, { workflow: 'flow', input: { x: 1 }, idempotencyKey });
};

it.each([
  [
    'a getter that throws',
    {
      get a(): string {
        throw new Error('hidden');
      },
    },
  ],
  [
    'a proxy that throws',
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('hidden');
        },
      },
    ),
  ],
])('refuses a start whose schema makes %s, and names the workflow', async (_, value) => {
  const message = "the input of workflow 'flow', as its schema makes it, is not acceptable: hidden";
  await expect(served(() => value)('k')).rejects.toMatchObject({ code: 'bad-input', message });
});

it('knows a repeated start by what was sent, although its schema changes that', async () => {
  let calls = 0;
  const begin = served((input) => Object.assign(input, { call: (calls += 1) }));
  const { id } = await begin('k');
  expect(await begin('k')).toMatchObject({ id });
});
