/** If a service accepts work and never does it, the step fails with a reason that other steps can read. */

import { accepted, agent, failed, notDone, orElse, required, retry, workflow } from 'steadfast';
import { testWorkflow } from 'steadfast/testing';
import * as z from 'zod/mini';

const Film = z.object({ film: z.string() });
const encode = agent('encode', { input: Film, output: Film, effect: 'probed', acceptedWithin: '1h' });
const report = agent('report', {
  input: z.object({ why: z.string() }),
  output: z.object({ why: z.string() }),
  effect: 'idempotent',
  undo: 'none',
});

it('fails as not-done, and what comes instead can say so', async () => {
  const film = workflow('film', { input: Film, within: '1d' }, (w) => {
    const made = w.step('encode', encode, w.input, { mayFail: true, recovery: [retry(0)] });
    const why = required(made.failure.code);
    const said = w.step('report', report, { why }, { when: failed(made) });
    return { why: orElse(said.output.why, 'none') };
  });
  const agents = [
    encode.handler({
      execute: async () => accepted({ token: 'job-1' }),
      probe: async () => notDone(),
      undo: async () => {},
    }),
    report.handler({ execute: async (_ctx, input) => input }),
  ];
  const run = await testWorkflow(film, { agents }).start({ film: 'a' });
  const { status, output, failure } = await run.waitForEnd();
  expect({ status, output, failure }).toEqual({ status: 'succeeded', output: { why: 'not-done' } });
});
