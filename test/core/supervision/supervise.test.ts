/** Which messages a supervisor sends again, and which it defers, and until when (S12, S16). */

import { evaluate as supervise } from '../../../lib/core/evaluate.ts';
import { supervise as turnOf } from '../../../lib/core/supervision/dispatch.ts';
import type { Decision } from '../../../lib/core/decisions/decision.ts';
import type { Plan } from '../../../lib/core/plan/plan.ts';
import type { NotBefore, Execution, Step } from '../../../lib/core/records/state.ts';
import { firstMessage as message, evaluate, type Evaluation, named } from '../evaluations.ts';
import { noticeRisk } from '../../../lib/core/supervision/notice-risk.ts';
import { planOf, recordOf, stateOf, step as tried } from '../one-step.ts';
import { NOW } from '../states.ts';
import { RULES } from '../../../lib/core/rules.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';

const deferredFor = (why: NotBefore['why']): NotBefore => ({ mode: 'execute', why, at: NOW - 5 });
const retrying = (name: string, more: Partial<Step> = {}): Step =>
  recordOf(name, 'retrying', { attempt: 1, changedAt: NOW - 10, ...more });

describe('a supervisor', () => {
  const one = planOf(named('b'));
  const supervised = (
    records: readonly Step[],
    on: Partial<Execution> = {},
    more: Partial<Evaluation> = {},
    of: Plan = one,
  ) => supervise(of, stateOf(records, { wakeAt: NOW, ...on }), evaluate('supervisor', more));
  const watched = (decision: Decision) => decision.write?.execution;
  const KEY = `b/execute/1@${NOW}`;
  const silent = { startedAt: NOW - 30_000 };
  const LATE_KEY = `b/execute/1@${NOW - 30_000}`;

  it('has nothing to do before the wake time of an execution that nothing concerns', () => {
    const nothing = { sends: [], next: { kind: 'idle' }, notes: [] };
    const fresh = { wakeAt: NOW + 1 };
    expect(supervised([], fresh, { affected: [] })).toEqual(nothing);
    expect(watched(supervised([], fresh, { affected: ['b'] }))).toBeDefined();
    expect(watched(supervised([], fresh))).toBeDefined();
    expect(watched(supervised([], { wakeAt: NOW }, { affected: [] }))).toBeDefined();
    const { wakeAt: _, ...unwatched } = stateOf([], { wakeAt: NOW }).execution;
    expect(
      watched(supervise(one, { execution: unwatched, steps: {} }, evaluate('supervisor', { affected: [] }))),
    ).toBeDefined();
  });

  it('sends work that follows for the first time, which is not a repetition', () => {
    const state = stateOf([], { wakeAt: NOW });
    expect(supervise(one, state, evaluate('supervisor', { affected: ['b'] }))).toStrictEqual({
      write: {
        executionId: 'e-1',
        execution: { ...state.execution, version: 2, writeId: 'w-new', wakeAt: NOW + 30_000 },
      },
      sends: [{ agent: 'worker', message: { ...message, step: 'b' }, delayMs: 0 }],
      next: { kind: 'idle' },
      notes: [
        { what: 'sent', executionId: 'e-1', step: 'b', attempt: 1, detail: 'execute', agent: 'worker' },
      ],
      wakeTime: 'as-written',
    });
  });

  it('repeats what nobody took for a pickup time, and counts that', () => {
    const at = { count: 1, lastAt: NOW };
    const first = supervised([], silent, { affected: [] });
    expect(watched(first)).toMatchObject({
      dispatches: { [LATE_KEY]: at },
      wakeAt: NOW + 30_000,
    });
    expect(first.notes).toEqual([
      { what: 'dispatched', executionId: 'e-1', step: 'b', attempt: 1, detail: 'execute', agent: 'worker' },
    ]);
    const known = {
      dispatches: { [LATE_KEY]: { count: 3, lastAt: NOW - 240_000 } },
      startedAt: NOW - 30_000,
    };
    const again = supervised([], known, { affected: [] });
    expect(watched(again)?.dispatches).toEqual({ [LATE_KEY]: { count: 4, lastAt: NOW } });
    const early = { startedAt: NOW - 29_999 };
    expect(supervised([], early, { affected: [] }).sends).toEqual([]);
  });

  it('does not send again what it has sent and what is not overdue', () => {
    const known = { [KEY]: { count: 1, lastAt: NOW - 1 } };
    const decision = supervised([], { dispatches: { ...known, 'b/execute/0@1': { count: 3, lastAt: 1 } } });
    expect(decision.sends).toEqual([]);
    // Dispatches of work that is no longer open are removed.
    expect(watched(decision)).toMatchObject({ dispatches: known });
  });

  it('does not send what is held back, and sends it when its time has come', () => {
    const held = (retryAt: number) =>
      supervised([retrying('b', { retryAt, deferred: deferredFor('breaker') })]);
    expect(held(NOW + 1).sends).toEqual([]);
    expect(watched(held(NOW + 1))).toMatchObject({ wakeAt: NOW + 1 });
    expect(held(NOW).notes).toMatchObject([{ what: 'dispatched', attempt: 2 }]);
  });

  describe('where nobody takes a message and the next is far', () => {
    // H is the lease of one second, while the first gap between two dispatches is thirty seconds.
    const short = planOf(named('b', { leaseMs: 1_000 }));
    const unclaimed = (lastAt: number, more: { plan?: Plan; count?: number } = {}) =>
      supervised([], { dispatches: { [KEY]: { count: more.count ?? 1, lastAt } } }, {}, more.plan ?? short);
    it('holds it back until then', () => {
      const { write, notes } = unclaimed(NOW - 30_000);
      expect(write?.step).toMatchObject({
        retryAt: NOW + 30_000,
        deferred: { mode: 'execute', why: 'unclaimed', at: NOW },
      });
      expect(notes).toMatchObject([{ what: 'deferred', detail: 'unclaimed', ms: 30_000 }]);
    });
    it('gives it a pickup time first', () => {
      expect(unclaimed(NOW - 29_999).write?.step).toBeUndefined();
    });
    it('evaluates meanwhile if that costs no more than four evaluations', () => {
      const at = (leaseMs: number) =>
        unclaimed(NOW - 30_000, { plan: planOf(named('b', { leaseMs })) }).write?.step;
      expect(at(15_000)).toBeUndefined();
      expect(at(14_999)).toBeDefined();
    });
    it('holds nothing back that it did not send, or not since it was held back', () => {
      expect(supervised([], {}, {}, short).write?.step).toBeUndefined();
      const deferred = retrying('b', { retryAt: NOW + 5, deferred: deferredFor('unclaimed') });
      const dispatches = { [`b/execute/2@${NOW - 10}`]: { count: 1, lastAt: NOW - 30_000 } };
      expect(supervised([deferred], { dispatches }, {}, short).write?.step).toBeUndefined();
    });
    it('reads the state first where it was not just read', () => {
      const dispatches = { [KEY]: { count: 1, lastAt: NOW - 30_000 } };
      expect(supervised([], { dispatches }, { fresh: false, affected: ['b'] }, short)).toEqual({
        sends: [],
        next: { kind: 'evaluate', fresh: true, affected: ['b'] },
        notes: [],
      });
    });
  });
});

