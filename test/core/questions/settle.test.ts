/**
 * An evaluation's effect on open questions: they become moot, are moved by a pause, or get their default
 * (L1).
 */

import { pausesSince } from '../../../lib/core/step/within.ts';
import { closeDueIncidents } from '../../../lib/core/operators/incidents.ts';
import { deriveWaiting } from '../../../lib/core/questions/life.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import { type Incident, asIncident } from '../../../lib/core/records/question.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Pause } from '../../../lib/core/records/pauses.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { callbackAsked, changesOf, incidentOf, planOf, recordOf, inputs, see, stateOf } from '../one-step.ts';
import { agentStepOf, statusesWhere } from '../small-steps.ts';
import { NOW } from '../states.ts';

const plan = planOf(agentStepOf('it'), agentStepOf('p', { pointOfNoReturn: true }));
const pause: Pause = { number: 1, at: NOW - 4, reason: '', withinMs: 9 };
const about = (more: Partial<Incident>, execution: Partial<Execution>, ...records: Step[]): Snapshot => ({
  ...stateOf(records, execution),
  questions: { 1: incidentOf(more) },
});
const settle = (state: Snapshot, of: Plan = plan) => {
  const decision = closeDueIncidents(of, state, inputs);
  return decision && deriveWaiting(state, inputs, decision);
};
const evaluate = { kind: 'evaluate', fresh: true, affected: [] } as const;
const { step: _step, ...ofNoStep } = incidentOf();
const moved = { version: 2, writeId: 'w-new' };
const waiting = recordOf('it', 'waiting');

describe('a question that needs no answer any more', () => {
  const isMoot = (state: Snapshot, of?: Plan) => settle(state, of)?.write?.question?.closedBy === 'moot';
  it('is closed, and what waits for nothing else goes on', () => {
    const state = about({}, { status: 'waiting', wakeAt: NOW + 99_000 }, recordOf('it', 'retrying'));
    const { write, ...rest } = settle(state) ?? {};
    expect(write?.executionId).toBe('e-1');
    expect(changesOf(incidentOf(), write?.question)).toStrictEqual({
      ...moved,
      closedAt: NOW,
      closedBy: 'moot',
      unannounced: ['closed'],
    });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      ...moved,
      status: 'running',
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: evaluate,
      notes: [{ what: 'incident-moot', executionId: 'e-1', step: 'it' }],
    });
  });

  it('is closed with its execution also while another is open: of two that close the last ones one conflicts', () => {
    const others = { 1: incidentOf(), 2: incidentOf({ number: 2, step: 'p' }) };
    const of = (status: Execution['status'], questions: NonNullable<Snapshot['questions']>) => {
      const state = { ...about({}, { status }, recordOf('it', 'retrying')), questions };
      const { write } = settle(state) ?? {};
      return [write?.question?.closedBy, write?.execution?.status, write?.execution?.version];
    };
    expect(of('waiting', others)).toStrictEqual(['moot', 'waiting', 2]);
    expect(of('paused', others)).toStrictEqual(['moot', 'paused', 2]);
    expect(of('compensating', others)).toStrictEqual(['moot', undefined, undefined]);
    expect(of('waiting', { 1: incidentOf(), p: callbackAsked('p') })).toStrictEqual(['moot', 'running', 2]);
  });

  it('is closed in silence where it was quiet: nobody has heard of it', () => {
    const quiet = about({ quiet: true }, { status: 'waiting' }, recordOf('it', 'retrying'));
    expect(settle(quiet)?.write?.question).toMatchObject({ closedBy: 'moot' });
    expect(settle(quiet)?.write?.question).not.toHaveProperty('unannounced');
  });

  it('about a recovery: when the step does not wait any more, or all is being undone', () => {
    const of = (status: Execution['status']) =>
      statusesWhere((record) => isMoot(about({}, { status }, record)));
    expect(of('waiting')).not.toContain('waiting');
    expect(of('waiting')).toHaveLength(15);
    expect(of('compensating')).toHaveLength(16);
    expect(isMoot(about({}, { status: 'waiting' }))).toBe(true);
    expect(isMoot({ ...about({}, { status: 'waiting' }), questions: { 1: ofNoStep } })).toBe(true);
  });

  it('about an undo: when it has not failed any more', () => {
    const of = statusesWhere((record) => isMoot(about({ kind: 'undo' }, { status: 'compensating' }, record)));
    expect(of).not.toContain('compensation-failed');
    expect(of).toHaveLength(15);
  });

  it('about a pause: when that is over, or all is done', () => {
    const kind = 'pause' as const;
    const of = (status: Execution['status'], ...records: Step[]) =>
      isMoot({
        ...about({}, { status, pauses: [pause] }, ...records),
        questions: { 1: { ...ofNoStep, kind } },
      });
    const done = [recordOf('it', 'done'), recordOf('p', 'skipped')];
    expect([of('running'), of('compensating'), of('paused')]).toStrictEqual([true, true, false]);
    expect([of('paused', ...done), of('paused', ...done.slice(1))]).toStrictEqual([true, false]);
    const written = settle({
      ...about({}, { status: 'compensating' }),
      questions: { 1: { ...ofNoStep, kind } },
    });
    expect(written?.notes).toStrictEqual([{ what: 'incident-moot', executionId: 'e-1' }]);
  });

  it('about a deadline: when all is done, or being undone', () => {
    const of = (status: Execution['status'], ...records: Step[]) =>
      isMoot(about({ kind: 'deadline' }, { status }, ...records));
    expect([of('compensating'), of('waiting')]).toStrictEqual([true, false]);
    expect(of('waiting', recordOf('it', 'done'), recordOf('p', 'done'))).toBe(true);
  });
});

