/**
 * What follows when a step's child executions were started, stopped or collected, what the step's record says
 * then, and how undoing a parent affects its child (S6).
 */

import { decide } from '../../../lib/core/decide.ts';
import type { Plan, PlanStep } from '../../../lib/core/plan/plan.ts';
import type { Children, Planned } from '../../../lib/core/records/children.ts';
import type { Decision } from '../../../lib/core/decisions/decision.ts';
import type { ChildEvent } from '../../../lib/core/decisions/events.ts';
import type { Json } from '../../../lib/core/values/json.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { ExecutionStatus } from '../../../lib/core/moves.ts';
import { child, childrenOf, end, familyPlan, map } from '../family.ts';
import { changesOf, planOf, recordOf, inputs, stateOf } from '../one-step.ts';
import { planStep } from '../../author/refusals.ts';
import { NOW } from '../states.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';

const nothing: Decision = { sends: [], next: { kind: 'idle' }, notes: [] };
const on = (state: Snapshot, event: object, plan: Plan = familyPlan): Decision =>
  decide(plan, state, { ...event, ...inputs } as ChildEvent & typeof inputs);
const same = { version: 2, writeId: 'w-new' };
const planned = (count: number): Planned => ({
  starts: Array.from({ length: count }, (_, index) => ({
    id: `c-${index}`,
    planId: 'p',
    input: {},
    parent: { executionId: 'e-1', step: 'list', index },
  })),
  items: 9,
  tolerated: 1,
});

describe('executions that were started', () => {
  const started = { type: 'started', step: 'list', planned: planned(3), started: 2, ended: {} };
  const children = { count: 3, items: 9, tolerated: 1, started: 2, ended: {} };

  it('are written into their step, which is evaluated', () => {
    const { write, ...rest } = on(stateOf([]), started);
    expect(write).toEqual({
      executionId: 'e-1',
      step: expect.objectContaining({ name: 'list', status: 'running', changedAt: NOW, children }),
    });
    expect(rest).toEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: ['list'] },
      notes: [{ what: 'children-started', executionId: 'e-1', step: 'list' }],
    });
  });

  it('are not written into a step that cannot have any', () => {
    expect(on(stateOf([recordOf('list', 'done')]), started)).toEqual(nothing);
    expect(on(stateOf([]), { ...started, step: 'x' })).toEqual(nothing);
    expect(on(stateOf([]), { ...started, step: 'it' }, planOf(planStep))).toEqual(nothing);
  });

  it('fail their step where its execution was refused', () => {
    const failure = { code: 'x', message: 'y' };
    const taken = { ...started, started: 3, ended: { 0: end('canceled') }, failure };
    const stopped = { ...children, started: 3, ended: { 0: end('canceled') } };
    const ready = recordOf('list', 'ready', { changedAt: NOW - 9 });
    expect(changesOf(ready, on(stateOf([ready]), taken).write?.step)).toEqual({
      ...same,
      status: 'failed',
      failure,
      changedAt: NOW,
      children: stopped,
    });
    const first = on(stateOf([], { epoch: 4 }), taken).write?.step;
    expect(first).toMatchObject({
      name: 'list',
      epoch: 4,
      version: 1,
      status: 'failed',
      failure,
      children: stopped,
    });
  });
});

describe('executions that were stopped', () => {
  const stopped = {
    type: 'stopped',
    step: 'list',
    planned: planned(3),
    goal: 'recall',
    below: 2,
    ended: { 1: end('canceled') },
  };

  it('are written into their step, and how far', () => {
    const { write, ...rest } = on(stateOf([], { status: 'compensating', epoch: 5 }), stopped);
    expect(write?.execution).toBeUndefined();
    expect(write?.step).toMatchObject({ name: 'list', status: 'compensating', epoch: 5, version: 1 });
    expect(write?.step?.children).toEqual({
      count: 3,
      started: 3,
      items: 9,
      tolerated: 1,
      stop: { goal: 'recall', below: 2 },
      ended: stopped.ended,
    });
    expect(rest).toEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: ['list'] },
      notes: [{ what: 'children-stopped', executionId: 'e-1', step: 'list' }],
    });
  });

  it('are stopped while the execution is undone, if the step has any', () => {
    for (const status of ['running', 'paused', 'failed'] as const)
      expect(on(stateOf([], { status }), stopped)).toEqual(nothing);
    expect(on(stateOf([recordOf('list', 'compensated')], { status: 'compensating' }), stopped)).toEqual(
      nothing,
    );
  });
});

