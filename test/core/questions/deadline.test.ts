/**
 * The incident about the deadline of an execution that cannot be undone, and its answers, field by field (L1,
 * S10).
 */

import { decide } from '../../../lib/core/decide.ts';
import { deriveWaiting } from '../../../lib/core/questions/life.ts';
import { DEADLINE, LAST_INCIDENT_MS, timeAgain } from '../../../lib/core/questions/incident.ts';
import type { Resolution } from '../../../lib/core/decisions/events.ts';
import type { Incident } from '../../../lib/core/records/question.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { changesOf, incidentOf, planOf, recordOf, see, inputs, stateOf } from '../one-step.ts';
import { agentStepOf, statusesWhere } from '../small-steps.ts';
import { NOW } from '../states.ts';

const WEEK = 604_800_000;
const plan = planOf(
  agentStepOf('a'),
  agentStepOf('p', { pointOfNoReturn: true }),
  agentStepOf('it', { after: ['p'] }),
);
const past = recordOf('p', 'done');
const hanging = recordOf('it', 'retrying', {
  version: 4,
  retryAt: NOW + 9,
  changedAt: 5,
  failure: { code: 'x', message: 'y' },
});
const late = (records: Step[], more: Partial<Execution> = {}): Snapshot =>
  stateOf([recordOf('a', 'done'), past, ...records], { deadlineAt: NOW, wakeAt: NOW + 99_000, ...more });
const failure = {
  code: 'deadline',
  message: "it did not end in time, and nothing is undone past the point of no return 'p'",
};
const moved = { version: 2, writeId: 'w-new' };

it('a last question lasts a week', () => {
  expect(LAST_INCIDENT_MS).toBe(WEEK);
});

describe('the question about the deadline', () => {
  it('is asked behind a point of no return, about a step that hangs', () => {
    const state = { ...late([hanging]), questions: { 3: incidentOf({ number: 3, closedAt: 1 }) } };
    const { write, ...rest } = see(plan, state);
    expect(write).toStrictEqual({
      executionId: 'e-1',
      execution: expect.anything(),
      question: expect.anything(),
    });
    expect(write?.question).toStrictEqual({
      number: 4,
      life: 'life1',
      workflow: 'flow',
      version: 1,
      writeId: 'w-new',
      kind: 'deadline',
      step: 'it',
      stepVersion: 4,
      failure,
      openedAt: NOW,
      deadlineAt: NOW + WEEK,
      otherwise: 'keep',
      reminders: 0,
      unannounced: ['opened'],
    });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      ...moved,
      status: 'waiting',
      asks: 'it',
      risk: { why: 'late', step: 'it' },
      wakeAt: NOW + 30_000,
      riskSince: NOW,
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: ['x'] },
      notes: [{ what: 'incident-opened', executionId: 'e-1', step: 'it' }],
    });
  });

  const isAsked = (state: Snapshot) => see(plan, state).write?.question?.kind === 'deadline';
  it('comes to the millisecond, and if there is no way back', () => {
    expect([isAsked(late([])), isAsked(late([], { deadlineAt: NOW + 1 }))]).toStrictEqual([true, false]);
    expect(isAsked({ ...late([]), steps: {} })).toBe(false);
    expect(isAsked({ ...late([]), questions: { 1: incidentOf({ step: 'p', kind: 'deadline' }) } })).toBe(
      false,
    );
  });
});

describe('its choices', () => {
  const question = incidentOf({ kind: 'deadline' });
  const of = (status: Execution['status'], record: Step, incident = question) =>
    DEADLINE.choices(plan, stateOf([record], { status }), incident, NOW).map(({ choice }) => choice);
  it('lead forward, or leave all as it is', () => {
    expect(of('waiting', recordOf('it', 'done'))).toStrictEqual(['resume', 'keep']);
    expect(of('running', hanging)).toStrictEqual(['resume', 'give-output', 'keep']);
    expect(of('paused', hanging)).toStrictEqual(['resume', 'give-output', 'keep']);
    expect([of('compensating', hanging), of('failed', hanging)]).toStrictEqual([[], []]);
    const { step: _, ...none } = question;
    expect(of('waiting', hanging, none)).toStrictEqual(['resume', 'keep']);
    expect(statusesWhere((record) => of('waiting', record).includes('give-output'))).toStrictEqual([
      'retrying',
      'accepted',
      'unknown',
    ]);
    expect(of('waiting', { ...hanging, leaseUntil: NOW })).toStrictEqual(['resume', 'keep']);
  });
});

