/** The writes of operators' commands, and why a command is impossible, in small states. */

import { decide } from '../../../lib/core/decide.ts';
import {
  commandProblem,
  obey,
  obeyedOf,
  possibleCommands,
  remembering,
  restOf,
} from '../../../lib/core/operators/obey.ts';
import { deriveWaiting } from '../../../lib/core/questions/life.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { Command, Event } from '../../../lib/core/decisions/events.ts';
import type { Incident } from '../../../lib/core/records/question.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Pause } from '../../../lib/core/records/pauses.ts';
import type { Cause, Execution, Step } from '../../../lib/core/records/state.ts';
import { changesOf, incidentOf, planOf, recordOf, inputs, stateOf } from '../one-step.ts';
import { agentStepOf } from '../small-steps.ts';
import { NOW } from '../states.ts';

const plan = planOf(agentStepOf('it'));
const point = planOf(agentStepOf('a'), agentStepOf('it', { pointOfNoReturn: true }));
const all = { kind: 'evaluate', fresh: true, affected: 'all' } as const;
const commandOf = (type: Command['type'], more: object = {}): Command =>
  ({ type, commandId: 'c-new', reason: 'r', ...more }) as Command;
const problem = (state: Snapshot, type: Command['type'], more: object = {}, of: Plan = plan) =>
  commandProblem(of, state, commandOf(type, more), NOW);
const does = (state: Snapshot, type: Command['type'], more: object = {}, of: Plan = plan) => {
  const decision = obey(of, state, { ...commandOf(type, more), ...inputs });
  return decision && deriveWaiting(state, inputs, decision);
};
const as = (status: Execution['status'], more: Partial<Execution> = {}, records: Step[] = []) =>
  stateOf(records, { status, ...more });
/** The record of commands with these ids, obeyed now. */
const marks = (type: Command['type'], ...ids: string[]): readonly string[] =>
  ids.reduce<readonly string[]>(
    (commands, commandId) => remembering({ commands }, { type, commandId, now: NOW }),
    [],
  );
const pause: Pause = { number: 1, at: NOW - 90, reason: 'why', withinMs: 9 };

describe('why a command is not possible', () => {
  const ended = {
    succeeded: 'it has succeeded',
    compensated: 'it has ended: compensated',
    failed: 'it has ended: failed',
    canceled: 'it has ended: canceled',
    compensating: 'it is already being undone (failure)',
  } as const;
  const statuses = Object.keys(ended) as (keyof typeof ended)[];
  it.each(statuses)('to what is %s', (status) => {
    for (const type of ['cancel', 'pause', 'resume'] as const)
      expect(problem(as(status), type)).toBe(ended[status]);
    expect(does(as(status), 'cancel', { undo: false })).toBeUndefined();
    expect(decide(plan, as(status), { ...commandOf('cancel'), ...inputs } as Event)).toStrictEqual({
      sends: [],
      next: { kind: 'idle' },
      notes: [],
    });
  });

  it.each<[Execution['status'], string | undefined, string | undefined, string | undefined]>([
    ['running', undefined, undefined, 'it is running'],
    ['waiting', undefined, undefined, 'it is waiting'],
    ['paused', undefined, 'it is paused', undefined],
  ])('to what is %s', (status, cancel, pausing, resume) => {
    const types = ['cancel', 'pause', 'resume'] as const;
    expect(types.map((type) => problem(as(status), type))).toStrictEqual([cancel, pausing, resume]);
  });

  it('to a part of a list, which is not paused alone', () => {
    const parent = { executionId: 'p', step: 's', index: 0 };
    expect(problem(as('running', { parent: { ...parent, part: true } }), 'pause')).toBe(
      "it is a part of the list of step 's' of execution p",
    );
    expect(problem(as('running', { parent }), 'pause')).toBeUndefined();
  });

  it('behind a point of no return, where nothing is undone', () => {
    const past = as('running', {}, [recordOf('it', 'done')]);
    expect(problem(past, 'cancel', {}, point)).toBe(
      "step 'it' is past the point of no return, so nothing is undone any more; \"undo\": false ends it as it is ('it' in effect)",
    );
    const open = as('running', {}, [recordOf('it', 'unknown', { mayHaveActed: true })]);
    expect(problem(open, 'cancel', {}, point)).toBe(
      'step \'it\' is a point of no return, and its outcome is open; try again when it is known, or end it as it is with "undo": false',
    );
    expect(problem(past, 'cancel', { undo: false }, point)).toBeUndefined();
    expect(problem(as('running', {}, [recordOf('a', 'done')]), 'cancel', {}, point)).toBeUndefined();
  });
});

