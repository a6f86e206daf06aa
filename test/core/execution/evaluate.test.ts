/**
 * The rules for a running execution, as whole decisions in small states, and their priority (L1, S8, S12).
 */

import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { EvaluateEvent } from '../../../lib/core/decisions/events.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { changesOf, heldAs, incidentOf, planOf, recordOf, see, stateOf } from '../one-step.ts';
import { agentStepOf, otherAgent } from '../small-steps.ts';
import { NOW } from '../states.ts';

const next = (...affected: string[]) => ({ kind: 'evaluate', fresh: true, affected }) as const;
const about = { executionId: 'e-1', step: 'it' };
const plan = planOf(agentStepOf('it', { recovery: [otherAgent] }));

describe('a lease that has ended', () => {
  const held = (more: Partial<Step> = {}) => heldAs('execute', { leaseUntil: NOW - 1_000, ...more });
  it('is ended by a supervisor, in the step’s record alone', () => {
    const { write, ...rest } = see(plan, stateOf([held({ stage: 1, keyVariant: 1 })]));
    expect(write).toStrictEqual({ executionId: 'e-1', step: expect.objectContaining({ status: 'failed' }) });
    expect(rest).toStrictEqual({
      sends: [],
      next: next('x', 'it'),
      notes: [
        {
          what: 'lease-ended',
          ...about,
          attempt: 1,
          detail: 'execute',
          agent: 'other',
          ms: 1_000,
          failure: { code: 'lease-ended', message: 'the attempt went silent and its lease ended' },
        },
      ],
    });
  });

  it.each<[string, Snapshot, Partial<EvaluateEvent>]>([
    ['a second ago, by a worker', stateOf([held()]), { by: 'agent' }],
    ['less than a second ago', stateOf([held({ leaseUntil: NOW - 999 })]), {}],
    ['while the store was away', stateOf([held()]), { graceFrom: NOW }],
    ['of what is not held', stateOf([recordOf('it', 'retrying', { retryAt: NOW + 9_999 })]), {}],
    ['of a step that the plan does not know', stateOf([held({ name: 'odd' })]), {}],
  ])('stays as it is: %s', (_, state, more) => {
    expect(see(plan, state, more).write?.step).toBeUndefined();
  });
});

describe('an evaluation of a state that was written and not read since', () => {
  const unread = { sends: [], next: next('x'), notes: [] };
  it('writes nothing but the end, and reads instead', () => {
    const ended = stateOf([heldAs('execute', { leaseUntil: NOW - 1_000 })]);
    expect(see(plan, ended, { fresh: false })).toStrictEqual(unread);
    const all = { ...unread, next: { kind: 'evaluate', fresh: true, affected: 'all' } };
    expect(see(plan, ended, { fresh: false, affected: 'all' })).toStrictEqual(all);
    const done = stateOf([recordOf('it', 'done')]);
    expect(see(plan, done, { fresh: false }).write?.execution?.status).toBe('succeeded');
    const failedBefore = stateOf([], { status: 'failed', wakeAt: NOW, endedAt: NOW });
    expect(see(plan, failedBefore, { fresh: false }).announce).toBeDefined();
  });
});

describe('a question that came up', () => {
  const waiting = stateOf([recordOf('it', 'waiting', { failure: { code: 'x', message: 'y' } })]);
  it('does not make the evaluation forget what it was about', () => {
    const decision = see(plan, waiting);
    expect(decision.write?.question).toMatchObject({ kind: 'recovery', step: 'it' });
    expect(decision.next).toStrictEqual(next('x'));
    expect(see(plan, waiting, { affected: 'all' }).next).toMatchObject({ affected: 'all' });
  });

  it('one that its time has answered concerns its step, or all where that stops the execution', () => {
    const late = (otherwise: 'undo-all' | 'keep') => ({
      ...stateOf([recordOf('it', 'waiting')], { status: 'waiting' }),
      questions: { 1: incidentOf({ deadlineAt: NOW, otherwise }) },
    });
    expect(see(plan, late('undo-all')).next).toStrictEqual(next('x', 'it'));
    expect(see(plan, late('undo-all'), { affected: 'all' }).next).toMatchObject({ affected: 'all' });
    expect(see(plan, late('keep')).next).toStrictEqual({ kind: 'evaluate', fresh: true, affected: 'all' });
  });
});

