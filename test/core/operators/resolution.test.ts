/**
 * The writes of an incident's answer, for each choice, and an evaluation's effect on open questions (L1,
 * S10).
 */

import { resolvedBySuccess, resolve, closeDueIncidents } from '../../../lib/core/operators/incidents.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import { deriveWaiting } from '../../../lib/core/questions/life.ts';
import type { Resolution } from '../../../lib/core/decisions/events.ts';
import type { Incident } from '../../../lib/core/records/question.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Pause } from '../../../lib/core/records/pauses.ts';
import type { Execution } from '../../../lib/core/records/state.ts';
import { changesOf, incidentOf, planOf, recordOf, inputs, stateOf } from '../one-step.ts';
import { agentStepOf, otherAgent, undoableOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

const plan = planOf(
  undoableOf('it', { recovery: [otherAgent] }),
  agentStepOf('p', { pointOfNoReturn: true }),
);
const failure = { code: 'x', message: 'y' };
const waiting = recordOf('it', 'waiting', {
  mayHaveActed: true,
  failure,
  changedAt: 5,
  processDeadlineAt: 9,
});
const asked = (execution: Partial<Execution> = {}, ...more: Incident[]): Snapshot => ({
  ...stateOf([waiting], { status: 'waiting', wakeAt: NOW + 99_000, ...execution }),
  questions: Object.fromEntries([incidentOf({ failure }), ...more].map((one) => [one.number, one])),
});
const second = incidentOf({ number: 2, step: 'b' });
const say = (
  state: Snapshot,
  answer: Partial<Resolution>,
  incident = incidentOf({ failure }),
  of: Plan = plan,
) =>
  deriveWaiting(
    state,
    inputs,
    resolve(of, state, incident, { choice: 'retry', closedBy: 'answer', ...answer }, inputs),
  );
const pause: Pause = { number: 1, at: NOW - 4, reason: '', withinMs: 9 };
const evaluate = (affected: 'all' | string[]) => ({ kind: 'evaluate', fresh: true, affected }) as const;
const moved = { version: 2, writeId: 'w-new' };

describe('an answer to a question about a step', () => {
  it('is one transaction of the question, the step and the execution', () => {
    const state = asked();
    const { write, ...rest } = say(state, { reason: 'r', nothingHappened: true });
    expect(write?.executionId).toBe('e-1');
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      ...moved,
      status: 'running',
    });
    expect(changesOf(waiting, write?.step)).toStrictEqual({
      ...moved,
      status: 'retrying',
      changedAt: NOW,
      retryAt: NOW,
    });
    expect(changesOf(incidentOf({ failure }), write?.question)).toStrictEqual({
      ...moved,
      closedAt: NOW,
      choice: 'retry',
      closedBy: 'answer',
      reason: 'r',
      unannounced: ['closed'],
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: evaluate(['it']),
      notes: [{ what: 'incident-resolved', executionId: 'e-1', step: 'it', detail: 'retry' }],
    });
  });

  it.each<[string, Partial<Resolution>, object]>([
    ['asks for another try', {}, { status: 'retrying', retryAt: NOW }],
    // `nothingHappened` counts only for a choice that needs it; here the attempt may be repeated anyway.
    [
      'asks for another try, which may be repeated anyway',
      { nothingHappened: true },
      { status: 'retrying', retryAt: NOW },
    ],
    [
      'asks for a try with another input, where nothing happened',
      { choice: 'retry-with-input', input: { n: 1 }, nothingHappened: true },
      { status: 'retrying', retryAt: NOW, givenInput: { n: 1 }, mayHaveActed: false },
    ],
    [
      'asks for a try with another input, and says nothing more',
      { choice: 'retry-with-input', input: { n: 1 }, nothingHappened: false },
      { status: 'retrying', retryAt: NOW, givenInput: { n: 1 } },
    ],
    ['gives the output', { choice: 'give-output', output: 1 }, { status: 'done', output: 1, failure: null }],
    [
      'skips it, for nothing happened',
      { choice: 'skip', nothingHappened: true },
      { status: 'skipped', mayHaveActed: false },
    ],
    ['undoes all', { choice: 'undo-all', nothingHappened: true }, { status: 'failed' }],
    ['leaves all', { choice: 'keep', nothingHappened: true }, { status: 'failed' }],
  ])('%s', (_, answer, changes) => {
    expect(changesOf(waiting, say(asked(), answer).write?.step)).toStrictEqual({
      ...moved,
      changedAt: NOW,
      ...changes,
    });
  });

  it('that gives nothing gives null', () => {
    const of = (choice: 'retry-with-input' | 'give-output') => say(asked(), { choice }).write?.step;
    expect([of('retry-with-input')?.givenInput, of('give-output')?.output]).toStrictEqual([null, null]);
    expect(say(asked(), { choice: 'resume' }).write).not.toHaveProperty('step');
  });
});

