/**
 * The rules that bring the wake time of an execution forward, between the sweeps of supervisors.
 *
 * Owns: when they are due; which deferred work is due earlier if an operator has its agent called now. Does
 * not own: the wake time after any write (`supervision/wake-time.ts`), which executions an operator wakes
 * (`scheduler/try-now.ts`), the breaker's record (`step/breaker.ts`).
 */

import type { Plan } from '../plan/plan.ts';
import { type DecisionInputs, executionAfter, stepAfter } from '../decisions/change.ts';
import { type Decision, evaluateNext, IDLE, writing } from '../decisions/decision.ts';
import type { TryNow } from '../decisions/events.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Step } from '../records/state.ts';
import { longestHorizonMs } from '../step/lease.ts';
import { CLOCKS_DIFFER_MS } from '../step/process-deadline.ts';
import { openWork, type Work } from '../step/ready.ts';
import type { Rule } from '../step/rule.ts';
import { send } from '../supervision/dispatch.ts';
import { externalTimes } from '../waiting/waits.ts';

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

interface Waiting {
  readonly record: Step;
  readonly dueAt: number;
}

/** The work that waits for this agent alone, and could be due earlier. */
export const waitingFor = (plan: Plan, state: Snapshot, { agent, at }: TryNow): readonly Waiting[] =>
  openWork(plan, state).flatMap((work) => {
    const record = state.steps[work.step.name];
    if (record === undefined || work.step.agent !== agent || !isForAgent(work)) return [];
    const dueAt = Math.max(at, work.mode === 'undo' ? record.processDeadlineAt + work.step.settleMs : 0);
    return (record.retryAt ?? 0) > dueAt ? [{ record, dueAt }] : [];
  });

const isForAgent = ({ deferred }: Work): boolean => deferred?.why === 'breaker' || deferred?.why === 'paused';

/**
 * The write for the first of them; nothing if none is left. S12 the same write brings the wake time forward.
 * S10 an undo is not due while an earlier attempt of it may act.
 */
function duePromptly(
  plan: Plan,
  state: Snapshot,
  tryNow: TryNow,
  inputs: DecisionInputs,
): Decision | undefined {
  const [first] = waitingFor(plan, state, tryNow);
  if (first === undefined) return undefined;
  const { execution } = state;
  const { record, dueAt } = first;
  const step = stepAfter(record, 'defer', inputs, { retryAt: dueAt, deferred: record.deferred });
  const wakeAt = Math.min(execution.wakeAt ?? dueAt, dueAt);
  const woken = executionAfter(execution, 'set-wake-time', inputs, { wakeAt });
  return writing(execution.id, { step, execution: woken }, evaluateNext());
}
