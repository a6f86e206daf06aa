/**
 * Which steps must be undone, need nothing, or must be fenced, in small states, one condition at a time (S10,
 * F1).
 */

import type { PlanStep } from '../../../lib/core/plan/plan.ts';
import type { ChildEnd } from '../../../lib/core/records/children.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { effectOf } from '../../../lib/core/step/effect.ts';
import { clearSince, dependentsClearAt, stepToFence } from '../../../lib/core/step/ready.ts';
import { STEP_STATUSES } from '../../../lib/core/moves.ts';
import { planOf, recordOf, stateOf } from '../one-step.ts';
import {
  agentStepOf,
  callbackOf,
  childOf,
  childrenOf,
  mapOf,
  otherAgent,
  statusesWhere as where,
  undoableOf,
  waitOf,
} from '../small-steps.ts';
import { NOW } from '../states.ts';

const needsUndo = (step: PlanStep, record: Step | undefined) => effectOf(step, record).isOwed;
const isClear = (step: PlanStep, record: Step | undefined, isKept: boolean) =>
  clearSince(step, record, isKept) !== undefined;

const ALL = STEP_STATUSES;
const clean = { status: 'canceled', version: 1, clean: true } as const;
const dirty = { status: 'succeeded', version: 1, clean: false } as const;
const acted = { mayHaveActed: true };
const left = { cause: { kind: 'cancel', at: 0, failure: { code: 'x', message: 'y' }, undo: false } } as const;

/** Statuses in which a step may be claimed by a process that read an older state. */
const CLAIMED: Step['status'][] = ['retrying', 'accepted', 'waiting', 'answered', 'unknown'];

describe('an effect is to be undone', () => {
  const step = undoableOf('it');
  it('if the step is done, unknown or being undone; in other statuses if it may have acted', () => {
    const certain = ['accepted', 'unknown', 'done', 'compensating', 'compensation-failed'];
    expect(where((record) => needsUndo(step, record))).toStrictEqual(certain);
    const maybe = ['retrying', 'waiting', 'failed'];
    expect(new Set(where((record) => needsUndo(step, record), acted))).toStrictEqual(
      new Set([...certain, ...maybe]),
    );
    expect([undefined, recordOf('it', 'fenced')].map((record) => needsUndo(step, record))).toStrictEqual([
      false,
      false,
    ]);
  });

  it('where the agent that acted has an undo', () => {
    const later = undoableOf('it', { recovery: [otherAgent] });
    expect(
      [0, 1].map((keyVariant) => needsUndo(later, recordOf('it', 'done', { keyVariant }))),
    ).toStrictEqual([true, false]);
    expect(needsUndo(agentStepOf('it'), recordOf('it', 'done'))).toBe(false);
    expect(needsUndo(callbackOf('it'), recordOf('it', 'done'))).toBe(false);
    expect(needsUndo(waitOf('it'), recordOf('it', 'done'))).toBe(false);
  });

  const having = (...ends: ChildEnd[]) => ({
    children: childrenOf(Object.fromEntries(ends.entries()), { count: ends.length || 1 }),
  });
  const keeps = childOf('it', { undo: 'none' });
  const list = mapOf('it', { each: undoableOf('item') });
  it.each<[string, PlanStep, Partial<Step>, boolean]>([
    ['a child that never began', childOf('it'), {}, false],
    ['a child that is under way', childOf('it'), having(), true],
    ['a child that left something', childOf('it'), having(dirty), true],
    ['a child that left nothing', childOf('it'), having(clean), false],
    ['a child that is undone', childOf('it'), { status: 'compensated', ...having(dirty) }, false],
    ['a child whose effect stays', keeps, having(dirty), false],
    ['a child whose effect stays, under way', keeps, having(), true],
    ['a list of which one part left something', list, having(clean, dirty), true],
    ['a list whose effects stay', mapOf('it'), having(dirty), false],
  ])('of %s', (_, planned, more, owes) => {
    expect(needsUndo(planned, recordOf('it', 'done', more))).toBe(owes);
  });
});

it('a step is quiet when its process is dead and the service of the agent that acted has settled', () => {
  const step = agentStepOf('it', { recovery: [otherAgent] });
  const at = (keyVariant: number, more: Partial<Step> = acted) =>
    effectOf(step, recordOf('it', 'done', { processDeadlineAt: 7, keyVariant, ...more })).attemptsUntil;
  expect([at(0), at(1), at(0, {})]).toStrictEqual([5_007, 6_007, 0]);
  const answered = recordOf('it', 'done', { ...acted, processDeadlineAt: 7 });
  expect(effectOf(callbackOf('it'), answered).attemptsUntil).toBe(0);
});

