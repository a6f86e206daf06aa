/** The compiled form of a child with a recovery; refused ones, and the advice in each refusal (P1). */

import * as z from 'zod/mini';
import { planAt } from '../../lib/core/plan/child-plans.ts';
import { agentsNamed } from '../../lib/core/plan/child-plans.ts';
import type { Stage } from '../../lib/core/plan/plan.ts';
import { askPerson, retry, useAgent, withInput, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { agent, any, refusalOf } from './refusals.ts';

const inner = workflow('inner', { input: z.object({ at: z.string() }), within: '1h' }, (w) => {
  w.step('x', agent, {});
});
const flow = (recovery: readonly Stage[] | undefined): Workflow =>
  workflow('flow', { input: any, within: '3h' }, (w) => {
    w.child('up', inner, { at: 'north' }, recovery === undefined ? {} : { recovery: recovery as never });
  }) as unknown as Workflow;

it('a child with a recovery has its stages in the plan; one without is what it was', () => {
  const backoff = { firstMs: 1_000, maxMs: 30_000 };
  expect(flow([retry(2), withInput({ at: 'south' }), askPerson()]).plan.steps[0]).toMatchObject({
    kind: 'child',
    recovery: [
      { kind: 'retry', attempts: 2, ...backoff },
      { kind: 'withInput', attempts: 1, input: { at: 'south' }, ...backoff },
      // No longer than the workflow.
      { kind: 'askPerson', withinMs: 3 * 3_600_000, otherwise: 'undo' },
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
    "write retry, withInput or askPerson; for another workflow instead, write 'mayFail: true' here, and add a child with 'when: failed(…)'",
  ],
  ['a person first', [askPerson(), retry(1)], 'unreachable-stage', 'askPerson must be the last stage'],
  [
    'tries without end',
    [retry(Number.POSITIVE_INFINITY)],
    'endless-recovery',
    'retry takes 0 to 1000 attempts',
  ],
  [
    'a person without end',
    [askPerson({ within: '4h' })],
    'longer-than-within',
    'the workflow must end within 3h',
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

describe('a list of workflows', () => {
  const list = { $ref: 'input', path: ['hosts'] };
  const over = (other: unknown, options: object = {}): Workflow =>
    workflow('flow', { input: any, within: '3h' }, (w) => {
      const hosts = (w.input as never as { hosts: never }).hosts;
      const all = w.map('hosts', other as never, hosts, (host) => ({ at: host }) as never, options);
      return { items: all.output.items as never };
    }) as unknown as Workflow;

  it('has a child in the place of an agent for each item, and its parts have children as steps', () => {
    const { plan, agents, children } = over(inner, {
      mayFail: '5%',
      undo: 'none',
      recovery: [withInput({ at: 'x' })],
    });
    const each = {
      kind: 'child',
      name: 'item',
      after: [],
      plan: inner.plan,
      input: { at: { $ref: 'item', path: [] } },
      undo: 'none',
    };
    expect(plan.steps[0]).toMatchObject({ kind: 'map', over: list, each, tolerate: { percent: 5 } });
    expect([agents, children]).toEqual([[agent], [inner]]);
    const part = planAt(plan, 'hash.hosts.2x1x0');
    expect(part?.steps[1]).toMatchObject({
      ...each,
      name: 'hosts[1]',
      input: { $ref: 'input', path: ['items', '1'] },
      recovery: [{ kind: 'withInput', input: { $ref: 'input', path: ['others', '1', '0'] } }],
      tolerate: true,
    });
    // The plan of an item follows from its part's, and so does a child's plan within it.
    expect(planAt(plan, 'hash.hosts.2x1x0.hosts[1]')).toBe(inner.plan);
    expect(planAt(plan, 'hash.hosts.2x1x0.hosts[2]')).toBeUndefined();
    expect([...agentsNamed(plan)]).toEqual(['worker']);
  });

  const handsOver = workflow('hands-over', { input: any, within: '1h' }, (w) => {
    w.step('over', agent, {}, { pointOfNoReturn: true });
  });
  const nested = (depth: number): Workflow =>
    depth === 0 ? (inner as never) : (over(nested(depth - 1)) as never);

  it.each<[string, () => unknown, string, string]>([
    [
      'a point of no return inside',
      () => over(handsOver),
      'bad-point-of-no-return',
      "take the point out of 'hands-over', or write single children with 'pointOfNoReturn: true'",
    ],
    [
      'lists of lists without end',
      () => nested(6),
      'too-deep',
      "a list of workflows counts twice, for its parts and for its items: put the steps of the children into 'flow' itself",
    ],
    ['what is neither', () => over({}), 'not-an-agent', 'of a list: an agent or a workflow'],
    [
      'another agent in the recovery of an item',
      () => over(inner, { recovery: [useAgent(agent)] }),
      'bad-stage',
      'write retry, withInput or askPerson',
    ],
  ])('%s is refused', (_, build, reason, message) => {
    const refusal = refusalOf(build);
    expect(refusal.details).toMatchObject({ reason });
    expect(refusal.message).toContain(message);
  });

  it('is asked for as deep as is allowed', () => {
    expect(nested(2).plan.steps).toHaveLength(1);
  });
});
