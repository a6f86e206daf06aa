/** Which executions of its own a step is to stop, in small states (S10). */

import type { PlanStep } from '../../../lib/core/plan/plan.ts';
import type { ChildEnd, Children } from '../../../lib/core/records/children.ts';
import type { Cause, Execution, Step } from '../../../lib/core/records/state.ts';
import { changesOf, planOf, recordOf, see, stateOf } from '../one-step.ts';
import { childOf, childrenOf, endsAs as ends, mapOf, undoableOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

describe('executions to stop', () => {
  const cause: Cause = { kind: 'cancel', at: NOW, failure: { code: 'x', message: 'y' } };
  const stops = (steps: PlanStep[], records: Step[], more: Partial<Execution> = {}) =>
    see(planOf(...steps), stateOf(records, { status: 'compensating', cause, ...more }));
  const stopped = (
    step: PlanStep,
    record?: Step,
    more: Partial<Execution> = {},
    beside: [PlanStep, Step][] = [],
  ) => {
    const { next } = stops(
      [step, ...beside.map(([one]) => one)],
      [...(record === undefined ? [] : [record]), ...beside.map(([, one]) => one)],
      more,
    );
    return next.kind === 'stop-children'
      ? { ids: next.starts.map(({ id }) => id), undo: next.undo, recall: next.recall, below: next.below }
      : next.kind;
  };
  const running = recordOf('it', 'running', { children: childrenOf({}) });
  const one = { ids: ['e-1.it.0'], undo: true, recall: true, below: 1 };
  const left = { cause: { ...cause, undo: false as const } };

  it('are those under way and those that may be starting', () => {
    expect(stopped(childOf('it'), running)).toStrictEqual(one);
    expect(stopped(childOf('it'))).toStrictEqual(one);
    expect(stops([childOf('it')], [running])).toMatchObject({
      sends: [],
      next: { step: 'it', family: { items: 1 } },
      notes: [],
    });
  });

  it('are told what is to become of what they did', () => {
    expect(stopped(childOf('it', { undo: 'none' }), running)).toStrictEqual({ ...one, recall: false });
    expect(stopped(childOf('it'), running, left)).toStrictEqual({ ...one, undo: false, recall: false });
  });

  it('are stopped in plan order, those first that may be starting', () => {
    const done = recordOf('it', 'done', { children: childrenOf({ 0: ends('succeeded') }) });
    const other = { ...running, name: 'b' };
    expect(stopped(childOf('it'), done)).toStrictEqual(one);
    expect(stopped(childOf('it'), done, {}, [[childOf('b'), other]])).toMatchObject({ ids: ['e-1.b.0'] });
    expect(stopped(childOf('it'), running, {}, [[childOf('b'), other]])).toStrictEqual(one);
  });

  it('are fifty at a time', () => {
    const list = mapOf('it', { over: Array.from({ length: 1_500 }, (_, at) => at) });
    const some = recordOf('it', 'running', {
      children: childrenOf({ 0: ends('succeeded') }, { count: 60, started: 60 }),
    });
    const first = stopped(list, some);
    expect(first).toMatchObject({ below: 51 });
    expect((first as { ids: string[] }).ids).toHaveLength(50);
    const rest = {
      ...some,
      status: 'compensating' as const,
      children: childrenOf({}, { count: 60, started: 60, stopped: 10 }),
    };
    expect(stopped(list, rest)).toMatchObject({ below: 60 });
  });

  it('that have all ended are recorded as stopped', () => {
    const children = childrenOf({ 0: ends('failed') });
    const given = recordOf('it', 'compensating', { children: { ...children, stopped: 0 }, changedAt: 5 });
    const { write, ...rest } = stops([childOf('it')], [given]);
    expect(changesOf(given, write?.step)).toStrictEqual({
      version: 2,
      writeId: 'w-new',
      changedAt: NOW,
      children,
    });
    const notes = [{ what: 'children-stopped', executionId: 'e-1', step: 'it' }];
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: ['x', 'it'] },
      notes,
    });
  });

  it('of what could have none are recorded as none', () => {
    const { write } = stops([mapOf('it', { over: 5 })], [], { epoch: 3 });
    expect(write?.step).toMatchObject({
      status: 'compensating',
      epoch: 3,
      children: { count: 0, started: 0, items: 0, tolerated: 0, ended: {} },
    });
    expect(write?.step?.children).not.toHaveProperty('stopped');
  });

  it('of a step that is over wait for what depends on it', () => {
    const done = recordOf('it', 'done', { children: childrenOf({ 0: ends('succeeded') }) });
    const after = undoableOf('b', { after: ['it'] });
    expect(stopped(childOf('it'), done, {}, [[after, recordOf('b', 'done')]])).toBe('idle');
    expect(stopped(childOf('it'), done, {}, [[after, recordOf('b', 'compensated')]])).toStrictEqual(one);
    const open = recordOf('it', 'failed', { children: childrenOf({}) });
    expect(stopped(childOf('it'), open, {}, [[after, recordOf('b', 'done')]])).toStrictEqual(one);
  });

  it('of a step that is over are only those that owe something', () => {
    const of = (
      status: Step['status'],
      end: ChildEnd,
      more: Partial<Execution> = {},
      undo: 'none' | 'required' = 'required',
    ) =>
      stops([childOf('it', { undo })], [recordOf('it', status, { children: childrenOf({ 0: end }) })], more);
    const kind = (...given: Parameters<typeof of>) => of(...given).next.kind;
    expect(kind('failed', ends('failed'))).toBe('evaluate');
    expect(of('failed', ends('failed')).notes).toMatchObject([{ what: 'children-stopped' }]);
    expect(of('failed', ends('canceled', true)).notes).toMatchObject([{ what: 'canceled' }]);
    expect(kind('done', ends('succeeded'))).toBe('stop-children');
    expect(of('done', ends('succeeded'), left).notes).toMatchObject([{ what: 'failed' }]);
    expect(of('done', ends('succeeded'), {}, 'none').notes).toMatchObject([{ what: 'canceled' }]);
    // Its end was told before its stopping was recorded.
    expect(of('done', ends('compensated', true)).notes).toMatchObject([{ what: 'children-stopped' }]);
    const parts = { 0: ends('succeeded'), 1: ends('compensated', true) };
    const list = (children: Children) =>
      stops([mapOf('it')], [recordOf('it', 'done', { children })]).notes[0]?.what;
    expect(list(childrenOf(parts, { count: 2 }))).toBe('children-stopped');
    expect(list(childrenOf({}, { count: 0 }))).toBe('canceled');
    expect(stops([childOf('it')], [recordOf('it', 'done')]).notes).toMatchObject([{ what: 'canceled' }]);
    expect(of('compensated', ends('succeeded')).notes).toMatchObject([{ what: 'canceled' }]);
  });
});
