/**
 * When an incident is opened, its choices and times, and which record an answer changes, in small states
 * (L1).
 */

import { stepToAskAbout } from '../../../lib/core/questions/incident.ts';
import type { AgentStep, Plan, Stage } from '../../../lib/core/plan/plan.ts';
import { type Incident, asIncident } from '../../../lib/core/records/question.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { DEADLINE, incidentOf, planOf, recordOf, see, stateOf, heldAs } from '../one-step.ts';
import { agentStepOf, otherInput, personFor } from '../small-steps.ts';
import { NOW } from '../states.ts';
import { decide } from '../../../lib/core/decide.ts';
import type { Event } from '../../../lib/core/decisions/events.ts';

const DAY = 86_400_000;
const plan = planOf(agentStepOf('it'));
const acted = { mayHaveActed: true, processDeadlineAt: NOW };
const waiting = recordOf('it', 'waiting', { failure: { code: 'x', message: 'y' }, version: 4 });
const past = recordOf('p', 'done');
const open = recordOf('p', 'unknown', acted);
const withPoint = (step: AgentStep): Plan => planOf(step, agentStepOf('p', { pointOfNoReturn: true }));

describe('a person is asked', () => {
  const asks = (state: Snapshot) => stepToAskAbout(plan, state)?.kind;

  it('once, until the step comes to it again', () => {
    const of = (...known: Partial<Incident>[]) =>
      asks({
        ...stateOf([waiting]),
        questions: Object.fromEntries(known.map((one, at) => [at + 1, incidentOf(one)])),
      });
    expect(of({ stepVersion: 1 })).toBeUndefined();
    expect(of({ stepVersion: 4, closedAt: NOW })).toBeUndefined();
    expect(of({ stepVersion: 3, closedAt: NOW })).toBe('recovery');
    expect(of({ stepVersion: 4, closedAt: NOW }, { stepVersion: 3, closedAt: NOW })).toBe('recovery');
    expect(of({ step: 'b' })).toBe('recovery');
    expect(of({ kind: 'undo' })).toBe('recovery');
  });
});

describe('a question', () => {
  it('has a failure and a near watch, whatever the records say', () => {
    const { write } = see(plan, stateOf([recordOf('it', 'waiting')]));
    expect(asIncident(write?.question)?.failure).toStrictEqual({
      code: 'failed',
      message: 'the step failed',
    });
    expect(write?.execution?.wakeAt).toBe(NOW + 30_000);
    expect(see(plan, stateOf([waiting], { wakeAt: NOW + 5 })).write?.execution?.wakeAt).toBe(NOW + 5);
  });

  const asked = (step: AgentStep, records: Step[], more: Partial<Execution> = {}) => {
    const { deadlineAt = 0, otherwise } = see(withPoint(step), stateOf(records, more)).write?.question ?? {};
    return [deadlineAt - NOW, otherwise];
  };
  const patient = { deadlineAt: NOW + 30 * DAY };
  const by = (...recovery: Stage[]) => agentStepOf('it', { recovery });
  const itself = agentStepOf('it', { pointOfNoReturn: true });
  const plain = agentStepOf('it');
  it('has its default in the wake time of the very write that opens it (S12, seed 786)', () => {
    const { write } = see(withPoint(by(personFor(7_000))), stateOf([waiting]));
    expect(write?.execution?.wakeAt).toBe(NOW + 7_000);
  });

  it.each<[string, AgentStep, Step[], Partial<Execution>, [number, string]]>([
    ['as declared', by(personFor(7_000)), [waiting], {}, [7_000, 'undo-all']],
    ['to leave all, as declared', by(otherInput, personFor(7_000, 'keep')), [waiting], {}, [7_000, 'keep']],
    ['no longer than the execution has', by(personFor(DAY)), [waiting], {}, [DEADLINE - NOW, 'undo-all']],
    ['a day where nothing is declared', plain, [waiting], patient, [DAY, 'undo-all']],
    ['a week where there is no way back', plain, [waiting, past], {}, [7 * DAY, 'keep']],
    [
      'as declared, but undoes nothing without a way back',
      by(personFor(2 * DAY)),
      [waiting, past],
      {},
      [2 * DAY, 'keep'],
    ],
    ['a day while it is open whether there is', plain, [waiting, open], patient, [DAY, 'undo-all']],
    [
      'a week about what may be past the point itself',
      itself,
      [{ ...waiting, ...acted }],
      {},
      [7 * DAY, 'keep'],
    ],
    ['a day about what is not', itself, [waiting], patient, [DAY, 'undo-all']],
    [
      'half of what the execution has, where that goes on without an answer',
      agentStepOf('it', { tolerate: true }),
      [waiting],
      {},
      [(DEADLINE - NOW) / 2, 'continue'],
    ],
  ])('lasts %s', (_, step, records, more, terms) => {
    expect(asked(step, records, more)).toStrictEqual(terms);
  });

  it('is not about an undo where what has acted is left as it is: nothing would come of the answer', () => {
    const cause = { kind: 'cancel', at: 1, failure: { code: 'c', message: 'm' }, undo: false } as const;
    const left = stateOf([recordOf('it', 'compensation-failed')], { status: 'compensating', cause });
    expect(see(plan, left).write?.question).toBeUndefined();
  });

  it('about an undo lasts a week, and then the effect stays', () => {
    expect(
      see(plan, stateOf([recordOf('it', 'compensation-failed')], { status: 'compensating' })).write?.question,
    ).toMatchObject({ kind: 'undo', deadlineAt: NOW + 7 * DAY, otherwise: 'keep' });
  });
});

const inputs = { writeId: 'w-new', now: NOW, random: 0.5 };

describe('an answer', () => {
  const incident = incidentOf();
  const asking = recordOf('it', 'waiting');
  const asked = { ...stateOf([asking], { status: 'waiting' }), questions: { 1: incident } };
  const say = (state: Snapshot, number: number, choice = 'skip') =>
    decide(plan, state, {
      type: 'resolve',
      incident: number,
      answer: { choice, closedBy: 'answer', reason: 'r' },
      ...inputs,
    } as Event);
  const none = { sends: [], next: { kind: 'idle' }, notes: [] };

  it.each<[string, Snapshot, number]>([
    ['no question', asked, 2],
    ['no question where there never was one', stateOf([asking], { status: 'waiting' }), 1],
    ['a question of what has ended', { ...asked, execution: { ...asked.execution, status: 'failed' } }, 1],
    ['a question that is answered', { ...asked, questions: { 1: { ...incident, closedAt: NOW } } }, 1],
  ])('to %s changes nothing', (_, state, number) => {
    expect(say(state, number)).toEqual(none);
  });

  it('comes too late when the work has answered: the late success resolves the question', () => {
    const { leaseUntil: _, ...free } = heldAs('execute');
    const state = { ...asked, steps: { it: { ...free, status: 'waiting' as const, version: 1 } } };
    const { write } = decide(plan, state, {
      type: 'report',
      step: 'it',
      token: 't',
      report: { kind: 'done', codeReturned: true, output: 1 },
      onTime: false,
      ...inputs,
    });
    expect(write?.execution?.status).toBe('running');
    expect(write?.question).toMatchObject({ number: 1, version: 2, closedAt: NOW });
  });
});
