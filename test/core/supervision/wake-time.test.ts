/** S12: every write sets a wake time no later than the next due event. */

import * as fc from 'fast-check';
import { decide } from '../../../lib/core/decide.ts';
import { RULES } from '../../../lib/core/rules.ts';
import { stateAfterRetry } from '../../../lib/core/execution/after-retry.ts';
import { newExecution } from '../../../lib/core/execution/start.ts';
import { agentSteps, type Plan, type WaitStep } from '../../../lib/core/plan/plan.ts';
import type { Snapshot } from '../../../lib/core/records/snapshot.ts';
import { isLeased, isSatisfied, isTerminal, pauseOf, type Step } from '../../../lib/core/records/state.ts';
import { horizonMs, LEASE_MARGIN_MS } from '../../../lib/core/step/lease.ts';
import { undoable } from '../../../lib/core/step/point-of-no-return.ts';
import { openWork, stepToSkip, type Work } from '../../../lib/core/step/ready.ts';
import { dispatchDueAt, MAX_DELAY_MS, nextWakeAt } from '../../../lib/core/supervision/wake-time.ts';
import { check } from '../check.ts';
import { planOf } from '../one-step.ts';
import { agentStepOf } from '../small-steps.ts';
import { cases as stored, instant, NOW, plans } from '../states.ts';

/** Cases with the state that `decide` gets. */
const cases = stored.map(({ plan, state }) => ({ plan, state: stateAfterRetry(plan, state) }));

const SUSPENDED = ['running', 'probing', 'compensating'];
const FINISHED = ['done', 'skipped', 'fenced', 'compensated', 'compensation-failed'];

const belongsToUndo = ({ status }: Step): boolean =>
  ['fenced', 'compensating', 'compensated', 'compensation-failed'].includes(status);

/**
 * The horizon H, computed independently: the smallest lease or pickup time of the plan's unfinished steps.
 */
function expectedH(plan: Plan, { execution, steps }: Snapshot): number {
  const unfinished = agentSteps(plan).filter(({ name }) => {
    const status = steps[name]?.status ?? 'ready';
    return !FINISHED.includes(status) || (status === 'done' && execution.status === 'compensating');
  });
  const counted = unfinished.length > 0 ? unfinished : agentSteps(plan);
  return Math.min(...counted.flatMap((step) => [step.leaseMs, step.pickupMs]));
}

const isBusy = ({ status }: Step): boolean => SUSPENDED.includes(status) || status === 'unknown';

/** The time e from which H counts, computed independently; infinite if everything is paused. */
function expectedE(plan: Plan, state: Snapshot, readAt: number): number {
  const { execution, steps } = state;
  const records = Object.values(steps);
  const ready = plan.steps.some(
    ({ name, after }) =>
      (steps[name]?.status ?? 'ready') === 'ready' && after.every((other) => isSatisfied(steps[other])),
  );
  const { at = 0 } = pauseOf(execution) ?? {};
  if (execution.status === 'paused' && readAt >= at + 14_000 && !records.some(isLeased))
    return Number.POSITIVE_INFINITY;
  const busy = ready || ['compensating', 'paused'].includes(execution.status) || records.some(isBusy);
  if (busy) return readAt;
  const waits = records.filter((record) => record.status === 'retrying').map((record) => record.retryAt ?? 0);
  return Math.max(readAt, Math.min(...waits));
}

