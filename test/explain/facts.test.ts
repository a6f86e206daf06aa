/** When an explanation states which fact: what is next, when, and which records show the past. */

import { explain } from '../../lib/explain/why.ts';
import type { Attempt, Cause, Execution, Step } from '../../lib/core/records/state.ts';
import type { ExecutionStatus } from '../../lib/core/moves.ts';
import { child, childrenOf, end } from '../core/family.ts';
import {
  DEADLINE,
  failure,
  heldAs,
  incidentOf as anIncident,
  planOf,
  recordOf,
  stateOf,
  step,
} from '../core/one-step.ts';
import { agentStepOf, callbackOf, waitOf } from '../core/small-steps.ts';
import { NOW } from '../core/states.ts';
import { explained, incidentOf, type More, nextLine, paused, plan, compensating } from '../core/words.ts';

const point = agentStepOf('point', { pointOfNoReturn: true });
const waiting = recordOf('it', 'waiting', { version: 1 });
const held = recordOf('it', 'retrying', { retryAt: NOW + 5 });
const sub = (status: Step['status'], ended?: ExecutionStatus): Step =>
  recordOf('sub', status, { children: childrenOf(1, ended === undefined ? {} : { 0: end(ended) }) });

const two = planOf(step, agentStepOf('b'));
const lateRetry = recordOf('it', 'retrying', { retryAt: DEADLINE + 9 });
const passed = { plan: planOf(point, step) };
const atDeadline = incidentOf({ number: 2, kind: 'deadline', deadlineAt: NOW + 40, otherwise: 'undo-all' });
const aboutPause = incidentOf({ kind: 'pause', otherwise: 'resume' });
const ended: Partial<Execution> = { status: 'succeeded', endedAt: NOW };
const EVALUATES = 'supervisor +7: a supervisor evaluates it';
const works = heldAs('execute');
const longer = heldAs('execute', { leaseUntil: NOW + 30_000 });
const isPast = [recordOf('point', 'done'), lateRetry];
const asked = { ...passed, incidents: [atDeadline] };
const bothAsked = { ...passed, incidents: [incidentOf(), atDeadline] };
const answered = { incidents: [{ ...aboutPause, closedAt: NOW }] };
const waits = { status: 'waiting' } as const;
const ofSub = { plan: planOf(child) };
it.each<[string, string, Step[], Partial<Execution>?, More?]>([
  ['the end that is not announced', 'supervisor +4: its end is announced', [], { ...ended, wakeAt: NOW + 4 }],
  [
    'the earliest of the steps',
    'supervisor b +21000: its agent',
    [longer, { ...works, name: 'b' }],
    {},
    { plan: two },
  ],
  [
    'a step as early as the deadline',
    'supervisor it +21000: its agent',
    [works],
    { deadlineAt: NOW + 21_000 },
  ],
  [
    'the deadline',
    'supervisor +20999: its time is over and it is undone',
    [works],
    { deadlineAt: NOW + 20_999 },
  ],
  ['the agent to whom a message would be sent again', 'agent it -30000: ', [], { startedAt: NOW - 30_000 }],
  [
    'the end of a pause, whatever the deadline',
    'person +8991: a person is asked, unless the pause is ended before',
    [held],
    { ...paused, deadlineAt: NOW + 5 },
  ],
  [
    'the question about a pause',
    "person +70000: a person answers incident 1; without an answer 'resume' is chosen",
    [held],
    paused,
    { incidents: [aboutPause] },
  ],
  ['nothing but a look, where that is answered', EVALUATES, [held], { ...paused, wakeAt: NOW + 7 }, answered],
  ['an execution of its own', 'child sub: execution e-1.sub.0 end', [sub('running')], {}, ofSub],
  [
    'likewise, behind what is done',
    'child sub: ',
    [recordOf('it', 'done'), sub('running')],
    {},
    { plan: planOf(step, child) },
  ],
  [
    'what has a time beside an execution of its own',
    'supervisor it +21000: its agent',
    [sub('running'), works],
    {},
    { plan: planOf(child, step) },
  ],
  ['the end of a pause beside an execution of its own', 'person +8991: ', [sub('running')], paused, ofSub],
  [
    'the deadline where there is no way back',
    'person +3600000: its time is over and a person is asked',
    isPast,
    {},
    passed,
  ],
  [
    'the question about the deadline',
    "person +40: a person answers incident 2; without an answer 'keep' is chosen",
    isPast,
    waits,
    asked,
  ],
  [
    'the earlier of two questions',
    'person +40: a person answers incident 2',
    [isPast[0]!, waiting],
    waits,
    bothAsked,
  ],
])('next for an execution is %s', (_, line, records, ...[execution, more]) => {
  expect(nextLine(explained(records, execution, more).next)).toContain(line);
});

it('next for an execution that has ended and said so is nothing', () => {
  const { wakeAt: _, ...execution } = stateOf([], ended).execution;
  const next = { what: 'nothing: it has ended, and its end is announced' };
  expect(explain(plan, { execution, steps: {} }, NOW).next).toEqual(next);
});

