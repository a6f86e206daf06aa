/**
 * The notices of child executions to their step: when they end the step, how children are stopped, and how a
 * child reports its end (S10).
 */

import { decide } from '../../../lib/core/decide.ts';
import type { ChildStep, MapStep, Plan } from '../../../lib/core/plan/plan.ts';
import { type ChildEnd, type Children, failedOf, type StopGoal } from '../../../lib/core/records/children.ts';
import { nothing } from '../../../lib/core/decisions/decision.ts';
import { withValue } from '../../../lib/core/records/large-values.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import type { ExecutionStatus } from '../../../lib/core/moves.ts';
import { endOf } from '../../../lib/core/waiting/child-end.ts';
import { childEnded, childrenFailure } from '../../../lib/core/waiting/child.ts';
import { indexesToStop, nextUnderCounter, stepOnceStopped } from '../../../lib/core/waiting/child-tries.ts';
import { child, childrenOf, end, familyPlan, keptMap, map, parentOf } from '../family.ts';
import { changesOf, planOf, recordOf, inputs, stateOf } from '../one-step.ts';
import { planStep } from '../../author/refusals.ts';
import { NOW } from '../states.ts';

const HORIZON = 60_000;
const news = { step: 'list', index: 1, end: end('failed', 5) };
const notifyParent = (state: Snapshot, of: object = {}) =>
  childEnded(familyPlan, state, { type: 'child-ended', ...news, ...of, ...inputs });
const running = (children: Children, more: Partial<Step> = {}): Step =>
  recordOf('list', 'running', { children, ...more });

/** Two rounds, of which the second is being undone and the first is next. */
const undoing = (restartedAfter: Record<string, number>): Children =>
  childrenOf(
    1,
    {},
    { try: 2, stop: { goal: 'recall', below: 0 }, rounds: { done: 1, compensating: 1 }, restartedAfter },
  );

