/** Rules for steps without an agent, as whole decisions in small states (stopping: `end-rules.test.ts`). */

import type { MapStep, PlanStep } from '../../../lib/core/plan/plan.ts';
import type { ChildEnd, Children, ChildStart } from '../../../lib/core/records/children.ts';
import { type WantedValue, withValue } from '../../../lib/core/records/large-values.ts';
import type { EvaluateEvent } from '../../../lib/core/decisions/events.ts';
import type { Cause, Execution, Step } from '../../../lib/core/records/state.ts';
import { changesOf, callbackAsked, planOf, recordOf, see, stateOf } from '../one-step.ts';
import {
  agentStepOf,
  callbackOf,
  childOf,
  childrenOf,
  endsAs as ends,
  mapOf,
  waitOf,
} from '../small-steps.ts';
import { NOW } from '../states.ts';

const evaluate = (...affected: string[]) => ({ kind: 'evaluate', fresh: true, affected }) as const;
const onEvaluate = (
  steps: PlanStep[],
  records: Step[],
  execution: Partial<Execution> = {},
  more: Partial<EvaluateEvent> = {},
) => see(planOf(...steps), stateOf(records, execution), more);
const LOST = { hash: 'h', id: 'w-1', bytes: 40_000 };
const idsOf = (starts: readonly ChildStart[] | undefined) => starts?.map(({ id }) => id);

describe('a time that has passed', () => {
  it('of the last step is one write with the execution, which fails on one that was paused since (S12)', () => {
    const last = [waitOf('it', { forMs: 5 })];
    const { write } = onEvaluate(last, [], { startedAt: NOW - 5, wakeAt: NOW + 90_000 });
    expect(write).toMatchObject({
      step: { name: 'it', status: 'done' },
      execution: { status: 'running', version: 2, wakeAt: NOW + 60_000 },
    });
    const near = onEvaluate(last, [], { startedAt: NOW - 5, wakeAt: NOW + 1 });
    expect(near.write?.execution?.wakeAt).toBe(NOW + 1);
  });

  it('at which a callback has no answer is its failure', () => {
    const { write, notes } = see(planOf(callbackOf('it', { withinMs: 5 })), {
      ...stateOf([], { startedAt: NOW - 5 }),
      questions: { it: callbackAsked('it', { deadlineAt: NOW }) },
    });
    expect(write?.step?.status).toBe('failed');
    // The step is written together with the execution, so the write fails if a pause, which gives time back,
    // has begun since the read.
    expect(write?.execution).toMatchObject({ status: 'running', version: 2 });
    const failure = { code: 'no-answer', message: 'the callback was not answered in time' };
    expect(notes).toStrictEqual([{ what: 'step-failed', executionId: 'e-1', step: 'it', failure }]);
  });
});

describe('a time that comes before the wake time', () => {
  const byWorker = (steps: PlanStep[], records: Step[]) =>
    onEvaluate(steps, records, { startedAt: NOW, wakeAt: NOW + 9_000 }, { by: 'agent' });

  it('brings it forward unless a supervisor evaluates, and nothing else does (S12)', () => {
    const { write, ...rest } = byWorker([waitOf('it', { forMs: 5_000 })], []);
    expect(write).toStrictEqual({
      executionId: 'e-1',
      execution: expect.objectContaining({ status: 'running', version: 2, wakeAt: NOW + 5_000 }),
    });
    expect(rest).toStrictEqual({ sends: [], next: evaluate('x'), notes: [] });
    const callback = byWorker([callbackOf('it', { withinMs: 5_000 })], []);
    expect(callback.write?.execution?.wakeAt).toBe(NOW + 5_000);
    for (const forMs of [9_000, 10_000])
      expect(byWorker([waitOf('it', { forMs })], []).write).toBeUndefined();
  });

  it('may be the time at which work deferred for a dead service is sent again', () => {
    const deferred = { mode: 'execute', why: 'breaker', at: NOW } as const;
    const left = (retryAt: number) => [recordOf('it', 'retrying', { changedAt: NOW, retryAt, deferred })];
    const near = byWorker([agentStepOf('it')], left(NOW + 5_000));
    expect(near.write?.execution?.wakeAt).toBe(NOW + 5_000);
    expect(byWorker([agentStepOf('it')], left(NOW + 9_000)).write).toBeUndefined();
  });
});

