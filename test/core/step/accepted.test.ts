/**
 * Accepted work: the writes of its answer, of each probe and at its deadline; how long it may act (S6, S10).
 */

import { decide } from '../../../lib/core/decide.ts';
import type { AgentStep, Plan } from '../../../lib/core/plan/plan.ts';
import type { Report } from '../../../lib/core/decisions/events.ts';
import type { Accepted, LeasedStep, Step } from '../../../lib/core/records/state.ts';
import { effectOf } from '../../../lib/core/step/effect.ts';
import { dependentsClearAt, openWork } from '../../../lib/core/step/ready.ts';
import { reported } from '../../../lib/core/step/report.ts';
import { inputs, otherStage, planOf, probed, recordOf, stateOf, heldAs } from '../one-step.ts';
import { NOW } from '../states.ts';

const HOUR = 3_600_000;
const retry = { kind: 'retry', attempts: 2, firstMs: 2_000, maxMs: 60_000 } as const;
const taking: AgentStep = { ...probed, acceptsMs: 2 * HOUR, undo: retry, recovery: [retry] };
const keeping: AgentStep = { ...taking, undo: 'none' };
const stalling: AgentStep = { ...taking, maxNoProgressMs: 600_000 };
const none: AgentStep = { ...taking, effect: 'none', undo: 'none' };

const work = (more: Partial<Accepted> = {}): Accepted => ({
  token: 'job-1',
  at: NOW - HOUR,
  untilAt: NOW + HOUR,
  askFrom: NOW - HOUR + 30_000,
  everyMs: 30_000,
  seq: 6,
  asked: 3,
  ...more,
});
const probing = (accepted: Partial<Accepted> = {}, more: Partial<Step> = {}): LeasedStep =>
  heldAs('probe', { processDeadlineAt: 0, mayHaveActed: true, accepted: work(accepted), ...more });
const OVER = { untilAt: NOW - 20_000 };

const said = (given: object): Report => ({ codeReturned: true, ...given }) as Report;
const found = (verdict: string, more: object = {}): Report => said({ kind: 'found', verdict, ...more });
const ACCEPTED = said({ kind: 'accepted', token: 'job-1', withinMs: 2 * HOUR, askAfterMs: 20_000 });
const UNSURE = found('cannot-tell', { failure: { code: 'cannot-tell', message: 'status 501' } });

const after = (record: Step, report: Report, of: AgentStep = taking, more: object = {}): Step | undefined =>
  reported(of, record, { token: 't', report, ...inputs, ...more });

describe('an accepted answer', () => {
  it('ends the attempt, which may have acted, and says when to ask', () => {
    const next = after(heldAs('execute'), ACCEPTED);
    expect(next).toMatchObject({ status: 'accepted', mayHaveActed: true, retryAt: NOW + 20_000 });
    expect(next?.accepted).toEqual({
      token: 'job-1',
      at: NOW,
      // Two hours from now, and the 4 s by which clocks may differ.
      untilAt: NOW + 2 * HOUR + 4_000,
      askFrom: NOW + 20_000,
      everyMs: 20_000,
      seq: 8,
      asked: 0,
    });
    expect(next?.leaseUntil).toBeUndefined();
    expect(next?.attempts.at(-1)?.outcome).toBe('accepted');
  });

  it.each([
    ['of a plan without it for as long as its agent says', undefined, 2 * HOUR],
    ['of a plan that says so for as long as that', HOUR, HOUR],
  ])('%s', (_, acceptsMs, ms) => {
    const { acceptsMs: _accepts, ...rest } = taking;
    const of = acceptsMs === undefined ? rest : { ...rest, acceptsMs };
    expect(after(heldAs('execute'), ACCEPTED, of)?.accepted?.untilAt).toBe(NOW + ms + 4_000);
  });

  it.each([
    [1_000, 5_000],
    [2 * HOUR, HOUR],
  ])('is asked for after 5 s to 1 h, whatever its service wishes (%d)', (askAfterMs, ms) => {
    expect(after(heldAs('execute'), said({ ...ACCEPTED, askAfterMs }))?.retryAt).toBe(NOW + ms);
  });

  it('is asked for no later than its step or its execution has time', () => {
    const overAt = NOW + 9_000;
    expect(after(heldAs('execute'), ACCEPTED, taking, { overAt })?.retryAt).toBe(overAt);
  });
});