describe('the deadline of a question, after a pause', () => {
  const over = { ...pause, endedAt: NOW - 1 };
  const opened = { openedAt: NOW - 9, deadlineAt: NOW };
  it('is moved by as long as that lasted', () => {
    const state = about(opened, { status: 'waiting', pauses: [over] }, waiting);
    const { write, ...rest } = see(plan, state, { affected: [] });
    expect(write).toStrictEqual({ executionId: 'e-1', question: expect.anything() });
    expect(changesOf(incidentOf(opened), write?.question)).toStrictEqual({
      ...moved,
      deadlineAt: NOW + 3,
      movedFor: 1,
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: evaluate,
      notes: [{ what: 'question-moved', executionId: 'e-1', step: 'it' }],
    });
  });

  it('is moved once, and when the pause is over', () => {
    const of = (more: Partial<Incident>, execution: Partial<Execution>) =>
      see(plan, about({ ...opened, ...more }, { pauses: [over], ...execution }, waiting)).notes[0]?.what;
    expect(of({ movedFor: 1 }, { status: 'waiting' })).toBe('incident-timed-out');
    expect(of({ movedFor: 0 }, { status: 'waiting' })).toBe('question-moved');
    expect(of({}, { status: 'paused', pauses: [over, { ...pause, number: 2 }] })).toBeUndefined();
  });
});

describe('the time of a question', () => {
  const due = { deadlineAt: NOW };
  const choiceOf = (more: Partial<Incident>, records: Step[], of?: Plan) =>
    asIncident(
      settle(about({ ...due, otherwise: 'undo-all', ...more }, { status: 'waiting' }, ...records), of)?.write
        ?.question,
    )?.choice;

  it('chooses what was said for no answer, as far as there is a way back', () => {
    const acted = { mayHaveActed: true };
    expect(choiceOf({}, [waiting])).toBe('undo-all');
    expect(choiceOf({ otherwise: 'keep' }, [waiting])).toBe('keep');
    expect(choiceOf({}, [waiting, recordOf('p', 'done')])).toBe('keep');
    expect(choiceOf({}, [waiting, recordOf('p', 'unknown', acted)])).toBe('undo-all');
    expect(choiceOf({ step: 'p' }, [recordOf('p', 'waiting', acted)])).toBe('keep');
    expect(choiceOf({ step: 'p' }, [recordOf('p', 'waiting')])).toBe('undo-all');
    // A point of no return in the step itself matters only if the step may have acted.
    const two = planOf(agentStepOf('it', { pointOfNoReturn: true }), agentStepOf('p'));
    expect(choiceOf({}, [waiting], two)).toBe('undo-all');
  });

  it('about a pause lasts through it, and chooses the way back only if everything is free to go back', () => {
    const kind = 'pause' as const;
    const of = (...records: Step[]) =>
      asIncident(
        settle({
          ...stateOf(records, { status: 'paused', pauses: [pause] }),
          questions: { 1: { ...ofNoStep, ...due, kind, otherwise: 'undo-all' } },
        })?.write?.question,
      )?.choice;
    expect(of()).toBe('undo-all');
    expect(of(recordOf('p', 'unknown', { mayHaveActed: true }))).toBe('keep');
    expect(of(recordOf('p', 'done'))).toBe('keep');
  });
});

describe('the deadline of a question stands still', () => {
  const of = (pauses: Pause[] | undefined, more: Partial<Incident> = {}) =>
    pausesSince(
      stateOf([], pauses === undefined ? {} : { pauses }).execution,
      more.openedAt ?? NOW - 900,
      more.movedFor,
    );
  const earlier = { ...pause, at: NOW - 900, endedAt: NOW - 800 };
  const under = { ...pause, number: 2, at: NOW - 90 };
  const later = { ...under, endedAt: NOW - 70 };
  it('as long as the pauses since it was asked, for which it was not moved yet', () => {
    expect(of([earlier, later])).toStrictEqual({ ms: 120, until: 2 });
    expect(of([earlier, later], { movedFor: 1 })).toStrictEqual({ ms: 20, until: 2 });
    expect(of([earlier, later], { movedFor: 2 })).toStrictEqual({ ms: 0, until: 2 });
    // By another process's clock, the question was asked 1 ms after the pause had begun.
    expect(of([earlier, later], { openedAt: NOW - 899 })).toStrictEqual({ ms: 119, until: 2 });
    expect(of([earlier], { openedAt: NOW - 800 })).toStrictEqual({ ms: 0, until: 0 });
    expect(of([earlier, under])).toStrictEqual({ ms: 100, until: 1 });
    expect(of(undefined)).toStrictEqual({ ms: 0, until: 0 });
  });

  it('also as long as those of which only the sum is left', () => {
    const summed = (more: Partial<Incident> = {}) =>
      pausesSince(
        stateOf([], {
          pauses: [{ ...later, number: 12 }],
          earlierPauses: { number: 11, at: NOW - 800, endedAt: NOW - 200, ms: 300 },
        }).execution,
        more.openedAt ?? NOW - 900,
        more.movedFor,
      );
    expect(summed()).toStrictEqual({ ms: 320, until: 12 });
    expect(summed({ movedFor: 10 })).toStrictEqual({ ms: 320, until: 12 });
    expect(summed({ movedFor: 11 })).toStrictEqual({ ms: 20, until: 12 });
    expect(summed({ openedAt: NOW - 200 })).toStrictEqual({ ms: 20, until: 12 });
    expect(summed({ openedAt: NOW - 210 })).toStrictEqual({ ms: 30, until: 12 });
  });
});