describe('what is meant for an agent that is not deployed', () => {
  const two = planOf(named('b'), named('c', { agent: 'gone' }));
  const admissions = {
    worker: { sends: 1, notBefore: { why: 'unclaimed', at: 0 } },
    gone: { sends: 0, notBefore: { why: 'not-deployed', at: NOW + 40_000 } },
  };
  const supervised = (records: readonly Step[] = []) =>
    supervise(
      two,
      stateOf(records, { wakeAt: NOW, startedAt: NOW - 30_000 }),
      evaluate('supervisor', { admissions: admissions as never }),
    );
  it('is held back until it is asked for again, and nothing else with it', () => {
    const { write, sends, next, notes } = supervised();
    expect(write?.execution).toBeUndefined();
    expect(write?.step).toMatchObject({
      name: 'c',
      attempt: 0,
      retryAt: NOW + 40_000,
      deferred: { mode: 'execute', why: 'not-deployed', at: NOW, since: NOW },
    });
    expect([sends, next]).toEqual([[], { kind: 'evaluate', fresh: true, affected: 'all' }]);
    expect(notes).toMatchObject([{ what: 'deferred', detail: 'not-deployed', agent: 'gone', ms: 40_000 }]);
  });

  it('is asked for when it is due, and not before', () => {
    const waits = recordOf('c', 'retrying', { attempt: 1, changedAt: NOW, retryAt: NOW + 5_000 });
    const { write, sends } = supervised([waits]);
    expect(write?.step).toBeUndefined();
    expect(sends.map(({ agent }) => agent)).toEqual(['worker']);
    expect(write?.execution?.wakeAt).toBeLessThanOrEqual(NOW + 35_000);
  });
});

it('the end of a lease that could not be renewed waits for its grace', () => {
  const held = recordOf('b', 'running', {
    token: 't',
    mode: 'execute',
    leaseUntil: NOW - 20_000,
    claimedAt: NOW - 50_000,
    processDeadlineAt: NOW + 50_000,
  });
  const state = stateOf([held], { wakeAt: NOW });
  const at = (more: Partial<Evaluation>) =>
    turnOf(planOf(named('b')), state, evaluate('supervisor', { affected: [], ...more }), RULES.running).write
      ?.execution?.wakeAt;
  expect(at({})).toBe(NOW - 19_000);
  expect(at({ graceFrom: NOW - 15_000 })).toBe(NOW + 16_000);
});

