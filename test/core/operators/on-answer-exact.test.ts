/** What a person's answer writes, and what is no answer any more, in one small state (L1). */

import { decide } from '../../../lib/core/decide.ts';
import type { Event } from '../../../lib/core/records/events.ts';
import type { Incident } from '../../../lib/core/records/incident.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import { suspendedAs, planOf, recordOf, stateOf } from '../one-step.ts';
import { planStep } from '../refusals.ts';
import { NOW } from '../states.ts';

const inputs = { writeId: 'w-new', now: NOW, random: 0.5 };
const plan = planOf(planStep);

describe('an answer', () => {
  const incident: Incident = {
    number: 1,
    life: 'life1',
    version: 1,
    writeId: 'w',
    kind: 'recovery',
    step: 'it',
    stepVersion: 1,
    failure: { code: 'x', message: 'y' },
    openedAt: NOW - 5,
    deadlineAt: NOW + 500,
    otherwise: 'fail',
  };
  const waiting = recordOf('it', 'waiting');
  const asked = { ...stateOf([waiting], { status: 'waiting' }), incidents: { 1: incident } };
  const say = (state: Snapshot, number: number, choice = 'skip') =>
    decide(plan, state, {
      type: 'resolve',
      incident: number,
      answer: { choice, by: 'person', reason: 'r' },
      ...inputs,
    } as Event);
  const none = { sends: [], next: { kind: 'idle' }, notes: [] };

  it('to a question that is open is written', () => {
    expect(say(asked, 1).write?.incident).toMatchObject({ number: 1, resolvedAt: NOW, choice: 'skip' });
  });

  it.each<[string, Snapshot, number]>([
    ['no question', asked, 2],
    ['no question where there never was one', stateOf([waiting], { status: 'waiting' }), 1],
    ['a question of what has ended', { ...asked, execution: { ...asked.execution, status: 'failed' } }, 1],
    ['a question that is answered', { ...asked, incidents: { 1: { ...incident, resolvedAt: NOW } } }, 1],
  ])('to %s changes nothing', (_, state, number) => {
    expect(say(state, number)).toEqual(none);
  });

  it('comes too late when the work has answered: the late success resolves the question', () => {
    const { leaseUntil: _, ...free } = suspendedAs('execute');
    const state = { ...asked, steps: { it: { ...free, status: 'waiting' as const, version: 1 } } };
    const { write } = decide(plan, state, {
      type: 'report',
      step: 'it',
      token: 't',
      report: { kind: 'done', codeReturned: true, output: 1 },
      priorProcessDeadlineAt: 0,
      onTime: false,
      ...inputs,
    });
    expect(write?.execution?.status).toBe('running');
    expect(write?.incident).toMatchObject({ number: 1, version: 2, resolvedAt: NOW });
  });
});