describe('what executions answered', () => {
  const gather = (
    of: PlanStep,
    outputs: readonly (Json | undefined)[],
    known?: Children,
    more: { plan?: Plan; status?: ExecutionStatus } = {},
  ) => {
    const record = recordOf(of.name, 'running', {
      changedAt: NOW - 9,
      ...(known === undefined ? {} : { children: known }),
    });
    const state = stateOf([record], { status: more.status ?? 'running' });
    const event = { type: 'gathered', step: of.name, outputs };
    return { record, decision: on(state, event, more.plan ?? { ...planOf(of), output: null }) };
  };
  const changes = (...given: Parameters<typeof gather>) => {
    const { record, decision } = gather(...given);
    return changesOf(record, decision.write?.step);
  };
  const done = { ...same, status: 'done', changedAt: NOW };

  it('is the output of a child step', () => {
    const known = childrenOf(1, { 0: end('succeeded') });
    expect(changes(child, [{ n: 1 }], known)).toEqual({ ...done, output: { n: 1 } });
    expect(changes(child, [undefined], known)).toEqual({ ...done, output: null });
    expect(gather(child, [1], known).decision.notes).toEqual([
      { what: 'children-gathered', executionId: 'e-1', step: 'sub' },
    ]);
  });

  it('has room for 100 000 bytes; more is left where it is, unless somebody reads it', () => {
    const known = childrenOf(1, { 0: end('succeeded') });
    const fits = 'x'.repeat(99_998);
    expect(changes(child, [fits], known)).toEqual({ ...done, output: fits });
    expect(changes(child, [`${fits}x`], known)).toEqual({ ...done, output: null });
    const failure = {
      code: 'output-too-large',
      message: 'the answer of its execution has more than 100000 bytes, and other steps read it',
    };
    const failed = { ...same, status: 'failed', changedAt: NOW, failure };
    const read = { $ref: 'step:sub', path: ['x'] };
    const reader: PlanStep = { ...planStep, after: ['sub'], input: { read } };
    expect(changes(child, [`${fits}x`], known, { plan: planOf(child, reader) })).toEqual(failed);
    expect(changes(child, [`${fits}x`], known, { plan: { ...planOf(child), output: read } })).toEqual(failed);
    expect(changes(child, [fits], known, { plan: planOf(child, reader) })).toEqual({ ...done, output: fits });
  });

  it('of a list has its place for each item, beside the counts', () => {
    const ended = { 0: end('succeeded', 3, { failed: 2 }), 1: end('succeeded') };
    const known = childrenOf(2, ended, { items: 3 });
    const counts = { total: 3, failed: 2 };
    // A step that reads the items fails, and says how large they are.
    const left = { children: { ...known, leftOutBytes: 100_001 } };
    expect(changes(map, [[1, null], [3]], known)).toEqual({
      ...done,
      output: { ...counts, items: [1, null, 3] },
    });
    expect(changes(map, [[1, null], undefined], known)).toEqual({ ...done, output: counts, ...left });
    expect(changes(map, [[1], undefined], known)?.['output']).toStrictEqual(counts);
    expect(changes(map, [[1], ['x'.repeat(100_000)]], known)).toEqual({ ...done, output: counts, ...left });
    expect(changes(map, [[1], 'no list'], known)).toEqual({ ...done, output: counts, ...left });
    expect(changes(map, [], undefined)).toEqual({ ...done, output: { total: 0, failed: 0, items: [] } });
  });

  it('brings the wake time of an execution forward that has nothing else left, for it may be paused (S12)', () => {
    const known = childrenOf(1, { 0: end('succeeded') });
    for (const status of ['running', 'paused'] as const) {
      const { write } = gather(child, [1], known, { status }).decision;
      expect(write?.execution).toMatchObject({ status, wakeAt: expect.any(Number) });
      expect(write?.execution?.wakeAt).toBeLessThanOrEqual(NOW + 60_000);
    }
    const plan = planOf(child, { ...planStep, after: ['sub'] });
    expect(gather(child, [1], known, { plan }).decision.write?.execution).toBeUndefined();
  });

  it('says that all were started', () => {
    const known = childrenOf(2, { 0: end('succeeded'), 1: end('succeeded') }, { started: 1 });
    expect(changes(map, [[], []], known)).toMatchObject({ children: { ...known, started: 2 } });
  });

  it('is nothing of a step without a record', () => {
    expect(on(stateOf([]), { type: 'gathered', step: 'list', outputs: [] })).toEqual(nothing);
  });
});