describe('a late accepted answer', () => {
  const lost = (status: Step['status'], more: Partial<Step> = {}): Step =>
    recordOf('it', status, { token: 't', mode: 'execute', mayHaveActed: true, ...more });

  it.each(['unknown', 'retrying', 'waiting'] as const)('is adopted where a late success is: %s', (status) => {
    expect(after(lost(status), ACCEPTED)).toMatchObject({ status: 'accepted', accepted: { asked: 0 } });
  });

  it('ends the probe that asks about it', () => {
    const asking = heldAs('probe', { token: 'p', actedToken: 't' });
    const next = after(asking, ACCEPTED);
    expect(next).toMatchObject({ status: 'accepted' });
    expect(next?.leaseUntil).toBeUndefined();
  });

  it.each(['fenced', 'compensated', 'done', 'failed'] as const)('is refused where it is %s', (status) => {
    expect(after(lost(status), ACCEPTED)).toBeUndefined();
  });

  it('that is known already changes nothing, however often it is repeated', () => {
    expect(after(probing({}, { token: 'p', actedToken: 't' }), ACCEPTED)).toBeUndefined();
    expect(after(lost('waiting', { accepted: work() }), ACCEPTED)).toBeUndefined();
    expect(after(lost('accepted', { accepted: work() }), ACCEPTED)).toBeUndefined();
  });

  it('names what a probe has found under way: its undo gets the token', () => {
    const { token: _token, ...unnamed } = work();
    const record = lost('accepted', { token: 'p', actedToken: 't', mode: 'probe', accepted: unnamed });
    expect(after(record, ACCEPTED)).toMatchObject({ status: 'accepted', accepted: { token: 'job-1' } });
    const { token: _again, ...without } = ACCEPTED as { token?: string };
    expect(after(record, without as Report)).toBeUndefined();
  });

  it('does not mention work that a probe has found done with a wrong answer', () => {
    expect(after(lost('waiting', { wrongAnswer: '5' }), ACCEPTED)).toBeUndefined();
  });
});

it('P7 a late success counts while the work is accepted: a probe has found it under way', () => {
  const known = { token: 'p', actedToken: 't', mode: 'probe', mayHaveActed: true, accepted: work() } as const;
  const next = after(recordOf('it', 'accepted', known), said({ kind: 'done', output: 5 }));
  expect(next).toMatchObject({ status: 'done', output: 5 });
  expect(next?.accepted).toBeUndefined();
});

describe('a probe of accepted work', () => {
  it('that finds it under way does not count as an attempt, and grows the pause', () => {
    const record = probing();
    const next = after(record, found('running', { progress: 0.5 }));
    expect(next).toMatchObject({
      status: 'accepted',
      attempt: record.attempt,
      attempts: record.attempts,
      retryAt: NOW + 360_000,
      accepted: { asked: 4, progress: 0.5, progressAt: NOW, seq: 8 },
    });
  });

  it('comes again when its service wishes, and its time goes on from its acceptance', () => {
    const next = after(probing(), found('running', { askAfterMs: 7_000 }));
    expect(next).toMatchObject({ retryAt: NOW + 7_000, accepted: { at: NOW - HOUR, untilAt: NOW + HOUR } });
  });

  it('of a step that began again asks with the token that was given, and its time begins then', () => {
    const next = after(probing({}, { restarted: true }), found('running'));
    expect(next?.accepted).toMatchObject({ token: 'job-1', at: NOW, untilAt: NOW + 2 * HOUR + 4_000 });
  });

  it('comes once more at the end of its time', () => {
    expect(after(probing({ untilAt: NOW + 8_000 }), found('running'))?.retryAt).toBe(NOW + 8_000);
  });

  it('that cannot tell is repeated, however often, until the time is over', () => {
    expect(after(probing({}, { probes: 400 }), UNSURE)).toMatchObject({ status: 'accepted', probes: 401 });
  });

  it('that is lost is repeated', () => {
    const gone = said({ kind: 'unknown', failure: { code: 'lease-ended', message: '' } });
    expect(after(probing(), gone)).toMatchObject({ status: 'accepted', failure: { code: 'lease-ended' } });
  });

  it('believes that it will never be done only when it was asked late enough', () => {
    expect(after(probing(), found('not-done'))).toMatchObject({ status: 'retrying', mayHaveActed: false });
    expect(after(probing(), found('not-done'))?.accepted).toBeUndefined();
    const early = after(probing({ askFrom: NOW + 3_000 }), found('not-done'));
    expect(early).toMatchObject({ status: 'accepted', mayHaveActed: true, retryAt: NOW + 3_000 });
    const unsettled = probing({}, { processDeadlineAt: NOW - 11_000 });
    expect(after(unsettled, found('not-done'))).toMatchObject({ status: 'accepted', retryAt: NOW });
  });

  it('that finds it done has its output', () => {
    const next = after(probing(), found('done', { output: 5 }));
    expect(next).toMatchObject({ status: 'done', output: 5 });
    expect(next?.accepted).toBeUndefined();
  });

  it('with an unknown outcome finds that the service works on it: then it is accepted', () => {
    const lost = heldAs('probe', { mayHaveActed: true });
    expect(after(lost, found('running'))).toMatchObject({
      status: 'accepted',
      accepted: { at: NOW, untilAt: NOW + 2 * HOUR + 4_000 },
    });
    expect(after(lost, found('running'), probed)).toMatchObject({ status: 'unknown' });
  });
});

