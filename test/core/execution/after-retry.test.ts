/** How stored records are read after a retry, under the execution's current status and epoch (S2, S6, F8). */

import { stateAfterRetry } from '../../../lib/core/execution/after-retry.ts';
import type { AgentStep, CallbackStep, ChildStep, PlanStep } from '../../../lib/core/plan/plan.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import type { StepStatus } from '../../../lib/core/moves.ts';
import { childrenOf, end, map } from '../family.ts';
import { changesOf, planOf, recordOf, stateOf, step as recovering } from '../one-step.ts';
import { NOW } from '../states.ts';

const retries = [
  { at: NOW - 900, reason: 'a' },
  { at: NOW - 700, reason: 'a' },
  { at: NOW - 50, reason: 'b' },
];
const retried: Partial<Execution> = { epoch: 3, retries };
const counted = (step: PlanStep, record: Step, execution: Partial<Execution>) => {
  const state = stateOf([record], execution);
  const after = stateAfterRetry(planOf(step), state);
  if (after === state) return undefined;
  expect({ ...after, steps: {} }).toEqual({ ...state, steps: {} });
  // The stored records stay as they are; only the reading of this step's record may differ.
  return changesOf(record, after.steps[record.name]);
};
const old = (status: StepStatus, more: Partial<Step> = {}): Step =>
  recordOf('it', status, {
    changedAt: NOW - 100,
    epoch: 2,
    stage: 1,
    stageAttempt: 2,
    probes: 4,
    retryAt: NOW + 9,
    failure: { code: 'x', message: 'y' },
    ...more,
  });

describe('a step that failed or was fenced before a retry of its execution', () => {
  const restarted = { epoch: 3, stage: 0, stageAttempt: 0, probes: 0, retryAt: null, changedAt: NOW - 50 };
  it('keeps its time where no retry says its own, or where it is later', () => {
    const { changedAt: _, ...rest } = restarted;
    expect(counted(recovering, old('failed'), { epoch: 3 })).toEqual({ ...rest, status: 'ready' });
    expect(counted(recovering, old('failed'), { epoch: 3, retries: [] })).toEqual({
      ...rest,
      status: 'ready',
    });
    const later = old('failed', { changedAt: NOW - 5 });
    expect(counted(recovering, later, retried)).toEqual({ ...rest, status: 'ready' });
  });
  it.each(['done', 'skipped', 'running', 'compensated', 'waiting'] as const)(
    'is none that is %s',
    (status) => {
      expect(counted(recovering, old(status), retried)).toBeUndefined();
    },
  );

  it('repeats on its stage what may have acted and may be repeated', () => {
    const { stage: _, ...rest } = restarted;
    expect(counted(recovering, old('failed', { mayHaveActed: true }), retried)).toEqual({
      ...rest,
      status: 'retrying',
      restarted: true,
    });
  });
  it.each(['probed', 'unsafe'] as const)('asks on its stage for what may have acted and is %s', (effect) => {
    const step: AgentStep = { ...recovering, effect };
    const { stage: _, ...rest } = restarted;
    expect(counted(step, old('failed', { mayHaveActed: true }), retried)).toEqual({
      ...rest,
      status: 'unknown',
      restarted: true,
    });
  });
  it("forgets a person's input where the plan's is another on its new stage", () => {
    const steps = {
      ...recovering,
      recovery: [
        { kind: 'withInput', input: { b: 1 }, attempts: 1, firstMs: 0, maxMs: 0 },
        { kind: 'retry', attempts: 1, firstMs: 0, maxMs: 0 },
      ],
    } as const;
    const given = (stage: number, more: Partial<Step> = {}) =>
      counted(steps, old('failed', { givenInput: { a: 1 }, stage, ...more }), retried);
    expect(given(1)).toEqual({ ...restarted, status: 'ready', givenInput: null });
    expect(given(0)).not.toHaveProperty('givenInput');
    expect(given(1, { mayHaveActed: true })).not.toHaveProperty('givenInput');
  });
});

