/** What an explanation says is next, of each step and of the execution, and when that is. */

import { explain } from '../../../lib/core/explain/why.ts';
import type { Incident } from '../../../lib/core/records/incident.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { child, childrenOf } from '../family.ts';
import { DEADLINE, heldAs, planOf, recordOf, stateOf, step } from '../one-step.ts';
import { planStep } from '../refusals.ts';
import { NOW } from '../states.ts';
import { explained, incidentOf, isoOf, paused, plan, undoing } from '../words.ts';

const ofStep = (...given: Parameters<typeof explained>) => explained(...given).steps[0]?.next;
const next = (...given: Parameters<typeof explained>) => explained(...given).next;
const supervisor = { who: 'supervisor' } as const;
const nobody = { what: 'nothing', who: 'nobody', step: 'it' };

describe('next for a step', () => {
  it('that is held is the end of its lease, or its report', () => {
    expect(ofStep([heldAs('execute')])).toEqual({
      what: 'its agent reports, or renews its lease; if it stays silent, its outcome is taken for unknown',
      at: NOW + 21_000,
      ...supervisor,
      step: 'it',
    });
  });

  it('about which a person is asked is the answer', () => {
    const waiting = recordOf('it', 'waiting');
    const answer = {
      what: "a person answers incident 4; without an answer it is taken for 'fail'",
      at: NOW + 70_000,
      who: 'person',
      step: 'it',
    };
    const asked = (more: Partial<Incident>, execution: Partial<Execution> = { status: 'waiting' }) =>
      ofStep([waiting], execution, { incidents: [incidentOf({ number: 4, ...more })] });
    expect(asked({})).toEqual(answer);
    expect(asked({ kind: 'deadline' })).toEqual(nobody);
    expect(asked({ step: 'other' })).toEqual(nobody);
    expect(asked({ resolvedAt: NOW })).toEqual(nobody);
    expect(asked({}, paused)).toEqual({
      what: 'a person answers incident 4; its deadline stands still during the pause',
      who: 'person',
      step: 'it',
    });
  });

  it('that is done, or waits for others, is nothing', () => {
    expect(ofStep([recordOf('it', 'done')])).toEqual(nobody);
    expect(ofStep([], { status: 'succeeded' })).toEqual(nobody);
  });

  it.each<[string, Step[], Partial<Execution>, string]>([
    ['to execute', [recordOf('it', 'retrying', { attempt: 2 })], {}, 'attempt 3'],
    ['to probe', [recordOf('it', 'unknown', { attempt: 2 })], {}, 'a probe of attempt 2'],
    ['to undo', [recordOf('it', 'done', { undoAttempt: 2 })], undoing, 'undo 3'],
  ])('that is due %s is its agent', (_, records, execution, deed) => {
    expect(ofStep(records, execution)).toEqual({
      what: `agent 'worker' takes it: ${deed}, from ${isoOf(NOW)}; if nobody has by ${isoOf(NOW + 30_000)}, its message is sent again`,
      at: NOW,
      who: 'agent',
      step: 'it',
    });
  });

  it('that was sent is sent again a gap after that', () => {
    const dispatches = { [`it/execute/1@${NOW}`]: { count: 1, lastAt: NOW + 5 } };
    expect(ofStep([], { dispatches })?.what).toContain(`if nobody has by ${isoOf(NOW + 60_005)}, its`);
  });

  it('that is held back is a supervisor, until it was sent again', () => {
    const parked = { mode: 'execute', why: 'unclaimed', at: NOW - 10 } as const;
    const record = recordOf('it', 'retrying', { attempt: 2, changedAt: NOW - 10, retryAt: NOW - 5, parked });
    expect(ofStep([record])).toEqual({
      what: "a supervisor sends it to agent 'worker' again: attempt 3",
      at: NOW - 5,
      ...supervisor,
      step: 'it',
    });
    const dispatches = { [`it/execute/3@${NOW - 10}`]: { count: 1, lastAt: NOW - 5 } };
    expect(ofStep([record], { dispatches })?.who).toBe('agent');
  });
});

