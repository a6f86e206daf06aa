/** The words of the past: every attempt, question, pause, retry and end, in the order in which they were. */

import type { Incident } from '../../../lib/core/records/incident.ts';
import type { Attempt, Cause, Execution, Step } from '../../../lib/core/records/state.ts';
import { recordOf } from '../one-step.ts';
import { NOW } from '../states.ts';
import { explained, incidentOf, isoOf } from '../words.ts';

const past = (
  records: readonly Step[],
  execution: Partial<Execution> = {},
  incidents: readonly Incident[] = [],
) => explained(records, execution, { incidents }).past;
const started = {
  at: NOW,
  what: "workflow 'flow' was started",
  evidence: { plan: 'p', deadlineAt: NOW + 3_600_000 },
};
const failure = { code: 'x', message: 'y' };

it('begins with the start', () => {
  expect(past([])).toEqual([started]);
});

describe('an attempt', () => {
  const attempt = (more: Partial<Attempt>): Attempt => ({
    number: 2,
    mode: 'execute',
    claimedAt: NOW + 1_000,
    endedAt: NOW + 6_000,
    outcome: 'done',
    ...more,
  });
  it.each<[Partial<Attempt>, string]>([
    [{}, 'attempt 2, 5s: done'],
    [{ outcome: 'failed', failure }, 'attempt 2, 5s: failed: y'],
    [{ outcome: 'unknown' }, 'attempt 2, 5s: ended with an unknown outcome'],
    [{ mode: 'probe' }, 'probe of attempt 2, 5s: found it done'],
    [{ mode: 'probe', outcome: 'not-done' }, 'probe of attempt 2, 5s: found that it was not done'],
    [{ mode: 'probe', outcome: 'still-running' }, 'probe of attempt 2, 5s: found it under way'],
    [{ mode: 'probe', outcome: 'cannot-tell' }, 'probe of attempt 2, 5s: could not tell'],
    [{ mode: 'undo', outcome: 'undone' }, 'undo 2, 5s: undid it'],
  ])('%j is told when it has ended', (more, what) => {
    const one = attempt(more);
    expect(past([recordOf('it', 'done', { attempts: [one] })])).toEqual([
      started,
      { at: NOW + 6_000, what, step: 'it', evidence: { ...one } },
    ]);
  });
});

describe('a question', () => {
  const asked = { at: NOW - 50, what: 'incident 1: a person was asked', step: 'it', evidence: failure };
  it('is told when it was asked, and when it was answered', () => {
    expect(past([], {}, [incidentOf()])).toEqual([asked, started]);
    expect(
      past([], {}, [incidentOf({ resolvedAt: NOW - 5, choice: 'skip', by: 'person', reason: 'so' })]),
    ).toEqual([
      asked,
      {
        at: NOW - 5,
        what: "incident 1: a person chose 'skip' (so)",
        step: 'it',
        evidence: { by: 'person', choice: 'skip' },
      },
      started,
    ]);
  });
  it('may have answered itself, or need no answer', () => {
    const answered = (more: Partial<Incident>) =>
      past([], {}, [incidentOf({ resolvedAt: NOW - 5, ...more })])[1];
    expect(answered({ by: 'deadline', choice: 'fail' })).toMatchObject({
      what: "incident 1: nobody answered in time, so it was 'fail'",
    });
    expect(answered({ by: 'moot' })).toMatchObject({
      what: 'incident 1: it needed no answer any more',
      evidence: { by: 'moot' },
    });
    expect(answered({ by: 'moot' })?.evidence).not.toHaveProperty('choice');
    expect(answered({})).toEqual(started);
  });
  it('may be about no step', () => {
    const { step: _, ...about } = incidentOf({ kind: 'pause', resolvedAt: NOW - 5, by: 'moot' });
    for (const one of past([], {}, [about])) expect(one).not.toHaveProperty('step');
  });
});

describe('a pause', () => {
  const pause = { number: 3, at: NOW + 1, reason: 'r', withinMs: 9 };
  const told = (at: number, what: string) => ({ at, what, evidence: { pause: 3 } });
  it('is told when it was begun, complete and ended', () => {
    const whole = { ...pause, pausedAt: NOW + 2, deadlineAt: NOW + 11, endedAt: NOW + 4 };
    expect(past([], { pauses: [whole] })).toEqual([
      started,
      told(NOW + 1, 'a person paused it: r'),
      told(
        NOW + 2,
        `the pause was complete: nobody worked any more; a person is asked at ${isoOf(NOW + 11)}`,
      ),
      told(NOW + 4, 'the pause ended'),
    ]);
    expect(past([], { pauses: [{ ...pause, pausedAt: NOW + 2 }] })).toEqual([
      started,
      told(NOW + 1, 'a person paused it: r'),
      told(NOW + 2, 'the pause was complete: nobody worked any more'),
    ]);
    expect(past([], { pauses: [pause] })).toHaveLength(2);
  });
});

it('a retry is told with why it had failed', () => {
  const cause: Cause = { kind: 'failure', at: NOW, failure };
  const retries = [
    { at: NOW + 1, reason: 'r' },
    { at: NOW + 2, reason: 's', cause },
    { at: NOW + 3, reason: 't', cause: { ...cause, step: 'it' } },
  ];
  expect(past([], { retries })).toEqual([
    started,
    { at: NOW + 1, what: 'a person had it tried again: r', evidence: {} },
    { at: NOW + 2, what: 'a person had it tried again: s; it had failed because of y', evidence: failure },
    {
      at: NOW + 3,
      what: "a person had it tried again: t; it had failed because of step 'it': y",
      evidence: failure,
    },
  ]);
});

it.each<[Cause['kind'], Partial<Cause>, string]>([
  ['failure', { step: 'it' }, "it is being undone because of the failure of step 'it'"],
  ['cancel', {}, "it is being undone because of an operator's cancel"],
  ['deadline', { undo: false }, 'it is ended as it is because of the deadline'],
  ['parent', {}, 'it is being undone because of the end of the execution that it is a part of'],
])('why it was stopped: %s', (kind, more, what) => {
  const cause: Cause = { kind, at: NOW + 1, failure, ...more };
  expect(past([], { status: 'undoing', cause })).toEqual([started, { at: NOW + 1, what, evidence: failure }]);
});

it('the end is the last', () => {
  const cause: Cause = { kind: 'cancel', at: NOW + 1, failure };
  expect(past([], { status: 'canceled', cause, endedAt: NOW + 2 }).slice(1)).toEqual([
    expect.objectContaining({ at: NOW + 1 }),
    { at: NOW + 2, what: 'it ended: canceled', evidence: { status: 'canceled' } },
  ]);
});