describe('after its time', () => {
  const RUNNING = found('running', { progress: 1 });

  it.each(['probed', 'idempotent'] as const)(
    'it is undone before the next stage, be it the same again: %s',
    (effect) => {
      const next = after(probing(OVER), RUNNING, { ...taking, effect });
      expect(next).toMatchObject({ status: 'failed', nextStage: 1, mayHaveActed: true });
      expect(next?.failure?.code).toBe('accepted-timeout');
      expect(next?.accepted?.token).toBe('job-1');
    },
  );

  it('it fails where nothing is left to try', () => {
    const next = after(probing(OVER, { stage: 1, stageAttempt: 2 }), RUNNING);
    expect(next).toMatchObject({ status: 'failed', mayHaveActed: true });
    expect(next?.nextStage).toBeUndefined();
  });

  it.each([
    ['repeated under its key where its service knows that', { ...keeping, effect: 'idempotent' }, 'retrying'],
    ['left where it has no lasting effect', none, 'retrying'],
    ['given up where it can be neither', keeping, 'waiting'],
    [
      'given up where what follows changes something',
      { ...keeping, effect: 'idempotent', recovery: [otherStage] },
      'waiting',
    ],
  ] as const)('without an undo it is %s', (_, of, status) => {
    expect(after(probing(OVER), RUNNING, of as AgentStep)?.status).toBe(status);
  });

  it('a question that was asked before says nothing', () => {
    const early = after(probing({ untilAt: NOW - 5_000 }), RUNNING);
    expect(early).toMatchObject({ status: 'accepted', retryAt: NOW });
  });

  it('the twentieth probe that cannot tell is the last', () => {
    expect(after(probing(OVER, { probes: 18 }), UNSURE)).toMatchObject({ status: 'accepted', probes: 19 });
    expect(after(probing(OVER, { probes: 19 }), UNSURE)?.status).toBe('failed');
  });

  it('it failed for the time of its step if that is over', () => {
    expect(after(probing(), RUNNING, taking, { isOverTime: true })).toMatchObject({
      status: 'failed',
      isOverTime: true,
      failure: { code: 'within' },
    });
  });

  it('and is asked once more where the question was asked before that', () => {
    const { claimedAt = 0 } = probing();
    const early = { isOverTime: true, overAt: claimedAt + 1 };
    expect(after(probing(), RUNNING, taking, early)).toMatchObject({ status: 'accepted', retryAt: NOW });
    const late = { isOverTime: true, overAt: claimedAt };
    expect(after(probing(), RUNNING, taking, late)?.failure).toMatchObject({ code: 'within' });
  });

  it('without progress it counts as over after progressWithin', () => {
    const still = { progress: 0.5, progressAt: NOW - 700_000 };
    const next = after(probing(still), found('running', { progress: 0.5 }), stalling);
    expect(next).toMatchObject({ status: 'failed', failure: { code: 'no-progress' }, nextStage: 1 });
    expect(after(probing(still), found('running', { progress: 0.6 }), stalling)?.status).toBe('accepted');
  });
});

