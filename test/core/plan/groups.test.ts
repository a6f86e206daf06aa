/** What a child with a recovery compiles to, and what is refused of it with the words that say what to write instead (P1). */

import * as z from 'zod/mini';
import type { Stage } from '../../../lib/core/plan/plan.ts';
import {
  human,
  retry,
  useAgent,
  type Workflow,
  withInput,
  workflow,
} from '../../../lib/core/plan/workflow.ts';
import { agent, any, refusalOf } from '../refusals.ts';

const inner = workflow('inner', { input: z.object({ at: z.string() }), within: '1h' }, (w) => {
  w.step('x', agent, {});
});
const flow = (recovery: readonly Stage[] | undefined): Workflow =>
  workflow('flow', { input: any, within: '3h' }, (w) => {
    w.child('up', inner, { at: 'north' }, recovery === undefined ? {} : { recovery: recovery as never });
  }) as unknown as Workflow;

it('a child with a recovery has its stages in the plan; one without is what it was', () => {
  const backoff = { firstMs: 1_000, maxMs: 30_000 };
  expect(flow([retry(2), withInput({ at: 'south' }), human()]).plan.steps[0]).toMatchObject({
    kind: 'child',
    recovery: [
      { kind: 'retry', attempts: 2, ...backoff },
      { kind: 'withInput', attempts: 1, input: { at: 'south' }, ...backoff },
      // No longer than the workflow.
      { kind: 'human', withinMs: 3 * 3_600_000, otherwise: 'undo' },
    ],
  });
  const plain = flow(undefined).plan;
  expect(plain.steps[0]).toStrictEqual({
    kind: 'child',
    name: 'up',
    after: [],
    plan: inner.plan,
    input: { at: 'north' },
    undo: 'required',
  });
  expect(flow([]).plan).toStrictEqual(plain);
});

it('reads outputs of steps before it also in the input of a stage', () => {
  const { plan } = workflow('flow', { input: any, within: '3h' }, (w) => {
    const first = w.step('first', agent, {});
    const at = first.output['at'] as never;
    w.child('up', inner, { at: 'north' }, { recovery: [withInput({ at })] });
  });
  expect(plan.steps[1]).toMatchObject({ name: 'up', after: ['first'] });
});

it.each<[string, readonly Stage[], string, string]>([
  [
    'another agent',
    [useAgent(agent)],
    'bad-stage',
    "write retry, withInput or human; for another workflow instead say 'tolerate: true' here, and add a child with 'when: failed(…)'",
  ],
  ['a person first', [human(), retry(1)], 'unreachable-stage', 'human is the last stage'],
  [
    'tries without end',
    [retry(Number.POSITIVE_INFINITY)],
    'endless-recovery',
    'retry takes 0 to 1000 attempts',
  ],
  [
    'a person without end',
    [human({ within: '4h' })],
    'longer-than-within',
    'the workflow is to be over within 3h',
  ],
  [
    'an input that is not accepted',
    [withInput({ at: 5 })],
    'bad-input',
    "workflow 'inner' does not accept its input",
  ],
])('%s in its recovery is refused', (_, recovery, reason, message) => {
  const refusal = refusalOf(() => flow(recovery));
  expect(refusal.details).toMatchObject({ step: 'up', reason });
  expect(refusal.message).toContain(message);
});