const NOTHING = 'none it: nothing';
const sent = { dispatches: { [`it/execute/1@${NOW}`]: { count: 1, lastAt: NOW + 5 } } };
const askedOf = (more: object = {}): More => ({ incidents: [incidentOf(more)] });
const answers = "person it +70000: a person answers incident 1; without an answer 'keep' is chosen";
const stands = 'person it: a person answers incident 1; its deadline stands still during the pause';
it.each<[string, string, Step[], Partial<Execution>, More?]>([
  ['the answer of a person', answers, [waiting], waits, askedOf()],
  ['nothing where another thing is asked', NOTHING, [waiting], waits, askedOf({ kind: 'deadline' })],
  ['nothing where it is asked about another step', NOTHING, [waiting], waits, askedOf({ step: 'other' })],
  ['nothing where it is answered', NOTHING, [waiting], waits, askedOf({ closedAt: NOW })],
  ['an answer whose deadline stands still', stands, [waiting], paused, askedOf()],
  ['nothing when it is done', NOTHING, [recordOf('it', 'done')], {}],
  ['nothing when the execution has ended', NOTHING, [], { status: 'succeeded' }],
  [
    'its undo',
    "agent it +0: agent 'worker' takes it: undo 3, from ",
    [recordOf('it', 'done', { undoAttempt: 2 })],
    compensating,
  ],
  [
    'a message that is sent again a gap after the last',
    "agent it +0: agent 'worker' takes it: attempt 1, from 2023-11-14 22:13:20Z; if it has not by 2023-11-14 22:14:20Z,",
    [],
    sent,
  ],
])('next for a step is %s', (_, line, records, execution, ...[more]) => {
  expect(nextLine(explained(records, execution, more).steps[0]!.next)).toContain(line);
});

const attempt: Attempt = {
  number: 2,
  mode: 'execute',
  claimedAt: NOW,
  endedAt: NOW + 5,
  outcome: 'failed',
  failure,
};
const cause: Cause = { kind: 'failure', at: NOW + 1, failure };
const children = childrenOf(2, { 0: end('failed') });
it.each<[string, Step[], Partial<Execution>, More, object[]]>([
  ['an attempt', [recordOf('it', 'done', { attempts: [attempt] })], {}, {}, [attempt]],
  [
    'questions',
    [],
    {},
    {
      incidents: [
        anIncident({ openedAt: NOW + 1, closedAt: NOW + 2, closedBy: 'answer', choice: 'skip' }),
        anIncident({ number: 2, kind: 'pause', closedAt: NOW + 3, closedBy: 'moot' }),
        anIncident({ number: 3, closedAt: NOW + 4 }),
      ],
    },
    [failure, { closedBy: 'answer', choice: 'skip' }, { closedBy: 'moot' }],
  ],
  [
    'a pause',
    [],
    { pauses: [{ number: 3, at: NOW + 1, reason: 'r', withinMs: 9, endedAt: NOW + 2 }] },
    {},
    [{ pause: 3 }, { pause: 3 }],
  ],
  [
    'retries',
    [],
    {
      retries: [
        { at: NOW + 1, reason: 'r' },
        { at: NOW + 2, reason: 's', cause },
      ],
    },
    {},
    [{}, failure],
  ],
  [
    'a cause and an end',
    [],
    { status: 'failed', cause, endedAt: NOW + 2 },
    {},
    [failure, { status: 'failed' }],
  ],
  [
    'an answer',
    [recordOf('c', 'failed', { failure, progressAt: NOW, heartbeat: 4, changedAt: NOW + 1 })],
    {},
    { plan: planOf(callbackOf('c')) },
    [{ heartbeat: 4 }, { status: 'failed', failure }],
  ],
  [
    'executions of its own',
    [recordOf('sub', 'failed', { children, changedAt: NOW + 1 })],
    {},
    { plan: planOf(child) },
    [{ status: 'failed', count: 2, ended: children.ended }],
  ],
  [
    'no answer of a wait, nor of a step that the plan does not have',
    [recordOf('w', 'ready', { progressAt: NOW }), recordOf('other', 'done')],
    {},
    { plan: planOf(waitOf('w')) },
    [],
  ],
])('the past is read from %s', (_, records, execution, more, evidence) => {
  const [started, ...past] = explained(records, execution, more).past.filter(({ at }) => at >= NOW);
  expect(started).toEqual({
    at: NOW,
    what: "workflow 'flow' was started",
    evidence: { plan: 'p', deadlineAt: DEADLINE },
  });
  expect(past.map((one) => one.evidence)).toStrictEqual(evidence);
});

it.each<[Cause['kind'], Partial<Cause>, string]>([
  ['failure', { step: 'it' }, "it is being undone because of the failure of step 'it'"],
  ['cancel', {}, "it is being undone because of an operator's cancel: y"],
  ['deadline', { undo: false }, 'it is ended as it is because of the deadline'],
  ['parent', {}, 'it is being undone because of the end of the execution that it is a part of'],
])('why it was stopped: %s', (kind, more, what) => {
  const why: Cause = { kind, at: NOW + 1, failure, ...more };
  expect(explained([], { status: 'compensating', cause: why }).past[1]?.what).toBe(what);
});