describe('accepted work acts', () => {
  const accepted = recordOf('it', 'accepted', { mayHaveActed: true, accepted: work() });

  it.each([
    ['until its time is over', taking, accepted, NOW + HOUR],
    [
      'as long after an attempt that was lost, which may have been accepted',
      taking,
      recordOf('it', 'unknown', { mayHaveActed: true, processDeadlineAt: NOW }),
      NOW + 5_000 + 2 * HOUR,
    ],
    ['no more once it is done', taking, { ...accepted, status: 'done' }, 0],
    ['not at all without an effect', none, accepted, 0],
    ['not if its agent accepts nothing', probed, recordOf('it', 'unknown', { mayHaveActed: true }), 0],
  ] as const)('%s', (_, of, record, at) => {
    const { actsUntil, attemptsUntil } = effectOf(of, record as Step);
    expect(actsUntil > attemptsUntil ? actsUntil : 0).toBe(at);
  });

  const before = { ...probed, name: 'first', undo: retry };
  const plan = (of: AgentStep): Plan => planOf(before, { ...of, name: 'it', after: ['first'] });
  const stopped = (of: AgentStep, record: Step, undo?: false) => {
    const cause = { kind: 'cancel', at: NOW, failure: { code: 'x', message: 'y' } } as const;
    const state = stateOf([recordOf('first', 'done'), record], {
      status: 'compensating',
      cause: undo === false ? { ...cause, undo } : cause,
    });
    return { work: openWork(plan(of), state).map(({ step, mode }) => `${mode} ${step.name}`), state };
  };

  it('so a stop calls its undo, at once, and nothing before it is undone', () => {
    expect(stopped(taking, accepted).work).toEqual(['undo it']);
    const [piece] = openWork(plan(taking), stopped(taking, accepted).state);
    expect(piece?.dueAt).toBeLessThan(NOW + HOUR);
  });

  it('so what cannot be stopped is asked for on the way back, and is not fenced', () => {
    expect(stopped(keeping, accepted).work).toEqual(['probe it']);
    const { state } = stopped(keeping, accepted);
    expect(dependentsClearAt(plan(keeping), before, state)).toBeUndefined();
    const fencing = decide(plan(keeping), state, {
      type: 'evaluate',
      by: 'agent',
      affected: 'all',
      fresh: true,
      readAt: NOW,
      ...inputs,
    });
    expect(fencing.write).toBeUndefined();
    expect(fencing.sends.map(({ message }) => message.mode)).toEqual(['probe']);
  });

  it('until then also where its undo has failed, or it was given up', () => {
    const failed = recordOf('it', 'fenced', { mayHaveActed: true, accepted: work() });
    expect(effectOf({ ...keeping, name: 'it' }, failed).actsUntil).toBe(NOW + HOUR);
    expect(dependentsClearAt(plan(keeping), before, stopped(keeping, failed).state)).toBe(NOW + HOUR);
  });

  it('and is let go some minutes after its time, if nobody could ask', () => {
    const { state } = stopped(keeping, { ...accepted, accepted: work({ untilAt: NOW - 600_000 }) });
    const decision = decide(plan(keeping), state, {
      type: 'evaluate',
      by: 'supervisor',
      affected: 'all',
      fresh: true,
      readAt: NOW,
      ...inputs,
    });
    expect(decision.write?.step).toMatchObject({ name: 'it', status: 'fenced' });
  });
});

describe('a message of an earlier probe', () => {
  const accepted = recordOf('it', 'accepted', {
    version: 9,
    attempt: 1,
    mayHaveActed: true,
    retryAt: NOW,
    accepted: work({ seq: 9 }),
  });
  const delivered = (seq: number) =>
    decide(planOf({ ...taking, name: 'it' }), stateOf([accepted]), {
      type: 'deliver',
      agent: taking.agent,
      message: { v: 1, execution: 'e-1', step: 'it', attempt: 1, mode: 'probe', seq },
      token: 'n',
      processDeadlineAt: NOW + 60_000,
      readAt: NOW,
      ...inputs,
    });

  it('is dropped, so a repeated one begins no second chain of probes', () => {
    expect(delivered(9).write?.step?.status).toBe('probing');
    expect(delivered(8).write).toBeUndefined();
    expect(delivered(8).notes[0]?.detail).toBe('of an earlier probe');
  });
});