describe('a cancel', () => {
  const state = as('running', { commands: marks('cancel', 'c'), wakeAt: NOW + 5 });
  const cause: Cause = { kind: 'cancel', at: NOW, failure: { code: 'canceled', message: 'r' } };
  it('stops the execution, which remembers the command', () => {
    const { write, ...rest } = does(state, 'cancel') ?? {};
    expect(write).toStrictEqual({ executionId: 'e-1', execution: expect.anything() });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      status: 'compensating',
      version: 2,
      writeId: 'w-new',
      cause,
      wakeAt: NOW,
      commands: marks('cancel', 'c', 'c-new'),
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: all,
      notes: [{ what: 'canceled-by-operator', executionId: 'e-1' }],
    });
  });

  it('of what is being undone by another cancel is remembered, and changes nothing else', () => {
    const canceled = as('compensating', { cause, wakeAt: NOW + 5 });
    const { write, next } = does(canceled, 'cancel') ?? {};
    expect(changesOf(canceled.execution, write?.execution)).toStrictEqual({
      version: 2,
      writeId: 'w-new',
      commands: marks('cancel', 'c-new'),
    });
    expect(next).toStrictEqual({ kind: 'idle' });
    expect(does(canceled, 'cancel', { commandId: undefined })?.write).toBeUndefined();
    expect(does(canceled, 'cancel', { undo: false })).toBeUndefined();
    expect(does(as('canceled', { cause }), 'cancel')).toBeUndefined();
  });

  it('leaves all as it is where the command says so', () => {
    const { write } = does(state, 'cancel', { undo: false }) ?? {};
    expect(write?.execution?.cause).toStrictEqual({ ...cause, undo: false });
  });
});

describe('a pause', () => {
  const before = Array.from({ length: 10 }, (_, at) => ({ ...pause, number: at + 1, endedAt: NOW - 80 }));
  const state = as('waiting', { commands: marks('pause', 'c'), wakeAt: NOW + 5, pauses: before });
  it('is one write of the execution, which keeps the last ten and the time of those before', () => {
    const { write, ...rest } = does(state, 'pause', { withinMs: 7 }) ?? {};
    expect(write).toStrictEqual({ executionId: 'e-1', execution: expect.anything() });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      status: 'paused',
      version: 2,
      writeId: 'w-new',
      commands: remembering(state.execution, { type: 'pause', commandId: 'c-new', withinMs: 7, now: NOW }),
      wakeAt: NOW,
      pauses: [...before.slice(1), { number: 11, at: NOW, reason: 'r', withinMs: 7 }],
      earlierPauses: { number: 1, at: NOW - 90, endedAt: NOW - 80, ms: 10 },
    });
    expect(rest).toStrictEqual({ sends: [], next: all, notes: [{ what: 'paused', executionId: 'e-1' }] });
  });
});

describe('a resume', () => {
  const paused = as('paused', {
    commands: marks('resume', 'c'),
    pauses: [pause],
  });
  const { step: _, ...question } = incidentOf({ kind: 'pause', stepVersion: 1 });
  const of = (more: Partial<Incident>) =>
    does({ ...paused, questions: { 1: { ...question, ...more } } }, 'resume')?.write;

  it('goes on, and the execution remembers the command', () => {
    const decision = does(paused, 'resume');
    expect(decision?.write).not.toHaveProperty('question');
    expect(decision).toMatchObject({
      write: { execution: { status: 'running', commands: marks('resume', 'c', 'c-new') } },
      next: all,
      notes: [{ what: 'resumed' }],
    });
  });

  it('answers the question about this pause', () => {
    expect(of({})?.question).toStrictEqual({
      ...question,
      version: 2,
      writeId: 'w-new',
      closedAt: NOW,
      choice: 'resume',
      closedBy: 'answer',
      unannounced: ['closed'],
      reason: 'r',
    });
    expect(of({ closedAt: NOW - 1 })).not.toHaveProperty('question');
    expect(of({ stepVersion: 2 })).not.toHaveProperty('question');
    expect(of({})?.execution?.status).toBe('running');
  });
});

