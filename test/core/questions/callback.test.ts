/** The writes of an external party's answer, and which answers are accepted (S12). */

import { decide } from '../../../lib/core/decide.ts';
import type { CallbackStep, PlanStep } from '../../../lib/core/plan/plan.ts';
import type { Decision } from '../../../lib/core/decisions/decision.ts';
import type { CallbackAnswer } from '../../../lib/core/decisions/events.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import type { ExecutionStatus } from '../../../lib/core/moves.ts';
import { answerCallback, callbackProblem } from '../../../lib/core/questions/callback.ts';
import { changesOf, planOf, recordOf, inputs, stateOf } from '../one-step.ts';
import { planStep } from '../../author/refusals.ts';
import { NOW } from '../states.ts';

const HORIZON = 30_000;
const callback: CallbackStep = { kind: 'callback', name: 'c', after: ['it'], withinMs: 10_000 };
const on = (of: PlanStep, record?: Step, more: Partial<Execution> = {}) => ({
  plan: planOf(planStep, of),
  state: stateOf([recordOf('it', 'done'), ...(record === undefined ? [] : [record])], more),
});

describe('an answer', () => {
  const problem = (name: string, record?: Step, status: ExecutionStatus = 'running'): string | undefined => {
    const { plan, state } = on(callback, record, { status });
    return callbackProblem(plan, state, name, NOW);
  };
  it('is taken while the execution goes forward or is paused, of a callback that is not over', () => {
    for (const status of ['running', 'waiting', 'paused'] as const)
      expect(problem('c', undefined, status)).toBeUndefined();
    for (const status of ['compensating', 'failed', 'succeeded'] as const)
      expect(problem('c', undefined, status)).toBe(`the execution is ${status}`);
    expect(problem('it')).toBe('no such callback');
    expect(problem('x')).toBe('no such callback');
    expect(problem('c', recordOf('c', 'waiting'))).toBeUndefined();
    expect(problem('c', recordOf('c', 'done'))).toBe("'c' is done already");
    expect(problem('c', recordOf('c', 'answered'))).toBe("'c' is answered already");
  });

  const answer = (
    given: CallbackAnswer,
    record?: Step,
    more: Partial<Execution> = {},
    of = callback,
  ): Decision => {
    const { plan, state } = on(of, record, { wakeAt: NOW + 99_000, ...more });
    return answerCallback(plan, state, { type: 'callback', step: 'c', answer: given, ...inputs });
  };
  const failure = { code: 'x', message: 'y' };
  const asked = recordOf('c', 'waiting', { heartbeat: 2, changedAt: 1 });
  const same = { version: 2, writeId: 'w-new' };

  it('is written beside its execution, whose wake time it brings forward', () => {
    const { state } = on(callback, asked, { wakeAt: NOW + 99_000 });
    const { write, ...rest } = answer({ kind: 'complete', output: 5 }, asked);
    expect(write?.executionId).toBe('e-1');
    expect(write?.execution).toEqual({
      ...state.execution,
      version: 2,
      writeId: 'w-new',
    });
    expect(changesOf(asked, write?.step)).toEqual({ ...same, status: 'done', output: 5, changedAt: NOW });
    expect(rest).toEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: ['c'] },
      notes: [{ what: 'answered', executionId: 'e-1', step: 'c', detail: 'complete' }],
    });
    expect(answer({ kind: 'heartbeat' }, asked, { wakeAt: NOW + 4 }).write?.execution?.wakeAt).toBe(NOW + 4);
    const { plan } = on(callback);
    const { wakeAt: _, ...unwatched } = state.execution;
    const event = { type: 'callback', step: 'c', answer: { kind: 'heartbeat' }, ...inputs } as const;
    for (const execution of [state.execution, unwatched])
      expect(decide(plan, { ...state, execution }, event).write?.execution?.wakeAt).toBe(NOW + HORIZON);
  });
  it('may be that it cannot be done, or that somebody is at it', () => {
    expect(changesOf(asked, answer({ kind: 'fail', failure }, asked).write?.step)).toEqual({
      ...same,
      status: 'failed',
      failure,
      changedAt: NOW,
    });
    const heartbeat = answer({ kind: 'heartbeat' }, asked);
    expect(changesOf(asked, heartbeat.write?.step)).toEqual({ ...same, heartbeat: 3, progressAt: NOW });
    expect(heartbeat.notes).toMatchObject([{ detail: 'heartbeat' }]);
  });
  it.each<[string, Partial<Execution>, CallbackStep]>([
    ['its turn', {}, { ...callback, after: ['it', 'x'] }],
    ['the pause is over', { status: 'paused' }, callback],
    ['it is known to be skipped', {}, { ...callback, when: false }],
  ])('that comes before %s is kept', (_, more, of) => {
    expect(changesOf(asked, answer({ kind: 'complete', output: 5 }, asked, more, of).write?.step)).toEqual({
      ...same,
      status: 'answered',
      output: 5,
      changedAt: NOW,
    });
    expect(answer({ kind: 'fail', failure }, undefined, { epoch: 6, ...more }, of).write?.step).toMatchObject(
      { name: 'c', epoch: 6, version: 1, status: 'answered', failure },
    );
  });
});
