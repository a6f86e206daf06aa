/**
 * Which effects of an execution are in place, by the status of each step and by the ends of child executions.
 */

import * as fc from 'fast-check';
import { stateAfterRetry } from '../../../lib/core/execution/after-retry.ts';
import {
  leftByFailing,
  standingAtEnd,
  standingOf,
  standingText,
} from '../../../lib/core/operators/in-effect.ts';
import type { Plan, PlanStep } from '../../../lib/core/plan/plan.ts';
import { retry } from '../../../lib/author/builder/workflow.ts';
import type { ChildEnd } from '../../../lib/core/records/children.ts';
import type { Standing } from '../../../lib/core/records/ended.ts';
import type { Incident } from '../../../lib/core/records/question.ts';
import type { Step } from '../../../lib/core/records/state.ts';
import { STEP_STATUSES } from '../../../lib/core/moves.ts';
import { check } from '../check.ts';
import { child, childrenOf, end, keptMap, map } from '../family.ts';
import { failure, planOf, recordOf, stateOf } from '../one-step.ts';
import { planStep } from '../../author/refusals.ts';
import { mixedCases, NOW } from '../states.ts';

const undoable: PlanStep = { ...planStep, name: 'it', undo: retry(2) };
const effectOf = (record: Step, step: PlanStep = undoable): string | undefined =>
  standingOf(planOf(step), stateOf([record])).first[0]?.effect;

describe('of a step', () => {
  it.each(STEP_STATUSES.filter((status) => !['running', 'probing'].includes(status)))(
    'that is %s',
    (status) => {
      const certain: Partial<Record<Step['status'], string>> = {
        done: 'stands',
        accepted: 'may-stand',
        unknown: 'may-stand',
        compensating: 'may-stand',
        'compensation-failed': 'may-stand',
      };
      const isOver = status === 'compensated' || status === 'skipped';
      expect(effectOf(recordOf('it', status))).toBe(certain[status]);
      expect(effectOf(recordOf('it', status, { mayHaveActed: true }))).toBe(
        certain[status] ?? (isOver ? undefined : 'may-stand'),
      );
    },
  );
  it('whose agent has no effect is not listed, though its failure was tolerated (seed 530000017)', () => {
    const wrong = { mayHaveActed: true, wrongAnswer: '{}' };
    const tolerated = recordOf('it', 'tolerated', wrong);
    expect(effectOf(tolerated)).toBe('stands');
    const idle: PlanStep = { ...planStep, name: 'it', effect: 'none', undo: 'none', tolerate: true };
    expect(effectOf(tolerated, idle)).toBeUndefined();
    const state = stateOf([tolerated]);
    const succeeded = { ...state, execution: { ...state.execution, status: 'succeeded' as const } };
    expect(standingAtEnd(planOf(idle), succeeded)).toBeUndefined();
    expect(standingAtEnd(planOf(undoable), succeeded)).toMatchObject({ stands: 1 });
  });
  it('with nothing to undo is not listed, unless it is a point of no return', () => {
    const none: PlanStep = { ...planStep, name: 'it', undo: 'none' };
    expect(effectOf(recordOf('it', 'done'), none)).toBeUndefined();
    expect(effectOf(recordOf('it', 'done'), { ...none, pointOfNoReturn: true })).toBe('stands');
    expect(
      effectOf(recordOf('it', 'done'), { kind: 'wait', name: 'it', after: [], forMs: 1 }),
    ).toBeUndefined();
  });
});

describe('of executions of its own', () => {
  const of = (step: PlanStep, ended: Record<number, ChildEnd>, count = 1, more = {}): Standing =>
    standingOf(
      planOf({ ...step, name: 'it' } as PlanStep),
      stateOf([recordOf('it', 'failed', { children: childrenOf(count, ended, more) })]),
    );
  it('each is named that has left something, or may have', () => {
    const ended = { 0: end('succeeded'), 1: end('canceled'), 2: end('failed'), 3: end('compensated') };
    expect(of(map, ended, 6, { started: 5 })).toEqual({
      stands: 1,
      mayStand: 2,
      first: [
        { step: 'it', effect: 'stands', executionId: 'e-1.it.0' },
        { step: 'it', effect: 'may-stand', executionId: 'e-1.it.2' },
        { step: 'it', effect: 'may-stand', executionId: 'e-1.it.4' },
      ],
      view: '/executions/e-1',
    });
  });
  it('none where they stay by declaration, but for a point of no return', () => {
    expect(of(keptMap, { 0: end('succeeded') }).first).toEqual([]);
    expect(of({ ...child, undo: 'none' }, { 0: end('succeeded') }).first).toEqual([]);
    expect(of({ ...child, undo: 'none', pointOfNoReturn: true }, { 0: end('succeeded') }).stands).toBe(1);
  });
});

const many = (count: number): { plan: Plan; records: Step[] } => {
  const names = Array.from({ length: count }, (_, at) => `s${at}`);
  return {
    plan: planOf(...names.map((name): PlanStep => ({ ...planStep, name, undo: retry(1) }))),
    records: names.map((name, at) => recordOf(name, at === 0 ? 'unknown' : 'done')),
  };
};

it('the first twenty are listed, and how many there are', () => {
  const { plan, records } = many(23);
  const standing = standingOf(plan, stateOf(records));
  expect(standing).toMatchObject({ stands: 22, mayStand: 1 });
  expect(standing.first.map(({ step }) => step)).toEqual(records.slice(0, 20).map(({ name }) => name));
  expect(standingText(standing)).toMatch(/^'s1', .*, 's19', 3 more in effect; 's0' maybe in effect$/);
  expect(standingText(standingOf(plan, stateOf([])))).toBe('nothing in effect');
});

it("an answer of 'keep' leaves all that is in effect; of an undo that failed, what comes before it", () => {
  const plan = planOf(
    { ...planStep, name: 'a', undo: retry(1) },
    { ...planStep, name: 'b', after: ['a'], undo: retry(1) },
    { ...planStep, name: 'c', undo: retry(1) },
  );
  const state = stateOf(
    [recordOf('a', 'done'), recordOf('b', 'compensation-failed'), recordOf('c', 'done')],
    {
      status: 'compensating',
    },
  );
  const incident: Incident = {
    number: 1,
    life: 'life1',
    workflow: 'shop',
    version: 1,
    writeId: 'w',
    kind: 'undo',
    step: 'b',
    stepVersion: 1,
    failure,
    reminders: 0,
    openedAt: NOW,
    deadlineAt: NOW,
    otherwise: 'keep',
  };
  const names = (kind: Incident['kind']): string[] =>
    leftByFailing(plan, state, { ...incident, kind }).first.map(({ step }) => step);
  expect(names('undo')).toEqual(['a', 'b']);
  expect(names('recovery')).toEqual(['a', 'b', 'c']);
});

it('in any state the numbers count all effects, and at most twenty are listed', () => {
  check(
    fc.property(mixedCases, ({ plan, state }) => {
      const { stands, mayStand, first, view } = standingOf(plan, stateAfterRetry(plan, state));
      expect(first).toHaveLength(Math.min(20, stands + mayStand));
      expect(view).toBe('/executions/e-1');
      for (const { step } of first) expect(Object.hasOwn(state.steps, step)).toBe(true);
    }),
    300,
  );
});