describe('a callback of an earlier epoch', () => {
  const callback: CallbackStep = { kind: 'callback', name: 'it', after: [], withinMs: 5 };
  const fenced = (more: Partial<Step>, status: StepStatus = 'fenced'): Step =>
    recordOf('it', status, { epoch: 2, changedAt: NOW, ...more });

  it('is answered where it was, before its turn', () => {
    expect(counted(callback, fenced({ output: 1 }), retried)).toEqual({ epoch: 3, status: 'answered' });
    // The person who answered is kept, so that a repetition of the answer is recognised.
    const by = { kind: 'local', name: 'bob' } as const;
    expect(counted(callback, fenced({ output: 1, by }), retried)).toEqual({ epoch: 3, status: 'answered' });
  });
  it('waits anew where it was not, or has failed', () => {
    expect(counted(callback, fenced({}), retried)).toEqual({ epoch: 3, status: 'ready' });
    const failed = fenced({ output: 1 }, 'failed');
    expect(counted(callback, failed, retried)).toEqual({ epoch: 3, status: 'ready' });
  });
  it('begins anew whatever it may have done, and an agent’s step has no answer', () => {
    const acted = fenced({ mayHaveActed: true });
    expect(counted(callback, acted, retried)).toEqual({ epoch: 3, status: 'ready', restarted: true });
    expect(counted(recovering, fenced({ output: 1 }), retried)).toEqual({ epoch: 3, status: 'ready' });
  });
});

describe('a step with executions of its own, of an earlier epoch', () => {
  const of = (status: StepStatus, children: Step['children']): Step =>
    recordOf('list', status, {
      epoch: 2,
      changedAt: NOW - 100,
      failure: { code: 'x', message: 'y' },
      ...(children === undefined ? {} : { children }),
    });
  const failed = childrenOf(2, { 0: end('succeeded'), 1: end('failed', 6) });

  it('has those tried again that failed', () => {
    expect(counted(map, of('failed', failed), retried)).toEqual({
      status: 'running',
      epoch: 3,
      changedAt: NOW - 50,
      failure: null,
      children: { ...failed, epoch: 2, started: 1, ended: { 0: end('succeeded') }, restartedAfter: { 2: 6 } },
    });
  });
  it('keeps which ends of its earlier tries count no more', () => {
    const tried = childrenOf(1, { 0: end('failed', 9) }, { try: 3, restartedAfter: { 1: 4 } });
    expect(counted(map, of('failed', tried), retried)).toMatchObject({
      children: { restartedAfter: { 1: 4, 3: 9 } },
    });
  });
  it('is asked about anew, whatever was said of its last failure (simulation seed 110000139)', () => {
    const said: Step = { ...of('failed', failed), afterFailure: 'stop' };
    expect(counted(map, said, retried)).toMatchObject({ status: 'running', afterFailure: null });
  });
  it('tries a round again whose end stays known, so a stop meanwhile waits for nothing (simulation seed 143)', () => {
    const rounds = { done: 1, failed: [2] };
    const children = childrenOf(1, { 0: end('failed', 6, { clean: true }) }, { try: 3, rounds });
    const repeated = { kind: 'child', name: 'list', after: [], repeat: {} } as unknown as ChildStep;
    expect(counted(repeated, of('failed', children), retried)).toMatchObject({
      status: 'retrying',
      children: { ...children, epoch: 2 },
    });
  });
  it('begins anew where they all left nothing, it never had any, or it was fenced', () => {
    // The record of the former end is removed, because it says nothing about the next end (simulation seed
    // 70000166).
    const ready = { status: 'ready', epoch: 3, changedAt: NOW - 50, failure: null };
    expect(counted(map, of('failed', childrenOf(1, { 0: end('canceled') })), retried)).toEqual({
      ...ready,
      children: null,
    });
    expect(counted(map, of('failed', undefined), retried)).toEqual(ready);
    expect(counted(map, of('fenced', failed), retried)).toEqual({ ...ready, children: null });
  });
  it.each([null, 0, { a: 2 }])('begins its tries with what a person gave it last: %j', (givenInput) => {
    const child: ChildStep = { kind: 'child', name: 'list', after: [], recovery: [] } as never;
    const record = { ...of('fenced', undefined), keyInput: { a: 1 }, keyVariant: 0, givenInput };
    const after = stateAfterRetry(planOf(child), stateOf([record], retried)).steps['list'];
    expect([after?.keyInput, after?.givenInput]).toStrictEqual([givenInput, undefined]);
  });
});

it('the rest of the snapshot stays as it is', () => {
  const plan = planOf(recovering, { ...recovering, name: 'b' }, { ...recovering, name: 'c' });
  const state = stateOf([old('failed'), recordOf('b', 'done'), recordOf('c', 'fenced')], retried);
  const after = stateAfterRetry(plan, state);
  expect(Object.entries(after.steps).map(([name, { status }]) => [name, status])).toEqual([
    ['it', 'ready'],
    ['b', 'done'],
    ['c', 'ready'],
  ]);
  expect(after.steps['b']).toBe(state.steps['b']);
  expect(state.steps['it']?.status).toBe('failed');
  expect(after.execution).toBe(state.execution);
});
