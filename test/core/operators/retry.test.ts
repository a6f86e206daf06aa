/**
 * When a failed execution can be retried, the reasons for a refusal, and the writes of a retry (F8, S1, S10).
 */

import { decide } from '../../../lib/core/decide.ts';
import { remembering } from '../../../lib/core/operators/obey.ts';
import { restartProblemOf, retried, retryProblem } from '../../../lib/core/operators/retry.ts';
import type { Plan, PlanStep } from '../../../lib/core/plan/plan.ts';
import type { ChildEnd } from '../../../lib/core/records/children.ts';
import type { Event } from '../../../lib/core/decisions/events.ts';
import type { Incident } from '../../../lib/core/records/question.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { Cause, Execution, Retried, Step } from '../../../lib/core/records/state.ts';
import { changesOf, incidentOf, planOf, recordOf, inputs, stateOf } from '../one-step.ts';
import { agentStepOf, callbackOf, childOf, childrenOf, otherAgent } from '../small-steps.ts';
import { NOW } from '../states.ts';

const failure = { code: 'x', message: 'y' };
const cause: Cause = { kind: 'failure', at: NOW - 9, step: 'it', failure };
const plan = planOf(agentStepOf('it'));
const failed = (records: Step[], more: Partial<Execution> = {}): Snapshot =>
  stateOf(records, { status: 'failed', endedAt: NOW - 5, cause, ...more });
const problem = (state: Snapshot, of: Plan = plan) => retryProblem(of, state, NOW);
const another = 'start a new execution with "replaces": "e-1"';

it.each([
  ['succeeded', `it has ended as 'succeeded', and only a failed execution can be retried; ${another}`],
  ['compensated', `it has ended as 'compensated', and only a failed execution can be retried; ${another}`],
  ['canceled', `it has ended as 'canceled', and only a failed execution can be retried; ${another}`],
  ['compensating', 'it is being undone'],
  ['paused', 'it is paused: resume it first'],
  ['running', 'it is running: its steps are tried again by themselves'],
] as const)('what is %s is not retried', (status, why) => {
  expect(problem(stateOf([], { status }))).toBe(why);
});

describe('what has failed is retried', () => {
  const plain = [agentStepOf('it')];
  const unsafe = [agentStepOf('it', { effect: 'unsafe' })];
  const asking = [agentStepOf('it', { effect: 'unsafe', recovery: [otherAgent] })];
  const acted = (status: Step['status'], more: Partial<Step> = {}) =>
    failed([recordOf('it', status, { mayHaveActed: true, ...more })]);
  it.each<[string, Snapshot, PlanStep[]]>([
    ['where nothing was undone', failed([recordOf('it', 'failed')]), plain],
    ['where nothing has begun', failed([]), plain],
    ['where the unsafe has not acted', failed([recordOf('it', 'failed')]), unsafe],
    ['where the unsafe is done', acted('done'), unsafe],
    ['where what may have acted can be repeated', acted('failed'), plain],
    ['where the agent of its stage can be asked', acted('failed', { stage: 1, keyVariant: 1 }), asking],
    ['of what no agent performs', acted('failed'), [callbackOf('it')]],
  ])('%s', (_, state, steps) => {
    expect(problem(state, planOf(...steps))).toBeUndefined();
  });

  it('not as a part of another', () => {
    const part = failed([], { parent: { executionId: 'p', step: 's', index: 0 } });
    expect(problem(part, planOf(...plain))).toBe("it belongs to step 's' of execution p");
  });

  it('not where something was undone, or is, or could not be', () => {
    const statuses = { it: 'compensated', b: 'compensating', c: 'compensation-failed', d: 'done' } as const;
    const records = Object.entries(statuses).map(([name, status]) => recordOf(name, status));
    expect(
      problem(failed(records), planOf(...['it', 'b', 'c', 'd', 'e'].map((name) => agentStepOf(name)))),
    ).toBe(
      `the undo of 'it', 'b', 'c' has begun, and what is undone is not done again by the same execution; ${another}`,
    );
  });

  it('not where it may have acted, which can be neither probed nor repeated', () => {
    const [it1, it2] = [recordOf('it', 'failed'), recordOf('b', 'fenced')];
    const state = failed([it1, it2].map((record) => ({ ...record, mayHaveActed: true })));
    expect(
      problem(state, planOf(...['it', 'b'].map((name) => agentStepOf(name, { effect: 'unsafe' })))),
    ).toBe(`'it', 'b' may have acted, and its effect can be neither probed nor repeated; ${another}`);
  });

  const end = (status: ChildEnd['status']): ChildEnd => ({ status, version: 1, clean: false });
  it.each<[string, Step['status'], ChildEnd['status'] | undefined, string | undefined]>([
    ['failed', 'failed', 'failed', undefined],
    ['was stopped', 'failed', 'canceled', 'some of its executions were stopped (canceled)'],
    ['says nothing', 'failed', undefined, 'the ends of some of its executions are not known yet'],
    ['is not what failed', 'done', 'canceled', undefined],
  ])('where an execution of its own %s', (_, status, ended, why) => {
    const record = recordOf('it', status, {
      children: childrenOf(ended === undefined ? {} : { 0: end(ended) }),
    });
    const said = why && `step 'it' cannot go on: ${why}; ${another}`;
    expect(restartProblemOf(planOf(agentStepOf('a'), childOf('it')), failed([record]))).toBe(said);
  });
});

