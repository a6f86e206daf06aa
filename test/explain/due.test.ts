/** How an explanation describes a supervisor's next act, for every rule that ends in a write. */

import type { Cause, Execution, Step } from '../../lib/core/records/state.ts';
import type { ExecutionStatus } from '../../lib/core/moves.ts';
import { child, childrenOf, end, map } from '../core/family.ts';
import { failure, heldAs, planOf, recordOf, step } from '../core/one-step.ts';
import { agentStepOf, waitOf } from '../core/small-steps.ts';
import { NOW } from '../core/states.ts';
import { explained, incidentOf, type More, pause, compensating } from '../core/words.ts';

const point = agentStepOf('point', { pointOfNoReturn: true });
const waiting = recordOf('it', 'waiting', { version: 1 });
const sub = (status: Step['status'], ended?: ExecutionStatus): Step =>
  recordOf('sub', status, { children: childrenOf(1, ended === undefined ? {} : { 0: end(ended) }) });
const forDays = { undoDeferredAt: NOW - 86_400_000, retryAt: NOW };
const stoppedBy = (kind: Cause['kind']): Partial<Execution> => ({
  ...compensating,
  cause: { kind, at: NOW, failure },
});
const over = { openedAt: NOW - 50, deadlineAt: NOW };
const wasPaused: Partial<Execution> = {
  status: 'waiting',
  pauses: [{ ...pause, at: NOW - 40, endedAt: NOW - 5 }],
};

it.each<[string, Step[], Partial<Execution>?, More?]>([
  [
    'the lease has ended: the outcome of the attempt counts as unknown',
    [heldAs('execute', { leaseUntil: NOW - 1_000 })],
  ],
  ['what has acted is undone', [recordOf('it', 'failed')]],
  ['a person is asked', [waiting]],
  ['the time for an answer is over', [waiting], { status: 'waiting' }, { incidents: [incidentOf(over)] }],
  [
    'an open question is closed, because the execution went another way',
    [recordOf('it', 'fenced')],
    compensating,
    { incidents: [incidentOf()] },
  ],
  [
    'a step is skipped, because its condition does not hold',
    [],
    {},
    { plan: planOf({ ...step, when: false }) },
  ],
  [
    'a person is asked, because no agent could undo a step for a day',
    [recordOf('it', 'done', { ...forDays, deferred: { mode: 'undo', why: 'unclaimed', at: NOW } })],
    compensating,
  ],
  [
    'the time for an answer is extended by the time of the pause',
    [waiting],
    wasPaused,
    { incidents: [incidentOf(over)] },
  ],
  [
    'a person is asked, because there is no way back',
    [recordOf('it', 'failed'), recordOf('point', 'done')],
    {},
    { plan: planOf(step, point) },
  ],
  [
    'what has acted is left as it is, because a point of no return was passed',
    [recordOf('point', 'done')],
    compensating,
    { plan: planOf(point) },
  ],
  ['a step that has not started is closed for good', [], compensating],
  ['it succeeds: every step is done, skipped or tolerated', [recordOf('it', 'done')]],
  [
    'it ends as compensated: everything that acted is undone',
    [recordOf('it', 'compensated')],
    stoppedBy('deadline'),
  ],
  ['it ends as canceled: everything that acted is undone', [recordOf('it', 'compensated')], compensating],
  ['it ends as failed', [recordOf('it', 'fenced')], stoppedBy('failure')],
  ['executions of a step are started', [], { input: { list: [1] } }, { plan: planOf(map) }],
  [
    'what the executions of a step answered is gathered',
    [sub('running', 'succeeded')],
    {},
    { plan: planOf(child) },
  ],
  ['executions of a step are stopped', [sub('running')], compensating, { plan: planOf(child) }],
  [
    'a step is over: its time has come, or its answer counts now',
    [],
    {},
    { plan: planOf(waitOf('w', { until: NOW, forMs: undefined as never })) },
  ],
  ['a step fails: one of its executions failed', [sub('running', 'failed')], {}, { plan: planOf(child) }],
  [
    'a step is undone: all of its executions are',
    [sub('compensating', 'canceled')],
    compensating,
    { plan: planOf(child) },
  ],
  [
    'a step cannot be undone: one of its executions could not be',
    [sub('compensating', 'failed')],
    compensating,
    { plan: planOf(child) },
  ],
  [
    'the executions of a step are stopped',
    [],
    { ...compensating, input: { list: 'no list' } },
    { plan: planOf(map) },
  ],
])('a supervisor would do now: %s', (words, records, ...[execution, more]) => {
  expect(explained(records, execution, more).next).toMatchObject({ what: words, at: NOW, who: 'supervisor' });
  // Before its wake time no supervisor evaluates it.
  const later = { ...execution, wakeAt: NOW + 5 };
  expect(explained(records, later, more).next).toMatchObject({ what: words, at: NOW + 5 });
});
