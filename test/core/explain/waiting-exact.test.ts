/** The words of an explanation for steps that no agent performs, of every status that they may have. */

import type { CallbackStep, PlanStep, WaitStep } from '../../../lib/core/plan/plan.ts';
import type { Children } from '../../../lib/core/records/children.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import type { StepStatus } from '../../../lib/core/transitions.ts';
import { child, childrenOf, end, map } from '../family.ts';
import { planOf, recordOf } from '../one-step.ts';
import { planStep } from '../refusals.ts';
import { NOW } from '../states.ts';
import { explained, isoOf, paused, undoing } from '../words.ts';

const callback: CallbackStep = { kind: 'callback', name: 'c', after: [], withinMs: 9_000 };
const approval: CallbackStep = { ...callback, kind: 'approval' };
const wait: WaitStep = { kind: 'wait', name: 'c', after: [], forMs: 9_000 };
const failure = { code: 'x', message: 'y' };
const told = (step: PlanStep, record?: Step, execution: Partial<Execution> = {}) => {
  const { steps, past } = explained(record === undefined ? [] : [record], execution, { plan: planOf(step) });
  return {
    because: steps[0]?.because,
    next: steps[0]?.next,
    past: past.slice(1).map(({ at, what, step: of, evidence }) => ({ at, what, of, evidence })),
  };
};
const record = (status: StepStatus, more: Partial<Step> = {}): Step =>
  recordOf('c', status, { changedAt: NOW + 3, ...more });
const nothing = { what: 'nothing', who: 'nobody', step: 'c' };

describe('why, of a wait or a callback', () => {
  it.each<[string, PlanStep, Step | undefined, string]>([
    ['waits', wait, undefined, `it waits until ${isoOf(NOW + 9_000)}`],
    ['waits with a record', wait, record('ready'), `it waits until ${isoOf(NOW + 9_000)}`],
    ['was waited for', wait, record('done'), 'its time has come'],
    ['cannot be waited for', wait, record('failed', { failure }), 'its time cannot be told (x: y)'],
    ['is asked', callback, undefined, 'the outside has not answered yet'],
    ['is asked a person', approval, record('ready'), 'a person has not answered yet'],
    ['is silent', { ...callback, beatMs: 5 }, undefined, 'the outside has not answered yet, nor beaten'],
    [
      'beats',
      { ...approval, beatMs: 5 },
      record('waiting', { beat: 4, progressAt: NOW }),
      `a person has not answered yet; its last beat, 4, was at ${isoOf(NOW)}`,
    ],
    [
      'is answered early',
      callback,
      record('answered'),
      'the outside answered before its turn; the answer is kept',
    ],
    ['is answered', callback, record('done'), 'the outside answered'],
    ['is approved', approval, record('done'), 'a person approved it'],
    ['is rejected', callback, record('failed', { failure }), 'it was not answered with a success (x: y)'],
    ['is rejected without a reason', callback, record('failed'), 'it was not answered with a success'],
    ['is skipped', callback, record('skipped'), 'its condition does not hold'],
  ])('%s', (_, step, given, words) => {
    expect(told(step, given).because).toBe(words);
  });

  it('waits for nothing where nothing goes forward, and has not begun where it had no record', () => {
    expect(told(callback, record('waiting'), undoing)).toMatchObject({
      because: 'it waits for nothing any more',
      next: nothing,
    });
    expect(told(callback, undefined, undoing).because).toBe('it was never started');
    expect(told(wait, record('ready'), paused).because).toBe('it has not begun, and the execution is paused');
  });

  const after = (at: number, more: object) => ({ at, step: 'c', ...more });
  it.each<[string, PlanStep, Step | undefined, object]>([
    ['a wait', wait, undefined, after(NOW + 9_000, { what: 'its time comes', who: 'supervisor' })],
    [
      'a callback',
      callback,
      undefined,
      after(NOW + 9_000, { what: 'the outside answers; in silence it fails', who: 'outside' }),
    ],
    [
      'one that beats',
      { ...callback, beatMs: 50 },
      undefined,
      after(NOW + 50, { what: 'the outside answers or beats; in silence it fails', who: 'outside' }),
    ],
    [
      'an approval',
      approval,
      undefined,
      after(NOW + 9_000, { what: 'a person approves or rejects; in silence it fails', who: 'person' }),
    ],
    [
      'an early answer',
      callback,
      record('answered'),
      after(NOW, { what: 'its answer counts', who: 'supervisor' }),
    ],
    ['one that is over', callback, record('done'), nothing],
  ])('next is, of %s', (_, step, given, next) => {
    expect(told(step, given).next).toEqual(next);
  });

  const happened = (what: string, evidence: object) => [{ at: NOW + 3, what, of: 'c', evidence }];
  it.each<[string, PlanStep, Step, readonly object[]]>([
    ['came', wait, record('done'), happened('its time came', { status: 'done' })],
    ['answered', callback, record('done'), happened('the outside answered', { status: 'done' })],
    ['approved', approval, record('done'), happened('a person approved it', { status: 'done' })],
    [
      'answered early',
      callback,
      record('answered'),
      happened('the outside answered before its turn', { status: 'answered' }),
    ],
    [
      'failed',
      callback,
      record('failed', { failure }),
      happened('it failed (x: y)', { status: 'failed', failure }),
    ],
    ['waits', callback, record('waiting'), []],
    ['sealed', callback, record('sealed'), []],
  ])('past: %s', (_, step, given, past) => {
    expect(told(step, given).past).toStrictEqual(past);
  });

  it('past: beat, of who answers from outside alone', () => {
    const beaten = record('waiting', { progressAt: NOW + 2, beat: 4 });
    expect(told(callback, beaten).past).toEqual([
      { at: NOW + 2, what: 'the outside beat', of: 'c', evidence: { beat: 4 } },
    ]);
    expect(told(wait, { ...beaten, status: 'ready' }).past).toEqual([]);
    expect(told({ ...planStep, name: 'c' }, { ...beaten, status: 'done' }).past).toEqual([]);
  });

  it('past: nothing of a step that the plan does not have', () => {
    expect(told(callback, { ...record('done'), name: 'other' }).past).toEqual([]);
  });
});

