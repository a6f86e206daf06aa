/**
 * A value that a person gives for a step of a child execution is checked by the agent's schema, even if the
 * workflow only runs as a child.
 */

import * as z from 'zod/mini';
import { declareAgent } from '../../lib/core/plan/agent.ts';
import { askPerson, workflow } from '../../lib/author/builder/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { anyObject, harness } from '../engine/harness.ts';

const counts = declareAgent('counts', {
  input: anyObject,
  output: z.object({ n: z.number() }),
  effect: 'idempotent',
});
const inner = workflow('inner', { input: anyObject, within: '1h' }, (w) => {
  const counted = w.step('counted', counts, {}, { recovery: [askPerson()] });
  return { n: counted.output.n };
});
const outer = workflow('outer', { input: anyObject, within: '2h' }, (w) => {
  w.child('part', inner, {});
});

it('an output that does not fit is refused', async () => {
  const execute = async (): Promise<never> => Promise.reject(new PermanentError('no'));
  const h = harness(outer, { counts: { execute, undo: async () => undefined } });
  const { id } = await h.begin();
  const child = `${id}.part.0`;
  await h.run(child, { until: ({ questions }) => questions !== undefined });
  const given = (output: { readonly n: unknown }) =>
    resolveIncident(h.scheduler, child, { incident: 1, choice: 'give-output', output: output as never });
  await expect(given({ n: 'five' })).rejects.toThrow("the output does not fit agent 'counts'");
  await given({ n: 5 });
  expect((await h.run(id)).execution.status).toBe('succeeded');
});
