/** A pause from its command to its end, whole decisions of small states (F1, S12, L1). */

import { timeText } from '../../../lib/core/values/text.ts';
import { decide } from '../../../lib/core/decide.ts';
import { resolved } from '../../../lib/core/questions/incident.ts';
import { DEFAULT_PAUSE_MS, endPause, goOn, nextPause } from '../../../lib/core/holds/pause.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { Children } from '../../../lib/core/records/children.ts';
import type { Incident } from '../../../lib/core/records/question.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Pause } from '../../../lib/core/records/pauses.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import {
  changesOf,
  DEADLINE,
  suspendedAs,
  incidentOf,
  planOf,
  recordOf,
  see,
  inputs,
  stateOf,
} from '../one-step.ts';
import { agentStepOf, childOf, childrenOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

const HOUR = 3_600_000;
const plan = planOf(agentStepOf('it'));
const pause: Pause = { number: 2, at: NOW - 90, reason: 'why', withinMs: HOUR };
const earlier: Pause = { ...pause, number: 1, at: NOW - 900, endedAt: NOW - 800 };
const pausing = (records: Step[], more: Partial<Execution> = {}): Snapshot =>
  stateOf(records, { status: 'pausing', pauses: [earlier, pause], wakeAt: NOW + 5, ...more });
const paused = (more: Partial<Pause> = {}, execution: Partial<Execution> = {}): Snapshot =>
  pausing([recordOf('it', 'suspended', { suspendedIn: 2, suspendedFrom: 'ready' })], {
    status: 'paused',
    pauses: [earlier, { ...pause, pausedAt: NOW - 80, deadlineAt: NOW, ...more }],
    ...execution,
  });
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

describe('the fence of a pause', () => {
  it('holds a step that has not begun, in a record of its own', () => {
    const { write, ...rest } = see(plan, pausing([], { epoch: 3 }));
    expect(write).toStrictEqual({
      executionId: 'e-1',
      step: expect.objectContaining({
        name: 'it',
        status: 'suspended',
        version: 1,
        epoch: 3,
        suspendedFrom: 'ready',
        suspendedIn: 2,
        changedAt: NOW,
      }),
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: evaluate(['x']),
      notes: [{ what: 'step-suspended', executionId: 'e-1', step: 'it' }],
    });
    expect(write?.step).not.toHaveProperty('retryAt');
  });

  it.each<[Partial<Step> & { status: Step['status'] }, object]>([
    [{ status: 'retrying' }, { suspendedFrom: 'retrying' }],
    [
      { status: 'retrying', retryAt: NOW + 9 },
      { suspendedFrom: 'retrying', retryAt: NOW + 9 },
    ],
    [
      { status: 'unknown', retryAt: NOW + 9 },
      { suspendedFrom: 'unknown', retryAt: NOW + 9 },
    ],
    [{ status: 'ready' }, { suspendedFrom: 'ready' }],
    [{ status: 'suspended', suspendedIn: 1, suspendedFrom: 'unknown' }, { suspendedFrom: 'unknown' }],
    [{ status: 'suspended', suspendedIn: 1, suspendedFrom: 'ready' }, { suspendedFrom: 'ready' }],
  ])('remembers what a step was, and when it was due: %j', (given, remembered) => {
    const { write } = see(plan, pausing([recordOf('it', given.status, given)]));
    expect(write?.step).toMatchObject({
      status: 'suspended',
      version: 2,
      suspendedIn: 2,
      changedAt: NOW,
      ...remembered,
    });
    expect('retryAt' in (write?.step ?? {})).toBe('retryAt' in given);
  });
});

describe('a pause is complete', () => {
  const held = recordOf('it', 'suspended', { suspendedIn: 2 });
  it('when all is held and nobody works', () => {
    const state = pausing([held], { dispatches: { k: { count: 1, lastAt: 1 } } });
    const { write, ...rest } = see(plan, state);
    expect(write).toStrictEqual({ executionId: 'e-1', execution: expect.anything() });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      status: 'paused',
      version: 2,
      writeId: 'w-new',
      wakeAt: NOW + HOUR,
      dispatches: {},
      pauses: [earlier, { ...pause, pausedAt: NOW, deadlineAt: NOW + HOUR }],
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'idle' },
      notes: [{ what: 'paused', executionId: 'e-1' }],
      wakeTime: 'as-written',
    });
  });

  it('and looked at soon where what a child answered could not be read (S12)', () => {
    const parent = planOf(agentStepOf('it'), childOf('sub'));
    const wakeAtWith = (ended: Children['ended']): number | undefined => {
      const sub = recordOf('sub', 'running', { children: childrenOf(ended) });
      return see(parent, pausing([held, sub]), { failing: ['sub'] }).write?.execution?.wakeAt;
    };
    expect(wakeAtWith({})).toBe(NOW + HOUR);
    expect(wakeAtWith({ 0: { status: 'succeeded', version: 5, clean: false } })).toBe(NOW + 30_000);
  });

  it('not while somebody works, nor twice', () => {
    const statusAfter = (state: Snapshot) => see(plan, state).write?.execution?.status;
    expect(statusAfter(pausing([suspendedAs('execute')]))).toBe('pausing');
    expect(see(plan, paused({ deadlineAt: NOW + 9 })).notes).toStrictEqual([]);
    expect(see(plan, pausing([held], { pauses: [] })).notes).toStrictEqual([]);
  });
});

describe('the time of a pause', () => {
  it('is over: a person is asked, for three days', () => {
    const state = paused();
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
  it('is over to the millisecond, once, and only when the pause is complete', () => {
    expect([asks(paused()), asks(paused({ deadlineAt: NOW + 1 }))]).toStrictEqual([true, false]);
    expect(asks(paused({}, { status: 'running' }))).toBe(false);
    const { step: _, ...about } = incidentOf({ kind: 'pause', stepVersion: 2, closedAt: NOW });
    expect(asks({ ...paused(), questions: { 1: about } })).toBe(false);
    expect(
      see(plan, { ...paused(), questions: { 1: { ...about, stepVersion: 1 } } }).write?.question,
    ).toMatchObject({ number: 2, stepVersion: 2 });
    const busy = paused();
    const working = {
      ...busy,
      execution: { ...busy.execution, status: 'pausing' as const },
      steps: { it: suspendedAs('execute') },
    };
    expect(asks(working)).toBe(false);
  });
});

describe('what goes on', () => {
  it('has the time of its pause once more, and all is looked at', () => {
    const state = paused({}, { wakeAt: NOW + HOUR });
    const { write, ...rest } = goOn(state, inputs);
    expect(write).toStrictEqual({ executionId: 'e-1', execution: expect.anything() });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      status: 'running',
      version: 2,
      writeId: 'w-new',
      deadlineAt: DEADLINE + 90,
      pauses: [earlier, { ...pause, pausedAt: NOW - 80, deadlineAt: NOW, endedAt: NOW }],
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
      goOn({ ...paused(), questions: { 1: incidentOf(more) } }, inputs).write?.execution?.status;
    expect([of({}), of({ kind: 'pause' }), of({ closedAt: NOW })]).toStrictEqual([
      'waiting',
      'running',
      'running',
    ]);
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
    ['fail', { kind: 'failure', undo: false }],
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
    const closed = resolved(question, { choice: 'undo-all', closedBy: 'deadline' }, inputs);
    expect(endPause(state, closed, inputs).write?.execution?.cause?.kind).toBe('deadline');
  });
});
