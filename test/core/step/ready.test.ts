/** Which steps are ready, for which work, and when child executions may run (S7, S10). */

import type { PlanStep, Plan } from '../../../lib/core/plan/plan.ts';
import type { NotBefore, Execution, Mode, Step } from '../../../lib/core/records/state.ts';
import type { Pause } from '../../../lib/core/records/pauses.ts';
import { mayHaveChildren, scopeOf, turnAt } from '../../../lib/core/step/turn.ts';
import { stepToSkip, openWork, type Work } from '../../../lib/core/step/ready.ts';
import { planOf, recordOf, stateOf, heldAs } from '../one-step.ts';
import {
  agentStepOf,
  callbackOf,
  childOf,
  childrenOf,
  mapOf,
  statusesWhere as where,
  otherInput,
  undoableOf,
} from '../small-steps.ts';
import { NOW } from '../states.ts';

describe('a step is skipped', () => {
  const skipped = (step: PlanStep, records: Step[] = []) =>
    stepToSkip(planOf(agentStepOf('a'), step), stateOf([recordOf('a', 'done'), ...records]))?.name;
  it.each<[PlanStep, Step['status'][]]>([
    [agentStepOf('it', { when: false }), ['ready']],
    [callbackOf('it', { when: false }), ['ready', 'waiting', 'answered']],
  ])('only before it has begun, or while the external party alone was heard ($kind)', (step, statuses) => {
    expect(where((record) => skipped(step, [record]) === 'it')).toStrictEqual(statuses);
  });
});

describe('executions of a step', () => {
  const may = (step: PlanStep, ...records: Step[]) => mayHaveChildren(step, stateOf(records));
  it.each([childOf('it'), mapOf('it')])(
    'may be under way, or be started by who read an older state ($kind)',
    (step) => {
      expect(where((record) => may(step, record))).toStrictEqual(['ready', 'running']);
      expect(may(step)).toBe(true);
      expect(may({ ...step, when: false })).toBe(false);
      expect(may({ ...step, after: ['b'] })).toBe(false);
      expect(
        where((record) => may(step, record), {
          children: childrenOf({}, { stop: { goal: 'recall', below: 0 } }),
        }),
      ).toStrictEqual(['ready', 'running', 'compensating']);
    },
  );
});

const START = NOW - 1_000;
const workOf = (
  steps: PlanStep[],
  records: Step[],
  execution: Partial<Execution> = {},
  more: Partial<Plan> = {},
) => openWork({ ...planOf(...steps), ...more }, stateOf(records, { startedAt: START, ...execution }));
const it1 = agentStepOf('it', { recovery: [otherInput] });
const it2 = { ...it1, input: otherInput.input };
const deferred = (mode: Mode): NotBefore => ({ mode, why: 'unclaimed', at: NOW });

it('expressions read outputs of done steps, the input and the tokens of callbacks', () => {
  const records = [recordOf('a', 'done', { output: 1 }), recordOf('b', 'failed', { output: 2 })];
  const scope = scopeOf(stateOf(records, { input: { n: 1 }, callbackKeys: { c: 'key' } }));
  expect(scope.input).toStrictEqual({ n: 1 });
  expect(['a', 'b', 'c', 'toString'].map((name) => scope.output(name))).toStrictEqual([
    1,
    undefined,
    undefined,
    undefined,
  ]);
  expect(['a', 'c'].map((name) => scope.token?.(name))).toStrictEqual([undefined, 'e-1.c.key']);
});

it.each<[string, Step[]]>([
  ['a step without a record', []],
  ['a step that is tried again', [recordOf('it', 'retrying', { changedAt: START })]],
  ['a step that is asked for', [recordOf('it', 'unknown', { changedAt: START })]],
  ['the undo of a tolerated failure', [recordOf('it', 'failed', { changedAt: START, mayHaveActed: true })]],
])('after a pause %s is another piece of work, so it is sent anew (seed 1451)', (_, records) => {
  const step = undoableOf('it', { tolerate: true });
  const pause = { number: 1, at: NOW - 500, reason: '', withinMs: 9_000 };
  const sinceAt = (pauses: readonly Pause[]) => workOf([step], records, { pauses })[0]?.sinceAt;
  expect(sinceAt([])).toBe(START);
  expect(sinceAt([{ ...pause, endedAt: NOW - 400 }])).toBe(NOW - 400);
});

it('so is the question about accepted work on the way back, after a stop that ended the pause', () => {
  const step = undoableOf('it', { undo: 'none', acceptsMs: 9_000 });
  const accepted = { at: START, untilAt: NOW + 9_000, askFrom: START, everyMs: 9, asked: 0, seq: 0 };
  const records = [recordOf('it', 'accepted', { changedAt: START, mayHaveActed: true, accepted })];
  const pauses = [{ number: 1, at: NOW - 500, reason: '', withinMs: 9_000, endedAt: NOW - 400 }];
  const work = workOf([step], records, { status: 'compensating', pauses });
  expect(work).toMatchObject([{ mode: 'probe', sinceAt: NOW - 400 }]);
});

