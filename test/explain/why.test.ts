/**
 * Golden explanations of agents' steps: the complete text that an operator reads. Instants are ms from now.
 * Explanations of a wait, a callback or a child: `waiting-steps.test.ts`; which fact is stated when:
 * `facts.test.ts`.
 */

import * as fc from 'fast-check';
import { explain } from '../../lib/explain/why.ts';
import type { Incident } from '../../lib/core/records/question.ts';
import type { Attempt, Cause, NotBefore, Execution, Mode, Step } from '../../lib/core/records/state.ts';
import type { StepStatus } from '../../lib/core/moves.ts';
import { check } from '../core/check.ts';
import { failure, heldAs, otherStage, planOf, recordOf, step } from '../core/one-step.ts';
import { agentStepOf, mapOf, undoableOf } from '../core/small-steps.ts';
import { mixedCases as cases, NOW } from '../core/states.ts';
import { explained, incidentOf, linesOf, type More, paused, pause, compensating } from '../core/words.ts';

const record = (name: string, status: StepStatus, more: Partial<Step> = {}): Step =>
  recordOf(name, status, { attempt: 2, undoAttempt: 3, ...more });
const failed = { failure };
const acted = { mayHaveActed: true };
const deferred = (
  why: NotBefore['why'],
  more: Partial<NotBefore> = {},
  mode: Mode = 'execute',
): Partial<Step> => ({ retryAt: NOW + 9, deferred: { mode, why, at: NOW - 9, ...more } });
const whyText = (records: readonly Step[], execution: Partial<Execution> = {}, more: More = {}): string =>
  `\n${linesOf(explained(records, { startedAt: NOW - 60_000, ...execution }, { plan: planOf(...records.map(({ name }) => undoableOf(name))), ...more }))}\n`;

