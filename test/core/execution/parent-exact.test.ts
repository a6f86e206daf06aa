/** An execution that belongs to a step, when its parent is being undone or was tried again (S1, S10). */

import { decide } from '../../../lib/core/decide.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { Decision } from '../../../lib/core/records/decision.ts';
import type { ChildEvent } from '../../../lib/core/records/events.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import type { ExecutionStatus } from '../../../lib/core/transitions.ts';
import { familyPlan } from '../family.ts';
import { planOf, recordOf, inputs, stateOf } from '../one-step.ts';
import { planStep } from '../refusals.ts';
import { NOW } from '../states.ts';

const nothing: Decision = { sends: [], next: { kind: 'idle' }, notes: [] };
const on = (state: Snapshot, event: object, plan: Plan = familyPlan): Decision =>
  decide(plan, state, { ...event, ...inputs } as ChildEvent & typeof inputs);

describe('an execution whose parent is being undone', () => {
  const parent = { executionId: 'p-1', step: 'list', index: 0 };
  const stopped = (more: Partial<Execution>, of: object = {}) => {
    const state = stateOf([], { parent, wakeAt: NOW + 99, version: 7, ...more });
    return { state, decision: on(state, { type: 'stop', undo: true, ...of }) };
  };
  const failure = {
    code: 'parent-compensated',
    message: 'the execution that it is a part of is being undone',
  };
  const cause = { kind: 'parent', at: NOW, failure };

  it.each<ExecutionStatus>(['running', 'waiting', 'pausing', 'paused'])(
    'is stopped while it is %s',
    (status) => {
      const { state, decision } = stopped({ status });
      expect(decision).toEqual({
        write: {
          executionId: 'e-1',
          execution: {
            ...state.execution,
            status: 'compensating',
            version: 8,
            writeId: 'w-new',
            cause,
            wakeAt: NOW,
          },
        },
        sends: [],
        next: { kind: 'evaluate', fresh: true, affected: 'all' },
        notes: [{ what: 'stopped-by-parent', executionId: 'e-1' }],
      });
    },
  );

  it('leaves as it is what its parent leaves', () => {
    expect(stopped({}, { undo: false }).decision.write?.execution?.cause).toEqual({ ...cause, undo: false });
  });

  it('is recalled when it has succeeded, and has not ended any more', () => {
    const ended = { status: 'succeeded', endedAt: NOW - 9 } as const;
    const { execution } = stopped(ended).decision.write ?? {};
    expect(execution).toMatchObject({ status: 'compensating', cause, wakeAt: NOW });
    expect(execution).not.toHaveProperty('endedAt');
    expect(stopped(ended, { undo: false }).decision).toEqual(nothing);
    const { parent: _, ...alone } = stateOf([], ended).execution;
    expect(on({ execution: alone, steps: {} }, { type: 'stop', undo: true })).toEqual(nothing);
  });

  it('stays failed, as a version that nobody has go on, where it was to be tried again', () => {
    const { state, decision } = stopped({ status: 'failed' }, { heard: 6 });
    expect(decision).toEqual({
      ...nothing,
      write: { executionId: 'e-1', execution: { ...state.execution, version: 8, writeId: 'w-new' } },
    });
    expect(stopped({ status: 'failed' }, { heard: 5 }).decision).toEqual(nothing);
    expect(stopped({ status: 'running' }, { heard: 6 }).decision.write?.execution?.status).toBe(
      'compensating',
    );
  });
});

describe('an execution whose parent was tried again', () => {
  const parent = { executionId: 'p-1', step: 'list', index: 0 };
  const plan = planOf(planStep);
  const again = (more: Partial<Execution>, records: readonly Step[] = []): Decision =>
    on(
      stateOf(records, { status: 'failed', parent, version: 7, commands: ['k'], endedAt: NOW, ...more }),
      { type: 'restart', heard: 6 },
      plan,
    );
  it('goes on where it failed', () => {
    const { write, next } = again({});
    const at = { at: NOW, reason: 'the execution that it is a part of was tried again' };
    expect(write?.execution).toMatchObject({ status: 'running', epoch: 2, retries: [at], commands: ['k'] });
    expect(next).toEqual({ kind: 'evaluate', fresh: true, affected: 'all' });
  });
  it('does not where it was tried again since, did not fail, is alone, or cannot', () => {
    expect(again({ version: 8 })).toEqual(nothing);
    expect(again({ status: 'canceled' })).toEqual(nothing);
    expect(again({}, [recordOf('it', 'compensated')])).toEqual(nothing);
    const { parent: _, ...alone } = stateOf([], { status: 'failed', version: 7 }).execution;
    expect(on({ execution: alone, steps: {} }, { type: 'restart', heard: 6 }, plan)).toEqual(nothing);
  });
});
