/**
 * An operator has an agent called now: work deferred because of its breaker, or its pause, is due earlier.
 *
 * Owns: which work that is, and when it is due then. Does not own: the breaker's record
 * (`step/breaker.ts`), which executions are woken (`scheduler/try-now.ts`).
 *
 * S12 the same write brings the wake time forward. S10 an undo is not due while an earlier attempt of it may
 * act.
 */

import { type DecisionInputs, executionAfter, stepAfter } from '../decisions/change.ts';
import { type Decision, evaluateNext, writing } from '../decisions/decision.ts';
import type { TryNow } from '../decisions/events.ts';
import type { Plan } from '../plan/plan.ts';
import type { Snapshot } from '../records/snapshot.ts';
import type { Step } from '../records/state.ts';
import { openWork, type Work } from '../step/ready.ts';

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

/** The write for the first of them; nothing if none is left. */
export function duePromptly(
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
