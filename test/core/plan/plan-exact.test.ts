/** Questions about a plan's graph and about records, answered for every kind of step and every status. */

import {
  agentStep,
  agentSteps,
  dependentsOf,
  graphOf,
  isBefore,
  limitsOf,
  type Plan,
} from '../../../lib/core/plan/plan.ts';
import { CHOICES } from '../../../lib/core/records/incident.ts';
import { askedAboutPause, type Snapshot } from '../../../lib/core/records/snapshot.ts';
import { callbackToken, pauseOf } from '../../../lib/core/records/state.ts';
import { EXECUTION_STATUSES, type ExecutionStatus, STEP_STATUSES } from '../../../lib/core/transitions.ts';
import { child, map } from '../family.ts';
import { named } from '../evaluations.ts';
import { planOf, stateOf } from '../one-step.ts';
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
  it('about a pause are known by its number', () => {
    const about = incidentOf({ number: 5, kind: 'pause', stepVersion: 1, resolvedAt: NOW });
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
      'fail',
    ]);
  });
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
    'suspended',
    'fenced',
    'done',
    'failed',
    'skipped',
    'compensating',
    'compensated',
    'compensation-failed',
  ]);
});