it('an end is announced with the horizon of the plan', () => {
  const plan = planOf({ ...planStep, leaseMs: 7_000 }, { ...map, after: ['it'] });
  const state = stateOf([recordOf('list', 'running', { children: childrenOf(2) })], { wakeAt: NOW + 99_000 });
  const event = { type: 'child-ended', step: 'list', index: 1, end: end('succeeded') };
  expect(on(state, event, plan).write?.execution?.wakeAt).toBe(NOW + 7_000);
  expect(on(state, { ...event, epoch: 2 }, plan)).toEqual(nothing);
});

describe('an execution whose parent is being undone', () => {
  const parent = { executionId: 'p-1', step: 'list', index: 0 };
  const stopped = (more: Partial<Execution>, of: object = {}) => {
    const state = stateOf([], { parent, wakeAt: NOW + 99, version: 7, ...more });
    return { state, decision: on(state, { type: 'stop', undo: true, ...of }) };
  };
  const failure = {
    code: 'parent-compensated',
    message: 'the execution that it is a part of is being undone',
  };
  const cause = { kind: 'parent', at: NOW, failure };

  it.each<ExecutionStatus>(['running', 'waiting', 'paused'])('is stopped while it is %s', (status) => {
    const { state, decision } = stopped({ status });
    expect(decision).toEqual({
      write: {
        executionId: 'e-1',
        execution: {
          ...state.execution,
          status: 'compensating',
          version: 8,
          writeId: 'w-new',
          cause,
          wakeAt: NOW,
        },
      },
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: 'all' },
      notes: [{ what: 'stopped-by-parent', executionId: 'e-1' }],
    });
  });

  it('leaves as it is what its parent leaves', () => {
    expect(stopped({}, { undo: false }).decision.write?.execution?.cause).toEqual({ ...cause, undo: false });
  });

  it('is recalled when it has succeeded, and has not ended any more', () => {
    const ended = { status: 'succeeded', endedAt: NOW - 9 } as const;
    const { execution } = stopped(ended).decision.write ?? {};
    expect(execution).toMatchObject({ status: 'compensating', cause, wakeAt: NOW });
    expect(execution).not.toHaveProperty('endedAt');
    expect(stopped(ended, { undo: false }).decision).toEqual(nothing);
    const { parent: _, ...alone } = stateOf([], ended).execution;
    expect(on({ execution: alone, steps: {} }, { type: 'stop', undo: true })).toEqual(nothing);
  });

  it('stays failed, as a version that nobody has go on, where it was to be tried again', () => {
    const { state, decision } = stopped({ status: 'failed' }, { endVersion: 6 });
    expect(decision).toEqual({
      ...nothing,
      write: { executionId: 'e-1', execution: { ...state.execution, version: 8, writeId: 'w-new' } },
    });
    expect(stopped({ status: 'failed' }, { endVersion: 5 }).decision).toEqual(nothing);
    expect(stopped({ status: 'running' }, { endVersion: 6 }).decision.write?.execution?.status).toBe(
      'compensating',
    );
  });
});

describe('an execution whose parent was tried again', () => {
  const parent = { executionId: 'p-1', step: 'list', index: 0 };
  const plan = planOf(planStep);
  const again = (more: Partial<Execution>, records: readonly Step[] = []): Decision =>
    on(
      stateOf(records, { status: 'failed', parent, version: 7, commands: ['k'], endedAt: NOW, ...more }),
      { type: 'restart', endVersion: 6 },
      plan,
    );
  it('goes on where it failed', () => {
    const { write, next } = again({});
    const at = { at: NOW, reason: 'the execution that it is a part of was tried again' };
    expect(write?.execution).toMatchObject({ status: 'running', epoch: 2, retries: [at], commands: ['k'] });
    expect(next).toEqual({ kind: 'evaluate', fresh: true, affected: 'all' });
  });
  it('does not where it was tried again since, did not fail, is alone, or cannot', () => {
    expect(again({ version: 8 })).toEqual(nothing);
    expect(again({ status: 'canceled' })).toEqual(nothing);
    expect(again({}, [recordOf('it', 'compensated')])).toEqual(nothing);
    const { parent: _, ...alone } = stateOf([], { status: 'failed', version: 7 }).execution;
    expect(on({ execution: alone, steps: {} }, { type: 'restart', endVersion: 6 }, plan)).toEqual(nothing);
  });
});
