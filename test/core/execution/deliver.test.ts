/**
 * The effects of a message, a heartbeat and a report, as whole decisions in small states (S4, S5, S9, S13,
 * C1).
 */

import { decide } from '../../../lib/core/decide.ts';
import type { AgentStep, CallbackStep, PlanStep } from '../../../lib/core/plan/plan.ts';
import type { Decision } from '../../../lib/core/decisions/decision.ts';
import type { Event } from '../../../lib/core/decisions/events.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { NotBefore, Step } from '../../../lib/core/records/state.ts';
import { openWork, workKey } from '../../../lib/core/step/ready.ts';
import { DEADLINE, heldAs, otherStage, planOf, recordOf, stateOf } from '../one-step.ts';
import { planStep } from '../../author/refusals.ts';
import { undoableOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

const inputs = { writeId: 'w-new', now: NOW, random: 0.5 };
const plan = planOf(planStep);
const about = { executionId: 'e-1', step: 'it', attempt: 1 };
const message = { v: 1 as const, execution: 'e-1', step: 'it', attempt: 1, mode: 'execute' as const, seq: 0 };
const delivered = (more: object = {}, of: object = {}): Event =>
  ({
    type: 'deliver',
    message: { ...message, ...of },
    agent: 'worker',
    token: 'fresh',
    processDeadlineAt: NOW + 90_000,
    readAt: NOW,
    ...inputs,
    ...more,
  }) as Event;
const dropped = (detail: string, of: object = {}): Decision => ({
  sends: [],
  next: { kind: 'idle' },
  notes: [{ what: 'message-dropped', ...about, detail, ...of }],
});
const retrying = (retryAt: number, deferred?: NotBefore): Step =>
  recordOf('it', 'retrying', { retryAt, stageAttempt: 0, ...(deferred === undefined ? {} : { deferred }) });
const evaluate = { kind: 'evaluate', fresh: false, affected: ['it'] } as const;

describe('a message (S13)', () => {
  const restored = dropped('from after a restore');
  const none = { sends: [], next: evaluate, notes: [] };
  const untilAt = (at: number): Decision => ({ sends: [], next: { kind: 'wait', untilAt: at }, notes: [] });
  const tooShort = delivered({ processDeadlineAt: NOW + 1_999 });
  const strange = (step: string): [Event, Decision] => [
    delivered({}, { step }),
    dropped('no such step', { step }),
  ];
  it.each<[string, Snapshot, Event, Decision]>([
    ['about no step of the plan', stateOf([]), ...strange('x')],
    ['about what every object has', stateOf([]), ...strange('toString')],
    ['from after a restore', stateOf([retrying(NOW)]), delivered({}, { seq: 2 }), restored],
    ['from after a restore to nothing', stateOf([]), delivered({}, { seq: 1 }), restored],
    ['about what is held', stateOf([heldAs('execute')]), delivered(), dropped('leased')],
    ['more than five seconds early', stateOf([retrying(NOW + 5_001)]), delivered(), dropped('early')],
    ['five seconds early', stateOf([retrying(NOW + 5_000)]), delivered(), untilAt(NOW + 5_000)],
    ['that the step is past', stateOf([recordOf('it', 'done')]), delivered(), none],
    ['of another agent', stateOf([]), delivered({ agent: 'x' }), none],
    ['of another mode', stateOf([]), delivered({}, { mode: 'undo' }), none],
    ['of another attempt', stateOf([]), delivered({}, { attempt: 2 }), none],
    [
      'to a process that ends in less than two seconds',
      stateOf([]),
      tooShort,
      { ...none, next: { kind: 'give-back' } },
    ],
  ])('%s', (_, state, event, decision) => {
    expect(decide(plan, state, event)).toEqual(decision);
  });

  it('that is due is claimed, and the claim is all that is written', () => {
    const { write, ...rest } = decide(
      plan,
      stateOf([{ ...retrying(NOW - 7), changedAt: NOW - 20 }]),
      delivered(),
    );
    expect(write).toEqual({
      executionId: 'e-1',
      step: expect.objectContaining({ status: 'running', token: 'fresh' }),
    });
    expect(rest).toEqual({
      sends: [],
      next: { kind: 'perform', step: write?.step },
      notes: [{ what: 'claimed', ...about, detail: 'execute', ms: 7 }],
    });
  });

  it.each([
    ['draws a wake time near that is behind its end', DEADLINE, NOW + 3_000],
    ['leaves a wake time that is before its end, in a write that fails if it was moved', NOW + 4, NOW + 4],
  ])('to a process that ends before a lease would, in two seconds, %s (S12)', (_, wakeAt, at) => {
    const { write } = decide(
      plan,
      stateOf([retrying(NOW)], { wakeAt }),
      delivered({ processDeadlineAt: NOW + 2_000 }),
    );
    expect(write?.step).toMatchObject({ status: 'running', leaseUntil: NOW + 2_000 });
    expect(write?.execution).toMatchObject({ wakeAt: at, version: 2 });
  });

  it('to a process that ends a margin before the wake time may come writes the step alone', () => {
    const { write } = decide(plan, stateOf([retrying(NOW)]), delivered({ processDeadlineAt: NOW + 29_000 }));
    expect(write?.step?.leaseUntil).toBe(NOW + 29_000);
    expect(write).not.toHaveProperty('execution');
  });

  it('to a process that ends before it evaluates its own step brings the wake time forward, even if another step is evaluated sooner', () => {
    const other: AgentStep = { ...planStep, name: 'other', pickupMs: 5_000 };
    const { write } = decide(
      planOf(planStep, other),
      stateOf([retrying(NOW)], { wakeAt: NOW + 30_000 }),
      delivered({ processDeadlineAt: NOW + 20_000 }),
    );
    expect(write?.execution).toMatchObject({ wakeAt: NOW + 5_000, version: 2 });
  });

  const unclaimed = retrying(NOW + 60_000, { mode: 'execute', why: 'unclaimed', at: NOW });
  it.each([
    ['draws a wake time near that is far away', DEADLINE, NOW + 30_000],
    ['leaves a wake time that is near', NOW + 4, NOW + 4],
  ])('that comes after all to what nobody took %s', (_, wakeAt, at) => {
    const { write, next } = decide(plan, stateOf([unclaimed], { wakeAt }), delivered());
    expect(next).toMatchObject({ kind: 'perform' });
    expect(write?.step?.deferred).toBeUndefined();
    expect(write?.execution).toMatchObject({ wakeAt: at, version: 2 });
  });

  it.each([
    ['unclaimed', 'perform'],
    ['not-deployed', 'perform'],
    ['breaker', 'idle'],
    ['paused', 'idle'],
    ['rate', 'idle'],
  ] as const)('that comes before its time to what is deferred as %s leads to %s', (why, next) => {
    const deferred = retrying(NOW + 60_000, { mode: 'execute', why, at: NOW });
    expect(decide(plan, stateOf([deferred]), delivered()).next.kind).toBe(next);
  });

  it('that comes in time to what nobody took writes the step alone', () => {
    const due = { ...retrying(NOW, { mode: 'execute', why: 'unclaimed', at: NOW }), changedAt: NOW };
    const { write, next } = decide(plan, stateOf([due], { wakeAt: DEADLINE }), delivered());
    expect(next).toMatchObject({ kind: 'perform' });
    expect(write).not.toHaveProperty('execution');
  });

  it.each([
    ['of an attempt that may still act is early all the same', NOW - 4_999, false],
    ['of an attempt whose time is over is taken', NOW - 5_000, true],
  ])('to undo, where nobody took it, what %s (S10)', (_, processDeadlineAt, taken) => {
    const deferred = { mode: 'undo', why: 'not-deployed', at: NOW, since: NOW } as const;
    const acted = { mayHaveActed: true, processDeadlineAt, retryAt: NOW + 60_000, deferred };
    const state = stateOf([recordOf('it', 'done', acted)], { status: 'compensating' });
    const { next } = decide(planOf(undoableOf('it')), state, delivered({}, { mode: 'undo' }));
    expect(next.kind).toBe(taken ? 'perform' : 'idle');
  });

  it.each([
    ['draws a wake time near that is behind its time', NOW + 55_002, NOW + 55_001],
    ['leaves a wake time that is at its time', NOW + 55_001, undefined],
    ['leaves an execution without a wake time', undefined, undefined],
  ])('for a dead service is held back, and %s', (_, wakeAt, at) => {
    const notBefore = { why: 'breaker' as const, since: NOW - 60_000, at: NOW + 40_000 };
    const state = stateOf(
      [{ ...retrying(NOW), changedAt: NOW - 20 }],
      wakeAt === undefined ? {} : { wakeAt },
    );
    const { write, ...rest } = decide(plan, state, delivered({ notBefore }));
    const deferred = { mode: 'execute', why: 'breaker', at: NOW, since: NOW - 60_000 };
    expect(write?.step).toMatchObject({
      status: 'retrying',
      retryAt: NOW + 55_001,
      deferred,
      changedAt: NOW,
    });
    expect(write?.execution?.wakeAt).toBe(at);
    expect('execution' in (write ?? {})).toBe(at !== undefined);
    const notes = [{ what: 'deferred', ...about, agent: 'worker', detail: 'breaker', ms: 55_001 }];
    expect(rest).toEqual({ sends: [], next: { kind: 'idle' }, notes, wakeTime: 'as-written' });
  });
});

it.each([
  ['a supervisor has sent it', 20_000, true, true],
  ['a supervisor may be about to send it', 9_000, false, true],
  ['neither', 20_000, false, false],
])(
  'a message for a dead service is held back with its execution where %s (simulation seed 709)',
  (_, ms, isSent, isWith) => {
    const notBefore = { why: 'breaker' as const, since: NOW - 60_000, at: NOW + 40_000 };
    const state = stateOf([{ ...retrying(NOW), changedAt: 0 }], { wakeAt: NOW + ms });
    const [piece] = openWork(plan, state);
    const dispatches = isSent ? { [workKey(piece!)]: { count: 1, lastAt: NOW } } : {};
    const sent = { ...state, execution: { ...state.execution, dispatches } };
    const { write } = decide(plan, sent, delivered({ notBefore }));
    expect(write?.execution?.wakeAt).toBe(isWith ? NOW + ms : undefined);
  },
);

describe('a heartbeat', () => {
  const heartbeat = (step = 'it', token = 't') =>
    decide(plan, stateOf([heldAs('execute')]), { type: 'heartbeat', step, token, ...inputs });
  it('writes the step alone, and nothing if the step has none', () => {
    const { write, ...rest } = heartbeat();
    expect(write).toEqual({ executionId: 'e-1', step: expect.objectContaining({ heartbeat: 4 }) });
    expect(rest).toEqual({ sends: [], next: { kind: 'idle' }, notes: [] });
    const none = { sends: [], next: { kind: 'idle' }, notes: [] };
    expect([heartbeat('it', 'x'), heartbeat('x')]).toEqual([none, none]);
  });
});

it('a heartbeat on a later stage lasts as long as that stage’s agent says', () => {
  const of = planOf({ ...planStep, recovery: [{ ...otherStage, leaseMs: 45_000 }] });
  const event = { type: 'heartbeat', step: 'it', token: 't', ...inputs } as const;
  const leaseOf = (stage: number) =>
    decide(of, stateOf([heldAs('execute', { stage, keyVariant: stage })]), event).write?.step?.leaseUntil;
  expect([leaseOf(0), leaseOf(1)]).toEqual([NOW + 30_000, NOW + 45_000]);
});

describe('a report', () => {
  const said = (more: object = {}): Event =>
    ({
      type: 'report',
      step: 'it',
      token: 't',
      report: { kind: 'done', codeReturned: true, output: 1 },
      onTime: true,
      ...inputs,
      ...more,
    }) as Event;
  const held = heldAs('execute');
  const refused = { sends: [], next: { kind: 'idle' }, notes: [{ what: 'report-refused', ...about }] };

  it('that is refused says so', () => {
    expect(decide(plan, stateOf([held]), said({ token: 'x' }))).toEqual(refused);
    const ended = stateOf([held], { status: 'failed', endedAt: NOW });
    expect(decide(plan, ended, said())).toEqual(refused);
    const unknown = { ...refused, notes: [{ what: 'report-refused', ...about, step: 'x', attempt: 0 }] };
    expect(decide(plan, stateOf([held]), said({ step: 'x' }))).toEqual(unknown);
  });

  it('says how long a step took from the first try that was not done', () => {
    const tries = [
      { number: 1, mode: 'execute', claimedAt: 0, endedAt: NOW - 900, outcome: 'failed' },
      { number: 2, mode: 'execute', claimedAt: 0, endedAt: NOW - 500, outcome: 'failed' },
    ] as const;
    const of = (attempts: Step['attempts'], more: object = {}) =>
      decide(plan, stateOf([heldAs('execute', { attempts })]), said(more)).notes;
    expect(of(tries)).toEqual([{ what: 'step-done', ...about, ms: 900 }]);
    const found = { ...tries[0], mode: 'probe', outcome: 'done', endedAt: NOW - 5_000 } as const;
    expect(of([found, ...tries])).toEqual([{ what: 'step-done', ...about, ms: 900 }]);
    expect(of([])).toEqual([{ what: 'step-done', ...about }]);
    const report = {
      kind: 'failed',
      codeReturned: true,
      permanent: false,
      failure: { code: 'x', message: 'y' },
    };
    expect(of(tries, { report })).toEqual([
      { what: 'step-retrying', ...about, failure: { code: 'x', message: 'y' } },
    ]);
  });

  const after: AgentStep = { ...planStep, name: 'b', after: ['it'] };
  const callback: CallbackStep = { kind: 'callback', name: 'b', after: ['it'], withinMs: 1_000 };
  it.each<[string, PlanStep[], Step[], object, boolean]>([
    ['that was the last', [], [], {}, false],
    ['that was the last, late', [], [], { onTime: false }, true],
    ['before one that waits for it alone', [after], [], {}, false],
    ['before one that waits for two', [after, { ...after, name: 'c', after: ['it', 'b'] }], [], {}, true],
    ['before one with a condition', [{ ...after, when: true }], [], {}, true],
    ['before a callback', [callback], [], {}, true],
    ['beside one that is done', [{ ...after, after: [] }], [recordOf('b', 'done')], {}, false],
    ['beside one that is skipped', [{ ...after, after: [] }], [recordOf('b', 'skipped')], {}, false],
    ['beside one that is not over', [{ ...after, after: [] }], [recordOf('b', 'retrying')], {}, true],
    ['beside one that is not begun', [{ ...after, after: [] }], [], {}, true],
  ])(
    'of a step %s is followed by a look, which reads again or not (C1)',
    (_, others, records, more, fresh) => {
      const decision = decide(planOf(planStep, ...others), stateOf([held, ...records]), said(more));
      expect(decision.next).toEqual({ kind: 'evaluate', fresh, affected: ['it'] });
      expect(decision.write).toEqual({
        executionId: 'e-1',
        step: expect.objectContaining({ status: 'done' }),
      });
      expect(decision.sends).toEqual([]);
    },
  );

  it('of anything but success reads again', () => {
    const report = {
      kind: 'failed',
      codeReturned: true,
      permanent: false,
      failure: { code: 'x', message: 'y' },
    };
    expect(decide(plan, stateOf([held]), said({ report })).next).toMatchObject({ fresh: true });
  });

  it('while a person is asked reads again', () => {
    expect(decide(plan, stateOf([held], { status: 'waiting' }), said()).next).toMatchObject({ fresh: true });
  });

  it('after the lease brings the wake time forward in the same write', () => {
    const { leaseUntil: _, ...free } = heldAs('execute', { retryAt: NOW + 9 });
    const state = stateOf([{ ...free, status: 'retrying' }], { wakeAt: DEADLINE });
    const { write, ...rest } = decide(plan, state, said());
    expect(write?.execution).toMatchObject({ wakeAt: NOW + 30_000, version: 2, status: 'running' });
    expect(write).not.toHaveProperty('question');
    expect(rest).toEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: ['it'] },
      notes: [{ what: 'adopted', ...about }],
    });
    const near = decide(plan, { ...state, execution: { ...state.execution, wakeAt: NOW + 3 } }, said());
    expect(near.write?.execution?.wakeAt).toBe(NOW + 3);
  });
});