describe('a retry of what waits', () => {
  const two = planOf(agentStepOf('it'), agentStepOf('b'));
  const waiting = (...others: Incident[]): Snapshot => ({
    ...as('waiting', { commands: marks('retry', 'c') }, [
      recordOf('it', 'waiting'),
      recordOf('b', 'waiting'),
    ]),
    questions: Object.fromEntries([incidentOf(), ...others].map((one) => [one.number, one])),
  });
  it('answers one question at a time, and the first answer remembers the command', () => {
    const other = incidentOf({ number: 2, step: 'b' });
    const first = does(waiting(other), 'retry', {}, two)?.write;
    expect(first?.question).toMatchObject({ number: 1, choice: 'retry', closedBy: 'answer', reason: 'r' });
    expect(first?.step).toMatchObject({ name: 'it', status: 'retrying' });
    expect(obeyedOf(first!.execution!, { type: 'retry', commandId: 'c-new' })).toEqual({ at: NOW, upTo: 2 });
    const last = does(waiting({ ...other, closedAt: NOW }), 'retry', {}, two);
    expect(last?.write?.execution?.status).toBe('running');
    expect(obeyedOf(last!.write!.execution!, { type: 'retry', commandId: 'c-new' })).toEqual({
      at: NOW,
      upTo: 1,
    });
    expect(last?.write).toMatchObject({ executionId: 'e-1', step: { name: 'it' }, question: { number: 1 } });
    expect(last?.next).toStrictEqual({ kind: 'evaluate', fresh: true, affected: ['it'] });
  });

  it('goes on, repeated, with the questions of then, whatever the clocks say (simulation seed 923)', () => {
    const retry = { type: 'retry', reason: 'r' } as Command;
    const begun = { at: NOW, upTo: 2 };
    const earlier = incidentOf({ number: 3, step: 'b', openedAt: NOW - 9 });
    expect(restOf(waiting(earlier), retry, begun)).toEqual({ ...retry, upTo: 2 });
    const others = { questions: { 3: earlier } };
    expect(restOf({ ...waiting(), ...others }, retry, begun)).toBeUndefined();
    expect(restOf({ ...waiting(), ...others }, retry, { at: NOW, upTo: 0 })).toBeUndefined();
  });

  it('is refused where there is a reason', () => {
    expect(problem(as('running'), 'retry')).toBe('it is running: its steps are tried again by themselves');
    expect(does(as('running'), 'retry')).toBeUndefined();
  });
});

describe('an execution in place of another', () => {
  const replace = (state: Snapshot, isDeployed = true, of: Plan = plan) =>
    possibleCommands(of, state, NOW, isDeployed).find(({ command }) => command === 'replace');
  const undone = recordOf('it', 'compensated');

  it.each(['compensated', 'canceled'] as const)('is offered for what has ended as %s', (status) => {
    expect(replace(as(status))).toStrictEqual({ command: 'replace' });
  });

  it('is offered for what has failed where a retry is not possible, and never beside one', () => {
    expect(replace(as('failed', {}, [undone]))).toStrictEqual({ command: 'replace' });
    expect(replace(as('failed', {}, [recordOf('it', 'failed')]))?.because).toBe(
      'it goes on where it failed: retry it',
    );
  });

  it.each([
    ['is running', as('running'), 'it is running'],
    ['has succeeded', as('succeeded'), 'it has succeeded, so there is nothing to start again'],
    [
      'belongs to another execution',
      as('compensated', { parent: { executionId: 'e-0', step: 'ship', index: 0 } as never }),
      "it belongs to step 'ship' of execution e-0, and is started by that one",
    ],
  ])('is not offered for what %s', (_, state, because) => {
    expect(replace(state)?.because).toBe(because);
  });

  it('is not offered where the workflow cannot be started', () => {
    const state = as('compensated');
    expect(replace(state, false)?.because).toBe(`workflow '${plan.workflow}' is not deployed any more`);
    const bulk = { ...plan, workflow: 'steadfast-bulk' };
    expect(replace(state, false, bulk)?.because).toBe('it is a bulk action: make another one');
  });
});
