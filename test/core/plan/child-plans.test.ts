/**
 * Children's plans: their names, their place in the parent's plan, and the plans of a list's parts. Also: the
 * parts and kinds of a plan.
 */

import { childPlanId, partPlanId, planAt, storedHash } from '../../../lib/core/plan/child-plans.ts';
import {
  type MapStep,
  type Plan,
  agentStep,
  agentSteps,
  dependentsOf,
  graphOf,
  isBefore,
  limitsOf,
} from '../../../lib/core/plan/plan.ts';
import { child, map } from '../family.ts';
import { planOf, stateOf } from '../one-step.ts';
import { planStep } from '../../author/refusals.ts';
import { CHOICES } from '../../../lib/core/records/question.ts';
import { askedAboutPause, type Snapshot } from '../../../lib/core/records/snapshot.ts';
import { callbackToken, pauseOf } from '../../../lib/core/records/state.ts';
import { EXECUTION_STATUSES, type ExecutionStatus, STEP_STATUSES } from '../../../lib/core/moves.ts';
import { named } from '../evaluations.ts';
import { NOW } from '../states.ts';
import { incidentOf, pause } from '../words.ts';

const inner: Plan = { ...planOf({ ...map, name: 'deep' }), workflow: 'inner' };
const stored: Plan = { ...planOf({ ...child, plan: inner }, map, planStep), withinMs: 9_000 };

it('are named by the way to them', () => {
  expect(childPlanId('h', child)).toBe('h.sub');
  const part = { size: 25, tolerated: 3, before: 50 };
  expect(partPlanId('h.sub', map, part)).toBe('h.sub.list.25x3x50');
  expect(storedHash('h.sub.list.25x3x50')).toBe('h');
  expect(storedHash('hash')).toBe('hash');
});

it('are found by their names', () => {
  expect(planAt(stored, 'h')).toBe(stored);
  expect(planAt(stored, 'h.sub')).toBe(inner);
  expect(planAt(stored, 'h.list.2x1x0')).toMatchObject({ workflow: 'flow', withinMs: 9_000, tolerated: 1 });
  expect(planAt(stored, 'h.sub.deep.1x0x0')).toMatchObject({ workflow: 'inner', tolerated: 0 });
});

it.each([
  'h.x',
  'h.it',
  'h.it.2x1',
  'h.it.0x0',
  'h.x.0x0',
  'h.list',
  'h.list.2',
  'h.list.x2x1',
  'h.list.2x1x',
  'h.list.2x',
  'h.list.x1',
  'h.list.12345x1',
  'h.list.1x123456',
  'h.list.-1x1',
  'h.it.sub',
  'h.sub.sub',
  'h.list.2x1.i0',
  'h.list.2x1x4.list[4]',
  'h.list.2x1x',
  'h.list.2x1x123456',
  'h.x.sub',
])('%s is the name of none', (id) => {
  expect(planAt(stored, id)).toBeUndefined();
});

describe('of a part', () => {
  const partOf = (step: Partial<MapStep>, size: number): Plan | undefined =>
    planAt(planOf({ ...map, ...step }), `h.list.${size}x2x50`);
  const itemAt = (at: number, after: readonly string[]) => ({
    ...map.each,
    name: `list[${50 + at}]`,
    input: { $ref: 'input', path: ['items', String(at)] },
    after,
    tolerate: true,
  });

  it('is a step an item, and all of their outputs', () => {
    expect(partOf({}, 2)).toEqual({
      v: 1,
      workflow: 'flow',
      withinMs: planOf(map).withinMs,
      steps: [itemAt(0, []), itemAt(1, [])],
      output: [
        { $ref: 'step:list[50]', path: [] },
        { $ref: 'step:list[51]', path: [] },
      ],
      tolerated: 2,
    });
  });

  it('has no item that may fail where none is tolerated', () => {
    const none = planAt(planOf(map), 'h.list.2x0x0');
    expect(none?.steps.map((step) => 'tolerate' in step)).toEqual([false, false]);
  });

  it('has as many lanes as may be under way', () => {
    const lanes = partOf({ concurrency: 2 }, 5)?.steps.map(({ after }) => after);
    expect(lanes).toEqual([[], [], ['list[50]'], ['list[51]'], ['list[52]']]);
    expect(partOf({ concurrency: 1 }, 2)?.steps.map(({ after }) => after)).toEqual([[], ['list[50]']]);
  });

  it('has the other inputs of each item on its stages', () => {
    const [same, other] = [
      { kind: 'retry', attempts: 1, firstMs: 0, maxMs: 0 },
      { kind: 'withInput', input: { $ref: 'item', path: [] }, attempts: 1, firstMs: 0, maxMs: 0 },
    ] as const;
    const recoveries = partOf({ each: { ...map.each, recovery: [same, other] } }, 2)?.steps.map(
      (step) => step.kind === 'agent' && step.recovery,
    );
    const input = (at: number) => ({ $ref: 'input', path: ['others', String(at), '1'] });
    expect(recoveries).toEqual([
      [same, { ...other, input: input(0) }],
      [same, { ...other, input: input(1) }],
    ]);
  });
});

