/** Timers, callbacks and approvals: how long they wait, and what ends them (S12, L1). */

import { timeOf } from '../../../lib/core/values/duration.ts';
import type { CallbackStep, LaneStep, PlanStep, WaitStep } from '../../../lib/core/plan/plan.ts';
import type { Json } from '../../../lib/core/values/json.ts';
import type { Pause } from '../../../lib/core/records/pauses.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import { RULES } from '../../../lib/core/rules.ts';
import { EXECUTION_STATUSES, type StepStatus } from '../../../lib/core/moves.ts';
import {
  endAtTime,
  externalTimes,
  passTime,
  waitEndsAt,
  waitsUntil,
} from '../../../lib/core/waiting/waits.ts';
import { changesOf, planOf, recordOf, inputs, stateOf } from '../one-step.ts';
import {
  agentStepOf,
  callbackOf,
  childOf,
  childrenOf,
  mapOf,
  statusesWhere,
  waitOf,
} from '../small-steps.ts';
import { planStep } from '../../author/refusals.ts';
import { NOW } from '../states.ts';

const STOP = { goal: 'stop', below: 0 } as const;
const TURN = NOW - 10_000;
const callback: CallbackStep = { kind: 'callback', name: 'c', after: ['it'], withinMs: 10_000 };
const wait: WaitStep = { kind: 'wait', name: 'w', after: ['it'], forMs: 10_000 };
const before = recordOf('it', 'done', { changedAt: TURN });
const on = (of: PlanStep, record?: Step, more: Partial<Execution> = {}) => ({
  plan: planOf(planStep, of),
  state: stateOf([before, ...(record === undefined ? [] : [record])], { startedAt: NOW - 99_000, ...more }),
});
const until = (of: PlanStep, record?: Step, more: Partial<Execution> = {}): number | undefined => {
  const { state } = on(of, record, more);
  return waitsUntil(of, state);
};

it.each<[Json | undefined, number | undefined]>([
  [5, undefined],
  [0, undefined],
  [-1e12, undefined],
  // Seconds instead of milliseconds.
  [1_764_158_400, undefined],
  [978_307_199_999, undefined],
  [978_307_200_000, 978_307_200_000],
  [1_764_158_400_000, 1_764_158_400_000],
  ['1970-01-02', 86_400_000],
  ['1970-01-01T00:01Z', 60_000],
  ['1970-01-01T00:00:01Z', 1_000],
  ['1970-01-01T00:00:01.25Z', 1_250],
  ['1970-01-01T02:00+02:00', 0],
  ['1970-01-01T00:00:00.123-01:30', 5_400_123],
  ['1970-01-01T00:00', undefined],
  ['1970-01-01T00Z', undefined],
  ['x1970-01-02', undefined],
  ['+001970-01-02', undefined],
  [['1970-01-02'], undefined],
  ['1970-01-02x', undefined],
  ['1970-1-02', undefined],
  ['1970-01-01T00:01Z x', undefined],
  ['1970-01-01T0:01Z', undefined],
  ['1970-01-01T00:00:01.Z', undefined],
  ['1970-01-01T00:00+2:00', undefined],
  ['1970-13-01', undefined],
  ['1970-02-29', undefined],
  ['1970-04-31T00:00Z', undefined],
  ['1972-02-29', 68_169_600_000],
  ['5', undefined],
  [Number.POSITIVE_INFINITY, undefined],
  [Number.NaN, undefined],
  [true, undefined],
  [null, undefined],
  [undefined, undefined],
])('the time %s is %s', (given, at) => {
  expect(timeOf(given)).toBe(at);
});