describe('risk is noticed in a write that is made anyway', () => {
  const plan = planOf({ ...tried, name: 'b' });
  const oneStage = planOf({ ...tried, name: 'b', recovery: tried.recovery.slice(0, 1) });
  const noticed = (record: Step | undefined, execution: Partial<Execution> = {}, of: Plan = plan) => {
    const state = stateOf(record === undefined ? [] : [record], execution);
    const write = { executionId: 'e-1', execution: { ...state.execution, version: 2 } };
    return noticeRisk(of, state, NOW, { write, sends: [], next: { kind: 'idle' }, notes: [] }).write
      ?.execution?.riskSince;
  };

  it.each([
    ['nothing is wrong', undefined, plan, undefined],
    ['it is tried for the first time', retrying('b', { stage: 0 }), plan, undefined],
    ['it is on a stage before the last', retrying('b', { stage: 1 }), plan, undefined],
    ['it is on the last of several stages', retrying('b', { stage: 2 }), plan, NOW],
    [
      'it has another attempt on the only stage',
      retrying('b', { stage: 1, stageAttempt: 1 }),
      oneStage,
      undefined,
    ],
    [
      'it is at the last attempt of the only stage',
      retrying('b', { stage: 1, stageAttempt: 2 }),
      oneStage,
      NOW,
    ],
    ['it is done', recordOf('b', 'done', { stage: 2 }), plan, undefined],
    ['it was not probed yet', recordOf('b', 'unknown'), plan, undefined],
    ['a probe could not tell', recordOf('b', 'unknown', { probes: 1 }), plan, NOW],
    ['it is probed again', recordOf('b', 'probing', { probes: 1 }), plan, NOW],
    ['it was settled after probes in vain', recordOf('b', 'done', { probes: 3 }), plan, undefined],
    ['it is tried again after probes in vain', recordOf('b', 'retrying', { probes: 3 }), plan, undefined],
    ['it is deferred', retrying('b', { deferred: deferredFor('breaker') }), plan, NOW],
    ['its agent is not deployed', retrying('b', { deferred: deferredFor('not-deployed') }), plan, NOW],
  ])('%s', (_, record, of, since) => {
    expect(noticed(record, {}, of)).toBe(since);
  });

  it('with its step and why, of several what stops it, and anew in a later write (and no longer than it holds)', () => {
    const whyOf = (records: readonly Step[], execution: Partial<Execution> = {}) => {
      const two = planOf({ ...tried, name: 'a' }, { ...tried, name: 'b' });
      const state = stateOf([...records], execution);
      const write = { executionId: 'e-1', execution: { ...state.execution, version: 2 } };
      const decision: Decision = { write, sends: [], next: { kind: 'idle' }, notes: [] };
      return noticeRisk(two, state, NOW, decision).write?.execution?.risk;
    };
    const last = retrying('a', { stage: 2 });
    const held = retrying('b', { deferred: deferredFor('breaker') });
    const agent = tried.agent;
    expect(whyOf([last])).toMatchObject({ why: 'last-try', step: 'a' });
    expect(whyOf([last, held])).toEqual({ why: 'breaker', step: 'b', agent });
    const before = { riskSince: NOW - 9, risk: { why: 'last-try', step: 'a' } } as const;
    expect(whyOf([held], before)).toEqual({ why: 'breaker', step: 'b', agent });
    expect(whyOf([retrying('a', { stage: 0 })], { startedAt: 0, deadlineAt: NOW + 1 })).toEqual({
      why: 'late',
      step: 'a',
    });
    expect(whyOf([], before)).toBeUndefined();
  });

  it('for a message that no agent takes, since it could be taken, and not since that was noticed', () => {
    const deferred = { ...deferredFor('unclaimed'), since: NOW - 60_000 };
    expect(noticed(retrying('b', { deferred }))).toBe(NOW - 60_000);
  });

  it('since the first time, until it is well or has ended', () => {
    const risky = retrying('b', { stage: 2 });
    expect(noticed(risky, { riskSince: NOW - 9 })).toBe(NOW - 9);
    expect(noticed(undefined, { riskSince: NOW - 9 })).toBeUndefined();
    expect(noticed(risky, { riskSince: NOW - 9, status: 'failed' })).toBeUndefined();
  });

  it('and a part of the records takes nothing back: the rest may hold the reason (seed 803)', () => {
    const risk = { why: 'cannot-tell', step: 'a' } as const;
    const part = (records: readonly Step[], execution: Partial<Execution>) => {
      const state: Snapshot = { ...stateOf([...records], execution), isReadInPart: true };
      const write = { executionId: 'e-1', execution: { ...state.execution, version: 2 } };
      const decision: Decision = { write, sends: [], next: { kind: 'idle' }, notes: [] };
      return noticeRisk(plan, state, NOW, decision).write?.execution;
    };
    const before = { riskSince: NOW - 9, risk };
    expect(part([], before)).toMatchObject(before);
    expect(part([retrying('b', { stage: 2 })], before)).toMatchObject(before);
    expect(part([retrying('b', { stage: 2 })], {})).toMatchObject({ riskSince: NOW, risk: { step: 'b' } });
    expect(part([], { status: 'waiting', asks: 'a' })).toMatchObject({ asks: 'a' });
    expect(part([], { ...before, status: 'failed' })?.riskSince).toBeUndefined();
  });

  it('and where the execution is not written, nothing is', () => {
    const decision: Decision = {
      sends: [],
      next: { kind: 'idle' },
      notes: [],
      write: { executionId: 'e-1' },
    };
    expect(noticeRisk(plan, stateOf([retrying('b', { stage: 2 })]), NOW, decision)).toBe(decision);
  });
});
