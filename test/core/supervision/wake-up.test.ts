/** S12: the exact next wake time of small states, and when a lease is over. */

import type { CallbackStep, ChildStep, MapStep, Plan, PlanStep } from '../../../lib/core/plan/plan.ts';
import type { Children } from '../../../lib/core/records/children.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import type { LeasedStep, Step } from '../../../lib/core/records/state.ts';
import { horizonMs, LEASE_MARGIN_MS, leaseOverAt, REPORT_GRACE_MS } from '../../../lib/core/step/lease.ts';
import { leaseLost } from '../../../lib/core/step/report.ts';
import { RULES } from '../../../lib/core/rules.ts';
import type { Work } from '../../../lib/core/step/ready.ts';
import { nextWakeAt, wasSentSinceDeferred } from '../../../lib/core/supervision/wake-time.ts';
import { incidentOf, DEADLINE, heldAs, otherStage, planOf, recordOf, stateOf } from '../one-step.ts';
import { planStep, planWith } from '../../author/refusals.ts';
import { NOW } from '../states.ts';

/** Used if no agent works. */
const IDLE_MS = 60_000;

const wakeOf = (plan: Plan, state: Snapshot): number =>
  nextWakeAt(RULES[state.execution.status], plan, state, {}, NOW);

const each = { ...planStep, name: 'item' };
const map: MapStep = { kind: 'map', name: 'm', after: [], over: [], each, tolerate: { items: 0 } };
const narrow: MapStep = { ...map, concurrency: 1 };
const callback: CallbackStep = { kind: 'callback', name: 'c', after: [], withinMs: 600_000 };
const asked = recordOf('c', 'waiting');
const end = { status: 'succeeded', version: 1, clean: false } as const;
const childrenOf = (started: number, ended: number, count = 2): Children => ({
  count,
  started,
  items: count,
  tolerated: 0,
  ended: Object.fromEntries(Array.from({ length: ended }, (_, at) => [at, end])),
});

describe('the wake time of executions of a step (S12)', () => {
  it.each<[string, MapStep, Children, number]>([
    ['all of which are under way is the deadline: whoever ends tells', map, childrenOf(2, 0), DEADLINE],
    ['some of which are to be started is near', map, childrenOf(1, 0), NOW + IDLE_MS],
    ['all of which have ended is near', map, childrenOf(2, 2), NOW + IDLE_MS],
    ['of which as many as may are under way is the deadline', narrow, childrenOf(1, 0), DEADLINE],
    ['of which one has ended and another may begin is near', narrow, childrenOf(1, 1), NOW + IDLE_MS],
  ])('%s', (_, step, children, at) => {
    expect(wakeOf(planOf(step), stateOf([recordOf('m', 'running', { children })]))).toBe(at);
  });

  const ANSWER = NOW + 600_000;
  const over = recordOf('m', 'done', { children: childrenOf(1, 0) });
  it.each<[string, PlanStep, Step[], number]>([
    ['that may begin is near', map, [], NOW + IDLE_MS],
    ['whose turn has not come is the answer’s time', { ...map, after: ['c'] }, [], ANSWER],
    ['that will be skipped is the answer’s time', { ...map, when: false }, [], ANSWER],
    ['that is over is the answer’s time', map, [over], ANSWER],
    ['of an agent whose turn has not come is the answer’s time', { ...planStep, after: ['c'] }, [], ANSWER],
  ])('of a step %s', (_, step, records, at) => {
    expect(wakeOf(planOf(callback, step), stateOf([asked, ...records]))).toBe(at);
  });
});

const child: ChildStep = { kind: 'child', name: 'm', after: [], plan: planOf(), input: {}, undo: 'none' };
describe('the wake time where nothing is to be sent (S12)', () => {
  const children = childrenOf(2, 0);
  const done = recordOf('it', 'done');
  const running = (its?: Children) => recordOf('m', 'running', its && { children: its });
  it.each<[string, PlanStep[], Step[], number]>([
    ['is near when all is over, for somebody must end it', [planStep], [done], NOW + 30_000],
    ['is near when a list is over', [map], [recordOf('m', 'done', { children })], NOW + IDLE_MS],
    ['is near when a list has begun nothing', [map], [running()], NOW + IDLE_MS],
    ['is far while one of several is under way', [planStep, map], [done, running(children)], DEADLINE],
    ['is far while a child is under way', [child], [running(childrenOf(1, 0, 1))], DEADLINE],
    ['is near when a child is to be started beside a callback', [callback, child], [asked], NOW + IDLE_MS],
    [
      'is the answer’s when a list beside it has begun nothing',
      [callback, map],
      [asked, running()],
      NOW + 600_000,
    ],
  ])('%s', (_, steps, records, at) => {
    expect(wakeOf(planOf(...steps), stateOf(records))).toBe(at);
  });
});

