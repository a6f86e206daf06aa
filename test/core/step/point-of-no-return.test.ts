/**
 * Whether an execution can still be undone, by the status of a step without undo, and what follows if it
 * cannot.
 */

import type { Plan, PlanStep } from '../../../lib/core/plan/plan.ts';
import type { Incident } from '../../../lib/core/records/question.ts';
import type { Step } from '../../../lib/core/records/state.ts';
import {
  isAskedAtDeadline,
  isPointUnderWay,
  lastPoint,
  undoable,
  type Undoable,
} from '../../../lib/core/step/point-of-no-return.ts';
import { type ExecutionStatus, STEP_STATUSES, type StepStatus } from '../../../lib/core/moves.ts';
import { heldAs, planOf, recordOf, stateOf } from '../one-step.ts';
import { planStep } from '../../author/refusals.ts';
import { NOW } from '../states.ts';

const point = (name: string): PlanStep => ({ ...planStep, name, pointOfNoReturn: true });
const plain: PlanStep = { ...planStep, name: 'plain' };
const plan: Plan = planOf(point('it'), point('other'), plain);
const way = (...records: readonly Step[]): Undoable => undoable(plan, stateOf(records));

describe('the way back behind a point of no return', () => {
  it.each(STEP_STATUSES.filter((status) => !['running', 'probing'].includes(status)))(
    'where nobody works on it and it is %s',
    (status) => {
      const ends: Partial<Record<StepStatus, Undoable>> = {
        done: 'never',
        failed: 'never',
        fenced: 'never',
      };
      expect(way(recordOf('it', status, { mayHaveActed: true }))).toBe(ends[status] ?? 'undecided');
      expect(way(recordOf('it', status))).toBe(status === 'done' ? 'never' : 'now');
    },
  );
  it('is closed, or may be, by the first that says as much', () => {
    expect(lastPoint(plan, stateOf([]))).toBeUndefined();
    expect(lastPoint(plan, stateOf([heldAs('undo')]))).toBeUndefined();
    expect(lastPoint(plan, stateOf([recordOf('plain', 'done', { mayHaveActed: true })]))).toBeUndefined();
    const done = stateOf([recordOf('it', 'ready'), recordOf('other', 'done')]);
    expect(lastPoint(plan, done)?.name).toBe('other');
    expect(lastPoint(plan, stateOf([heldAs('execute'), recordOf('other', 'done')]))?.name).toBe('other');
    expect(lastPoint(plan, stateOf([heldAs('execute')]))?.name).toBe('it');
  });
});

it('somebody is near a point of no return who works on it, but for an undo', () => {
  const near = (record: Step): boolean => isPointUnderWay(plan, stateOf([record]));
  expect(near(heldAs('execute'))).toBe(true);
  expect(near(heldAs('probe'))).toBe(true);
  expect(near(heldAs('undo'))).toBe(false);
  expect(near({ ...heldAs('execute'), name: 'other' })).toBe(true);
  expect(near({ ...heldAs('execute'), name: 'plain' })).toBe(false);
  expect(near(recordOf('it', 'unknown', { mayHaveActed: true }))).toBe(false);
});

describe('at its deadline an execution', () => {
  const question: Incident = {
    number: 1,
    life: 'life1',
    workflow: 'shop',
    version: 1,
    writeId: 'w',
    kind: 'recovery',
    step: 'plain',
    stepVersion: 1,
    failure: { code: 'x', message: 'y' },
    reminders: 0,
    openedAt: NOW,
    deadlineAt: NOW,
    otherwise: 'keep',
  };
  const done = recordOf('it', 'done');
  const asked = (
    records: readonly Step[],
    status: ExecutionStatus = 'running',
    incidents: Incident[] = [],
  ): boolean =>
    isAskedAtDeadline(plan, {
      ...stateOf(records, { status }),
      questions: Object.fromEntries(incidents.map((one) => [one.number, one])),
    });
  it('does not where there is one, nobody is to decide, somebody is near, or a question is open', () => {
    expect(asked([])).toBe(false);
    expect(asked([done], 'compensating')).toBe(false);
    expect(asked([done], 'paused')).toBe(false);
    expect(asked([done, { ...heldAs('execute'), name: 'other' }])).toBe(false);
    expect(asked([done], 'waiting', [question])).toBe(false);
    expect(asked([done], 'waiting', [{ ...question, closedAt: NOW }])).toBe(true);
  });
});
