/** A pause from its command to its end, as whole decisions in small states (F1, S12, L1). */

import { timeText } from '../../../lib/core/values/text.ts';
import { decide } from '../../../lib/core/decide.ts';
import { resolved } from '../../../lib/core/questions/incident.ts';
import { DEFAULT_PAUSE_MS, PAUSE, goOn, nextPause, underWay } from '../../../lib/core/holds/pause.ts';
import { deriveWaiting } from '../../../lib/core/questions/life.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { Children } from '../../../lib/core/records/children.ts';
import type { Incident } from '../../../lib/core/records/question.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Pause } from '../../../lib/core/records/pauses.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import {
  changesOf,
  DEADLINE,
  heldAs,
  incidentOf,
  planOf,
  recordOf,
  see,
  inputs,
  stateOf,
} from '../one-step.ts';
import { agentStepOf, childOf, childrenOf } from '../small-steps.ts';
import { LEASE_MARGIN_MS } from '../../../lib/core/step/lease.ts';
import { NOW } from '../states.ts';

const HOUR = 3_600_000;
const plan = planOf(agentStepOf('it'));
const pause: Pause = { number: 2, at: NOW - 90, reason: 'why', withinMs: HOUR };
const earlier: Pause = { ...pause, number: 1, at: NOW - 900, endedAt: NOW - 800 };
const paused = (
  more: Partial<Pause> = {},
  execution: Partial<Execution> = {},
  records: Step[] = [],
): Snapshot =>
  stateOf(records, {
    status: 'paused',
    pauses: [earlier, { ...pause, ...more }],
    wakeAt: NOW + 5,
    ...execution,
  });
const goingOn = (state: Snapshot, incident?: Incident) =>
  deriveWaiting(state, inputs, goOn(state, inputs, { incident }));
/** A pause whose time is over now. */
const OVER = { withinMs: 90 };
const evaluate = (affected: 'all' | string[]) => ({ kind: 'evaluate', fresh: true, affected }) as const;

it('the next pause has the next number, and the time that the command, else the plan, else nobody says', () => {
  const of = (given: object, more: Partial<Plan> = {}, pauses?: Pause[]) =>
    nextPause(
      { ...plan, ...more },
      stateOf([], pauses === undefined ? {} : { pauses }).execution,
      { reason: 'r', ...given },
      NOW,
    );
  expect(of({}, {}, [earlier, { ...pause, number: 7 }])).toStrictEqual({
    number: 8,
    at: NOW,
    reason: 'r',
    withinMs: DEFAULT_PAUSE_MS,
  });
  expect(DEFAULT_PAUSE_MS).toBe(604_800_000);
  expect(of({}, { pauseWithinMs: 5 })).toMatchObject({ number: 1, withinMs: 5 });
  expect(of({ withinMs: 6 }, { pauseWithinMs: 5 })).toMatchObject({ number: 1, withinMs: 6 });
  expect(of({}, {}, [])).toMatchObject({ number: 1 });
});

describe('what is under way in a pause (F1)', () => {
  const long = { at: NOW - 14_000 };
  const of = (state: Snapshot) => underWay(state, NOW);
  it('is nothing once nothing can begin any more, and nobody works', () => {
    expect([of(paused(long)), of(paused({ at: NOW - 13_999 }))]).toStrictEqual([0, undefined]);
    expect(of(paused({ workflowPausedAt: NOW - 99 }))).toBe(0);
    expect(of(stateOf([heldAs('execute')]))).toBeUndefined();
  });
  it('is each attempt', () => {
    const two = [heldAs('execute'), { ...heldAs('undo'), name: 'b' }, recordOf('c', 'retrying')];
    expect([of(paused({}, {}, two)), of(paused(long, {}, two))]).toStrictEqual([2, 2]);
    const lost = (processDeadlineAt: number) => [recordOf('it', 'unknown', { processDeadlineAt })];
    expect([NOW + 1, NOW].map((at) => of(paused(long, {}, lost(at))))).toStrictEqual([1, 0]);
  });
});

describe('the wake time of a pause (S12)', () => {
  const wakeOf = (state: Snapshot, more: object = {}, of = plan) =>
    see(of, state, { by: 'supervisor', ...more }).write?.execution?.wakeAt;
  const long = { at: NOW - 14_000 };
  it('is near until nothing can begin any more, and then its end', () => {
    expect(wakeOf(paused({ at: NOW - 13_999 }))).toBe(NOW + 30_000);
    expect(wakeOf(paused(long))).toBe(NOW - 14_000 + HOUR);
  });

  it('is near where what a child answered could not be read', () => {
    const parent = planOf(agentStepOf('it'), childOf('sub'));
    const withEnd = (ended: Children['ended']): number | undefined => {
      const sub = recordOf('sub', 'running', { children: childrenOf(ended) });
      return wakeOf(paused(long, {}, [sub]), { failing: ['sub'] }, parent);
    };
    expect(withEnd({})).toBe(NOW - 14_000 + HOUR);
    expect(withEnd({ 0: { status: 'succeeded', version: 5, clean: false } })).toBe(NOW + 30_000);
  });

  it('is brought forward by an attempt that began late, to the end of the first lease; it is written in any case (F3)', () => {
    const works = (ms: number, name = 'it') => ({ ...heldAs('execute', { leaseUntil: NOW + ms }), name });
    const late = (more: Partial<Execution>, at = NOW - 10_000) =>
      see(plan, paused({ at }, more, [works(99_000), works(9_000, 'b')]), { by: 'agent' });
    expect(late({ wakeAt: NOW + HOUR })).toMatchObject({
      write: { execution: { wakeAt: NOW + 9_000 + LEASE_MARGIN_MS } },
      next: { kind: 'idle' },
    });
    expect(late({ wakeAt: NOW + 5 }).write?.execution).toMatchObject({ wakeAt: NOW + 5, version: 2 });
    expect(late({ wakeAt: NOW + 5 }, NOW - 9_999).write).toBeUndefined();
  });
});