describe('a step that the evaluation skips, because its executions could not be stopped', () => {
  it('keeps the execution from its end, for one may just be started (S10)', () => {
    const cause: Cause = { kind: 'cancel', at: NOW, failure: { code: 'canceled', message: 'no' } };
    const undone = (more: Partial<EvaluateEvent>) =>
      onEvaluate([childOf('it')], [], { status: 'compensating', cause }, { by: 'agent', ...more });
    expect(undone({}).next.kind).toBe('stop-children');
    expect(undone({ failing: ['it'] }).write).toBeUndefined();
  });
});

describe('executions to start', () => {
  const list = (count: number, more: Partial<MapStep> = {}) =>
    mapOf('it', { over: Array.from({ length: count }, (_, at) => at), ...more });
  const startsOf = (step: PlanStep, records: Step[] = [], execution: Partial<Execution> = {}) => {
    const { next } = onEvaluate(
      [step, agentStepOf('a'), agentStepOf('p', { pointOfNoReturn: true })],
      records,
      execution,
    );
    return next.kind === 'start-children' ? idsOf(next.starts) : next.kind;
  };
  const running = (children: Children) => recordOf('it', 'running', { children });

  it('are all that has its turn, and nothing is written before', () => {
    const decision = onEvaluate([childOf('it')], []);
    expect(decision).toStrictEqual({
      sends: [],
      next: {
        kind: 'start-children',
        step: 'it',
        planned: { starts: [expect.objectContaining({ id: 'e-1.it.0' })], items: 1, tolerated: 0 },
        starts: [expect.objectContaining({ id: 'e-1.it.0' })],
      },
      notes: [],
    });
  });

  it('wait for turn and condition, and for the execution to go forward', () => {
    expect(startsOf(childOf('it', { after: ['a'] }))).toBe('idle');
    expect(startsOf(childOf('it', { after: ['a'] }), [recordOf('a', 'done')])).toStrictEqual(['e-1.it.0']);
    expect(startsOf(childOf('it', { when: false }))).toBe('evaluate');
    expect(startsOf(childOf('it', { when: true }))).toStrictEqual(['e-1.it.0']);
    expect(startsOf(childOf('it'), [], { status: 'waiting' })).toStrictEqual(['e-1.it.0']);
    expect(startsOf(childOf('it'), [recordOf('a', 'running')], { status: 'compensating' })).not.toEqual([
      'e-1.it.0',
    ]);
    const waits = [recordOf('a', 'failed'), recordOf('p', 'unknown', { mayHaveActed: true })];
    expect(startsOf(childOf('it'), waits)).toBe('idle');
  });

  it('go on where some are started, as far as there is room', () => {
    const some = (started: number, ended: Children['ended'] = {}) =>
      running(childrenOf(ended, { count: 3, started, items: 60 }));
    expect(startsOf(list(60), [some(1)])).toStrictEqual(['e-1.it.1', 'e-1.it.2']);
    expect(startsOf(list(60), [some(3)])).toBe('idle');
    expect(startsOf(list(60, { concurrency: 50 }), [some(1)])).toStrictEqual(['e-1.it.1']);
    expect(startsOf(list(60, { concurrency: 50 }), [some(2)])).toBe('idle');
    expect(startsOf(list(60, { concurrency: 50 }), [some(2, { 0: ends('succeeded') })])).toStrictEqual([
      'e-1.it.2',
    ]);
    expect(startsOf(list(60), [recordOf('it', 'running')])).toStrictEqual([
      'e-1.it.0',
      'e-1.it.1',
      'e-1.it.2',
    ]);
    expect(startsOf(list(60), [recordOf('it', 'done', { children: childrenOf({}, { count: 3 }) })])).toBe(
      'idle',
    );
  });

  it('are not counted again while none is due, which takes as long as the list', () => {
    const odd = (children: Partial<Children>) =>
      running(childrenOf({}, { count: 3, items: 60, ...children }));
    expect(startsOf(mapOf('it', { over: 5 }), [odd({ started: 3 })])).toBe('idle');
    expect(startsOf(mapOf('it', { over: 5, concurrency: 25 }), [odd({ started: 1 })])).toBe('idle');
    expect(startsOf(mapOf('it', { over: 5 }), [odd({ started: 2 })])).toBe('evaluate');
  });

  it.each<[string, WantedValue['holder'], Partial<Children>]>([
    ['failed and is to go on (seed 592)', 'input', { restartedAfter: { 1: 4 } }],
    ['is a round that was not begun (seed 994)', 'step.it', { try: 2, rounds: { done: 1, inputAt: LOST } }],
  ])('of what is lost take their place before the step may fail: one that %s', (_, holder, more) => {
    const step = childOf('it', {
      input: { $ref: 'input', path: ['order'] },
      tolerate: true,
      undo: 'none',
      ...(holder === 'input' ? {} : { rounds: { until: true, atMost: 5 } }),
    });
    const record = running(childrenOf({}, { started: 0, ...more }));
    const state = stateOf([record], holder === 'input' ? { input: null, inputAt: LOST } : {});
    const lost = withValue({ ...state, values: { lost: new Set() } }, { holder, ref: LOST }, 'lost');
    const { write, next } = see(planOf(step), lost);
    expect(write).toBeUndefined();
    const { restartedAfter } = more;
    const start = { refused: { code: 'value-lost' }, ...(restartedAfter && { restartedAfter: 4 }) };
    expect(next).toMatchObject({ kind: 'start-children', step: 'it', starts: [start] });
  });

  it('of a second step are not kept by the first', () => {
    const first = recordOf('it', 'running', { children: childrenOf({}) });
    const next = (record: Step) => onEvaluate([childOf('it'), childOf('b')], [record]).next;
    expect(next(first)).toMatchObject({ kind: 'start-children', step: 'b' });
    const none = onEvaluate([list(0), childOf('b')], [recordOf('it', 'running')]).next;
    expect(none).toMatchObject({ kind: 'start-children', step: 'b' });
    expect(next(recordOf('it', 'skipped'))).toMatchObject({ kind: 'start-children', step: 'b' });
  });

  it('from a value that is not a list fail the step at once', () => {
    const { write, ...rest } = onEvaluate([mapOf('it', { over: 5 })], [], { epoch: 3 });
    expect(write?.execution?.version).toBe(2);
    expect(write?.step).toMatchObject({
      status: 'failed',
      version: 1,
      epoch: 3,
      changedAt: NOW,
      failure: { code: 'not-a-list' },
    });
    const failure = { code: 'not-a-list', message: "the value of 'over' is not a list" };
    const notes = [{ what: 'step-failed', executionId: 'e-1', step: 'it', failure }];
    expect(rest).toStrictEqual({ sends: [], next: evaluate('x', 'it'), notes });
    expect(
      onEvaluate([mapOf('it', { over: 5 })], [recordOf('it', 'ready', { version: 4 })]).write?.step?.version,
    ).toBe(5);
  });
});