describe('an end that is announced to a parent', () => {
  const known = { 0: end('succeeded', 4) };
  const before = running(childrenOf(3, known));

  it('is written beside its execution, whose wake time it brings forward', () => {
    const state = stateOf([before], { wakeAt: NOW + 3_600_000, version: 6 });
    const { write, ...rest } = notifyParent(state);
    expect(changesOf(before, write?.step)).toEqual({
      version: 2,
      writeId: 'w-new',
      children: childrenOf(3, { ...known, 1: news.end }),
    });
    expect(write?.execution).toEqual({
      ...state.execution,
      version: 7,
      writeId: 'w-new',
    });
    expect(write?.executionId).toBe('e-1');
    const decision = decide(familyPlan, state, { type: 'child-ended', ...news, ...inputs });
    expect(decision.write?.execution?.wakeAt).toBe(NOW + HORIZON);
    expect(rest).toEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: ['list'] },
      notes: [{ what: 'child-ended', executionId: 'e-1', step: 'list', detail: 'failed' }],
    });
  });

  it.each<[string, 'evaluate' | 'idle', Children, Partial<Execution>]>([
    ['one of several that are awaited', 'idle', childrenOf(3, {}), {}],
    ['the last one', 'evaluate', childrenOf(3, { 0: end('succeeded'), 2: end('succeeded') }), {}],
    ['one that makes room for others', 'evaluate', childrenOf(3, {}, { started: 2 }), {}],
    ['one beside a failure', 'evaluate', childrenOf(3, { 0: end('failed') }), {}],
    [
      'one beside others that are tried again',
      'evaluate',
      childrenOf(3, {}, { restartedAfter: { 0: 3 } }),
      {},
    ],
    ['one while a pause begins', 'evaluate', childrenOf(3, {}), { status: 'paused' }],
  ])('of %s leads to a %s', (_, kind, children, more) => {
    const decision = notifyParent(stateOf([running(children)], more), { end: end('succeeded') });
    expect(decision?.next.kind).toBe(kind);
  });

  it('may be faster than the record of the start', () => {
    const state = stateOf([], parentOf({ epoch: 2 }));
    const { write } = notifyParent(state, { index: 0, epoch: 2 });
    expect(write?.step).toMatchObject({
      name: 'list',
      status: 'running',
      epoch: 2,
      version: 1,
      changedAt: NOW,
    });
    expect(write?.step?.children).toEqual({
      count: 1,
      items: 2,
      tolerated: 0,
      started: 0,
      ended: { 0: news.end },
    });
    const begun = stateOf([recordOf('list', 'ready')], parentOf());
    expect(notifyParent(begun, { index: 0 }).write?.step).toMatchObject({ status: 'running', version: 2 });
  });

  it('is kept where the list that it is a part of is lost before the start is recorded (seed 441)', () => {
    const inputAt = { hash: 'h', id: 'w-1', bytes: 40_000 };
    const state = stateOf([], { input: null, inputAt, status: 'compensating' });
    const lost = withValue(
      { ...state, values: { lost: new Set<string>() } },
      { holder: 'input', ref: inputAt },
      'lost',
    );
    const { write } = notifyParent(lost, { index: 0 });
    // A process that has read the list may be starting any of its 51 executions, so all are stopped except
    // the one that has ended.
    expect(write?.step?.children).toMatchObject({ count: 51, started: 0, ended: { 0: news.end } });
    expect(indexesToStop(51, write?.step?.children, 'recall')).toHaveLength(50);
    // While the execution goes forward, the places are taken first. That makes the step fail, whatever
    // failures it tolerates.
    const forward = { ...lost, execution: { ...lost.execution, status: 'running' as const } };
    expect(notifyParent(forward, { index: 0 })).toEqual(nothing());
  });

  it.each<[string, Snapshot, object]>([
    ['a version that is known', stateOf([running(childrenOf(3, { 1: end('succeeded', 5) }))]), {}],
    ['a version that is older', stateOf([running(childrenOf(3, { 1: end('succeeded', 6) }))]), {}],
    [
      'what was to be tried again since',
      stateOf([running(childrenOf(3, {}, { restartedAfter: { 2: 5 } }))]),
      {},
    ],
    [
      'a round that went on since, and is undone now (seed 165)',
      stateOf([running(undoing({ 1: 5 }), { status: 'compensating' })], { status: 'compensating' }),
      { index: 0, try: 1 },
    ],
    ['an execution that has ended', stateOf([before], { status: 'canceled', endedAt: NOW }), {}],
    ['an earlier epoch of the step', stateOf([{ ...before, epoch: 2 }]), {}],
    ['a later epoch of the step', stateOf([before]), { epoch: 2 }],
    ['a step that is not in the plan', stateOf([before]), { step: 'x' }],
    ['a step that never will have any', stateOf([], parentOf({ input: { list: 1 } })), {}],
    ['a step that was skipped', stateOf([recordOf('list', 'skipped')], parentOf()), {}],
  ])('of %s changes nothing', (_, state, of) => {
    expect(notifyParent(state, of)).toEqual(nothing());
  });

  it('of a round counts while the round is undone, if it is later than the end from which it went on', () => {
    const record = running(undoing({ 1: 4, 2: 9 }), { status: 'compensating' });
    const state = stateOf([record], { status: 'compensating' });
    const { write } = notifyParent(state, { index: 0, try: 1 });
    expect(write?.step?.children?.ended).toEqual({ 0: news.end });
    const begun = nextUnderCounter(childrenOf(1, {}, { restartedAfter: { 2: 3 }, try: 2 }), { done: 1 });
    expect(begun).toMatchObject({ try: 3, restartedAfter: { 2: 3 } });
    expect(nextUnderCounter(begun, begun.rounds).restartedAfter).toEqual({ 2: 3 });
  });
});

describe('a running step fails by its executions', () => {
  const failure = (children: Children, step: ChildStep | MapStep = map) =>
    childrenFailure(step, { id: 'e-1', epoch: 2 }, recordOf(step.name, 'running', { children }), children);

  it('when more items failed than are tolerated', () => {
    const ended = {
      0: end('succeeded', 1, { failed: 2 }),
      1: end('succeeded'),
      2: end('succeeded', 1, { failed: 1 }),
    };
    const of = (tolerated: number): Children => childrenOf(3, ended, { items: 60, tolerated });
    expect(failedOf(of(0))).toBe(3);
    expect(failure(of(3))).toBeUndefined();
    expect(failure(of(2))).toEqual({
      code: 'items-failed',
      message: '3 of 60 items failed; tolerated are 2',
    });
    expect(failure(childrenOf(2))).toBeUndefined();
  });
});

describe('what is to be stopped', () => {
  const ended = { 1: end('succeeded'), 2: end('failed') };
  const stop = { goal: 'recall', below: 2 } as const;
  it.each<[string, Children | undefined, StopGoal, number[]]>([
    ['all of which nothing is known', undefined, 'stop', [0, 1, 2, 3]],
    ['all that have not ended', childrenOf(4, ended), 'stop', [0, 3]],
    ['the same where all is left', childrenOf(4, ended), 'leave', [0, 3]],
    ['those that have succeeded, where they are recalled', childrenOf(4, ended), 'recall', [0, 1, 3]],
    ['nothing twice', childrenOf(4, ended, { stop }), 'recall', [3]],
    [
      'all again to another end',
      childrenOf(4, ended, { stop: { ...stop, goal: 'stop' } }),
      'recall',
      [0, 1, 3],
    ],
    [
      'nothing twice, from the first on',
      childrenOf(4, ended, { stop: { ...stop, below: 1 } }),
      'recall',
      [1, 3],
    ],
  ])('is %s', (_, children, goal, indexes) => {
    expect(indexesToStop(4, children, goal)).toEqual(indexes);
  });
});

