/**
 * A child that is a point of no return: refused plans, when the execution can still be undone, and the rule
 * that applies.
 */

import { decide } from '../../../lib/core/decide.ts';
import { resolutionProblem } from '../../../lib/core/operators/incidents.ts';
import { checkPlan } from '../../../lib/author/checks/check.ts';
import type { ChildStep, Plan, PlanStep } from '../../../lib/core/plan/plan.ts';
import { retry, workflow } from '../../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../../lib/core/plan/workflow.ts';
import type { ChildEnd, Children } from '../../../lib/core/records/children.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import { type Execution, type Step } from '../../../lib/core/records/state.ts';
import { undoable, type Undoable } from '../../../lib/core/step/point-of-no-return.ts';
import { openWork } from '../../../lib/core/step/ready.ts';
import { child, childrenOf, end } from '../family.ts';
import { failure, planOf, recordOf, inputs, stateOf } from '../one-step.ts';
import { agent, any, planStep, planWith, refusalOf } from '../../author/refusals.ts';
import { NOW } from '../states.ts';

const point = { pointOfNoReturn: true } as const;
const inner: Plan = planWith({}, { steps: [{ ...planStep, name: 'ship', ...point }] });
const kept: ChildStep = { ...child, plan: inner, undo: 'none', ...point };
const refused = (...steps: readonly PlanStep[]) =>
  refusalOf(() => checkPlan(planWith({}, { steps }))).details as { step?: string; reason: string };

describe('a workflow is refused', () => {
  it('that has a point of no return inside a child, however deep, and does not say so itself', () => {
    expect(refused({ ...child, plan: inner })).toMatchObject({
      step: 'sub',
      reason: 'hidden-point-of-no-return',
    });
    expect(refused({ ...child, plan: inner, undo: 'none' })).toMatchObject({
      reason: 'hidden-point-of-no-return',
    });
    const deep = planWith({}, { steps: [{ ...kept, name: 'deep' }] });
    const { message } = refusalOf(() => checkPlan(planWith({}, { steps: [{ ...child, plan: deep }] })));
    expect(message).toContain("'deep'");
    // A plan that `workflow` did not make, and that hides it two levels down.
    const hidden = planWith({}, { steps: [{ ...child, name: 'deep', plan: inner }] });
    expect(
      refusalOf(() => checkPlan(planWith({}, { steps: [{ ...child, plan: hidden }] }))).message,
    ).toContain("('deep' → 'ship')");
    expect(() => checkPlan(planWith({}, { steps: [kept] }))).not.toThrow();
  });

  it('that has two of them under way at once, but not one after the other', () => {
    const second = { ...kept, name: 'second' };
    expect(refused(kept, second)).toMatchObject({ step: 'sub', reason: 'points-of-no-return-at-once' });
    expect(() => checkPlan(planWith({}, { steps: [kept, { ...second, after: ['sub'] }] }))).not.toThrow();
    expect(() => checkPlan(planWith({}, { steps: [kept, { ...planStep, ...point }] }))).not.toThrow();
  });

  it('unless the child says so, and then it has no undo', () => {
    const other = workflow('ship-it', { input: any, within: '1h' }, (w) => {
      w.step('ship', agent, {}, point);
    }) as Workflow;
    const build = (more: object) => (): Workflow =>
      workflow('flow', { input: any, within: '1h' }, (w) => {
        w.child('sub', other, {} as never, more);
      }) as Workflow;
    expect(refusalOf(build({})).details).toMatchObject({ step: 'sub', reason: 'hidden-point-of-no-return' });
    expect(build(point)().plan.steps).toMatchObject([{ kind: 'child', undo: 'none', ...point }]);
  });
});

const before: PlanStep = { ...planStep, name: 'charge', undo: retry(2) };
const beside: PlanStep = { ...planStep, name: 'beside', after: ['charge'], undo: retry(2) };
const ship: ChildStep = { ...kept, name: 'it', after: ['charge'] };
const plan = planOf(before, ship, beside);
const charged = { ...recordOf('charge', 'done'), output: {} };
const familyRecord = (status: Step['status'], ended: Children['ended'], more: Partial<Children> = {}): Step =>
  recordOf('it', status, { children: childrenOf(1, ended, more) });
const way = (...records: readonly Step[]): Undoable => undoable(plan, stateOf(records));

describe('the way back beside such a child', () => {
  it('is open from when it may have been created, though nothing says so', () => {
    expect(way()).toBe('now');
    expect(way(charged)).toBe('after-stop');
    expect(way(charged, recordOf('it', 'ready'))).toBe('after-stop');
    expect(undoable(plan, stateOf([charged]), 'it')).toBe('now');
  });
  it.each<[ChildEnd['status'], boolean, Undoable]>([
    ['succeeded', false, 'never'],
    ['failed', false, 'never'],
    ['failed', true, 'now'],
    ['canceled', true, 'now'],
    ['compensated', true, 'now'],
    ['compensated', false, 'never'],
  ])('once it has %s (clean: %s) is %s, whatever is recorded of the step', (status, clean, expected) => {
    for (const at of ['running', 'compensating', 'done', 'failed', 'compensated'] as const)
      expect(way(charged, familyRecord(at, { 0: end(status, 3, { clean }) }))).toBe(expected);
  });
});

