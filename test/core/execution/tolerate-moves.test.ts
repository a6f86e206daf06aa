/**
 * The move that makes a tolerated failure final (S20): from which status, when, its note, and the record
 * afterwards.
 */

import type { AgentStep, MapStep, Plan } from '../../../lib/core/plan/plan.ts';
import type { Attempt, Step } from '../../../lib/core/records/state.ts';
import { toleratedTimes, whyItFailed } from '../../../lib/core/step/tolerance.ts';
import { otherStage, planOf, recordOf, see, stateOf } from '../one-step.ts';
import { planWith } from '../../author/refusals.ts';
import { agentStepOf, childOf, childrenOf, endsAs, mapOf, undoableOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

const failure = { code: 'canceled', message: 'x' };
const cause = { kind: 'cancel', at: NOW - 50, failure, undo: false } as const;
const kept = { status: 'compensating', cause, wakeAt: NOW } as const;
const a = undoableOf('a', { tolerate: true });
const plain = agentStepOf('a', { tolerate: true, recovery: [] });
const acted = { mayHaveActed: true, attempt: 1 } as const;
const b = agentStepOf('b', { after: ['a'] });
const child = childOf('sub', { tolerate: true });

/** The next evaluation's write to one step's record, and its note. */
const written = (plan: Plan, record: Step, execution: object, more: Step[] = []) => {
  const { write, notes } = see(plan, stateOf([record, ...more], execution));
  const step = write?.step as Step | undefined;
  return { step, execution: write?.execution, notes: notes.map(({ what }) => what) };
};

describe('a stop that leaves things as they are', () => {
  it.each<[Step['status'], Partial<Step>]>([
    ['compensated', acted],
    ['compensating', acted],
    ['compensation-failed', acted],
    ['failed', acted],
  ])('closes what is %s, after %j', (status, more) => {
    const record = recordOf('a', status, { ...more, changedAt: NOW - 9, retryAt: NOW + 99, failure });
    const { step, notes } = written(planOf(a, b), record, kept);
    expect(step).toMatchObject({ name: 'a', status: 'tolerated', version: 2, mayHaveActed: true, failure });
    expect(step).not.toHaveProperty('retryAt');
    expect(notes).toEqual(['step-tolerated']);
  });

  it.each<[string, Step['status'], Partial<Step>, AgentStep]>([
    ['an undo under way', 'compensating', { ...acted, token: 't', leaseUntil: NOW + 5_000 }, a],
    ['what has no undo', 'failed', acted, plain],
    ['what certainly did nothing', 'failed', {}, a],
    ['a success', 'done', acted, a],
  ])('does not write of %s', (_, status, more, step) => {
    const after = written(planOf(step, b), recordOf('a', status, { changedAt: NOW - 9, ...more }), kept);
    expect(after.step?.status).not.toBe('tolerated');
    expect(after.notes).not.toContain('step-tolerated');
  });

  it('closes nothing where the stop undoes', () => {
    const { undo: _, ...undone } = cause;
    const record = recordOf('a', 'failed', acted);
    const { step } = written(planOf(a), record, { ...kept, cause: undone });
    expect(step?.status).not.toBe('tolerated');
  });

  it('keeps the item that is too many where it was closed at the instant of the stop', () => {
    const list = planWith({}, { steps: ['i0', 'i1'].map((name) => ({ ...a, name })), tolerated: 1 });
    const record = (changedAt: number) => recordOf('i1', 'failed', { ...acted, changedAt });
    const others = [recordOf('i0', 'tolerated')];
    expect(written(list, record(cause.at - 1), kept, others)).toMatchObject({
      step: { name: 'i1', status: 'failed', version: 2 },
      notes: ['step-failed'],
    });
    expect(written(list, record(cause.at), kept, others).step).toBeUndefined();
  });
});

describe('on the way forward', () => {
  const running = { status: 'running', wakeAt: NOW } as const;

  it('what certainly did nothing is tolerated at once, and says why it failed', () => {
    const { step, notes, execution } = written(planOf(a, b), recordOf('a', 'failed', { failure }), running);
    expect(step).toMatchObject({ status: 'tolerated', mayHaveActed: false, failure, changedAt: NOW });
    expect(notes).toEqual(['step-tolerated']);
    expect(execution).toMatchObject({ version: 2, wakeAt: NOW });
  });

  // The process may die between this write and the next claim, so the wake time must be near.
  it('the next work is searched for within the horizon, however late the next evaluation was to be', () => {
    const late = { ...running, wakeAt: NOW + 30 * 86_400_000 };
    const { execution } = written(planOf(a, b), recordOf('a', 'failed', { failure }), late);
    expect(execution?.wakeAt).toBeGreaterThan(NOW);
    expect(execution?.wakeAt).toBeLessThan(NOW + 3_600_000);
  });

  it('what an attempt may still do is awaited, to the millisecond', () => {
    const harmless = { ...plain, effect: 'none' } as const;
    const settledAt = (at: number) => at - harmless.settleMs;
    const of = (at: number) =>
      recordOf('a', 'failed', { ...acted, processDeadlineAt: settledAt(at), failure });
    expect(written(planOf(harmless, b), of(NOW + 1), running).step).toBeUndefined();
    expect(toleratedTimes(planOf(harmless, b), stateOf([of(NOW + 1)], running))).toEqual([NOW + 1]);
    const { step } = written(planOf(harmless, b), of(NOW), running);
    expect(step).toMatchObject({ status: 'tolerated', mayHaveActed: false });
  });

  it('the agent that was tried, not the step, says whether there is a lasting effect', () => {
    const stages = [{ ...otherStage, effect: 'none' } as const];
    const plan = planOf({ ...plain, effect: 'idempotent', recovery: stages }, b);
    const record = (stage: number) =>
      recordOf('a', 'failed', { ...acted, keyVariant: stage, stage, failure });
    expect(written(plan, record(0), running)).toMatchObject({
      step: { status: 'waiting' },
      notes: ['no-undo'],
    });
    expect(toleratedTimes(plan, stateOf([record(0)], running))).toEqual([]);
  });

  it('a person is asked about a step that may have acted and has no undo, and the failure is kept', () => {
    const record = recordOf('a', 'failed', { ...acted, failure, undoDeferredAt: NOW - 9 });
    const { step, notes } = written(planOf(plain, b), record, running);
    expect(step).toMatchObject({ status: 'waiting', mayHaveActed: true, failure, undoDeferredAt: NOW - 9 });
    expect(notes).toContain('no-undo');
  });

  it('a word to go on leaves what may be in effect, and says so', () => {
    const record = recordOf('a', 'failed', { ...acted, failure, afterFailure: 'continue' });
    const { step } = written(planOf(plain, b), record, running);
    expect(step).toMatchObject({ status: 'tolerated', mayHaveActed: true, afterFailure: 'continue' });
  });

  it('what is compensated and comes to its next stage is not over, and due at once', () => {
    const record = recordOf('a', 'compensated', { ...acted, nextStage: 1 });
    const state = stateOf([record], running);
    expect(toleratedTimes(planOf(a), state)).toEqual([0]);
    expect(written(planOf(a), record, running).step?.status).not.toBe('tolerated');
    const failed = recordOf('a', 'failed', { nextStage: 1 });
    expect(toleratedTimes(planOf(a), stateOf([failed], running))).toEqual([]);
    expect(toleratedTimes(planOf(a), stateOf([recordOf('a', 'done', { nextStage: 1 })], running))).toEqual(
      [],
    );
  });

  it('a step that must not fail has no such time, nor one of an execution that is over', () => {
    const { tolerate: _, ...must } = a;
    const record = recordOf('a', 'compensated');
    expect(toleratedTimes(planOf(must), stateOf([record], running))).toEqual([]);
    expect(toleratedTimes(planOf(a), stateOf([record], running))).toEqual([0]);
    expect(toleratedTimes(planOf(a), stateOf([record], kept))).toEqual([]);
    expect(toleratedTimes(planOf(a), stateOf([], running))).toEqual([]);
  });

  it('a child is awaited until nothing of its attempts can act', () => {
    const of = (actsUntil: number) =>
      recordOf('sub', 'failed', {
        children: childrenOf({ 0: { ...endsAs('failed', true), actsUntil } }),
        failure,
      });
    const plan = planOf(child);
    expect(written(plan, of(NOW + 1), running).step).toBeUndefined();
    expect(written(plan, of(NOW), running)).toMatchObject({
      step: { status: 'tolerated' },
      notes: ['step-tolerated'],
    });
  });

  it('a list of its own is never tolerated as a step', () => {
    const list: MapStep = mapOf('a', { tolerate: true as never });
    const { step } = written(planOf(list), recordOf('a', 'failed', { failure }), running);
    expect(step?.status).not.toBe('tolerated');
  });
});

it('its last failed attempt says why it failed, not later ones', () => {
  const at = { number: 1, claimedAt: NOW, endedAt: NOW };
  const attempts: Attempt[] = [
    { ...at, mode: 'execute', outcome: 'failed', failure: { code: 'lost', message: 'l' } },
    { ...at, mode: 'probe', outcome: 'not-done' },
    { ...at, mode: 'undo', outcome: 'failed', failure },
  ];
  expect(whyItFailed(recordOf('a', 'compensated', { attempts, failure }))?.code).toBe('lost');
});

describe('an on-failure step', () => {
  it('that fails is reported as not performed', () => {
    const whole = planOf(a);
    const plan: Plan = { ...planOf(a), onFailureOf: whole };
    const notes = (status: Step['status'], more: Partial<Step> = {}) =>
      written(plan, recordOf('a', status, { failure, ...more }), { status: 'following-up', wakeAt: NOW })
        .notes;
    expect(notes('failed')).toEqual(['on-failure-failed']);
    expect(notes('compensation-failed', acted)).not.toContain('on-failure-failed');
    const asked = { ...planOf(plain), onFailureOf: whole };
    const record = recordOf('a', 'failed', { ...acted, failure });
    expect(written(asked, record, { status: 'following-up', wakeAt: NOW }).notes).toEqual(['no-undo']);
  });
});