describe('the next wake time (S12)', () => {
  it('is no later than e + H', () => {
    check(
      fc.property(cases, ({ plan, state }) => {
        fc.pre(!isTerminal(state.execution.status));
        // A skip is written before a wake time is set, so states that get a wake time have no pending skip.
        fc.pre(stepToSkip(plan, state) === undefined);
        fc.pre(state.execution.status === 'compensating' || !Object.values(state.steps).some(belongsToUndo));
        const wakeAt = nextWakeAt(RULES[state.execution.status], plan, state, {}, NOW);
        expect(wakeAt).toBeLessThanOrEqual(expectedE(plan, state, NOW) + expectedH(plan, state));
      }),
      800,
    );
  });

  it('is no later than the end of any lease, the deadline, or the next dispatch', () => {
    check(
      fc.property(cases, ({ plan, state }) => {
        fc.pre(!isTerminal(state.execution.status));
        const wakeAt = nextWakeAt(RULES[state.execution.status], plan, state, {}, NOW);
        for (const record of Object.values(state.steps)) {
          if (isLeased(record)) expect(wakeAt).toBeLessThanOrEqual(record.leaseUntil + LEASE_MARGIN_MS);
        }
        const pause = pauseOf(state.execution);
        if (pause !== undefined) expect(wakeAt).toBeLessThanOrEqual(pause.at + pause.withinMs);
        if (state.execution.status === 'running' && undoable(plan, state) === 'now') {
          expect(wakeAt).toBeLessThanOrEqual(state.execution.deadlineAt);
        }
        for (const work of openWork(plan, state)) {
          expect(wakeAt).toBeLessThanOrEqual(work.dueAt + Math.max(work.step.pickupMs, 0));
        }
      }),
      800,
    );
  });

  it('is the same for the same state, and later for a later read only', () => {
    check(
      fc.property(cases, instant, instant, ({ plan, state }, a, b) => {
        const [early, late] = [Math.min(a, b), Math.max(a, b)];
        const first = nextWakeAt(RULES[state.execution.status], plan, state, {}, early);
        expect(nextWakeAt(RULES[state.execution.status], plan, state, {}, early)).toBe(first);
        expect(nextWakeAt(RULES[state.execution.status], plan, state, {}, late)).toBeGreaterThanOrEqual(
          first,
        );
      }),
    );
  });

  it('H is the smallest lease or pickup time among what is not finished', () => {
    check(
      fc.property(cases, ({ plan, state }) => {
        expect(horizonMs(plan, state)).toBe(expectedH(plan, state));
      }),
    );
  });

  it('is set at birth, within H and before the deadline', () => {
    check(
      fc.property(plans, (plan) => {
        const given = { id: 'e', life: 'life1', plan: 'h', input: {}, inputHash: 'i', writeId: 'w' };
        const { wakeAt, deadlineAt } = newExecution(plan, given, NOW);
        expect(wakeAt).toBe(Math.min(deadlineAt, NOW + horizonMs(plan, undefined)));
      }),
    );
  });

  it('is set at birth no later than the time of a wait at the beginning, and not before now', () => {
    const given = { id: 'e', life: 'life1', plan: 'h', input: {}, inputHash: 'i', writeId: 'w' };
    const bornWith = (wait: Partial<WaitStep>) => {
      const step: WaitStep = { kind: 'wait', name: 'w', after: [], ...wait };
      return newExecution(planOf(step, agentStepOf('a')), given, NOW).wakeAt;
    };
    expect(bornWith({ forMs: 5 })).toBe(NOW + 5);
    expect(bornWith({ until: NOW - 5 })).toBe(NOW);
    expect(bornWith({ forMs: 3_600_000 })).toBe(NOW + horizonMs(planOf(agentStepOf('a')), undefined));
  });

  it('with a late success is drawn near in the same write, never deferred', () => {
    check(
      fc.property(cases, ({ plan, state }) => {
        for (const record of Object.values(state.steps)) {
          const { write } = decide(plan, state, {
            type: 'report',
            step: record.name,
            token: `token-${record.name}`,
            report: { kind: 'done', codeReturned: true, output: null },
            onTime: false,
            writeId: 'new',
            now: NOW,
            random: 0,
          });
          if (write?.step === undefined || isLeased(record)) continue;
          const before = state.execution.wakeAt ?? Number.POSITIVE_INFINITY;
          expect(write.execution?.wakeAt).toBeLessThanOrEqual(Math.min(before, NOW + horizonMs(plan, state)));
        }
      }),
      500,
    );
  });
});

describe('a dispatch that nobody claims', () => {
  const workAt = (dueAt: number, sinceAt = NOW): Work => ({
    step: { pickupMs: 30_000 } as Work['step'],
    mode: 'execute',
    attempt: 1,
    sinceAt,
    dueAt,
  });

  it('is repeated a pickup time after it was due', () => {
    expect(dispatchDueAt(workAt(NOW), undefined)).toBe(NOW + 30_000);
    expect(dispatchDueAt(workAt(NOW + MAX_DELAY_MS), undefined)).toBe(NOW + MAX_DELAY_MS + 30_000);
  });

  it('is sent when it is due where no message could be delayed so long', () => {
    expect(dispatchDueAt(workAt(NOW + MAX_DELAY_MS + 1), undefined)).toBe(NOW + MAX_DELAY_MS + 1);
  });

  it('is repeated with gaps that double up to a quarter of an hour', () => {
    const gaps = [0, 1, 2, 3, 4, 5, 1_000].map(
      (count) => dispatchDueAt(workAt(NOW), { count, lastAt: NOW }) - NOW,
    );
    expect(gaps).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000]);
  });
});