describe('next for an execution', () => {
  it('that has ended is that its end is told, then nothing', () => {
    const ended = { status: 'succeeded', endedAt: NOW } as const;
    expect(next([], { ...ended, watchAt: NOW + 4 })).toEqual({
      what: 'its end is announced',
      at: NOW + 4,
      ...supervisor,
    });
    const { watchAt: _, ...execution } = stateOf([], ended).execution;
    expect(explain(plan, { execution, steps: {} }, NOW).next).toEqual({
      what: 'nothing: it has ended and said so',
      who: 'nobody',
    });
  });

  it('is what a supervisor would do now, by its watch or now if that is over', () => {
    const over = [heldAs('execute', { leaseUntil: NOW - 1_000 })];
    const ended = {
      what: 'the lease has ended: the outcome of the attempt is taken for unknown',
      ...supervisor,
      step: 'it',
    };
    expect(next(over, { watchAt: NOW - 5 })).toEqual({ ...ended, at: NOW });
    expect(next(over, { watchAt: NOW + 5 })).toEqual({ ...ended, at: NOW + 5 });
    expect(next([recordOf('it', 'done')])).toStrictEqual({
      what: 'it succeeds: every step is done or skipped',
      at: NOW,
      ...supervisor,
    });
  });

  it('is the earliest of what its steps wait for, or its deadline', () => {
    expect(next([heldAs('execute')])).toMatchObject({ at: NOW + 21_000, step: 'it' });
    const early = { what: 'its time is over and it is undone', at: NOW + 20_999, ...supervisor };
    expect(next([heldAs('execute')], { deadlineAt: NOW + 20_999 })).toEqual(early);
    expect(next([heldAs('execute')], { deadlineAt: NOW + 21_000 })).toMatchObject({ step: 'it' });
    const two = planOf(step, { ...planStep, name: 'b' });
    const later = heldAs('execute', { leaseUntil: NOW + 30_000 });
    expect(next([later, { ...heldAs('execute'), name: 'b' }], {}, { plan: two })).toMatchObject({
      at: NOW + 21_000,
      step: 'b',
    });
  });

  it('is a look where it waits for nothing', () => {
    const waits = { ...undoing, watchAt: NOW + 7 };
    const failed = recordOf('it', 'undo-failed');
    expect(next([failed], waits, { incidents: [incidentOf({ kind: 'undo', step: 'x' })] }).what).not.toBe('');
    expect(
      next([recordOf('it', 'held', { heldIn: 1 })], {
        status: 'paused',
        watchAt: NOW + 7,
        pauses: [{ number: 1, at: 1, reason: 'r', withinMs: 1 }],
      }),
    ).toEqual({
      what: 'a supervisor looks',
      at: NOW + 7,
      ...supervisor,
    });
  });

  it('in a pause is that a person is asked about that, or has been', () => {
    const held = recordOf('it', 'held', { heldIn: 1, heldFrom: 'ready' });
    expect(next([held], paused)).toEqual({
      what: 'a person is asked, unless the pause is ended before',
      at: NOW + 9_000,
      who: 'person',
    });
    const about = incidentOf({ kind: 'pause', stepVersion: 1, otherwise: 'resume' });
    expect(next([held], paused, { incidents: [about] })).toEqual({
      what: "a person answers incident 1; without an answer it is taken for 'resume'",
      at: NOW + 70_000,
      who: 'person',
    });
    expect(next([held], paused, { incidents: [{ ...about, resolvedAt: NOW }] }).what).toBe(
      'a supervisor looks',
    );
    // The deadline ends nothing in a pause.
    expect(next([held], { ...paused, deadlineAt: NOW + 5 }).at).toBe(NOW + 9_000);
  });

  it('is an execution of its own where nothing else has a time, and nothing is paused', () => {
    const running = recordOf('sub', 'running', { children: childrenOf(1) });
    const own = { what: 'execution e-1.sub.0 end', who: 'child', step: 'sub' };
    expect(next([running], {}, { plan: planOf(child) })).toEqual(own);
    const both = planOf(child, step);
    expect(next([running, heldAs('execute')], {}, { plan: both })).toMatchObject({ at: NOW + 21_000 });
    expect(next([running], paused, { plan: planOf(child) })).toMatchObject({
      who: 'person',
      at: NOW + 9_000,
    });
  });

  it('where there is no way back is that a person is asked at the deadline', () => {
    const point = planOf({ ...planStep, name: 'point', pointOfNoReturn: true }, step);
    const done = [
      recordOf('point', 'done'),
      recordOf('it', 'retrying', { retryAt: DEADLINE + 9, changedAt: NOW }),
    ];
    expect(next(done, {}, { plan: point })).toEqual({
      what: 'its time is over and a person is asked',
      at: DEADLINE,
      who: 'person',
    });
    const asked = incidentOf({ kind: 'deadline', deadlineAt: NOW + 40, otherwise: 'undo-all' });
    const answer = {
      what: "a person answers incident 1; without an answer it is taken for 'undo-all'",
      at: NOW + 40,
      who: 'person',
    };
    const waiting = { status: 'waiting' } as const;
    expect(next(done, waiting, { plan: point, incidents: [asked] })).toEqual(answer);
    expect(
      next(done, waiting, { plan: point, incidents: [{ ...asked, kind: 'ladder', step: 'x' }] }),
    ).not.toEqual(answer);
  });

  it('is the earliest of two questions', () => {
    const point = planOf({ ...planStep, name: 'point', pointOfNoReturn: true }, step);
    const records = [recordOf('point', 'done'), recordOf('it', 'waiting')];
    const incidents = [incidentOf(), incidentOf({ number: 2, kind: 'deadline', deadlineAt: NOW + 40 })];
    const asked = next(records, { status: 'waiting' }, { plan: point, incidents });
    expect(asked).toMatchObject({ at: NOW + 40, who: 'person', what: expect.stringContaining('incident 2') });
  });

  it('is its agent where a supervisor would send a message again', () => {
    expect(next([], { startedAt: NOW - 30_000 })).toMatchObject({
      who: 'agent',
      at: NOW - 30_000,
      step: 'it',
    });
  });

  it('is an execution of its own behind what is done', () => {
    const both = planOf(step, child);
    const records = [recordOf('it', 'done'), recordOf('sub', 'running', { children: childrenOf(1) })];
    expect(next(records, {}, { plan: both })).toMatchObject({ who: 'child', step: 'sub' });
  });

  it('says whose and in which status', () => {
    const { executionId, status, steps } = explained([], { status: 'undoing' });
    expect([executionId, status, steps.map(({ name }) => name)]).toEqual(['e-1', 'undoing', ['it']]);
  });
});