it('time is given anew where none is left', () => {
  const of = (deadlineAt: number) => timeAgain(plan, stateOf([], { deadlineAt }).execution, NOW);
  expect([of(NOW), of(NOW + 1)]).toStrictEqual([{ deadlineAt: NOW + plan.withinMs }, {}]);
});

describe('its answer', () => {
  const question = incidentOf({ kind: 'deadline', failure });
  const asked = (more: Partial<Execution> = {}, ...others: Incident[]): Snapshot => ({
    ...late([hanging], { status: 'waiting', ...more }),
    questions: Object.fromEntries([question, ...others].map((one) => [one.number, one])),
  });
  const say = (state: Snapshot, answer: Partial<Resolution>, incident = question) =>
    deriveWaiting(
      state,
      inputs,
      DEADLINE.resolve(plan, state, incident, { choice: 'resume', closedBy: 'answer', ...answer }, inputs),
    );
  const closed = { ...question, ...moved, closedAt: NOW, closedBy: 'answer', unannounced: ['closed'] };

  it('goes on: the execution has its time once more', () => {
    const state = asked();
    const { write, ...rest } = say(state, {});
    expect(write).toStrictEqual({
      executionId: 'e-1',
      execution: expect.anything(),
      question: { ...closed, choice: 'resume' },
    });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      ...moved,
      status: 'running',
      deadlineAt: NOW + plan.withinMs,
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: 'all' },
      notes: [{ what: 'incident-resolved', executionId: 'e-1', detail: 'resume' }],
    });
    const event = {
      type: 'resolve',
      incident: 1,
      answer: { choice: 'resume', closedBy: 'answer' },
      ...inputs,
    } as const;
    expect(decide(plan, state, event)).toMatchObject({ write: { question: write?.question }, ...rest });
  });

  it('that ends it says by whom', () => {
    const by = { kind: 'local', name: 'ann' } as const;
    const { write } = say(asked(), { choice: 'keep', caller: by });
    expect(write?.execution?.cause).toMatchObject({ kind: 'deadline', by });
    expect(write?.question).toMatchObject({ caller: by });
    expect(say(asked(), { choice: 'keep' }).write?.execution?.cause).not.toHaveProperty('by');
  });

  it('gives the output of the step that hangs', () => {
    const { write, next, notes } = say(asked(), { choice: 'give-output', output: 1 });
    expect(changesOf(hanging, write?.step)).toStrictEqual({
      version: 5,
      writeId: 'w-new',
      status: 'done',
      changedAt: NOW,
      output: 1,
      failure: null,
      retryAt: null,
    });
    expect(next).toStrictEqual({ kind: 'evaluate', fresh: true, affected: ['it'] });
    expect(notes).toStrictEqual([{ what: 'incident-resolved', executionId: 'e-1', detail: 'give-output' }]);
    expect(say(asked(), { choice: 'give-output' }).write?.step?.output).toBeNull();
    const { step: _, ...none } = question;
    expect(say(asked(), { choice: 'give-output' }, none).write).not.toHaveProperty('step');
    expect(say(asked(), { output: 1 }).write).not.toHaveProperty('step');
  });

  it('leaves all as it is', () => {
    const state = asked();
    const { write, ...rest } = say(state, { choice: 'keep' });
    expect(write).toStrictEqual({
      executionId: 'e-1',
      execution: expect.anything(),
      question: { ...closed, choice: 'keep' },
    });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      ...moved,
      status: 'compensating',
      wakeAt: NOW,
      cause: { kind: 'deadline', at: NOW, failure, undo: false },
    });
    expect(rest).toMatchObject({
      next: { affected: 'all' },
      notes: [{ what: 'compensating', detail: 'deadline' }],
    });
  });

  it('lets the execution wait on where more is asked, or it is paused', () => {
    const statusOf = (state: Snapshot) => say(state, {}).write?.execution?.status;
    const other = incidentOf({ number: 2, step: 'a' });
    expect(statusOf(asked({}, other))).toBe('waiting');
    expect(statusOf(asked({}, { ...other, closedAt: NOW }))).toBe('running');
    expect(statusOf(asked({ status: 'paused' }))).toBe('paused');
  });
});
