/** When a person is asked, and on what terms, in small states (L1). */

import { stepToAskAbout } from '../../../lib/core/operators/incident.ts';
import type { AgentStep, Plan } from '../../../lib/core/plan/plan.ts';
import type { Incident } from '../../../lib/core/records/incident.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { changesOf, DEADLINE, incidentOf, planOf, recordOf, see, stateOf } from '../one-step.ts';
import { agentStepOf, otherInput, personFor, statusesWhere } from '../small-steps.ts';
import { NOW } from '../states.ts';

const DAY = 86_400_000;
const plan = planOf(agentStepOf('it'));
const acted = { mayHaveActed: true, hardEndAt: NOW };
const waiting = recordOf('it', 'waiting', { failure: { code: 'x', message: 'y' }, version: 4 });
const past = recordOf('p', 'done');
const open = recordOf('p', 'unknown', acted);
const withPoint = (step: AgentStep): Plan => planOf(step, agentStepOf('p', { pointOfNoReturn: true }));

describe('a person is asked', () => {
  const asks = (state: Snapshot) => stepToAskAbout(plan, state)?.kind;
  it('about what waits, and what could not be undone', () => {
    const during = (status: Execution['status']) =>
      statusesWhere((record) => asks(stateOf([record], { status })) !== undefined);
    expect(during('running')).toStrictEqual(['waiting', 'undo-failed']);
    expect(during('waiting')).toStrictEqual(['waiting', 'undo-failed']);
    expect(during('undoing')).toStrictEqual(['undo-failed']);
    expect([during('pausing'), during('paused')]).toStrictEqual([[], []]);
    expect(stepToAskAbout(plan, stateOf([waiting]))).toStrictEqual({ step: plan.steps[0], kind: 'ladder' });
    expect(asks(stateOf([recordOf('it', 'undo-failed')]))).toBe('undo');
  });

  it('once, until the step comes to it again', () => {
    const of = (...known: Partial<Incident>[]) =>
      asks({
        ...stateOf([waiting]),
        incidents: Object.fromEntries(known.map((one, at) => [at + 1, incidentOf(one)])),
      });
    expect(of({ stepVersion: 1 })).toBeUndefined();
    expect(of({ stepVersion: 4, resolvedAt: NOW })).toBeUndefined();
    expect(of({ stepVersion: 3, resolvedAt: NOW })).toBe('ladder');
    expect(of({ stepVersion: 4, resolvedAt: NOW }, { stepVersion: 3, resolvedAt: NOW })).toBe('ladder');
    expect(of({ step: 'b' })).toBe('ladder');
    expect(of({ kind: 'undo' })).toBe('ladder');
  });

  it('about one step after the other', () => {
    const two = planOf(agentStepOf('a'), agentStepOf('it'));
    expect(stepToAskAbout(two, stateOf([recordOf('a', 'done'), waiting]))?.step.name).toBe('it');
    const state = {
      ...stateOf([{ ...waiting, name: 'a' }, waiting]),
      incidents: { 1: incidentOf({ step: 'a' }) },
    };
    expect(stepToAskAbout(two, state)?.step.name).toBe('it');
  });
});

describe('a question', () => {
  it('is one transaction with the execution', () => {
    const state = {
      ...stateOf([waiting], { watchAt: NOW + DAY }),
      incidents: { 3: incidentOf({ number: 3, step: 'b', resolvedAt: 1 }) },
    };
    const { write, ...rest } = see(plan, state);
    expect(write).toStrictEqual({
      executionId: 'e-1',
      execution: expect.anything(),
      incident: expect.anything(),
    });
    expect(write?.incident).toStrictEqual({
      number: 4,
      life: 'life1',
      version: 1,
      writeId: 'w-new',
      kind: 'ladder',
      step: 'it',
      stepVersion: 4,
      failure: { code: 'x', message: 'y' },
      openedAt: NOW,
      deadlineAt: DEADLINE,
      otherwise: 'undo-all',
    });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      status: 'waiting',
      version: 2,
      writeId: 'w-new',
      watchAt: NOW + 30_000,
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'look', fresh: true, concern: ['x'] },
      notes: [{ what: 'incident-opened', executionId: 'e-1', step: 'it' }],
    });
  });

  it('has a failure and a near watch, whatever the records say', () => {
    const { write } = see(plan, stateOf([recordOf('it', 'waiting')]));
    expect(write?.incident?.failure).toStrictEqual({ code: 'failed', message: 'the step failed' });
    expect(write?.execution?.watchAt).toBe(NOW + 30_000);
    expect(see(plan, stateOf([waiting], { watchAt: NOW + 5 })).write?.execution?.watchAt).toBe(NOW + 5);
  });

  const asked = (step: AgentStep, records: Step[], more: Partial<Execution> = {}) => {
    const { deadlineAt = 0, otherwise } = see(withPoint(step), stateOf(records, more)).write?.incident ?? {};
    return [deadlineAt - NOW, otherwise];
  };
  const patient = { deadlineAt: NOW + 30 * DAY };
  it.each<[string, AgentStep, Step[], Partial<Execution>, [number, string]]>([
    ['as declared', agentStepOf('it', { ladder: [personFor(7_000)] }), [waiting], {}, [7_000, 'undo-all']],
    [
      'to leave all, as declared',
      agentStepOf('it', { ladder: [otherInput, personFor(7_000, 'fail')] }),
      [waiting],
      {},
      [7_000, 'fail'],
    ],
    [
      'no longer than the execution has',
      agentStepOf('it', { ladder: [personFor(DAY)] }),
      [waiting],
      {},
      [DEADLINE - NOW, 'undo-all'],
    ],
    ['a day where nothing is declared', agentStepOf('it'), [waiting], patient, [DAY, 'undo-all']],
    ['a week where there is no way back', agentStepOf('it'), [waiting, past], {}, [7 * DAY, 'fail']],
    [
      'as declared where there is no way back, but undoes nothing',
      agentStepOf('it', { ladder: [personFor(2 * DAY)] }),
      [waiting, past],
      {},
      [2 * DAY, 'fail'],
    ],
    [
      'a day while it is open whether there is',
      agentStepOf('it'),
      [waiting, open],
      patient,
      [DAY, 'undo-all'],
    ],
    [
      'a week about what may be past the point itself',
      agentStepOf('it', { pointOfNoReturn: true }),
      [{ ...waiting, ...acted }],
      {},
      [7 * DAY, 'fail'],
    ],
    [
      'a day about what is not',
      agentStepOf('it', { pointOfNoReturn: true }),
      [waiting],
      patient,
      [DAY, 'undo-all'],
    ],
  ])('lasts %s', (_, step, records, more, terms) => {
    expect(asked(step, records, more)).toStrictEqual(terms);
  });

  it('about an undo lasts a week, and then the effect stays', () => {
    expect(
      see(plan, stateOf([recordOf('it', 'undo-failed')], { status: 'undoing' })).write?.incident,
    ).toMatchObject({
      kind: 'undo',
      deadlineAt: NOW + 7 * DAY,
      otherwise: 'fail',
    });
  });
});
