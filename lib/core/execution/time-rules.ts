/**
 * The rules of an evaluation for events that only the time causes: the end of a wait, of a callback or an
 * approval without an answer, of a step's time.
 *
 * Owns: when each is due, and how it is said. Does not own: what is written (`waiting/waits.ts`).
 */

import type { Plan } from '../plan/plan.ts';
import { executionAfter } from '../decisions/change.ts';
import { evaluateNext, IDLE, writing } from '../decisions/decision.ts';
import type { Snapshot } from '../records/snapshot.ts';
import { longestHorizonMs } from '../step/lease.ts';
import { CLOCKS_DIFFER_MS } from '../step/process-deadline.ts';
import { openWork } from '../step/ready.ts';
import type { Coming, Rule } from '../step/rule.ts';
import { duePromptly } from './try-now.ts';
import { turnAt } from '../step/turn.ts';
import { send } from '../supervision/dispatch.ts';
import { externalTimes, passTime, untilOf, WAITS } from '../waiting/waits.ts';

export const endAtTime: Rule = {
  apply: (plan, state, event) => {
    const step = passTime(plan, state, event);
    if (step === undefined) return undefined;
    const next = evaluateNext([step.name]);
    return writing(state.execution.id, { step }, next, { what: `step-${step.status}`, step: step.name });
  },
  dueAt: (plan, state) =>
    plan.steps.flatMap((step) => {
      const untilAt = untilOf(step, state);
      if (untilAt === undefined) return [];
      const coming = (): Coming => WAITS[step.kind].coming(step, state.steps[step.name]);
      return [{ at: Math.max(untilAt, turnAt(step, state)), step: step.name, coming }];
    }),
  says: {
    'step-done': 'a step is over: its time has come, or its answer counts now',
    'step-failed': 'a step fails: its time is over',
  },
};

/**
 * S12 a wait or a callback whose turn has come, or work that was deferred for a dead service, may be due
 * before the wake time. If a supervisor evaluates it, its own write says so; in any other process this rule
 * brings the wake time forward. It also makes deferred work due earlier, if an operator has its agent called
 * now.
 */
export const wakeEarlier: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    if (event.by === 'supervisor' || execution.wakeAt === undefined) return undefined;
    const sooner = event.tryNow && duePromptly(plan, state, event.tryNow, event);
    if (sooner !== undefined) return sooner;
    const untilAt = nextTime(plan, state);
    if (untilAt >= execution.wakeAt) return undefined;
    const woken = executionAfter(execution, 'set-wake-time', event, { wakeAt: untilAt });
    return writing(execution.id, { execution: woken }, evaluateNext());
  },
  says: { 'set-wake-time': 'the wake time is brought forward, because something is due before it' },
};

/**
 * F3 while the wake time is overdue, a supervisor that read the execution before a wait began may be at work.
 * It would set a wake time up to a horizon later, so the record is written unchanged, and that write
 * conflicts. A claim's copy may be older than the latest sweep: it is read again. The rule is the last, and
 * ends the evaluation: it would apply again.
 */
export const outdateSweeps: Rule = {
  apply: (plan, state, event) => {
    const { execution } = state;
    const { wakeAt = Number.POSITIVE_INFINITY } = execution;
    if (event.by === 'supervisor' || wakeAt > event.now + CLOCKS_DIFFER_MS) return undefined;
    const untilAt = nextTime(plan, state);
    if (untilAt <= event.now || untilAt >= event.now + longestHorizonMs(plan)) return undefined;
    const { sends } = send(plan, state, event);
    const written = executionAfter(execution, 'set-wake-time', event, {});
    return { ...writing(execution.id, { execution: written }, IDLE), sends };
  },
  says: { 'set-wake-time': 'the evaluations that began before a wait are outdated' },
};

const nextTime = (plan: Plan, state: Snapshot): number =>
  Math.min(...externalTimes(plan, state), ...deferredTimes(plan, state));

const deferredTimes = (plan: Plan, state: Snapshot): number[] =>
  Object.values(state.steps).some(({ deferred }) => deferred !== undefined)
    ? openWork(plan, state).flatMap(({ deferred, dueAt }) => (deferred === undefined ? [] : [dueAt]))
    : [];