describe('an answer that stops the execution', () => {
  const cause = { kind: 'failure', at: NOW, step: 'it', failure };
  it('leaves all as it is, at once', () => {
    const state = asked({}, second);
    const { write, next } = say(state, { choice: 'keep' });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      ...moved,
      status: 'compensating',
      wakeAt: NOW,
      cause: { ...cause, undo: false },
    });
    expect(next).toStrictEqual(evaluate('all'));
  });

  it('undoes all during a pause, which it ends; else the step’s failure decides', () => {
    const state = asked({ status: 'paused', pauses: [pause] });
    const { write, next } = say(state, { choice: 'undo-all' });
    expect(write?.execution).toMatchObject({ status: 'compensating', pauses: [{ ...pause, endedAt: NOW }] });
    expect(write?.execution?.cause).toStrictEqual(cause);
    expect(next).toStrictEqual(evaluate('all'));
    expect(say(asked(), { choice: 'undo-all' })).toMatchObject({
      write: { execution: { status: 'running' } },
      next: evaluate(['it']),
    });
    expect(say(state, { choice: 'skip' }).write?.execution?.status).toBe('paused');
  });
});

describe('an answer about an undo', () => {
  const stuck = recordOf('it', 'compensation-failed', {
    processDeadlineAt: NOW + 9,
    undoDeferredAt: 5,
    changedAt: 5,
    mayHaveActed: true,
  });
  const question = incidentOf({ kind: 'undo' });
  const state = (record = stuck): Snapshot => ({
    ...stateOf([record], { status: 'compensating', wakeAt: NOW }),
    questions: { 1: question },
  });
  const stepAfterSaying = (choice: Resolution['choice'], record = stuck) => {
    const after = say(state(record), { choice }, question).write?.step;
    return changesOf(record, after);
  };

  it('tries it again, when the last try is over for certain', () => {
    const again = { ...moved, status: 'compensating', changedAt: NOW, undoDeferredAt: null };
    expect(stepAfterSaying('retry')).toStrictEqual({ ...again, retryAt: NOW + 9 + 5_000 });
    expect(stepAfterSaying('retry', { ...stuck, stage: 1, keyVariant: 1 })).toStrictEqual({
      ...again,
      retryAt: NOW + 9 + 6_000,
    });
    expect(stepAfterSaying('retry', { ...stuck, processDeadlineAt: 0 })).toStrictEqual({
      ...again,
      retryAt: NOW,
    });
    const unknown = say(state(), { choice: 'retry' }, question, planOf(agentStepOf('other')));
    expect(unknown.write?.step?.retryAt).toBe(NOW + 9);
  });

  it('takes a person’s word that it is undone', () => {
    expect(stepAfterSaying('skip')).toStrictEqual({
      ...moved,
      status: 'compensated',
      changedAt: NOW,
      mayHaveActed: false,
    });
  });

  it('leaves the step as it is, and the execution goes on', () => {
    expect(stepAfterSaying('keep')).toBeUndefined();
    const { write } = say(state(), { choice: 'keep' }, question);
    expect(write).not.toHaveProperty('step');
    expect(write?.execution?.status).toBe('compensating');
    expect(write?.execution).not.toHaveProperty('cause');
  });
});

describe('a question that a late success answers', () => {
  it('is the one about its recovery', () => {
    const closed = {
      ...incidentOf({ failure }),
      ...moved,
      closedAt: NOW,
      closedBy: 'moot',
      unannounced: ['closed'],
    };
    expect(resolvedBySuccess(asked(), 'it', inputs)).toStrictEqual(closed);
    expect(resolvedBySuccess(asked(), 'b', inputs)).toBeUndefined();
    const undo = { ...asked(), questions: { 1: incidentOf({ kind: 'undo' }) } };
    expect(resolvedBySuccess(undo, 'it', inputs)).toBeUndefined();
    expect(closeDueIncidents(plan, stateOf([]), inputs)).toBeUndefined();
  });
});
