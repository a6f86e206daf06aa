/**
 * Records that a process is dead, or that code without a lease has returned: the attempt is over, so its
 * process deadline need not be waited for.
 *
 * Owns: how long it tries. Does not own: finding the process dead with all that it started (`worker/`), what
 * follows (`core/step/report.ts`).
 *
 * C1 a healthy attempt never needs this. If the record cannot be written, the process deadline counts, as
 * after the death of a whole container.
 */

import type { AbortSignalLike } from '../core/plan/agent.ts';
import type { Ports } from '../core/ports.ts';
import { defined } from '../core/values/defined.ts';
import type { DeadAttempt } from '../core/decisions/events.ts';
import { decisionInputsOf } from './decision-inputs.ts';
import { decideWith } from './large-values.ts';
import { type PlanCache, planOf } from './plans.ts';
import { carryOut } from './reconcile.ts';

const WITHIN_MS = 60_000;
const AGAIN_MS = 200;
const MAX_AGAIN_MS = 5_000;

/**
 * Writes the record, and evaluates what follows. Never rejects.
 * @param stopping ends the tries once it is aborted
 */
export async function recordDeath(
  ports: Ports,
  plans: PlanCache,
  attempt: DeadAttempt,
  stopping?: AbortSignalLike,
): Promise<void> {
  const untilAt = ports.clock.now() + WITHIN_MS;
  for (let waitMs = AGAIN_MS; ; waitMs = Math.min(waitMs * 2, MAX_AGAIN_MS)) {
    try {
      if ((await recordOnce(ports, plans, attempt)) === 'over') return;
    } catch {
      if (ports.clock.now() + waitMs >= untilAt || stopping?.aborted === true) break;
      await ports.clock.sleep(waitMs, stopping);
    }
  }
  const { executionId, step } = attempt;
  ports.log.note({ what: 'death-not-recorded', executionId, step });
}

async function recordOnce(
  ports: Ports,
  plans: PlanCache,
  { executionId, step, token, exit, returned, interrupted }: DeadAttempt,
): Promise<'over' | 'conflict'> {
  const readAt = ports.clock.now();
  const state = await ports.store.read(executionId);
  if (state === undefined) return 'over';
  const plan = await planOf(ports.store, plans, state.execution.plan);
  const { decision } = await decideWith(ports, plan, state, {
    type: 'process-died',
    step,
    token,
    ...defined({ exit, returned, interrupted }),
    ...decisionInputsOf(ports),
  });
  if (decision.write === undefined) return 'over';
  const result = await carryOut(ports, plan, state, decision, readAt, step);
  return result === 'conflict' ? 'conflict' : 'over';
}