describe('why', () => {
  it('of steps at work, or between attempts', () => {
    const records = [
      { ...heldAs('execute', { attempt: 2 }), name: 'held' },
      { ...heldAs('probe', { attempt: 2, heartbeatAt: NOW - 7 }), name: 'asked' },
      record('restart', 'retrying', { ...failed, retryAt: NOW + 5_000 }),
      record('doubtful', 'retrying', acted),
      record('unknown', 'unknown', failed),
      record('person', 'waiting', failed),
      record('doubt', 'waiting', acted),
      record('skipped', 'skipped'),
      record('done', 'done'),
      record('ready', 'ready'),
    ];
    const plan = planOf(
      ...records.map(({ name }) => agentStepOf(name)),
      agentStepOf('new', { after: ['done'] }),
      agentStepOf('later', { after: ['ready', 'done', 'held'] }),
      mapOf('list', { after: ['done'] }),
      agentStepOf('chosen'),
    );
    const incidents = [
      incidentOf({ step: 'person' }),
      incidentOf({
        number: 2,
        step: 'chosen',
        choice: 'skip',
        closedAt: NOW - 5,
        closedBy: 'answer',
        reason: 'so',
      }),
      incidentOf({ number: 3, step: 'skipped', choice: 'retry', closedAt: NOW - 4, closedBy: 'answer' }),
    ];
    const given = [...records, record('chosen', 'skipped')];
    expect(whyText(given, { status: 'waiting' }, { plan, incidents })).toBe(`
waiting → supervisor list +0: executions of a step are started
held running: an agent is working on it (attempt 2), heartbeat 3
  → supervisor held +21000: its agent reports, or renews its lease; if it stays silent, its outcome counts as unknown
asked probing: an agent is working on it (probe of attempt 2), heartbeat 3 at <-1000>
  → supervisor asked +21000: its agent reports, or renews its lease; if it stays silent, its outcome counts as unknown
restart retrying: attempt 2 failed (x: y), and its recovery allows another
  → agent restart +5000: agent 'worker' takes it: attempt 3, from <+5000>; if it has not by <+35000>, its message is sent again
doubtful retrying: attempt 2 failed, and its recovery allows another; an attempt of unknown outcome may have acted
  → agent doubtful +0: agent 'worker' takes it: attempt 3, from <+0>; if it has not by <+30000>, its message is sent again
unknown unknown: the outcome of attempt 2 is not known (x: y): nothing is repeated before it is known
  → agent unknown +0: agent 'worker' takes it: a probe of attempt 2, from <+0>; if it has not by <+30000>, its message is sent again
person waiting: attempt 2 failed (x: y), and a person is asked what to do
  → person person +70000: a person answers incident 1; without an answer 'keep' is chosen
doubt waiting: attempt 2 failed, and a person is asked what to do; an attempt of unknown outcome may have acted
skipped skipped: its condition does not hold
done done: it is done
ready ready: it waits for an agent to take it
  → agent ready +0: agent 'worker' takes it: attempt 3, from <+0>; if it has not by <+30000>, its message is sent again
new ready: it waits for an agent to take it
  → agent new +0: agent 'worker' takes it: attempt 1, from <+0>; if it has not by <+30000>, its message is sent again
later pending: it waits for 'ready', 'held'
list ready: it is to begin
chosen skipped: a person skipped it
-60000: workflow 'flow' was started
-50 person: incident 1: a person was asked
-50 chosen: incident 2: a person was asked
-50 skipped: incident 3: a person was asked
-5 chosen: incident 2: a person chose 'skip' (so)
-4 skipped: incident 3: a person chose 'retry'
`);
  });

  it('of steps that are held back', () => {
    const records = [
      record('breaker', 'retrying', deferred('breaker', { since: NOW - 5 })),
      record('doubtful', 'retrying', { ...failed, ...acted, ...deferred('breaker') }),
      record('unclaimed', 'retrying', deferred('unclaimed')),
      record('gone', 'retrying', { ...failed, ...deferred('not-deployed', { since: NOW - 5 }), stage: 1 }),
      record('probed', 'unknown', { ...failed, ...deferred('unclaimed', {}, 'probe'), stage: 1 }),
      record('sent', 'retrying', { ...deferred('unclaimed'), changedAt: NOW - 10, retryAt: NOW - 5 }),
    ];
    const recovery = [{ ...otherStage, agent: 'gone' }];
    const plan = planOf(...records.map(({ name }) => agentStepOf(name, { recovery })));
    const dispatches = { [`sent/execute/3@${NOW - 10}`]: { count: 1, lastAt: NOW - 5 } };
    expect(whyText(records, { dispatches }, { plan, isDeployed: (agent) => agent !== 'gone' })).toBe(`
running → agent sent -5: agent 'worker' takes it: attempt 3, from <-1000>; if it has not by <+59000>, its message is sent again
breaker retrying: the breaker of agent 'worker' was open at <-1000>, since <-1000>, so it was deferred and no attempt is charged
  → supervisor breaker +9: a supervisor sends it to agent 'worker' unless its breaker is still open: attempt 3
doubtful retrying: the breaker of agent 'worker' was open at <-1000>, since <-1000>, so it was deferred and no attempt is charged; its last attempt ended with x; an attempt of unknown outcome may have acted
  → supervisor doubtful +9: a supervisor sends it to agent 'worker' unless its breaker is still open: attempt 3
unclaimed retrying: no agent 'worker' has taken its message yet, so it is sent again at growing gaps
  → supervisor unclaimed +9: a supervisor sends it to agent 'worker' again: attempt 3
gone retrying: no agent 'gone' was deployed, from <-1000> to <-1000> at least, so it was deferred and no attempt is charged; its last attempt ended with x
  → person gone +9: no agent 'gone' is deployed: deploy it again, and a supervisor sends it attempt 3
probed unknown: no agent 'worker' has taken its message yet, so it is sent again at growing gaps; its last attempt ended with x
  → supervisor probed +9: a supervisor sends it to agent 'worker' again: a probe of attempt 2
sent retrying: no agent 'worker' has taken its message yet, so it is sent again at growing gaps
  → agent sent -5: agent 'worker' takes it: attempt 3, from <-1000>; if it has not by <+59000>, its message is sent again
! no agent 'gone' is deployed, and step 'gone' needs it: deploy it again; what waits for it goes on within a minute
! no agent 'gone' is deployed, and step 'probed' needs it: deploy it again; what waits for it goes on within a minute
-60000: workflow 'flow' was started
`);
  });

  it('of steps that are undone', () => {
    const records = [
      { ...heldAs('undo', { attempt: 2, undoAttempt: 5 }), name: 'held' },
      record('compensated', 'compensated'),
      record('first', 'done'),
      record('second', 'done'),
      record('third', 'done'),
      record('kept', 'done'),
      record('failed', 'failed', { ...failed, ...acted }),
      record('unbegun', 'fenced', { attempt: 0, ...acted }),
      record('begun', 'fenced', acted),
      record('restart', 'compensating', { ...failed, retryAt: NOW + 3 }),
      record('stuck', 'compensation-failed', failed),
      record('silent', 'compensation-failed'),
      record('day', 'compensation-failed', { failure: { code: 'undo-overdue', message: 'for a day' } }),
    ];
    const plan = planOf(
      ...records.map(({ name }) =>
        undoableOf(
          name,
          name === 'kept'
            ? { undo: 'none', after: ['first'] }
            : name === 'second' || name === 'third'
              ? { after: ['first'] }
              : {},
        ),
      ),
      agentStepOf('never'),
    );
    expect(
      whyText(
        records,
        { ...compensating, cause: { ...(compensating.cause as Cause), at: NOW - 9 } },
        { plan },
      ),
    ).toBe(
      `
compensating → supervisor never +0: a step that has not started is closed for good
held compensating: an agent is working on it (undo 5), heartbeat 3
  → supervisor held +21000: its agent reports, or renews its lease; if it stays silent, its outcome counts as unknown
compensated compensated: it is compensated
first done: it is undone after 'second', 'third'
second done: it is done and is to be undone
third done: it is done and is to be undone
kept done: it is done
failed failed: attempt 2 failed (x: y), and its recovery has no attempt left; an attempt of unknown outcome may have acted
unbegun fenced: the execution is being undone, so it will never start
begun fenced: attempt 2 is the last, because the execution is being undone; an attempt of unknown outcome may have acted
restart compensating: undo 3 did not succeed (x: y) and is tried again
stuck compensation-failed: undo 3 failed (x: y), and no further one is allowed: its effect may still be in place
silent compensation-failed: undo 3 failed, and no further one is allowed: its effect may still be in place
day compensation-failed: for a day; a person is asked, and its effect may still be in place
never pending: it was never started
-60000: workflow 'flow' was started
-9: it is being undone because of an operator's cancel: d
`,
    );
  });

  it('of a pause', () => {
    const records = [
      record('due', 'retrying', { ...failed, ...acted }),
      record('doubt', 'unknown'),
      record('asked', 'waiting', { version: 1 }),
      record('failed', 'failed'),
    ];
    const plan = planOf(...records.map(({ name }) => agentStepOf(name)), agentStepOf('new'));
    const before = { number: 1, at: NOW - 50_000, reason: 's', withinMs: 9, endedAt: NOW - 40_000 };
    const pauses = [before, { ...pause, number: 2 }];
    expect(
      whyText(records, { ...paused, pauses }, { plan, incidents: [incidentOf({ step: 'asked' })] }),
    ).toBe(`
paused → person +8991: a person is asked, unless the pause is ended before
due retrying: attempt 2 failed (x: y), and its recovery allows another; an attempt of unknown outcome may have acted, and the execution is paused
doubt unknown: the outcome of attempt 2 is not known: nothing is repeated before it is known, and the execution is paused
asked waiting: attempt 2 failed, and a person is asked what to do
  → person asked: a person answers incident 1; its deadline stands still during the pause
failed failed: attempt 2 failed, and its recovery has no attempt left; what follows is decided after the pause
new ready: it has not begun, and the execution is paused
-60000: workflow 'flow' was started
-50000: a person paused it: s
-40000: the pause ended
-50 asked: incident 1: a person was asked
-9: a person paused it: r; a person is asked at <+8000>
`);
  });

  it('of a failure beside a point of no return whose outcome is open', () => {
    const plan = planOf(step, agentStepOf('point', { pointOfNoReturn: true }));
    const records = [record('it', 'failed'), recordOf('point', 'unknown', acted)];
    expect(whyText(records, {}, { plan })).toBe(`
running → agent point +0: agent 'worker' takes it: a probe of attempt 0, from <+0>; if it has not by <+30000>, its message is sent again
it failed: attempt 2 failed, and its recovery has no attempt left; what follows is decided when the outcome of 'point', a point of no return, is known
point unknown: the outcome of attempt 0 is not known: nothing is repeated before it is known
  → agent point +0: agent 'worker' takes it: a probe of attempt 0, from <+0>; if it has not by <+30000>, its message is sent again
-60000: workflow 'flow' was started
`);
    expect(whyText(records, compensating, { plan })).not.toContain('what follows');
  });

  it('of what has happened', () => {
    const attempt = (endedAt: number, more: Partial<Attempt>): Attempt => ({
      number: 2,
      mode: 'execute',
      claimedAt: NOW + endedAt - 5_000,
      endedAt: NOW + endedAt,
      outcome: 'done',
      ...more,
    });
    const given: Partial<Attempt>[] = [
      { outcome: 'failed', failure },
      { outcome: 'unknown' },
      { mode: 'probe', outcome: 'still-running' },
      { mode: 'probe', outcome: 'cannot-tell' },
      { mode: 'probe', outcome: 'not-done' },
      { variant: 1 },
      { variant: 2, outcome: 'failed' },
      { given: true, mode: 'probe' },
      { mode: 'undo', outcome: 'compensated' },
    ];
    const recovery = [...step.recovery, otherStage];
    const attempts = given.map((more, at) => attempt(100 * at, more));
    const cause: Cause = { kind: 'failure', at: NOW + 1_000, failure };
    const incidents: Incident[] = [
      incidentOf({ closedAt: NOW + 2_000, choice: 'skip', closedBy: 'answer', reason: 'so' }),
      incidentOf({ number: 2, closedAt: NOW + 2_001, closedBy: 'deadline', choice: 'keep' }),
      incidentOf({
        number: 3,
        kind: 'pause',
        step: undefined as never,
        closedAt: NOW + 2_002,
        closedBy: 'moot',
      }),
    ];
    const ended: Partial<Execution> = {
      status: 'canceled',
      cause: { ...cause, step: 'it', at: NOW + 9_000 },
      endedAt: NOW + 9_001,
      pauses: [{ ...pause, endedAt: NOW - 3 }],
      retries: [
        { at: NOW + 3_000, reason: 'r' },
        { at: NOW + 3_001, reason: 's', cause },
        { at: NOW + 3_002, reason: 't', cause: { ...cause, step: 'it' } },
      ],
    };
    expect(
      whyText([record('it', 'compensated', { attempts })], ended, {
        plan: planOf({ ...step, recovery }),
        incidents,
      }),
    ).toBe(`
canceled → supervisor +0: its end is announced
it compensated: it is compensated
-60000: workflow 'flow' was started
-50 it: incident 1: a person was asked
-50 it: incident 2: a person was asked
-50: incident 3: a person was asked
-9: a person paused it: r
-3: the pause ended
+0 it: attempt 2, 5 s: failed: y
+100 it: attempt 2, 5 s: ended with an unknown outcome
+200 it: probe of attempt 2, 5 s: found it under way
+300 it: probe of attempt 2, 5 s: could not tell
+400 it: probe of attempt 2, 5 s: found that it was not done
+500 it: attempt 2 (variant 2, with other input), 5 s: done
+600 it: attempt 2 (variant 3, by agent 'other', with other input), 5 s: failed
+700 it: probe of attempt 2 (with an input that a person gave), 5 s: found it done
+800 it: undo 2, 5 s: undid it
+2000 it: incident 1: a person chose 'skip' (so)
+2001 it: incident 2: nobody answered in time, so it was 'keep'
+2002: incident 3: it needed no answer any more
+3000: a person retried it: r
+3001: a person retried it: s; it had failed because of y
+3002: a person retried it: t; it had failed because of step 'it': y
+9000: it is being undone because of the failure of step 'it'
+9001: it ended: canceled
`);
  });

  it('is total and pure for any state (S14)', () => {
    check(
      fc.property(cases, ({ plan: any, state }) => {
        const first = explain(any, state, NOW);
        expect(first.steps).toHaveLength(any.steps.length);
        expect(explain(any, state, NOW)).toEqual(first);
      }),
      400,
    );
  });
});