describe('the time of a pause', () => {
  it('is over: a person is asked, for three days', () => {
    const state = paused(OVER);
    const { write, ...rest } = see(plan, state);
    const at = timeText(NOW - 90);
    expect(write?.question).toStrictEqual({
      number: 1,
      life: 'life1',
      workflow: 'flow',
      version: 1,
      writeId: 'w-new',
      kind: 'pause',
      stepVersion: 2,
      failure: { code: 'paused', message: `it has been paused since ${at}: why` },
      openedAt: NOW,
      deadlineAt: NOW + 259_200_000,
      otherwise: 'undo-all',
      reminders: 0,
      unannounced: ['opened'],
    });
    expect(write?.executionId).toBe('e-1');
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      version: 2,
      writeId: 'w-new',
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: evaluate(['x']),
      notes: [{ what: 'incident-opened', executionId: 'e-1' }],
    });
  });

  const asks = (state: Snapshot) => see(plan, state).write?.question !== undefined;
  it('is over to the millisecond, once, and only while it lasts', () => {
    expect([asks(paused(OVER)), asks(paused({ withinMs: 91 }))]).toStrictEqual([true, false]);
    expect(asks(paused(OVER, { status: 'running' }))).toBe(false);
    const { step: _, ...about } = incidentOf({ kind: 'pause', stepVersion: 2, closedAt: NOW });
    expect(asks({ ...paused(OVER), questions: { 1: about } })).toBe(false);
    expect(
      see(plan, { ...paused(OVER), questions: { 1: { ...about, stepVersion: 1 } } }).write?.question,
    ).toMatchObject({ number: 2, stepVersion: 2 });
  });
});

describe('what goes on', () => {
  it('gets the time of its pause back, and everything is evaluated', () => {
    const state = paused({}, { wakeAt: NOW + HOUR });
    const { write, ...rest } = goOn(state, inputs);
    expect(write).toStrictEqual({ executionId: 'e-1', execution: expect.anything() });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      status: 'running',
      version: 2,
      writeId: 'w-new',
      deadlineAt: DEADLINE + 90,
      pauses: [earlier, { ...pause, endedAt: NOW }],
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: evaluate('all'),
      notes: [{ what: 'resumed', executionId: 'e-1' }],
    });
  });

  it('keeps a wake time that is near, and takes no time from who has a wrong clock', () => {
    expect(goOn(paused(), inputs).write?.execution?.wakeAt).toBe(NOW + 5);
    expect(goOn(paused({ at: NOW + 9 }), inputs).write?.execution?.deadlineAt).toBe(DEADLINE);
    expect(goOn(paused({}, { pauses: [] }), inputs).write?.execution?.deadlineAt).toBe(DEADLINE);
  });

  it('asks on where a question about anything else is open', () => {
    const of = (more: Partial<Incident>) =>
      goingOn({ ...paused(), questions: { 1: incidentOf(more) } }).write?.execution?.status;
    expect([of({}), of({ closedAt: NOW })]).toStrictEqual(['waiting', 'running']);
    const about = incidentOf({ kind: 'pause' });
    const ofPause = { ...paused(), questions: { 1: about } };
    const incident = { ...about, closedAt: NOW };
    expect(goingOn(ofPause, incident).write?.execution?.status).toBe('running');
  });
});

describe('the answer to the question about a pause', () => {
  const { step: _, ...question } = incidentOf({ kind: 'pause', stepVersion: 2, deadlineAt: NOW + 9 });
  const state = { ...paused(), questions: { 1: question } };
  const say = (choice: string, more: object = {}) =>
    decide(plan, state, {
      type: 'resolve',
      incident: 1,
      answer: { choice, closedBy: 'answer', ...more },
      ...inputs,
    } as never);

  it('resumes', () => {
    const { write, next } = say('resume', { reason: 'r' });
    expect(write?.execution?.status).toBe('running');
    expect(write?.question).toStrictEqual(
      resolved(question, { choice: 'resume', closedBy: 'answer', reason: 'r' }, inputs),
    );
    expect(next).toStrictEqual(evaluate('all'));
  });

  it.each([
    ['undo-all', { kind: 'cancel' }],
    ['keep', { kind: 'failure', undo: false }],
  ])('stops: %s', (choice, cause) => {
    const { write, notes } = say(choice);
    expect(write?.executionId).toBe('e-1');
    expect(write?.execution?.status).toBe('compensating');
    expect(write?.execution?.cause).toStrictEqual({ at: NOW, failure: question.failure, ...cause });
    expect(write?.execution?.pauses?.at(-1)?.endedAt).toBe(NOW);
    expect(write?.question).toMatchObject({ choice, closedBy: 'answer', closedAt: NOW });
    const failure = cause.kind === 'failure' ? { failure: write?.execution?.cause?.failure } : {};
    expect(notes).toStrictEqual([
      { what: 'compensating', executionId: 'e-1', detail: cause.kind, ...failure },
    ]);
  });

  it('that its time has given stops it as a deadline', () => {
    const given = { choice: 'undo-all', closedBy: 'deadline' } as const;
    const { write } = PAUSE.resolve(plan, state, question, given, inputs);
    expect(write?.execution?.cause?.kind).toBe('deadline');
  });
});