const evaluate = (records: readonly Step[], more: Partial<Execution> = {}, of = plan) =>
  decide(of, stateOf(records, more), {
    type: 'evaluate',
    by: 'agent',
    affected: 'all',
    fresh: true,
    readAt: NOW,
    ...inputs,
  });
const stopped: Partial<Execution> = {
  status: 'compensating',
  cause: { kind: 'cancel', at: NOW, failure: { code: 'canceled', message: 'x' } },
};
const open = familyRecord('running', {});
const acted = { 0: end('succeeded') };

describe('while its end is not known', () => {
  it('a failure beside it stops the execution, and with it the child', () => {
    const failed = recordOf('beside', 'failed', { failure });
    const { write } = evaluate([charged, open, failed]);
    expect(write?.execution).toMatchObject({
      status: 'compensating',
      cause: { kind: 'failure', step: 'beside' },
    });
    expect(write?.execution?.cause).not.toHaveProperty('undo');
  });
  it('nothing is undone, and nobody else is stopped', () => {
    const other: PlanStep = { ...child, name: 'other', after: ['charge'] };
    const two = planOf(before, other, ship, beside);
    const records = [charged, { ...open, name: 'other' }, open, recordOf('beside', 'done')];
    expect(evaluate(records, stopped, two).next).toMatchObject({
      kind: 'stop-children',
      step: 'it',
      goal: 'stop',
    });
    const waiting = [...records.slice(0, 2), familyRecord('compensating', {}), recordOf('beside', 'done')];
    const awaited = evaluate(waiting, stopped, two);
    expect(awaited.write).toBeUndefined();
    expect(awaited.sends).toEqual([]);
    expect(openWork(two, stateOf(waiting, stopped))).toEqual([]);
  });
  it('a person is not offered to undo everything, and learns what prevents it', () => {
    const asked = stateOf([charged, open, recordOf('beside', 'waiting')], { status: 'waiting' });
    const incident = {
      number: 1,
      life: 'life1',
      workflow: 'shop',
      version: 1,
      writeId: 'w',
      kind: 'recovery' as const,
      step: 'beside',
      stepVersion: 1,
      failure,
      openedAt: NOW,
      deadlineAt: NOW + 1,
      otherwise: 'undo-all' as const,
      reminders: 0,
    };
    const state: Snapshot = { ...asked, questions: { 1: incident } };
    const answer = { type: 'resolve', incident: 1, ...inputs } as const;
    const undoAll = { choice: 'undo-all', closedBy: 'answer' } as const;
    expect(decide(plan, state, { ...answer, answer: undoAll }).write).toBeUndefined();
    expect(resolutionProblem(plan, state, incident, undoAll, NOW)).toContain('a cancel stops that first');
    // Without an answer the step has failed, and that stops the child first.
    const { write } = evaluate([charged, open, recordOf('beside', 'waiting')], { status: 'waiting' });
    expect(write?.execution?.cause).toBeUndefined();
    const late = decide(plan, state, {
      type: 'evaluate',
      by: 'supervisor',
      affected: 'all',
      fresh: true,
      readAt: NOW + 2,
      ...inputs,
      now: NOW + 2,
    });
    expect(late.write).toMatchObject({ step: { status: 'failed' }, question: { choice: 'undo-all' } });
  });
});

describe('once its end is recorded', () => {
  it('one that succeeded before it could be stopped has its step done', () => {
    expect(evaluate([charged, familyRecord('compensating', acted)], stopped).next).toMatchObject({
      kind: 'gather',
      step: 'it',
    });
    const state = stateOf([charged, familyRecord('compensating', acted)], stopped);
    const gathered = { type: 'gathered', step: 'it', outputs: [{ n: 1 }], ...inputs } as const;
    expect(decide(plan, state, gathered).write?.step).toMatchObject({ status: 'done', output: { n: 1 } });
    const unclean = stateOf([charged, familyRecord('compensating', { 0: end('failed') })], stopped);
    expect(decide(plan, unclean, gathered).write).toBeUndefined();
  });
});

describe('a cancel that leaves what has acted as it is', () => {
  const left = { ...stopped, cause: { ...(stopped.cause as object), undo: false } } as Partial<Execution>;
  it('is for nobody to reopen but an operator', () => {
    const parent = { executionId: 'p', step: 'sub', index: 0 };
    const ended: Partial<Execution> = { ...left, status: 'failed', parent };
    const again = { type: 'restart', endVersion: 9, ...inputs } as const;
    expect(decide(plan, stateOf([charged], ended), again).write).toBeUndefined();
    const byParent = { ...ended, cause: { ...(left.cause as object), kind: 'parent' } } as Partial<Execution>;
    expect(decide(plan, stateOf([charged], byParent), again).write?.execution).toMatchObject({
      status: 'running',
    });
    const alone: Partial<Execution> = { ...left, status: 'failed' };
    const retried = { type: 'retry', commandId: 'r', reason: 'why', ...inputs } as const;
    expect(decide(plan, stateOf([charged], alone), retried).write?.execution).toMatchObject({
      status: 'running',
    });
  });
  it('is announced to its parent as canceled', () => {
    const parent = { executionId: 'p', step: 'sub', index: 0 };
    const { notifyParent } = evaluate([charged], {
      ...left,
      status: 'failed',
      parent,
      endedAt: NOW,
      wakeAt: NOW,
    });
    expect(notifyParent?.end).toMatchObject({ status: 'failed', clean: false, canceled: true });
  });
});
