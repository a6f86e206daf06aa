/** A workflow whose ends are not announced takes one write less, unless other work waits for the end. */

import { askPerson, retry, workflow, type WorkflowOptions } from '../../lib/author/builder/workflow.ts';
import { workflowView } from '../../lib/api/workflow-view.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { cancel } from '../../lib/scheduler/commands.ts';
import { resolveIncident } from '../../lib/scheduler/incidents.ts';
import { anAgent, anyObject, type Harness, harness } from './harness.ts';

const worker = anAgent('worker');
const options = { input: anyObject, within: '1h' } as const;
const silent = { announceEnds: false } as const;

const flowOf = (more: Partial<WorkflowOptions<Record<string, unknown>>> = {}): Workflow =>
  workflow('flow', { ...options, ...more }, (w) => {
    w.step('a', worker, { fails: w.input['fails'] } as never, { recovery: [retry(0)] });
  }) as Workflow;

function of(flow: Workflow): Harness {
  const execute = async (_: unknown, input: unknown): Promise<object> => {
    if ((input as { fails?: boolean }).fails === true) throw new PermanentError('declined');
    return {};
  };
  return harness(flow, { worker: { execute, undo: async () => undefined } });
}

/** Runs an execution to its end. The last version equals the number of writes. */
async function written(
  flow: Workflow,
  input: object,
): Promise<[status: string, writes: number, news: number]> {
  const h = of(flow);
  const { id } = await h.begin(input as never);
  const { execution } = await h.run(id);
  expect(execution).not.toHaveProperty('wakeAt');
  expect(execution.dispatches).toEqual({});
  return [execution.status, execution.version, h.announced.length];
}

it.each([
  ['succeeded', {}],
  ['failed', { fails: true }],
])('an execution that has %s is written once less, and no event says so', async (status, input) => {
  const [, writes] = await written(flowOf(), input);
  expect(await written(flowOf({ announceEnds: true }), input)).toEqual([status, writes, 1]);
  expect(await written(flowOf(silent), input)).toEqual([status, writes - 1, 0]);
});

it('so is one that was canceled, and one that was followed up', async () => {
  const followed = (more: object): Workflow =>
    workflow('flow', { ...options, ...more }, (w) => {
      w.step('a', worker, { fails: true } as never, { recovery: [retry(0)] });
      w.onFailure('clean', worker, {});
    }) as Workflow;
  const [, writes] = await written(followed({}), {});
  expect(await written(followed(silent), {})).toEqual(['failed', writes - 1, 0]);
  const h = of(flowOf(silent));
  const { id } = await h.begin();
  await cancel(h.scheduler, id, {});
  expect((await h.state(id)).execution).toMatchObject({ status: 'canceled', endedAt: h.clock.now() });
  expect((await h.state(id)).execution).not.toHaveProperty('wakeAt');
});

it('a parent learns of such an end, and is the only one', async () => {
  const inner = flowOf(silent);
  const h = of(
    workflow('outer', options, (w) => {
      w.child('c', inner as never, {}, { undo: 'none' });
    }) as Workflow,
  );
  const { id } = await h.begin();
  expect((await h.run(id)).execution.status).toBe('succeeded');
  expect((await h.state(`${id}.c.0`)).execution).not.toHaveProperty('wakeAt');
  expect(h.announced.map(({ executionId }) => executionId)).toEqual([id]);
});

it('a place in a lane is handed on at such an end', async () => {
  const h = of(
    flowOf({
      ...silent,
      concurrency: { key: (given) => given['account'] as never, limit: 1, waitWithin: '10m' },
    }),
  );
  const account = { account: 'a' };
  const [first, second] = [await h.begin(account), await h.begin(account)];
  await h.run(first.id);
  expect((await h.run(second.id, { supervised: false })).execution.status).toBe('succeeded');
  expect(h.announced).toEqual([]);
});

it('the answer to a question is announced before such an end is at rest', async () => {
  const h = of(
    workflow('flow', { ...options, ...silent }, (w) => {
      w.step('a', worker, { fails: true } as never, {
        recovery: [askPerson({ within: '30m', otherwise: 'keep' })],
      });
    }) as Workflow,
  );
  const { id } = await h.begin();
  await h.run(id, { until: ({ execution }) => execution.status === 'waiting' });
  await resolveIncident(h.scheduler, id, { incident: 1, choice: 'keep' });
  await h.run(id);
  expect(h.questionNews.map(({ change }) => change)).toEqual(['opened', 'closed']);
  expect(h.announced).toEqual([]);
});

it('is shown with the workflow, and takes true and false alone', () => {
  expect(workflowView(flowOf(silent).plan, 'h')).toMatchObject({ announceEnds: false });
  for (const more of [{}, { announceEnds: true }])
    expect(workflowView(flowOf(more).plan, 'h')).not.toHaveProperty('announceEnds');
  expect(() => flowOf({ announceEnds: 'no' as never })).toThrow(
    'announceEnds is neither true nor false: write announceEnds: false, or leave it out',
  );
});
