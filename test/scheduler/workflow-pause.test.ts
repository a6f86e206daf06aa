/** Pausing a workflow: its new executions start paused, and no other execution is affected. */

import { timeText } from '../../lib/core/values/text.ts';
import { explain } from '../../lib/explain/why.ts';
import type { Ports, WorkflowPauses } from '../../lib/core/ports.ts';
import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { pause, resume } from '../../lib/scheduler/commands.ts';
import { createScheduler, type Scheduler, start } from '../../lib/scheduler/start.ts';
import { FRESH_MS } from '../../lib/scheduler/paused-starts.ts';
import { pauseWorkflow, resumeWorkflow, showPause } from '../../lib/scheduler/holds.ts';
import { startFrom } from '../../lib/scheduler/starter.ts';
import type { MemoryWorld } from '../../lib/memory/world.ts';
import { memoryWorkflowPauses } from '../../lib/memory/side-records.ts';
import { anAgent, anyObject, harness, type Harness } from '../engine/harness.ts';

const DAY = 86_400_000;
const ann = { kind: 'local', name: 'ann' } as const;
const worker = anAgent('worker');
const inner = workflow('inner', { input: anyObject, within: '1h' }, (w) => {
  w.step('a', worker, {});
}) as Workflow;
const outer = workflow('outer', { input: anyObject, within: '2h' }, (w) => {
  w.child('part', inner, {});
}) as Workflow;

interface World extends Harness {
  readonly pauses: WorkflowPauses & { reads: number; away: boolean };
  /** A process of the scheduler besides the harness's. */
  readonly other: Scheduler;
}

function world(served: Workflow = inner): World {
  const records = memoryWorkflowPauses();
  const pauses = {
    ...records,
    reads: 0,
    away: false,
    read: async (name: string) => {
      pauses.reads += 1;
      if (pauses.away) throw new Error('away');
      return records.read(name);
    },
  };
  const wrap = (memory: MemoryWorld): Ports => ({
    ...memory,
    workflowPauses: pauses,
  });
  const h = harness(served, { worker: { execute: async () => ({}), undo: async () => undefined } }, 1, wrap);
  const { hash, newId } = h.scheduler;
  return {
    ...h,
    pauses,
    other: createScheduler(h.scheduler.ports, [inner, outer], { hash, newId }),
  };
}

it('starts are born paused and answered so, send nothing, and are watched at the end of their own pause (S12)', async () => {
  const w = world();
  await pauseWorkflow(w.scheduler, 'inner', { by: ann, reason: 'closed' });
  const pausedAt = w.clock.now();
  w.clock.advanceTo(pausedAt + 60_000);
  const born = await w.begin();
  expect(born).toMatchObject({
    status: 'paused',
    version: 1,
    wakeAt: w.clock.now() + 7 * DAY,
  });
  expect(w.sent).toEqual([]);
  await w.sweep();
  const state = await w.state(born.id);
  expect(state).toEqual({ execution: born, steps: {} });
  const why = explain(inner.plan, state, w.clock.now());
  expect(why.past.map(({ what }) => what)).toEqual([
    "workflow 'inner' was started",
    `it started paused, because local:ann had paused workflow 'inner' at ${timeText(
      pausedAt,
    )}: closed; a person is asked at ${timeText(born.wakeAt ?? 0)}`,
  ]);
  expect(why.steps[0]?.because).toBe('it has not begun, and the execution is paused');
});

it('what was born paused goes on with a resume of its own, with its time given back, and can be paused again', async () => {
  const w = world();
  await pauseWorkflow(w.scheduler, 'inner', { withinMs: DAY });
  const { id, deadlineAt } = await w.begin();
  await resumeWorkflow(w.scheduler, 'inner', { by: ann });
  w.clock.advanceTo(w.clock.now() + 3_600_000);
  expect((await w.state(id)).execution.status).toBe('paused');
  await resume(w.scheduler, id, {});
  expect((await w.state(id)).execution.deadlineAt).toBe(deadlineAt + 3_600_000);
  await pause(w.scheduler, id, {});
  expect((await w.state(id)).execution.pauses?.map(({ number }) => number)).toEqual([1, 2]);
  await resume(w.scheduler, id, {});
  expect((await w.run(id)).execution.status).toBe('succeeded');
  expect(await showPause(w.scheduler, 'inner')).toMatchObject({
    lastPause: { endedBy: ann },
  });
});

it('a person is asked when the pause of an execution that was born paused is over (L1)', async () => {
  const w = world();
  await pauseWorkflow(w.scheduler, 'inner', { withinMs: 60_000 });
  const { id } = await w.begin();
  const asked = await w.run(id, {
    until: ({ questions }) => questions !== undefined,
  });
  expect(asked.questions).toMatchObject({
    1: { kind: 'pause', otherwise: 'undo-all' },
  });
});

it('holds in every process within 10 s, and costs a process one read in 5 s', async () => {
  const w = world();
  for (let at = 0; at < 20; at += 1) expect((await start(w.other, request())).status).toBe('running');
  expect(w.pauses.reads).toBe(1);
  await pauseWorkflow(w.scheduler, 'inner', {});
  // The process that paused it knows at once.
  expect((await start(w.scheduler, request())).status).toBe('paused');
  expect((await start(w.other, request())).status).toBe('running');
  w.clock.advanceTo(w.clock.now() + FRESH_MS);
  expect((await start(w.other, request())).status).toBe('paused');
  await resumeWorkflow(w.scheduler, 'inner', {});
  w.clock.advanceTo(w.clock.now() + FRESH_MS);
  expect((await start(w.other, request())).status).toBe('running');
  expect(FRESH_MS).toBeLessThan(10_000);
});

const request = () => ({ workflow: 'inner', input: {} });

it('nothing is started while it cannot be read whether it is paused, and then it is read again', async () => {
  const w = world();
  w.pauses.away = true;
  await expect(w.begin()).rejects.toThrow('away');
  w.pauses.away = false;
  expect((await w.begin()).status).toBe('running');
});

it('starts of triggers are born paused as well', async () => {
  const w = world();
  await pauseWorkflow(w.scheduler, 'inner', {});
  const trigger = {
    name: 't',
    workflow: 'inner',
    from: 'event',
    input: {},
    key: ['k'],
  } as const;
  const body = JSON.stringify({ id: 'e-1' });
  const outcome = await startFrom(w.scheduler, trigger, {
    id: 'm-1',
    body,
    attributes: {},
  });
  const id = outcome.kind === 'started' ? outcome.executionId : '';
  expect((await w.state(id)).execution.status).toBe('paused');
});

it('what a step of a running execution starts is not held', async () => {
  const w = world(outer);
  await pauseWorkflow(w.other, 'inner', {});
  const { id } = await w.begin();
  expect((await w.run(id)).execution.status).toBe('succeeded');
});

it('if two operators pause it, one does and the other gets the existing pause; an unknown workflow is refused', async () => {
  const w = world();
  const first = await pauseWorkflow(w.scheduler, 'inner', {
    by: ann,
    reason: 'first',
  });
  expect(await pauseWorkflow(w.other, 'inner', { reason: 'second' })).toEqual(first);
  await expect(pauseWorkflow(w.scheduler, 'gone', {})).rejects.toMatchObject({
    code: 'unknown-workflow',
  });
  expect(await resumeWorkflow(w.scheduler, 'inner', {})).toHaveProperty('lastPause');
  expect(await resumeWorkflow(w.scheduler, 'inner', {})).not.toHaveProperty('pause');
});