describe('a wait', () => {
  const data: WaitStep = { kind: 'wait', name: 'w', after: ['it'], until: { $ref: 'input', path: ['at'] } };
  const passed = (of: PlanStep, record?: Step, more: Partial<Execution> = {}) => {
    const { plan, state } = on(of, record, more);
    return passTime(plan, state, inputs);
  };
  it('fails if a number is not a plausible time, and says what it would be in seconds', () => {
    expect(passed(data, undefined, { input: { at: 1_764_158_400 } })).toMatchObject({
      status: 'failed',
      failure: {
        code: 'bad-time',
        message:
          "'until' is 1764158400, as epoch ms a time before 2001; in seconds it would be 2025-11-26T12:00:00.000Z: multiply it by 1000",
      },
    });
    expect(passed(data, undefined, { input: { at: 5 } })).toMatchObject({
      failure: { code: 'bad-time', message: "'until' is 5, as epoch ms a time before 2001" },
    });
  });
  const forData: WaitStep = { kind: 'wait', name: 'w', after: ['it'], for: { $ref: 'input', path: ['for'] } };
  it.each<[Json, number]>([
    [10, NOW],
    [2.5, TURN + 2_500],
    ['10s', NOW],
    ['1m30s', TURN + 90_000],
    [0, TURN],
    ['0s', TURN],
    [-5, TURN],
    [366 * 86_400, TURN + 366 * 86_400_000],
  ])('lasts as long as its data says: %j', (length, at) => {
    expect(until(forData, undefined, { input: { for: length } })).toBe(at);
  });
  it.each<[Json | undefined, string]>([
    ['soon', '"soon"'],
    ['', '""'],
    [367 * 86_400, '31708800'],
    [true, 'true'],
    [{ s: 1 }, '{"s":1}'],
    [undefined, 'absent'],
  ])('fails where %j is no length of time', (length, said) => {
    expect(passed(forData, undefined, { input: { for: length ?? null } })).toMatchObject({
      status: 'failed',
      failure: {
        code: 'bad-time',
        message: `'for' is ${length === undefined ? 'null' : said}; allowed: a number of seconds, or a duration such as '30s', '2m', '1h30m', at most 366d`,
      },
    });
  });
  it('fails where the data names no time', () => {
    const failure = {
      code: 'bad-time',
      message: "'until' is neither epoch ms nor a date in ISO form with its zone",
    };
    expect(passed(data, undefined, { input: { at: 'soon' } })).toMatchObject({
      status: 'failed',
      failure,
      changedAt: NOW,
    });
    expect(passed(data, undefined, { input: { at: NOW } })).not.toHaveProperty('failure');
  });
  it.each(EXECUTION_STATUSES)('is looked at while the execution goes forward: %s', (status) => {
    const isForward = status === 'running' || status === 'waiting';
    expect(RULES[status].includes(endAtTime)).toBe(isForward);
    const { plan, state } = on(wait, undefined, { status });
    expect(externalTimes(plan, state)).toEqual(isForward ? [NOW] : []);
    expect(until(wait, undefined, { status })).toBe(isForward ? NOW : undefined);
  });
});