it('it is a step’s turn since the last of start, retry and predecessors', () => {
  const step = agentStepOf('c', { after: ['a', 'b', 'none'] });
  const of = (a: number, b: number, ...retriedAt: number[]) =>
    turnAt(
      step,
      stateOf([recordOf('a', 'done', { changedAt: a }), recordOf('b', 'done', { changedAt: b })], {
        startedAt: START,
        retries: retriedAt.map((at) => ({ at, reason: '' })),
      }),
    );
  expect([of(0, 0), of(NOW, 1), of(1, NOW + 1)]).toStrictEqual([START, NOW, NOW + 1]);
  expect([of(NOW, 1, 9, 9, NOW + 2), of(NOW, 1, NOW + 9, NOW + 9, 2)]).toStrictEqual([NOW + 2, NOW]);
  expect(turnAt(step, stateOf([], { startedAt: START }))).toBe(START);
});

describe('work that leads forward', () => {
  const due = { attempt: 3, sinceAt: NOW - 9, dueAt: NOW + 5 };
  const tried = { attempt: 2, stage: 1, changedAt: NOW - 9, retryAt: NOW + 5 };
  const plain: Work = { step: it1, mode: 'execute', attempt: 1, sinceAt: START, dueAt: START };
  const again: Work = { step: it2, mode: 'execute', ...due };
  const probe: Work = { step: it1, mode: 'probe', ...due, attempt: 2 };
  const as = (status: Step['status'], more: Partial<Step> = {}) => [recordOf('it', status, more)];
  const back = (status: Step['status'], mode: Mode) => as(status, { ...tried, deferred: deferred(mode) });
  const idle = ['running', 'waiting', 'answered', 'fenced', 'done', 'failed', 'skipped'] as const;
  it.each<[string, Step[], Work[]]>([
    ['a step that has no record', [], [plain]],
    ['a step that is released, later than its turn', as('ready', tried), [{ ...again, dueAt: NOW - 9 }]],
    ['a step that is renewed, earlier than its turn', as('ready', { changedAt: START - 9 }), [plain]],
    ['a next attempt', as('retrying', tried), [again]],
    [
      'a next attempt that is long due',
      as('retrying', { ...tried, retryAt: 5 }),
      [{ ...again, dueAt: NOW - 9 }],
    ],
    [
      'a next attempt that is held back',
      back('retrying', 'execute'),
      [{ ...again, deferred: deferred('execute') }],
    ],
    ['a next attempt of which something else was held back', back('retrying', 'probe'), [again]],
    [
      'a probe, of the attempt it asks about',
      as('unknown', { ...tried, keyVariant: 1 }),
      [{ ...probe, step: it2 }],
    ],
    ['a probe, of the variant that was attempted and not of the next (S18)', as('unknown', tried), [probe]],
    ['a probe that is held back', back('unknown', 'probe'), [{ ...probe, deferred: deferred('probe') }]],
    ...[...idle, 'compensated' as const].map((status): [string, Step[], Work[]] => [
      `nothing of a step that is ${status}`,
      as(status, tried),
      [],
    ]),
  ])('%s', (_, records, work) => {
    expect(workOf([it1], records)).toStrictEqual(work);
  });

  it('waits where a step has failed and a point of no return is open, but for the point itself', () => {
    const point = agentStepOf('p', { pointOfNoReturn: true });
    const names = (failed: Step['status']) =>
      workOf(
        [it1, point, agentStepOf('z')],
        [recordOf('it', failed), recordOf('p', 'unknown', { mayHaveActed: true })],
      ).map(({ step }) => step.name);
    expect([names('failed'), names('done')]).toStrictEqual([['p'], ['p', 'z']]);
  });
});

describe('a failed step that is tolerated', () => {
  const item = undoableOf('it', { tolerate: true });
  const acted = {
    mayHaveActed: true,
    processDeadlineAt: NOW + 70,
    changedAt: NOW - 9,
    undoAttempt: 1,
    stage: 0,
  };
  const quiet = NOW + 70 + item.settleMs;
  const undo = { step: item, mode: 'undo' as const, attempt: 2, sinceAt: NOW - 9, dueAt: quiet };
  const { leaseUntil: _, ...compensating } = heldAs('undo', acted);
  it.each<[string, Step, Work[]]>([
    ['that may have acted is undone when it is quiet', recordOf('it', 'failed', acted), [undo]],
    ['is undone again later', { ...compensating, retryAt: quiet + 1 }, [{ ...undo, dueAt: quiet + 1 }]],
    [
      'that began to be undone and has acted for certain is undone at once',
      { ...compensating, mayHaveActed: false },
      [{ ...undo, dueAt: NOW - 9 }],
    ],
    [
      'is held back',
      recordOf('it', 'failed', { ...acted, deferred: deferred('undo') }),
      [{ ...undo, deferred: deferred('undo') }],
    ],
    ['that has not acted stays', recordOf('it', 'failed', { ...acted, mayHaveActed: false }), []],
    ['on which somebody works stays', heldAs('undo', acted), []],
    ['that is done stays', recordOf('it', 'done', acted), []],
    ['that could not be undone stays', recordOf('it', 'compensation-failed', acted), []],
    ['that stops its execution stays', recordOf('it', 'failed', { ...acted, afterFailure: 'stop' }), []],
  ])('%s', (_name, record, work) => {
    expect(workOf([item], [record])).toStrictEqual(work);
  });

  it('waits for its turn again where the one before it in its lane was begun anew, too', () => {
    const lane = planOf(agentStepOf('a'), agentStepOf('it', { after: ['a'] }));
    const of = (before: Step['status']) =>
      openWork({ ...lane, tolerated: 1 }, stateOf([recordOf('a', before), recordOf('it', 'retrying')])).map(
        (piece) => piece.step.name,
      );
    expect(of('retrying')).toStrictEqual(['a']);
    expect(of('running')).toStrictEqual([]);
    expect(of('done')).toStrictEqual(['it']);
    expect(of('compensated')).toStrictEqual([]);
    expect(of('tolerated')).toStrictEqual(['it']);
  });
});

