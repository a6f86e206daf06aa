/** Questions about a plan's graph and about records, answered for every kind of step and every status. */

import {
  agentStep,
  agentSteps,
  dependentsOf,
  graphOf,
  hasManySteps,
  isBefore,
  limitsOf,
  type Plan,
  PLAN_LIMITS,
} from '../../../lib/core/plan/plan.ts';
import { CHOICES, isDue } from '../../../lib/core/records/incident.ts';
import {
  askedAboutPause,
  incidentNumber,
  openIncidents,
  type Snapshot,
} from '../../../lib/core/records/snapshot.ts';
import {
  callbackToken,
  isForward,
  isHeld,
  isPausedOrPausing,
  isSettled,
  isTerminal,
  pauseOf,
} from '../../../lib/core/records/state.ts';
import {
  EXECUTION_STATUSES,
  type ExecutionStatus,
  STEP_STATUSES,
  type StepStatus,
} from '../../../lib/core/transitions.ts';
import { child, map } from '../family.ts';
import { named } from '../looks.ts';
import { heldAs, planOf, recordOf, stateOf } from '../one-step.ts';
import { NOW } from '../states.ts';
import { incidentOf, pause } from '../words.ts';

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
  it('knows who depends on whom, directly and however far', () => {
    const names = (name: string): string[] => dependentsOf(plan, name).map((step) => step.name);
    expect([names('a'), names('b'), names('sub'), names('x')]).toEqual([['b', 'list'], ['c'], [], []]);
    const before = (other: string): string[] =>
      ['a', 'b', 'list', 'c', 'sub', 'd'].filter((name) => isBefore(plan, name, other));
    expect(['a', 'c', 'sub', 'd', 'x'].map(before)).toEqual([
      [],
      ['a', 'b', 'list'],
      ['a', 'b', 'list', 'c'],
      [],
      [],
    ]);
    // What was asked once is known.
    expect(before('sub')).toEqual(['a', 'b', 'list', 'c']);
    expect([...(graphOf(plan).ancestors.get('c') ?? [])].toSorted()).toEqual(['a', 'b', 'list']);
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
  it('is long with more than 36 steps', () => {
    const of = (count: number): Plan => planOf(...Array.from({ length: count }, (_, at) => named(`s${at}`)));
    expect([hasManySteps(of(36)), hasManySteps(of(37))]).toEqual([false, true]);
    expect(PLAN_LIMITS).toEqual({ bytes: 262_144, steps: 1_000, attempts: 1_000 });
  });
  it('takes from an agent its limits and nothing else', () => {
    const limits = { effect: 'probed', timeoutMs: 1, leaseMs: 2, pickupMs: 3, settleMs: 4 } as const;
    const spec = { ...limits, name: 'x', undo: 'none' } as const;
    expect(limitsOf(spec)).toStrictEqual(limits);
    expect(limitsOf({ ...spec, maxNoProgressMs: 5 })).toStrictEqual({ ...limits, maxNoProgressMs: 5 });
  });
});

describe('an execution', () => {
  const statuses = (holds: (status: ExecutionStatus) => boolean): ExecutionStatus[] =>
    EXECUTION_STATUSES.filter(holds);
  it('goes forward, is paused or has ended, by its status', () => {
    expect(statuses(isForward)).toEqual(['running', 'waiting']);
    expect(statuses(isPausedOrPausing)).toEqual(['pausing', 'paused']);
    expect(statuses(isTerminal)).toEqual(['succeeded', 'compensated', 'failed', 'canceled']);
  });
  it('has a pause under way while it is pausing or paused: the last', () => {
    const pauses = [{ ...pause, number: 0 }, { ...pause, number: 0 }, pause];
    const under = (status: ExecutionStatus) => pauseOf(stateOf([], { status, pauses }).execution);
    expect(EXECUTION_STATUSES.filter((status) => under(status) !== undefined)).toEqual(['pausing', 'paused']);
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
    incidents: Object.fromEntries(incidents.map((one) => [one.number, one])),
  });
  const open = incidentOf({ number: 3 });
  const resolved = incidentOf({ number: 12, resolvedAt: NOW });
  it('are open until they are resolved, and counted on', () => {
    expect(openIncidents(state(open, resolved))).toEqual([open]);
    expect(openIncidents(stateOf([]))).toEqual([]);
    expect([
      incidentNumber(state(open, resolved)),
      incidentNumber(stateOf([])),
      incidentNumber(state()),
    ]).toEqual([13, 1, 1]);
  });
  it('about a pause are known by its number', () => {
    const about = incidentOf({ number: 5, kind: 'pause', stepVersion: 1, resolvedAt: NOW });
    expect(askedAboutPause(state(open, about), pause)).toBe(about);
    expect(askedAboutPause(state(open), pause)).toBeUndefined();
    expect(askedAboutPause(state(about), { ...pause, number: 2 })).toBeUndefined();
    expect(askedAboutPause(stateOf([]), pause)).toBeUndefined();
  });
  it('are due at their time, but for a pause, in which only its own is', () => {
    const due = (kind: 'ladder' | 'pause', status: ExecutionStatus, deadlineAt = NOW): boolean =>
      isDue(stateOf([], { status }).execution, incidentOf({ kind, deadlineAt }), NOW);
    expect([due('ladder', 'waiting'), due('ladder', 'waiting', NOW + 1)]).toEqual([true, false]);
    expect([due('ladder', 'paused'), due('ladder', 'pausing'), due('ladder', 'undoing')]).toEqual([
      false,
      false,
      true,
    ]);
    expect([due('pause', 'paused'), due('pause', 'paused', NOW + 1)]).toEqual([true, false]);
  });
  it('have these answers', () => {
    expect(CHOICES).toEqual([
      'retry',
      'retry-with-input',
      'give-output',
      'skip',
      'resume',
      'undo-all',
      'fail',
    ]);
  });
});

it('a step is held while it has a lease, and settled when it is done or skipped', () => {
  expect([isHeld(heldAs('execute')), isHeld(recordOf('a', 'running')), isHeld(undefined)]).toEqual([
    true,
    false,
    false,
  ]);
  const settled: StepStatus[] = STEP_STATUSES.filter((status) => isSettled(recordOf('a', status)));
  expect(settled).toEqual(['done', 'skipped']);
  expect(isSettled(undefined)).toBe(false);
});

it('these are the statuses', () => {
  expect(EXECUTION_STATUSES).toHaveLength(9);
  expect(STEP_STATUSES).toEqual([
    'ready',
    'running',
    'retrying',
    'waiting',
    'answered',
    'unknown',
    'probing',
    'held',
    'sealed',
    'done',
    'failed',
    'skipped',
    'undoing',
    'undone',
    'undo-failed',
  ]);
});
