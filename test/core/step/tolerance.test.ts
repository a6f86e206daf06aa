/**
 * A tolerated failure in small states (S20): what is written, which choices a person has, when work is due.
 */

import { decide } from '../../../lib/core/decide.ts';
import { explain } from '../../../lib/explain/why.ts';
import { choicesFor } from '../../../lib/core/operators/incidents.ts';
import { restartProblemOf } from '../../../lib/core/operators/retry.ts';
import { leftByFailing, standingAtEnd } from '../../../lib/core/operators/in-effect.ts';
import type { AgentStep, ChildStep, Plan } from '../../../lib/core/plan/plan.ts';
import type { Resolution } from '../../../lib/core/decisions/events.ts';
import type { Attempt, Step } from '../../../lib/core/records/state.ts';
import { endOf } from '../../../lib/core/waiting/child-end.ts';
import { incidentOf, inputs, planOf, recordOf, see, stateOf } from '../one-step.ts';
import { planStep, planWith } from '../../author/refusals.ts';
import { NOW } from '../states.ts';

const DAY = 86_400_000;
const undo = { kind: 'retry', attempts: 2, firstMs: 2_000, maxMs: 60_000 } as const;
const a: AgentStep = { ...planStep, name: 'a', undo, tolerate: true, recovery: [] };
const b: AgentStep = { ...planStep, name: 'b', after: ['a'] };
const point: AgentStep = { ...planStep, name: 'p', pointOfNoReturn: true };
/** A step whose condition asks how `a` ended. */
const asks: AgentStep = { ...b, when: { $eq: [{ $ref: 'outcome:a', path: [] }, 'failed'] } };
const sub: ChildStep = {
  kind: 'child',
  name: 'sub',
  after: [],
  plan: planOf(planStep),
  input: {},
  undo: 'required',
  tolerate: true,
};
const cause = { kind: 'cancel', at: NOW, failure: { code: 'canceled', message: 'x' } } as const;
const undone = { status: 'compensating', cause, wakeAt: NOW } as const;
const kept = { status: 'compensating', cause: { ...cause, undo: false }, wakeAt: NOW } as const;
const acted = { mayHaveActed: true, attempt: 1 } as const;
const children = { count: 1, started: 1, items: 1, tolerated: 0, ended: {} };
const unclean = { ...children, ended: { 0: { status: 'failed', version: 3, clean: false } } } as const;
const notesOf = ({ notes }: ReturnType<typeof see>) => notes.map(({ what }) => what);
const list = (...names: string[]): Plan =>
  planWith({}, { steps: names.map((name) => ({ ...a, name })), tolerated: 1 });

const asked = (
  record: Step,
  more: Partial<Parameters<typeof incidentOf>[0]>,
  plan: Plan,
  others: Step[] = [],
) => {
  const kind = record.status === 'waiting' ? 'recovery' : 'undo';
  const incident = incidentOf({ kind, step: record.name, stepVersion: record.version, ...more });
  const state = {
    ...stateOf([record, ...others], { status: 'waiting', wakeAt: NOW }),
    questions: { 1: incident },
  };
  const answer = (choice: Resolution['choice']) =>
    decide(plan, state, { type: 'resolve', incident: 1, answer: { choice, closedBy: 'answer' }, ...inputs })
      .write;
  return { state, incident, answer, offered: choicesFor(plan, state, incident, NOW) };
};

describe('a stop that leaves things as they are', () => {
  it('awaits a child under way: what that did is in its own record', () => {
    const state = stateOf([recordOf('sub', 'compensating', { children })], kept);
    expect(see(planOf(sub), state).write?.step).toBeUndefined();
  });

  it('takes a word for what goes on with it, not for what was to be undone: what asks how it ended cannot begin', () => {
    const said = recordOf('a', 'failed', { ...acted, afterFailure: 'continue' });
    const left = see(planOf(a, asks), stateOf([said], kept)).write?.step as Step;
    expect(left).toMatchObject({ status: 'tolerated', mayHaveActed: true });
    expect(restartProblemOf(planOf(a, asks), stateOf([left], { status: 'failed' }))).toContain(
      'asks whether it failed',
    );
    expect(restartProblemOf(planOf(a, b), stateOf([left], { status: 'failed' }))).toBeUndefined();
  });

  it('keeps that word where there was nothing to be undone', () => {
    const plan = planOf({ ...a, undo: 'none', effect: 'unsafe' }, b);
    const said = recordOf('a', 'failed', {
      ...acted,
      afterFailure: 'continue',
      processDeadlineAt: NOW + 60_000,
    });
    const left = see(plan, stateOf([said], kept)).write?.step as Step;
    expect(left).toMatchObject({ status: 'tolerated', afterFailure: 'continue' });
    expect(restartProblemOf(plan, stateOf([left], { status: 'failed' }))).toBeUndefined();
  });

  it('closes an item that is too many by a write, once, and leaves it to a retry', () => {
    const records = [recordOf('i0', 'tolerated'), recordOf('i1', 'failed', { ...acted, changedAt: NOW - 5 })];
    const closed = see(list('i0', 'i1'), stateOf(records, kept)).write?.step as Step;
    expect(closed).toMatchObject({ name: 'i1', status: 'failed', version: 2 });
    const after = see(list('i0', 'i1'), stateOf([records[0] as Step, closed], kept));
    expect(after.write?.step).toBeUndefined();
    const two = stateOf([recordOf('i0', 'tolerated'), recordOf('i1', 'tolerated')], { status: 'failed' });
    expect(restartProblemOf(list('i0', 'i1'), two)).toContain('2 of its items failed for good');
  });
});