describe('a callback', () => {
  const waiting = (progressAt?: number): Step =>
    recordOf('c', 'waiting', progressAt === undefined ? {} : { progressAt });
  const pause = (number: number, from: number, to?: number): Pause => ({
    number,
    at: from,
    reason: 'r',
    withinMs: 1,
    ...(to === undefined ? {} : { endedAt: to }),
  });
  it('has the more time by what was paused of it', () => {
    const heartbeating: CallbackStep = { ...callback, heartbeatMs: 4_000 };
    const pauses = [
      pause(1, TURN - 900, TURN - 800),
      pause(2, TURN - 50, TURN + 100),
      pause(3, TURN + 500, TURN + 700),
      pause(4, TURN + 5_000),
    ];
    expect(until(callback, undefined, { pauses })).toBe(NOW + 300);
    expect(until(heartbeating, undefined, { pauses })).toBe(TURN + 4_300);
    expect(until(heartbeating, waiting(TURN + 600), { pauses })).toBe(TURN + 4_700);
  });
  it('has the more time also by pauses of which only the sum is left, as far as they lie behind its turn', () => {
    const summed = (at: number, endedAt: number, ms: number) =>
      until(callback, undefined, { earlierPauses: { number: 3, at, endedAt, ms } });
    expect(summed(TURN + 5, TURN + 500, 300)).toBe(NOW + 300);
    expect(summed(TURN - 500, TURN, 300)).toBe(NOW);
    // A sum of pauses does not say how much of it came before the turn, so as much as possible counts as
    // after it.
    expect(summed(TURN - 500, TURN + 100, 300)).toBe(NOW + 100);
    expect(summed(TURN - 100, TURN + 900, 300)).toBe(NOW + 300);
  });
  const passed = (record?: Step, of: CallbackStep = callback) => {
    const { plan, state } = on(of, record);
    return changesOf(record ?? recordOf('c', 'ready'), passTime(plan, state, inputs));
  };
  const over = { version: 2, writeId: 'w-new', changedAt: NOW };
  it('fails at its very time', () => {
    const failed = (kind: string) => ({
      ...over,
      status: 'failed',
      failure: { code: 'no-answer', message: `the ${kind} was not answered in time` },
    });
    const record = recordOf('c', 'waiting', { changedAt: 1 });
    expect(passed(record)).toEqual(failed('callback'));
    expect(passed(record, { ...callback, kind: 'approval' })).toEqual(failed('approval'));
    expect(passed(record, { ...callback, withinMs: 10_001 })).toBeUndefined();
  });
  it('that was answered before its turn is over when that comes', () => {
    const answered = (more: Partial<Step>) => passed(recordOf('c', 'answered', { changedAt: 1, ...more }));
    expect(answered({ output: 5 })).toEqual({ ...over, status: 'done' });
    expect(answered({ failure: { code: 'x', message: 'y' } })).toEqual({ ...over, status: 'failed' });
  });
});

describe('a step of each kind', () => {
  const lane: LaneStep = { kind: 'lane', name: 'it', after: [], lane: 'l', by: 1, atMost: 1, withinMs: 9 };
  const within = { withinMs: 9 } as const;
  const running = { children: childrenOf({}) };
  const own: StepStatus[] = ['ready', 'running', 'retrying'];
  const rows: [PlanStep, StepStatus[], Partial<Step>][] = [
    [waitOf('it'), ['ready'], {}],
    [callbackOf('it'), ['ready', 'waiting', 'answered'], {}],
    [callbackOf('it', { kind: 'approval' }), ['ready', 'waiting', 'answered'], {}],
    [lane, ['ready', 'waiting'], {}],
    [agentStepOf('it'), [], {}],
    [agentStepOf('it', within), ['ready', 'retrying'], {}],
    [childOf('it', within), own, running],
    [mapOf('it', within), own, running],
    // The executions of this list are being stopped already.
    [mapOf('it', within), ['ready', 'retrying'], { children: childrenOf({}, { stop: STOP }) }],
  ];
  it.each(rows)(
    '%#: waits in these statuses, once it is its turn and its condition holds',
    (of, open, more) => {
      const opens = (step: PlanStep, records: Step[] = []) =>
        statusesWhere(
          (record) => waitEndsAt(step, stateOf([...records, record], { startedAt: NOW })) !== undefined,
          more,
        );
      expect(opens(of).toSorted()).toEqual(open.toSorted());
      expect(opens({ ...of, after: ['a'] })).toEqual([]);
      expect(opens({ ...of, after: ['a'] }, [recordOf('a', 'done')]).toSorted()).toEqual(open.toSorted());
      const begun = ['retrying', 'running'];
      expect(opens({ ...of, when: false }).toSorted()).toEqual(
        open.filter((one) => begun.includes(one)).toSorted(),
      );
    },
  );

  it('is due at its time, with its executions or without', () => {
    const due = (of: PlanStep, record: Step) =>
      endAtTime.dueAt?.(planOf(of), stateOf([record], { startedAt: NOW }), { readAt: NOW, work: [] });
    const timeOver = { at: NOW + 9, step: 'it', coming: expect.anything() };
    expect(due(agentStepOf('it', within), recordOf('it', 'retrying'))).toEqual([timeOver]);
    expect(due(mapOf('it', within), recordOf('it', 'running', running))).toEqual([timeOver]);
  });
});