describe('work that leads back', () => {
  const cause = { kind: 'cancel', at: NOW - 5, failure: { code: 'x', message: 'y' } } as const;
  const [a, b] = [undoableOf('a'), undoableOf('b', { after: ['a'] })];
  const undo = { step: b, mode: 'undo' as const, attempt: 1, sinceAt: NOW - 5, dueAt: NOW - 5 };
  const back = (records: Step[], execution: Partial<Execution> = {}, steps: PlanStep[] = [a, b]) =>
    workOf(steps, records, { status: 'compensating', cause, ...execution });
  const done = (name: string, more: Partial<Step> = {}) =>
    recordOf(name, 'done', { changedAt: NOW - 9, ...more });
  it.each<[string, Step, Work[]]>([
    ['since the undoing began', done('b'), [undo]],
    ['since the step was done', done('b', { changedAt: NOW }), [{ ...undo, sinceAt: NOW, dueAt: NOW }]],
    [
      'not before it is quiet',
      done('b', { mayHaveActed: true, processDeadlineAt: NOW }),
      [{ ...undo, dueAt: NOW + b.settleMs }],
    ],
    ['whatever was to be done later', done('b', { retryAt: NOW + 1 }), [undo]],
    [
      'not before an undo that is held back may be sent',
      done('b', { retryAt: NOW + 1, deferred: deferred('undo') }),
      [{ ...undo, dueAt: NOW + 1, deferred: deferred('undo') }],
    ],
    [
      'not before the next undo, by the agent of its stage',
      recordOf('b', 'compensating', { undoAttempt: 1, retryAt: NOW + 2, changedAt: 0 }),
      [{ ...undo, attempt: 2, dueAt: NOW + 2 }],
    ],
    ['at once where no next time is said', recordOf('b', 'compensating', { changedAt: 0 }), [undo]],
    [
      'of what may have acted',
      recordOf('b', 'failed', { mayHaveActed: true, changedAt: 0 }),
      [{ ...undo, dueAt: NOW - 5 }],
    ],
    ['not of what is held', heldAs('undo', { name: 'b' }), []],
    ['not of what could not be undone', recordOf('b', 'compensation-failed'), []],
    ['not of what has not acted', recordOf('b', 'failed'), []],
  ])('%s', (_, record, work) => {
    expect(back([recordOf('a', 'fenced'), record])).toStrictEqual(work);
  });

  it('begins at the end, and goes on when that is clear', () => {
    const names = (...records: Step[]) =>
      back(records).map(({ step, sinceAt }) => `${step.name} ${sinceAt - NOW}`);
    expect(names(done('a'), done('b'))).toStrictEqual(['b -5']);
    expect(names(done('a'), recordOf('b', 'compensated', { changedAt: NOW - 2 }))).toStrictEqual(['a -2']);
    expect(names(done('a'), recordOf('b', 'compensation-failed'))).toStrictEqual([]);
  });

  it('is nothing where a person left all as it is, or somebody works on a point of no return', () => {
    const fenced = recordOf('a', 'fenced');
    expect(back([fenced, done('b')], { cause: { ...cause, undo: false } })).toStrictEqual([]);
    const point = agentStepOf('p', { pointOfNoReturn: true });
    const near = (mode: 'execute' | 'undo') =>
      back([fenced, done('b'), heldAs(mode, { name: 'p' })], {}, [a, b, point]).length;
    expect([near('execute'), near('undo')]).toStrictEqual([0, 1]);
  });

  it('is nothing before nothing can begin any more', () => {
    const names = (steps: PlanStep[], ...records: Step[]) =>
      back(records, {}, steps).map(({ step }) => step.name);
    const c = agentStepOf('c');
    expect(names([b, c], done('b'), recordOf('c', 'fenced'))).toStrictEqual(['b']);
    expect(names([b, c], done('b'))).toStrictEqual([]);
    expect(names([b, c], done('b'), recordOf('c', 'retrying'))).toStrictEqual([]);
    const d = childOf('d');
    expect(names([b, d], done('b'))).toStrictEqual([]);
    expect(names([b, d], done('b'), recordOf('d', 'running'))).toStrictEqual([]);
    expect(names([b, d], done('b'), recordOf('d', 'failed'))).toStrictEqual(['b']);
  });
});