describe('a stop that undoes', () => {
  it('is evaluated again, not at once, while an undo that is long overdue must wait for a child that is a point of no return', () => {
    const last: ChildStep = { ...sub, name: 'last', undo: 'none', pointOfNoReturn: true };
    const { tolerate: _, ...stopped } = last;
    const deferred = { mode: 'undo', why: 'breaker', at: NOW - 5, since: NOW - DAY } as const;
    const overdue = recordOf('a', 'failed', {
      ...acted,
      retryAt: NOW + 10,
      undoDeferredAt: NOW - DAY - 5,
      deferred,
    });
    const state = stateOf([overdue, recordOf('last', 'compensating', { children })], undone);
    expect(see(planOf(a, stopped), state).write?.execution?.wakeAt).toBeGreaterThan(NOW);
  });

  it('says of an open question that silence ends it', () => {
    const { state } = asked(
      recordOf('a', 'compensation-failed', acted),
      { otherwise: 'continue' },
      planOf(a, b),
    );
    const stopped = { ...state, execution: { ...state.execution, ...undone, wakeAt: NOW + 400 } };
    expect(explain(planOf(a, b), stopped, NOW).next.what).toContain("without an answer 'keep' is chosen");
  });
});

describe('a question about it', () => {
  it('is not answered by going on while a lost undo may still act', () => {
    const lost = recordOf('a', 'compensation-failed', {
      ...acted,
      mode: 'undo',
      processDeadlineAt: NOW + 600_000,
    });
    const { offered, answer } = asked(lost, { otherwise: 'continue' }, planOf(a, b));
    expect(offered.find(({ choice }) => choice === 'continue')).toMatchObject({ notBefore: NOW + 605_000 });
    expect(answer('continue')).toBeUndefined();
    const opened = see(planOf(a, b), stateOf([lost], { wakeAt: NOW, deadlineAt: NOW + 60_000 })).write
      ?.question;
    expect(opened).toMatchObject({ kind: 'undo', otherwise: 'continue', deadlineAt: NOW + 605_000 });
  });

  it('has the usual time where the usual default holds', () => {
    const hotel = { ...planStep, name: 'hotel', undo };
    const stuck = stateOf([recordOf('hotel', 'done'), recordOf('a', 'compensation-failed', acted)], {
      wakeAt: NOW,
      deadlineAt: NOW + 60_000,
    });
    const week = { otherwise: 'keep', deadlineAt: NOW + 7 * DAY };
    expect(see(planOf(hotel, a, asks), stuck).write?.question).toMatchObject({ kind: 'undo', ...week });
    const past = stateOf([recordOf('p', 'done'), recordOf('a', 'waiting', acted)], { wakeAt: NOW });
    const mail: AgentStep = { ...a, undo: 'none' };
    expect(see(planOf(point, mail, asks), past).write?.question).toMatchObject({ kind: 'recovery', ...week });
  });

  it("says that 'keep' leaves everything on the way forward", () => {
    const plan = planOf(a, { ...planStep, name: 'hotel', undo });
    const { state, incident, answer } = asked(recordOf('a', 'compensation-failed', acted), {}, plan, [
      recordOf('hotel', 'done'),
    ]);
    expect(answer('keep')?.execution?.cause?.undo).toBe(false);
    expect(leftByFailing(plan, state, incident).first.map(({ step }) => step)).toEqual(['a', 'hotel']);
  });

  it('forgets by a retry what silence had said before', () => {
    const record = recordOf('a', 'waiting', { ...acted, afterFailure: 'stop' });
    const { offered, answer } = asked(record, {}, planOf({ ...a, undo: 'none' }, asks, point), [
      recordOf('p', 'done'),
    ]);
    expect(offered.map(({ choice }) => choice)).toContain('continue');
    expect(answer('retry')?.step).toMatchObject({ status: 'retrying' });
    expect(answer('retry')?.step).not.toHaveProperty('afterFailure');
  });

  it('is never asked of an item of a list, whose undo failed for good', () => {
    const stuck = stateOf([recordOf('i0', 'compensation-failed', acted), recordOf('i1', 'done')], {
      wakeAt: NOW,
    });
    expect(notesOf(see(list('i0', 'i1'), stuck))).toEqual(['step-tolerated']);
  });
});