describe('what waits for a person is retried', () => {
  const waiting = (more: Partial<Incident>): Snapshot => ({
    ...stateOf(
      [recordOf('it', 'waiting'), recordOf('b', 'waiting', { mayHaveActed: true, processDeadlineAt: NOW })],
      { status: 'waiting' },
    ),
    questions: { 1: incidentOf(more) },
  });
  const two = planOf(agentStepOf('it'), agentStepOf('b', { effect: 'probed' }));

  it('where a step could be tried again', () => {
    expect(problem(waiting({}), two)).toBeUndefined();
    const none = 'none of its open questions is about a step that could be tried again';
    expect(problem(waiting({ kind: 'undo' }), two)).toBe(none);
    expect(problem(waiting({ closedAt: NOW }), two)).toBe(none);
    const needs =
      'an attempt may have acted: \'retry\' needs "nothingHappened": true from a person who has checked';
    expect(
      problem(
        { ...waiting({}), questions: { 1: incidentOf({}), 2: incidentOf({ number: 2, step: 'b' }) } },
        two,
      ),
    ).toBe(`incident 2, step 'b': ${needs}`);
    const both = { 1: incidentOf({ step: 'b' }), 2: incidentOf({ number: 2, step: 'b' }) };
    expect(problem({ ...waiting({}), questions: both }, two)).toBe(
      `incident 1, step 'b': ${needs}; incident 2, step 'b': ${needs}`,
    );
  });
});

describe('a retry', () => {
  const earlier: Retried[] = Array.from({ length: 10 }, (_, at) => ({ at, reason: '' }));
  const given = { reason: 'r', commands: ['c'] };
  it('is the next epoch, with its time once more, in one write of the execution', () => {
    const state = failed([recordOf('it', 'failed')], {
      epoch: 3,
      dispatches: { k: { count: 1, lastAt: 1 } },
      retries: earlier,
    });
    const { write, ...rest } = retried(plan, state, given, inputs);
    expect(write).toStrictEqual({ executionId: 'e-1', execution: expect.anything() });
    expect(changesOf(state.execution, write?.execution)).toStrictEqual({
      status: 'running',
      version: 2,
      writeId: 'w-new',
      epoch: 4,
      cause: null,
      endedAt: null,
      deadlineAt: NOW + plan.withinMs,
      retries: [...earlier.slice(1), { at: NOW, reason: 'r', cause }],
      commands: ['c'],
      dispatches: {},
    });
    expect(rest).toStrictEqual({
      sends: [],
      next: { kind: 'evaluate', fresh: true, affected: 'all' },
      notes: [{ what: 'retried', executionId: 'e-1' }],
    });
  });

  it('keeps a wake time that is near, and names no cause if the execution has none', () => {
    const { cause: _, ...execution } = failed([], { wakeAt: NOW + 5 }).execution;
    const after = retried(plan, { execution, steps: {} }, given, inputs).write?.execution;
    expect(after).toMatchObject({ wakeAt: NOW + 5, retries: [{ at: NOW, reason: 'r' }] });
    expect(after?.retries?.[0]).not.toHaveProperty('cause');
  });

  it('is what a command asks for', () => {
    const event = { type: 'retry', commandId: 'c', reason: 'r', ...inputs } as Event;
    const commands = remembering({ commands: [] }, { type: 'retry', commandId: 'c', now: NOW }, 0);
    const asked = { ...given, commands };
    const { write, ...rest } = retried(plan, failed([]), asked, inputs);
    const execution = { ...write?.execution, wakeAt: NOW + 30_000 };
    expect(decide(plan, failed([]), event)).toStrictEqual({ write: { ...write, execution }, ...rest });
  });
});