describe('a step is clear', () => {
  const step = undoableOf('it');
  it('when nobody can take it and it owes nothing', () => {
    const isIt = (record: Step) => isClear(step, record, false);
    const free = ['ready', 'running', 'probing', 'fenced', 'failed', 'skipped', 'tolerated', 'compensated'];
    expect(where(isIt)).toStrictEqual(free);
    expect(where(isIt, acted)).toStrictEqual(free.filter((status) => status !== 'failed'));
    expect(where(isIt, { leaseUntil: NOW })).toStrictEqual([]);
    expect(isClear(step, undefined, false)).toBe(true);
  });

  it.each([childOf('it', { undo: 'none' }), mapOf('it')])(
    'when its executions have ended ($kind)',
    (planned) => {
      const isIt = (record: Step) => isClear(planned, record, true);
      const busy: Step['status'][] = ['running', ...CLAIMED];
      busy.push('compensating');
      const ended = { children: childrenOf({ 0: clean }) };
      expect(where(isIt, ended)).toStrictEqual(ALL.filter((status) => !busy.includes(status)));
      expect(where(isIt, { children: childrenOf({}) })).toStrictEqual([]);
      expect(where(isIt)).toStrictEqual(ALL.filter((status) => !busy.includes(status)));
    },
  );
});

describe('what depends on a step', () => {
  const plan = planOf(
    undoableOf('a'),
    undoableOf('b', { after: ['a'] }),
    undoableOf('c', { after: ['b'] }),
    undoableOf('d', { after: ['c', 'b'] }),
    undoableOf('z'),
  );
  const clearAt = (...records: Step[]) =>
    dependentsClearAt(plan, plan.steps[0] as PlanStep, stateOf([recordOf('z', 'done'), ...records]));
  const undone = (name: string, changedAt: number, more: Partial<Step> = {}) =>
    recordOf(name, 'compensated', { changedAt, ...more });
  it('is clear since the last of them changed or became quiet, however far it is', () => {
    expect(clearAt()).toBe(0);
    expect(clearAt(undone('b', 3))).toBe(3);
    expect(clearAt(undone('b', 3), undone('d', 9), undone('c', 4))).toBe(9);
    expect(clearAt(undone('b', 3), undone('d', 9), undone('c', 4, { ...acted, processDeadlineAt: 8 }))).toBe(
      5_008,
    );
  });

  it('is not clear while one of them is not', () => {
    expect(clearAt(recordOf('b', 'done'))).toBeUndefined();
    expect(clearAt(undone('b', 3), recordOf('d', 'done'))).toBeUndefined();
    expect(clearAt(undone('b', 3), recordOf('d', 'failed'))).toBe(NOW);
  });

  it('is evaluated once, in however many ways it depends', () => {
    const layers = Array.from({ length: 20 }, (_, at) =>
      ['l', 'r'].map((side) =>
        agentStepOf(`${side}${at}`, { after: at === 0 ? [] : [`l${at - 1}`, `r${at - 1}`] }),
      ),
    ).flat();
    expect(dependentsClearAt(planOf(...layers), layers[0] as PlanStep, stateOf([]))).toBe(0);
  });
});

describe('a step is fenced', () => {
  const fenced = (steps: PlanStep[], records: Step[], execution: Partial<Execution> = {}) =>
    stepToFence(planOf(...steps), stateOf(records, { status: 'compensating', ...execution }))?.name;
  const [step, open] = [undoableOf('it'), CLAIMED.filter((status) => status !== 'accepted')] as const;
  it('when it could still be claimed and owes nothing', () => {
    expect(fenced([step], [])).toBe('it');
    expect(fenced([undoableOf('it', { after: ['b'] })], [])).toBeUndefined();
    expect(fenced([agentStepOf('b'), step], [recordOf('b', 'fenced')])).toBe('it');
    const of = (given: PlanStep, more: Partial<Step> = {}, execution: Partial<Execution> = {}) =>
      where((record) => fenced([given], [record], execution) === 'it', more);
    expect(of(step)).toStrictEqual(['ready', 'retrying', 'waiting', 'answered']);
    // Accepted work acts until it is known to be over.
    expect(of(agentStepOf('it', { effect: 'none' }), acted)).toContain('accepted');
    expect(of(step, acted)).toStrictEqual(['ready', 'answered']);
    expect(of(agentStepOf('it'), acted)).toStrictEqual(['ready', ...open]);
    expect(of(step, acted, left)).toStrictEqual(['ready', ...CLAIMED]);
  });
});