it('why it failed survives twenty tries to undo it', () => {
  const busy = { code: 'busy', message: 'u' };
  const own = { code: 'lost', message: 'l' };
  const tryOf = (mode: Attempt['mode'], failure: typeof own): Attempt => ({
    number: 1,
    mode,
    claimedAt: NOW,
    endedAt: NOW,
    outcome: 'failed',
    failure,
  });
  const plan = planOf({ ...a, undo: { ...undo, attempts: 40 } });
  const leased = recordOf('a', 'compensating', {
    ...acted,
    undoAttempt: 20,
    mode: 'undo',
    token: 't',
    leaseUntil: NOW + 5_000,
    claimedAt: NOW - 5,
    attempts: [tryOf('execute', own), ...Array.from({ length: 19 }, () => tryOf('undo', busy))],
  });
  const failure = { kind: 'failed', codeReturned: true, permanent: false, failure: busy } as const;
  const about = { step: 'a', token: 't', onTime: true, ...inputs };
  const after = decide(plan, stateOf([leased]), { type: 'report', report: failure, ...about }).write
    ?.step as Step;
  expect(after.attempts).toHaveLength(20);
  const closed = see(plan, stateOf([{ ...after, status: 'compensated' }], { wakeAt: NOW })).write?.step;
  expect(closed).toMatchObject({ status: 'tolerated', failure: own });
});

it('its undo is not given up for a time in which the execution was paused', () => {
  const deferred = { mode: 'undo', why: 'breaker', at: NOW - 3 * DAY, since: NOW - 3 * DAY } as const;
  const record = recordOf('a', 'failed', { ...acted, undoDeferredAt: NOW - 3 * DAY, deferred });
  const pauses = [
    { number: 1, at: NOW - 3 * DAY + 10, reason: 'r', withinMs: 9 * DAY, endedAt: NOW - DAY + 20 },
  ];
  const overdue = (more: object) =>
    see(planOf(a), stateOf([record], { wakeAt: NOW, ...more })).notes[0]?.what;
  expect([overdue({}), overdue({ pauses })]).toEqual(['undo-given-up', 'dispatched']);
});

describe('what a tolerated child left', () => {
  const record = recordOf('sub', 'tolerated', { children: unclean });
  it('is listed in the end of its parent, for readers and for the grandparent', () => {
    expect(standingAtEnd(planOf(sub), stateOf([record], { status: 'failed' }))?.mayStand).toBe(1);
    expect(standingAtEnd(planOf(sub), stateOf([record], { status: 'succeeded' }))?.mayStand).toBe(1);
    expect(endOf(planOf(sub), stateOf([record], { status: 'failed', cause })).clean).toBe(false);
    expect(endOf(planOf(sub), stateOf([record], { status: 'succeeded' })).left).toBe(true);
  });

  it('is listed also where its effects are kept', () => {
    const plan = planOf({ ...sub, undo: 'none' });
    expect(standingAtEnd(plan, stateOf([record], { status: 'succeeded' }))?.mayStand).toBe(1);
  });
});

it('is final before another failure is decided on', () => {
  const records = [recordOf('a', 'compensated', acted), recordOf('b', 'failed', { failure: cause.failure })];
  const decision = see(planOf(a, { ...b, after: [] }), stateOf(records, { wakeAt: NOW }));
  expect(decision.write?.step).toMatchObject({ name: 'a', status: 'tolerated' });
});

it('is in the history like any other failure, with the person who said so', () => {
  const approval = { kind: 'approval', name: 'ok', after: [], withinMs: 9_000, tolerate: true } as const;
  const failure = { code: 'rejected', message: 'too dear' };
  const by = { kind: 'local', name: 'eve' } as const;
  const state = stateOf([recordOf('ok', 'tolerated', { failure, by })], { status: 'succeeded' });
  const happened = explain(planOf(approval), state, NOW).past.map(({ what }) => what);
  expect(happened).toContain('local:eve answered that it cannot be done (rejected: too dear)');
});
