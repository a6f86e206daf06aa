/**
 * The death of an attempt's process, recorded by the worker that has killed it or found it dead.
 *
 * Owns: what it writes to the step. Does not own: an end without a death (`report.ts`), the parts of the
 * deadline (`process-deadline.ts`), that nothing of the process goes on (`lib/worker/`).
 *
 * S5 under its lease it is the end of the attempt, with an unknown outcome. Later, for any attempt with an
 * entry of its own, it changes only times, never an outcome. S10 it lowers only its own share of the process
 * deadline.
 */

import { canMoveStep, type DecisionInputs, stepAfter } from '../decisions/change.ts';
import type { AgentStep } from '../plan/plan.ts';
import type { EventOf } from '../decisions/events.ts';
import type { Failure } from '../values/failure.ts';
import { defined } from '../values/defined.ts';
import { isLeased, type Step } from '../records/state.ts';
import { CLOCKS_DIFFER_MS, lowered } from './process-deadline.ts';
import { attemptedVariant } from './recovery.ts';
import { leaseLost } from './report.ts';

const processDied = (exit: string | undefined): Failure => ({
  code: 'process-died',
  message: `the process of the attempt died${exit === undefined ? '' : `: ${exit}`}`,
});

/**
 * The record after the death of an attempt's process, or nothing if nothing follows from it: while the
 * attempt has its lease, the attempt is over; later its share of the process deadline is lowered, and work
 * that waits for that deadline comes sooner.
 */
export function afterDeath(
  step: AgentStep,
  record: Step,
  event: Pick<EventOf<'process-died'>, 'token' | 'exit' | 'interrupted'> &
    DecisionInputs & { readonly isOverTime?: boolean },
): Step | undefined {
  const { token, now } = event;
  const deadlines = lowered(record, token, now + CLOCKS_DIFFER_MS);
  // A process that dies in every attempt would use them all up at once: the next one waits as after a
  // failure.
  if (isLeased(record) && record.token === token)
    return leaseLost(step, { ...record, ...deadlines }, event, processDied(event.exit));
  if (deadlines === undefined || !canMoveStep(record.status, 'process-died')) return undefined;
  const { settleMs } = attemptedVariant(step, record);
  const isAwaited = record.retryAt === record.processDeadlineAt + settleMs;
  return stepAfter(record, 'process-died', event, {
    ...deadlines,
    ...(isAwaited ? { retryAt: deadlines.processDeadlineAt + settleMs } : {}),
    // It does not move on.
    ...defined({ deferred: record.deferred }),
  });
}
