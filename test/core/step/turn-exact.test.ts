/** When it is a step's turn, when it is skipped, and when executions of its own may be under way (S7, S10). */

import type { PlanStep } from '../../../lib/core/plan/plan.ts';
import type { Step } from '../../../lib/core/records/state.ts';
import { isReady, isStopping, isTurn, mayHaveChildren } from '../../../lib/core/step/turn.ts';
import { stepToSkip } from '../../../lib/core/step/ready.ts';
import { planOf, recordOf, stateOf } from '../one-step.ts';
import {
  agentStepOf,
  callbackOf,
  childOf,
  childrenOf,
  mapOf,
  statusesWhere as where,
} from '../small-steps.ts';

describe('the turn of a step', () => {
  const plan = planOf(agentStepOf('a'), agentStepOf('it', { after: ['a'] }));
  const it1 = plan.steps[1] as PlanStep;
  const turns = (of: typeof plan) => where(({ status }) => isTurn(of, it1, stateOf([recordOf('a', status)])));
  it('has come when its predecessors are over', () => {
    expect(turns(plan)).toStrictEqual(['done', 'skipped']);
    expect(isTurn(plan, it1, stateOf([]))).toBe(false);
    expect(turns({ ...plan, tolerated: 0 })).toStrictEqual([
      'done',
      'failed',
      'skipped',
      'compensating',
      'compensated',
      'compensation-failed',
    ]);
    expect(isTurn({ ...plan, tolerated: 0 }, it1, stateOf([]))).toBe(false);
  });

  it('makes it ready while it has not begun', () => {
    const a = recordOf('a', 'done');
    expect(where((record) => isReady(plan, it1, stateOf([a, record])))).toStrictEqual(['ready']);
    expect(isReady(plan, it1, stateOf([a]))).toBe(true);
    expect(isReady(plan, it1, stateOf([]))).toBe(false);
  });
});

describe('a step is skipped', () => {
  const skipped = (step: PlanStep, records: Step[] = []) =>
    stepToSkip(planOf(agentStepOf('a'), step), stateOf([recordOf('a', 'done'), ...records]))?.name;
  it('when its turn comes and its condition does not hold', () => {
    expect(skipped(agentStepOf('it', { when: false }))).toBe('it');
    expect(skipped(agentStepOf('it', { when: true }))).toBeUndefined();
    expect(skipped(agentStepOf('it'))).toBeUndefined();
    expect(skipped(agentStepOf('it', { when: false, after: ['b'] }))).toBeUndefined();
  });

  it.each<[PlanStep, Step['status'][]]>([
    [agentStepOf('it', { when: false }), ['ready']],
    [callbackOf('it', { when: false }), ['ready', 'waiting', 'answered']],
  ])('only before it has begun, or while the external party alone was heard ($kind)', (step, statuses) => {
    expect(where((record) => skipped(step, [record]) === 'it')).toStrictEqual(statuses);
  });
});

describe('executions of a step', () => {
  const may = (step: PlanStep, ...records: Step[]) => mayHaveChildren(planOf(step), step, stateOf(records));
  it.each([childOf('it'), mapOf('it')])(
    'may be under way, or be started by who read an older state ($kind)',
    (step) => {
      expect(where((record) => may(step, record))).toStrictEqual(['ready', 'running']);
      expect(may(step)).toBe(true);
      expect(may({ ...step, when: false })).toBe(false);
      expect(may({ ...step, after: ['b'] })).toBe(false);
      expect(
        where((record) => may(step, record), { children: childrenOf({}, { stopped: 0 }) }),
      ).toStrictEqual(['ready', 'running', 'compensating']);
    },
  );

  it('are of no other kind of step', () => {
    expect(may(agentStepOf('it'))).toBe(false);
    expect(may(agentStepOf('it'), recordOf('it', 'running'))).toBe(false);
  });

  it('are being stopped while some are still to be', () => {
    const stopped = { children: childrenOf({}, { stopped: 0 }) };
    expect(where(isStopping, stopped)).toStrictEqual(['compensating']);
    expect([where(isStopping, { children: childrenOf({}) }), where(isStopping)]).toStrictEqual([[], []]);
    expect(isStopping(undefined)).toBe(false);
  });
});