describe('a step whose executions are stopped', () => {
  const codeReturned = (
    ended: Children['ended'],
    of: object = {},
    step: ChildStep | MapStep = map,
    left = false,
  ) => {
    const before = recordOf('list', 'compensating', {
      children: childrenOf(2, ended),
      changedAt: NOW - 9,
      ...of,
    });
    return changesOf(before, stepOnceStopped(step, before, left, inputs));
  };
  const same = { version: 2, writeId: 'w-new', changedAt: NOW };
  const failure = { code: 'compensation-failed', message: 'an execution of its own could not be undone' };
  const clean = { 0: end('canceled'), 1: end('compensated') };
  const dirty = { 0: end('canceled'), 1: end('failed') };
  const good = { 0: end('canceled'), 1: end('succeeded') };

  it.each<[string, Children['ended'], ChildStep | MapStep, boolean, object | undefined]>([
    ['is undone when nothing of any is in effect', clean, map, false, { status: 'compensated' }],
    ['is not over before each is', { 0: end('canceled') }, map, false, undefined],
    ['is not over before what succeeded is undone', good, map, false, undefined],
    ['is left as it is where what succeeded is kept', good, keptMap, false, { status: 'failed' }],
    ['is left as it is where a person said so', good, map, true, { status: 'failed' }],
    [
      'asks for a person where one could not be undone',
      dirty,
      map,
      false,
      { status: 'compensation-failed', failure },
    ],
    ['is left as it is where nothing is undone', dirty, keptMap, false, { status: 'failed' }],
    [
      'is undone where nothing would be, and nothing is in effect',
      clean,
      keptMap,
      false,
      { status: 'compensated' },
    ],
    ['of another workflow likewise', good, child, false, undefined],
    ['of another workflow that keeps', good, { ...child, undo: 'none' }, false, { status: 'failed' }],
  ])('%s', (_, ended, step, left, changes) => {
    expect(codeReturned(ended, {}, step, left)).toEqual(changes && { ...same, ...changes });
  });

  it('is not over while some are still to be stopped, or when it is not being undone', () => {
    expect(
      codeReturned(clean, { children: childrenOf(2, clean, { stop: { goal: 'recall', below: 1 } }) }),
    ).toBeUndefined();
    for (const status of ['running', 'compensated', 'compensation-failed', 'done'] as const)
      expect(codeReturned(clean, { status })).toBeUndefined();
    expect(codeReturned(clean, { children: undefined })).toBeUndefined();
  });
});

describe('the end that an execution tells its parent', () => {
  const plan = planOf({ ...planStep, name: 'a' }, { ...planStep, name: 'b' });
  const endIs = (
    status: ExecutionStatus,
    records: readonly Step[] = [],
    more: Partial<Execution> = {},
    of: Plan = plan,
  ): ChildEnd => endOf(of, stateOf(records, { status, version: 9, ...more }));
  const cause = { kind: 'cancel', at: NOW, failure: { code: 'x', message: 'y' } } as const;
  const failed = [recordOf('a', 'failed'), recordOf('b', 'compensated')];
  const part = { ...plan, tolerated: 2 };

  it('is clean when nothing of it is in effect', () => {
    expect(endIs('succeeded')).toEqual({ status: 'succeeded', version: 9, clean: false });
    expect(endIs('canceled')).toEqual({ status: 'canceled', version: 9, clean: true });
    expect(endIs('failed', failed)).toEqual({ status: 'failed', version: 9, clean: true });
    expect(
      endIs('failed', [recordOf('a', 'compensated'), recordOf('b', 'compensation-failed')]),
    ).toMatchObject({ clean: false });
    expect(endIs('canceled', [], { cause })).toMatchObject({ clean: true });
    expect(endIs('canceled', [], { cause: { ...cause, undo: false } })).toMatchObject({ clean: false });
  });

  it('says how many items failed, of a part of a list that has succeeded', () => {
    expect(endIs('succeeded', failed, {}, part)).toEqual({
      status: 'succeeded',
      version: 9,
      clean: false,
      failed: 2,
    });
    expect(endIs('succeeded', failed)).not.toHaveProperty('failed');
    expect(endIs('failed', failed, {}, part)).not.toHaveProperty('failed');
    expect(endIs('succeeded', [recordOf('a', 'done')], {}, part)).not.toHaveProperty('failed');
  });
});
