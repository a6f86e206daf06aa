/** The log line of an unsuccessful end contains the failure's code and message. */

import { agent, PermanentError, workflow } from 'steadfast';
import * as z from 'zod/mini';
import { cancel } from '../../../lib/scheduler/commands.ts';
import type { Workflow } from '../../../lib/core/plan/workflow.ts';
import { anAgent, anyObject, harness } from '../../engine/harness.ts';

const failure = { code: 'PermanentError', message: 'no room in eu-south-1' };
const flow = workflow('flow', { input: anyObject, within: '1h' }, (w) => {
  const a = w.step('a', anAgent('worker'), {});
  w.step('b', agent('late', { input: z.any(), output: z.any(), effect: 'idempotent' }), {}, { after: [a] });
}) as unknown as Workflow;
const open = () =>
  harness(flow, {
    worker: { execute: async () => ({}), undo: async () => undefined },
    late: {
      execute: async () => {
        throw new PermanentError(failure.message);
      },
      undo: async () => undefined,
    },
  });

test('each line of a bad end has the code and the message of its cause', async () => {
  const h = open();
  const { id } = await h.begin();
  await h.run(id);
  for (const what of ['step-failed', 'compensating', 'compensated'])
    expect(h.notes.filter((note) => note.what === what)).toMatchObject([{ what, failure }]);
});

test('a cancel does not count as a failure', async () => {
  const h = open();
  const { id } = await h.begin();
  await cancel(h.scheduler, id, {});
  await h.run(id);
  expect(h.notes.filter(({ failure: said }) => said !== undefined)).toEqual([]);
});
