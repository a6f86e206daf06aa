/**
 * The report of an attempt: written once, however often its answer is lost, and then what follows from it.
 *
 * Owns: the repetitions, until the report is written or refused or the process ends, and what an ambiguous answer to it means.
 * Does not own: what a report says (`attempt.ts`), what becomes of the step (`core/step/report.ts`), the loop of evaluations
 * (`engine/reconcile.ts`).
 *
 * S5 after an ambiguous answer the token decides whether the report took place, never the answer.
 */

import { decide } from '../core/decide.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Ports } from '../core/ports.ts';
import type { AffectedSteps } from '../core/records/decision.ts';
import type { Report } from '../core/records/events.ts';
import { isLeased } from '../core/records/state.ts';
import { adoptsLateSuccess } from '../core/step/lease.ts';
import { commit } from '../engine/commit.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { continueWith, reconcile } from '../engine/reconcile.ts';
import type { Claim } from './attempt.ts';
import type { Worker } from './author-code.ts';

/** The first and the longest pause between two tries at the store. */
export const STORE_RETRY_MS = 200;
const MAX_STORE_RETRY_MS = 5_000;

/** Tries until the report is written, refused, or the process's time is over: the work is done and must not be lost. */
export async function deliverReport(
  ports: Ports,
  worker: Worker,
  claim: Claim,
  report: Report,
): Promise<void> {
  let onTime = true;
  for (let waitMs = STORE_RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_STORE_RETRY_MS)) {
    try {
      if (!onTime && !(await rereadClaim(ports, claim))) return;
      const followUp = await reportOnce(ports, claim, report, onTime);
      if (followUp === 'nothing') return;
      if (followUp !== 'conflict') return await followUpOnceOrTwice(ports, worker, claim, followUp);
    } catch (error) {
      if (ports.clock.now() + waitMs >= claim.processDeadlineAt) throw error;
      await ports.clock.sleep(waitMs);
    }
    onTime = false;
  }
}

/** The report is in the table. What follows is tried again once; then the wake time makes good, not this busy process. */
async function followUpOnceOrTwice(
  ports: Ports,
  worker: Worker,
  { plan, planStep, state }: Claim,
  followUp: FollowUp,
): Promise<void> {
  const { id } = state.execution;
  try {
    await evaluateOnce(ports, worker, plan, id, followUp);
  } catch {
    await ports.clock.sleep(STORE_RETRY_MS);
    await evaluateOnce(ports, worker, plan, id, evaluationOf(ports, plan, id, [planStep.name])).catch(() => {
      ports.log.note({ what: 'follow-up-failed', executionId: id, step: planStep.name });
    });
  }
}

/** The evaluation that follows from a write. */
interface FollowUp {
  readonly affected: AffectedSteps;
  /** Whether it reads first. */
  readonly fresh: boolean;
  readonly evaluate: () => Promise<unknown>;
}

const evaluationOf = (ports: Ports, plan: Plan, executionId: string, affected: AffectedSteps): FollowUp => ({
  affected,
  fresh: true,
  evaluate: () => reconcile(ports, plan, executionId, { by: 'agent', affected }),
});

/** Evaluates once. What needs no read begins at once: it contends for nothing. */
async function evaluateOnce(
  ports: Ports,
  { singleFlight }: Worker,
  plan: Plan,
  executionId: string,
  { affected, fresh, evaluate }: FollowUp,
): Promise<void> {
  const joint = (of: AffectedSteps): Promise<unknown> =>
    evaluationOf(ports, plan, executionId, of).evaluate();
  await (singleFlight === undefined || !fresh
    ? evaluate()
    : singleFlight.take(executionId, affected, evaluate, joint));
}

/** Writes the report, unless it was written before. @returns what follows from it */
async function reportOnce(
  ports: Ports,
  claim: Claim,
  report: Report,
  onTime: boolean,
): Promise<'conflict' | 'nothing' | FollowUp> {
  const { plan, state, token, priorProcessDeadlineAt, planStep } = claim;
  const record = state.steps[planStep.name];
  const released = !onTime && record?.token === token && !isLeased(record);
  if (released && !(report.kind === 'done' && adoptsLateSuccess(record))) {
    // The report, or the end of the lease, was written before: only what follows may be missing.
    return evaluationOf(ports, plan, state.execution.id, [planStep.name]);
  }
  const readAt = ports.clock.now();
  const decision = decide(plan, state, {
    type: 'report',
    step: planStep.name,
    token,
    report,
    priorProcessDeadlineAt,
    onTime,
    ...(claim.openBreaker === undefined ? {} : { openBreaker: claim.openBreaker }),
    ...decisionInputsOf(ports),
  });
  if ((await commit(ports, decision, state.execution)) === 'conflict') return 'conflict';
  if (decision.next.kind !== 'evaluate') return 'nothing';
  const { affected, fresh } = decision.next;
  return { affected, fresh, evaluate: () => continueWith(ports, plan, state, decision, 'agent', readAt) };
}

async function rereadClaim(ports: Ports, claim: Claim): Promise<boolean> {
  const state = await ports.store.read(claim.state.execution.id);
  if (state === undefined) return false;
  claim.state = state;
  return true;
}
