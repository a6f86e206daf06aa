/** What an explanation says a supervisor would do now, of every rule of a look that ends in a write. */

import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { child, childrenOf, end, map } from '../family.ts';
import { planOf, recordOf, step } from '../one-step.ts';
import { planStep } from '../refusals.ts';
import { NOW } from '../states.ts';
import { explained, incidentOf, type More, pause, paused, undoing } from '../words.ts';

it.each<[string, string, Step[], Partial<Execution>, More]>([
  ['undoing', 'what has acted is undone', [recordOf('it', 'failed')], {}, {}],
  ['incident-opened', 'a person is asked', [recordOf('it', 'waiting')], {}, {}],
  [
    'incident-timed-out',
    'the time for an answer is over',
    [recordOf('it', 'waiting', { version: 1 })],
    { status: 'waiting' },
    { incidents: [incidentOf({ deadlineAt: NOW })] },
  ],
  [
    'incident-moot',
    'an open question is closed, because the execution went another way',
    [recordOf('it', 'sealed')],
    undoing,
    { incidents: [incidentOf()] },
  ],
  [
    'step-skipped',
    'a step is skipped, because its condition does not hold',
    [],
    {},
    { plan: planOf({ ...step, when: false }) },
  ],
  [
    'step-held',
    'a step that could begin is held, because the execution is paused',
    [],
    { ...paused, status: 'pausing' },
    {},
  ],
  [
    'paused',
    'the pause is complete: nobody works and nobody can begin',
    [recordOf('it', 'held', { heldFrom: 'ready', heldIn: pause.number })],
    { ...paused, status: 'pausing' },
    {},
  ],
  [
    'undo-given-up',
    'a person is asked, because nobody could undo a step for a day',
    [
      recordOf('it', 'done', {
        undoParkedAt: NOW - 86_400_000,
        retryAt: NOW,
        parked: { mode: 'undo', why: 'unclaimed', at: NOW },
      }),
    ],
    undoing,
    {},
  ],
  [
    'incident-moved',
    'the time for an answer is moved by the time of the pause',
    [recordOf('it', 'waiting', { version: 1 })],
    { status: 'waiting', pauses: [{ ...pause, at: NOW - 40, endedAt: NOW - 5 }] },
    { incidents: [incidentOf({ deadlineAt: NOW })] },
  ],
  [
    'no-way-back',
    'a person is asked, because there is no way back',
    [recordOf('it', 'failed'), recordOf('point', 'done')],
    {},
    { plan: planOf(step, { ...planStep, name: 'point', pointOfNoReturn: true }) },
  ],
  [
    'kept',
    'what has acted is left as it is, because a point of no return was passed',
    [recordOf('it', 'done')],
    undoing,
    { plan: planOf({ ...planStep, pointOfNoReturn: true }) },
  ],
  ['step-sealed', 'a step that has not started is closed for good', [], undoing, {}],
  [
    'compensated',
    'it ends as compensated: everything that acted is undone',
    [recordOf('it', 'undone')],
    { ...undoing, cause: { kind: 'deadline', at: NOW, failure: { code: 'c', message: 'd' } } },
    {},
  ],
  [
    'canceled',
    'it ends as canceled: everything that acted is undone',
    [recordOf('it', 'undone')],
    undoing,
    {},
  ],
  [
    'failed',
    'it ends as failed',
    [recordOf('it', 'sealed')],
    { ...undoing, cause: { kind: 'failure', at: NOW, failure: { code: 'c', message: 'd' } } },
    {},
  ],
  ['start-children', 'executions of a step are started', [], { input: { list: [1] } }, { plan: planOf(map) }],
  [
    'gather',
    'what the executions of a step answered is gathered',
    [recordOf('sub', 'running', { children: childrenOf(1, { 0: end('succeeded') }) })],
    {},
    { plan: planOf(child) },
  ],
  [
    'stop-children',
    'executions of a step are stopped',
    [recordOf('sub', 'running', { children: childrenOf(1) })],
    undoing,
    { plan: planOf(child) },
  ],
  [
    'step-done',
    'a step is over: its time has come, or its answer counts now',
    [],
    {},
    { plan: planOf({ kind: 'wait', name: 'w', after: [], until: NOW }) },
  ],
  [
    'step-failed',
    'a step fails: its time is over, or one of its executions failed',
    [recordOf('sub', 'running', { children: childrenOf(1, { 0: end('failed') }) })],
    {},
    { plan: planOf(child) },
  ],
  [
    'step-undone',
    'a step is undone: all of its executions are',
    [recordOf('sub', 'undoing', { children: childrenOf(1, { 0: end('canceled') }) })],
    undoing,
    { plan: planOf(child) },
  ],
  [
    'step-undo-failed',
    'a step cannot be undone: one of its executions could not be',
    [recordOf('sub', 'undoing', { children: childrenOf(1, { 0: end('failed') }) })],
    undoing,
    { plan: planOf(child) },
  ],
  [
    'children-stopped',
    'the executions of a step are stopped',
    [],
    { ...undoing, input: { list: 'no list' } },
    { plan: planOf(map) },
  ],
])('is told in words: %s', (_, words, records, execution, more) => {
  expect(explained(records, execution, more).next).toMatchObject({ what: words, at: NOW, who: 'supervisor' });
});