describe('a plan', () => {
  const plan: Plan = planOf(
    named('a'),
    named('b', { after: ['a'] }),
    { ...map, after: ['a'] },
    named('c', { after: ['b', 'list'] }),
    { ...child, after: ['c'] },
    named('d'),
  );
  it('knows its steps, and those that agents perform', () => {
    expect(agentSteps(plan).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(['a', 'list', 'sub', 'x'].map((name) => agentStep(plan, name)?.name)).toEqual([
      'a',
      undefined,
      undefined,
      undefined,
    ]);
    expect([...graphOf(plan).step.keys()]).toEqual(['a', 'b', 'list', 'c', 'sub', 'd']);
    expect(graphOf(plan)).toBe(graphOf(plan));
  });
  it('comes after what it does not know, and after itself, without end', () => {
    const odd = planOf(named('a', { after: ['b', 'x'] }), named('b', { after: ['a'] }));
    expect([isBefore(odd, 'x', 'b'), isBefore(odd, 'b', 'b'), isBefore(odd, 'y', 'b')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(dependentsOf(odd, 'x')).toEqual([]);
  });
  it('takes from an agent its limits and nothing else', () => {
    const limits = { effect: 'probed', timeoutMs: 1, leaseMs: 2, pickupMs: 3, settleMs: 4 } as const;
    const spec = { ...limits, name: 'x', undo: 'none' } as const;
    expect(limitsOf(spec)).toStrictEqual(limits);
    expect(limitsOf({ ...spec, maxNoProgressMs: 5 })).toStrictEqual({ ...limits, maxNoProgressMs: 5 });
  });
});

describe('an execution', () => {
  it('has a pause under way while it is paused: the last', () => {
    const pauses = [{ ...pause, number: 0 }, pause];
    const under = (status: ExecutionStatus) => pauseOf(stateOf([], { status, pauses }).execution);
    expect(EXECUTION_STATUSES.filter((status) => under(status) !== undefined)).toEqual(['paused']);
    expect(under('paused')).toBe(pause);
    expect(pauseOf(stateOf([], { status: 'paused' }).execution)).toBeUndefined();
  });

  it('has a token for each callback that has a key', () => {
    const { execution } = stateOf([], { callbackKeys: { a: 'k' } });
    expect([callbackToken(execution, 'a'), callbackToken(execution, 'b')]).toEqual(['e-1.a.k', undefined]);
    expect(callbackToken(stateOf([]).execution, 'a')).toBeUndefined();
  });
});

describe('questions', () => {
  const state = (...incidents: readonly ReturnType<typeof incidentOf>[]): Snapshot => ({
    ...stateOf([]),
    questions: Object.fromEntries(incidents.map((one) => [one.number, one])),
  });
  const open = incidentOf({ number: 3 });
  it('about a pause are known by its number', () => {
    const about = incidentOf({ number: 5, kind: 'pause', stepVersion: 1, closedAt: NOW });
    expect(askedAboutPause(state(open, about), pause)).toBe(about);
    expect(askedAboutPause(state(open), pause)).toBeUndefined();
    expect(askedAboutPause(state(about), { ...pause, number: 2 })).toBeUndefined();
    expect(askedAboutPause(stateOf([]), pause)).toBeUndefined();
  });
  it('have these answers', () => {
    expect(CHOICES).toEqual([
      'retry',
      'retry-with-input',
      'give-output',
      'skip',
      'resume',
      'undo-all',
      'continue',
      'keep',
    ]);
  });
});

it('these are the statuses', () => {
  expect(EXECUTION_STATUSES).toHaveLength(9);
  expect(STEP_STATUSES).toEqual([
    'ready',
    'running',
    'retrying',
    'accepted',
    'waiting',
    'answered',
    'unknown',
    'probing',
    'fenced',
    'done',
    'failed',
    'skipped',
    'tolerated',
    'compensating',
    'compensated',
    'compensation-failed',
  ]);
});