describe('executions of a step whose time is over', () => {
  const step = childOf('it', { withinMs: 5 });
  const record = (children: Children) => recordOf('it', 'running', { children, changedAt: 5 });

  it('are stopped once that is recorded, in one write with the execution: it may have been paused (L1)', () => {
    const execution = { startedAt: NOW - 5, wakeAt: NOW + 90_000 };
    const { write } = onEvaluate([step], [record(childrenOf({}))], execution);
    expect(write?.step?.children).toStrictEqual({ ...childrenOf({}), stop: { goal: 'stop', below: 0 } });
    expect(write?.execution).toMatchObject({ status: 'running', version: 2, wakeAt: NOW + 60_000 });
    const { next } = onEvaluate(
      [step],
      [record(childrenOf({}, { stop: { goal: 'stop', below: 0 } }))],
      execution,
    );
    expect(next).toMatchObject({ kind: 'stop-children', goal: 'stop' });
  });

  it('and have succeeded before they could be stopped are gathered where all is left as it is (L1)', () => {
    const cause: Cause = { kind: 'failure', at: NOW, failure: { code: 'x', message: 'y' }, undo: false };
    const look = (given: Step) => onEvaluate([step], [given], { status: 'compensating', cause });
    const ended = { 0: ends('succeeded') };
    const stopped = look(record(childrenOf(ended, { stop: { goal: 'stop', below: 0 } }))).write?.step;
    expect(stopped).toMatchObject({ status: 'compensating' });
    expect(stopped?.children).toStrictEqual(childrenOf(ended));
    expect(look(stopped as Step).next.kind).toBe('gather');
  });
});

