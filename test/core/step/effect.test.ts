/** Which effects a step leaves when it is over, one condition at a time (S10). */

import type { PlanStep } from '../../../lib/core/plan/plan.ts';
import type { Step } from '../../../lib/core/records/state.ts';
import { effectOf } from '../../../lib/core/step/effect.ts';
import { recordOf } from '../one-step.ts';
import { agentStepOf, childOf, childrenOf, undoableOf } from '../small-steps.ts';

const undoable = undoableOf('it');
const keeping = agentStepOf('it', { undo: 'none' });
const acted = { mayHaveActed: true };
const wrong = { ...acted, wrongAnswer: '{}' };
const of = (status: 'succeeded' | 'failed', more: object = {}) => ({
  children: childrenOf({ 0: { status, version: 1, clean: false, ...more } }),
});

it.each<[string, PlanStep, Step['status'], Partial<Step>, boolean]>([
  ['an undo that failed', undoable, 'compensation-failed', {}, true],
  ['a tolerated failure that may have acted', undoable, 'tolerated', acted, true],
  ['a tolerated failure that has not', undoable, 'tolerated', {}, false],
  ['a tolerated failure without an effect', { ...keeping, effect: 'none' }, 'tolerated', acted, false],
  ['a wrong answer about work without an undo', keeping, 'failed', wrong, true],
  ['a wrong answer about work that is to be undone', undoable, 'failed', wrong, false],
  ['an attempt that was lost, of work without an undo', keeping, 'failed', acted, false],
  ['a success', undoable, 'done', {}, false],
  ['a child that succeeded', childOf('it'), 'done', of('succeeded'), false],
  ['a child in which a failure was tolerated', childOf('it'), 'done', of('succeeded', { left: true }), true],
  ['a child whose failure is tolerated', childOf('it'), 'tolerated', of('failed'), true],
  ['such a child that has left nothing', childOf('it'), 'tolerated', of('failed', { clean: true }), false],
])('%s', (_, step, status, more, left) => {
  expect(effectOf(step, recordOf('it', status, more)).isLeft).toBe(left);
});