describe('why, of a step with executions of its own', () => {
  const sub = (status: StepStatus, children?: Children, more: Partial<Step> = {}): Step =>
    recordOf('sub', status, { changedAt: NOW + 3, ...(children === undefined ? {} : { children }), ...more });
  const two = childrenOf(4, { 0: end('succeeded'), 1: end('failed'), 2: end('succeeded') }, { started: 3 });
  const text = '3 of 4 executions ended (2 succeeded, 1 failed)';

  it.each<[string, Step | undefined, Partial<Execution>, string]>([
    ['is to begin', undefined, {}, 'it is to begin'],
    ['runs', sub('running', two), {}, `${text}, 1 are not started yet`],
    ['runs, all of it', sub('running', childrenOf(2)), {}, '0 of 2 executions ended'],
    ['runs of which nothing is known', sub('running'), {}, 'none of its executions is known'],
    [
      'is undone',
      sub('undoing', childrenOf(1, { 0: end('canceled') })),
      undoing,
      'its executions are canceled, and those that succeeded are undone: 1 of 1 executions ended (1 canceled)',
    ],
    [
      'is left as it is',
      sub('failed', childrenOf(1, { 0: end('failed') })),
      {},
      'its executions are stopped, and what they did is left as it is: 1 of 1 executions ended (1 failed)',
    ],
    ['failed', sub('failed', two, { failure }), {}, 'it failed (x: y)'],
    [
      'could not be undone',
      sub('undo-failed', two, { failure }),
      {},
      'it could not be undone (x: y): what its executions did may still be in place',
    ],
    ['is done', sub('done', two), {}, 'it is done'],
  ])('%s', (_, given, execution, words) => {
    expect(told(child, given, execution).because).toBe(words);
  });

  const none = { what: 'nothing', who: 'nobody', step: 'sub' };
  const ends = (what: string) => ({ what: `execution ${what} end`, who: 'child', step: 'sub' });
  it.each<[string, Step, object]>([
    ['the first that is open', sub('running', childrenOf(3)), ends('e-1.sub.0 and 2 others')],
    [
      'the first that has not ended',
      sub('running', childrenOf(3, { 0: end('failed') })),
      ends('e-1.sub.1 and 1 other'),
    ],
    ['the last', sub('undoing', childrenOf(2, { 0: end('failed') })), ends('e-1.sub.1')],
    ['of its epoch', sub('running', childrenOf(1), { epoch: 2 }), ends('e-1.sub.0-2')],
    ['nothing that is not started', sub('running', childrenOf(1, {}, { started: 0 })), none],
    ['nothing when all have ended', sub('running', childrenOf(1, { 0: end('failed') })), none],
    ['nothing of what is over', sub('failed', childrenOf(2)), none],
    ['nothing of which nothing is known', sub('running'), none],
  ])('next is %s', (_, given, next) => {
    expect(told(child, given).next).toEqual(next);
  });

  const one = childrenOf(2, { 0: end('failed') }, { started: 1 });
  it.each<[Step, string | undefined]>([
    [sub('running', one), 'its executions were started, 1 of 2'],
    [sub('running'), 'its executions were started, 0 of 0'],
    [sub('done', one), 'done: 1 of 2 executions ended (1 failed)'],
    [sub('undone', one), 'undone: 1 of 2 executions ended (1 failed)'],
    [sub('undone', one, { failure }), 'undone: 1 of 2 executions ended (1 failed)'],
    [sub('failed', one, { failure }), 'failed (x: y): 1 of 2 executions ended (1 failed)'],
    [sub('undo-failed', one), 'undo-failed: 1 of 2 executions ended (1 failed)'],
    [sub('undoing', one), 'its executions were stopped'],
    [sub('skipped', one), undefined],
  ])('past: $status', (given, what) => {
    const { children, failure: because, status } = given;
    const counts = children === undefined ? {} : { count: children.count, ended: children.ended };
    const evidence = { status, ...(because === undefined ? {} : { failure: because }), ...counts };
    const past = what === undefined ? [] : [{ at: NOW + 3, what, of: 'sub', evidence }];
    expect(told(child, given).past).toStrictEqual(past);
  });

  it('likewise of a list', () => {
    const running = recordOf('list', 'running', { children: childrenOf(1) });
    expect(told(map, running)).toMatchObject({
      because: '0 of 1 executions ended',
      next: { what: 'execution e-1.list.0 end', who: 'child', step: 'list' },
    });
  });
});