describe('executions that have ended', () => {
  const record = (ended: Children['ended'], more: Partial<Step> = {}, children: Partial<Children> = {}) =>
    recordOf('it', 'running', { children: childrenOf(ended, children), changedAt: 5, ...more });

  it('are gathered when all have', () => {
    const both = { 0: ends('succeeded'), 1: ends('succeeded') };
    expect(onEvaluate([mapOf('it')], [record(both, {}, { count: 2 })])).toStrictEqual({
      sends: [],
      next: { kind: 'gather', step: 'it', ids: ['e-1.it.0', 'e-1.it.1'] },
      notes: [],
    });
    const of = (given: Step) => onEvaluate([mapOf('it', { concurrency: 1 })], [given]).next.kind;
    expect(of(record({ 0: ends('succeeded') }, {}, { count: 2, started: 2 }))).toBe('idle');
    const later = onEvaluate([childOf('it')], [record({ 0: ends('succeeded') }, { epoch: 2 })]).next;
    expect(later).toMatchObject({ ids: ['e-1.it.0-e2t1'] });
    expect(of(record({ 0: ends('succeeded') }, { status: 'done' }))).not.toBe('gather');
  });

  it('fail the step where one has', () => {
    const given = record({ 0: ends('failed') });
    const { write, ...rest } = onEvaluate([childOf('it')], [given]);
    expect(write).toStrictEqual({
      executionId: 'e-1',
      step: expect.anything(),
      execution: expect.anything(),
    });
    expect(changesOf(given, write?.step)).toStrictEqual({
      status: 'failed',
      version: 2,
      writeId: 'w-new',
      changedAt: NOW,
      failure: { code: 'child-failed', message: 'its execution e-1.it.0 ended: failed' },
    });
    const failure = { code: 'child-failed', message: 'its execution e-1.it.0 ended: failed' };
    const notes = [{ what: 'step-failed', executionId: 'e-1', step: 'it', failure }];
    expect(rest).toStrictEqual({ sends: [], next: evaluate('x', 'it'), notes });
  });

  it('after they were stopped settle the step, left as they are where a person said so', () => {
    const cause: Cause = { kind: 'cancel', at: NOW, failure: { code: 'x', message: 'y' } };
    const of = (ended: ChildEnd, more: Partial<Cause> = {}) => {
      const given = record({ 0: ended }, { status: 'compensating' });
      const { write, notes, next } = onEvaluate([childOf('it')], [given], {
        status: 'compensating',
        cause: { ...cause, ...more },
      });
      return next.kind === 'gather' ? next.kind : [write?.step?.status, notes[0]?.what];
    };
    expect(of(ends('compensated', true))).toStrictEqual(['compensated', 'step-compensated']);
    expect(of(ends('failed'))).toStrictEqual(['compensation-failed', 'step-compensation-failed']);
    expect(of(ends('failed'), { undo: false })).toStrictEqual(['failed', 'step-failed']);
    // Nothing was undone: an operator may retry it.
    expect(of(ends('canceled', true), { undo: false })).toStrictEqual(['failed', 'step-failed']);
    // The child could no longer be stopped, and its effects stay: the step is done.
    expect(of(ends('succeeded'), { undo: false })).toBe('gather');
    expect(of(ends('succeeded'))).toStrictEqual([undefined, undefined]);
  });
});