describe('the wake time of a pause (S12)', () => {
  const since = (agoMs: number) => [{ number: 1, at: NOW - agoMs, reason: 'r', withinMs: 900_000 }];
  const [pauses, plan] = [since(14_000), planOf(planStep)];
  const retrying = recordOf('it', 'retrying', { retryAt: NOW + 40_000 });
  const working = heldAs('execute', { name: 'b', leaseUntil: NOW + 100_000 });
  it.each<[string, number, Step[], number]>([
    ['in which nothing can begin any more is its own time', 14_000, [retrying], NOW + 886_000],
    ['in which something may begin is near', 13_999, [retrying], NOW + 30_000],
    ['in which one works is near', 14_000, [retrying, working], NOW + 30_000],
  ])('%s', (_, agoMs, records, at) => {
    expect(wakeOf(plan, stateOf(records, { status: 'paused', pauses: since(agoMs) }))).toBe(at);
  });

  it('of one that was born paused is its own time from the beginning', () => {
    const born = since(1).map((pause) => ({ ...pause, workflowPausedAt: NOW - 9 }));
    expect(wakeOf(plan, stateOf([], { status: 'paused', pauses: born }))).toBe(NOW + 899_999);
  });

  it('about which a person was asked is that question’s time, and none once it is answered', () => {
    const question = incidentOf({ kind: 'pause', deadlineAt: NOW + 70_000, otherwise: 'resume' });
    const state = stateOf([retrying], { status: 'paused', pauses });
    expect(wakeOf(plan, { ...state, questions: { 1: question } })).toBe(NOW + 70_000);
    const answered = { ...question, closedAt: NOW };
    expect(wakeOf(plan, { ...state, questions: { 1: answered } })).toBe(NOW + 30_000);
  });
});

describe('H (S12)', () => {
  it.each([
    ['a shorter lease', { leaseMs: 7_000 }, 7_000],
    ['a shorter pickup time', { pickupMs: 8_000 }, 8_000],
    ['a shorter time without progress', { maxNoProgressMs: 9_000 }, 9_000],
    ['longer times', { leaseMs: 50_000, pickupMs: 50_000 }, 30_000],
  ])('counts the agents that a recovery may come to: %s', (_, limits, ms) => {
    expect(horizonMs(planWith({ recovery: [{ ...otherStage, ...limits }] }), undefined)).toBe(ms);
  });
});

describe('a lease that could not be renewed because the store was away', () => {
  const plan = planOf(planStep);
  const held = (more: Partial<Step> = {}): LeasedStep =>
    recordOf('it', 'running', {
      leaseUntil: NOW,
      token: 't',
      mode: 'execute',
      claimedAt: NOW - 10_000,
      processDeadlineAt: NOW + 100_000,
      ...more,
    }) as LeasedStep;
  const plain = NOW + LEASE_MARGIN_MS;
  const back = NOW + 5_000;
  const byTime = NOW + 10_000 + REPORT_GRACE_MS + LEASE_MARGIN_MS;
  const dies = { processDeadlineAt: NOW + 12_000 };
  const once = NOW + 35_000 + LEASE_MARGIN_MS;
  it.each<[string, Partial<Step>, number | undefined, number]>([
    ['is over at its end where there was no outage', {}, undefined, plain],
    ['is over at its end when that is after the outage', {}, NOW, plain],
    ['gets its length once more', {}, back, once],
    ['no longer than its time', { claimedAt: NOW - 50_000 }, back, byTime],
    ['no longer than its process lives', dies, back, NOW + 12_000 + LEASE_MARGIN_MS],
    // The process deadline in the record belongs to the attempt that the probe asks about.
    ['of a probe, whatever process is dead', { ...dies, mode: 'probe' }, back, once],
    ['is never over before its end', { processDeadlineAt: NOW - 9_000 }, back, plain],
    ['is over at its end where the plan knows no such step', { name: 'other' }, back, plain],
  ])('%s', (_, more, graceFrom, at) => {
    expect(leaseOverAt(plan, held(more), graceFrom)).toBe(at);
  });

  it('gets its length once more also where a clock was set forward within it', () => {
    const cut = held({ leaseUntil: back + 500 });
    expect(leaseOverAt(plan, cut, back)).toBe(back + 500 + LEASE_MARGIN_MS);
    expect(leaseOverAt(plan, cut, back, [{ untilAt: back, ms: 25_000 }])).toBe(once);
    const renewed = held({ leaseUntil: back + 30_500 });
    const own = back + 30_500 + LEASE_MARGIN_MS;
    expect(leaseOverAt(plan, renewed, back, [{ untilAt: back, ms: 25_000 }])).toBe(own);
  });

  it('is over so much later, and its process with it, by what a clock was set forward', () => {
    const away = [{ untilAt: back, ms: 600_000 }];
    const old = held({ claimedAt: NOW - 50_000, ...dies });
    expect(leaseOverAt(plan, old, back, away)).toBe(once);
    const inputs = { writeId: 'w', now: once, random: 0, away };
    expect(leaseLost(planStep, old, inputs).processDeadlineAt).toBe(NOW + 612_000);
  });
});

it('what was held back is sent once after its time, and what was not is sent once', () => {
  const work: Work = { step: planStep, mode: 'execute', attempt: 1, sinceAt: NOW, dueAt: NOW };
  const deferred: Work = { ...work, deferred: { mode: 'execute', why: 'breaker', at: NOW - 5_000 } };
  const sentAt = (lastAt: number) => ({ count: 1, lastAt });
  expect(wasSentSinceDeferred(deferred, sentAt(NOW))).toBe(true);
  expect(wasSentSinceDeferred(deferred, sentAt(NOW - 1))).toBe(false);
  expect(wasSentSinceDeferred(work, sentAt(NOW - 1))).toBe(true);
  expect(wasSentSinceDeferred(work, undefined)).toBe(false);
});