describe('a step whose condition does not hold', () => {
  const skips = planOf(agentStepOf('a'), agentStepOf('it', { when: false }));
  const state = (more: Partial<Execution> = {}) => stateOf([recordOf('a', 'running')], { epoch: 2, ...more });
  it('is skipped, in a record of its own', () => {
    const { write, ...rest } = see(skips, state());
    expect(write).toStrictEqual({
      executionId: 'e-1',
      step: expect.objectContaining({ name: 'it', status: 'skipped', version: 1, epoch: 2, changedAt: NOW }),
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: next('x', 'it'),
      notes: [{ what: 'step-skipped', ...about }],
    });
    expect(see(skips, state(), { affected: 'all' }).next).toMatchObject({ affected: 'all' });
  });

  it('is skipped in one write with the execution if it is the last, which fails on one that was paused since (S12)', () => {
    const { write } = see(skips, stateOf([recordOf('a', 'done')], { wakeAt: NOW + 90_000 }));
    expect(write?.step?.status).toBe('skipped');
    expect(write?.execution).toMatchObject({ status: 'running', version: 2, wakeAt: NOW + 30_000 });
  });

  it('is skipped while a person is asked, and not during a pause', () => {
    expect(see(skips, state({ status: 'waiting' })).write?.step?.status).toBe('skipped');
    const pauses = [{ number: 1, at: NOW, reason: '', withinMs: 1 }];
    expect(see(skips, state({ status: 'paused', pauses })).write?.step).toBeUndefined();
  });
});

describe('success', () => {
  const two = planOf(agentStepOf('a'), agentStepOf('it'));
  const over = [recordOf('a', 'done'), recordOf('it', 'skipped')];
  it('is written when every step is done, skipped or tolerated; the wake time stays', () => {
    const state = stateOf(over, { wakeAt: NOW + 5 });
    const { write, ...rest } = see(two, state);
    expect(write?.step).toBeUndefined();
    expect(write?.executionId).toBe('e-1');
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      status: 'succeeded',
      version: 2,
      writeId: 'w-new',
      endedAt: NOW,
      output: {},
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: false, affected: ['x'] },
      notes: [{ what: 'succeeded', executionId: 'e-1' }],
    });
  });

  const doneAnd = (status: Step['status']) => stateOf([recordOf('a', 'done'), recordOf('it', status)]);
  const asked = { ...stateOf(over, { status: 'waiting' }), questions: { 1: incidentOf({ kind: 'undo' }) } };
  const item = { tolerated: 1 };
  it.each<[string, Snapshot, Partial<Plan>, boolean]>([
    ['while a step is not over', doneAnd('running'), {}, false],
    ['while one has no record', stateOf([recordOf('a', 'done')]), {}, false],
    ['while a person is asked', asked, {}, false],
    ['while it waits, though nobody is asked', stateOf(over, { status: 'waiting' }), {}, false],
    ['while it is being undone', stateOf(over, { status: 'compensating' }), {}, false],
    ['while it is paused', stateOf(over, { status: 'paused' }), {}, true],
    ['with a failed item', doneAnd('failed'), item, false],
    ['with a tolerated item', doneAnd('tolerated'), item, true],
    ['with a tolerated step', doneAnd('tolerated'), {}, true],
    ['with an item that is being undone', doneAnd('compensating'), item, false],
    ['with an undone step', doneAnd('compensated'), {}, false],
    ['with a step that could not be undone', doneAnd('compensation-failed'), {}, false],
    ['with an item that is not over', doneAnd('retrying'), item, false],
  ])('%s', (_, state, more, succeeds) => {
    expect(see({ ...two, ...more }, state).write?.execution?.status === 'succeeded').toBe(succeeds);
  });

  it('comes before the deadline, the deadline before what else is to be done', () => {
    const late = { deadlineAt: NOW };
    expect(see(two, stateOf(over, late)).write?.execution?.status).toBe('succeeded');
    expect(see(two, stateOf([recordOf('a', 'done')], late)).write?.execution?.status).toBe('compensating');
  });
});
