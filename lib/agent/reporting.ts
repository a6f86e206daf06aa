/**
 * Performs an attempt and writes its report once, however often the store's answer is lost, then does what
 * follows.
 *
 * Owns: repeating until the report is written or refused or the process ends, and the handling of an
 * ambiguous answer. Does not own: the content of a report (`attempt.ts`), the consequences for the step
 * (`core/step/report.ts`), the loop of evaluations (`engine/reconcile.ts`).
 *
 * S5 after an ambiguous answer the token, never the answer, shows if the report was written.
 */

import type { Ports } from '../core/ports.ts';
import type { AffectedSteps } from '../core/decisions/decision.ts';
import type { Report } from '../core/decisions/events.ts';
import { defined } from '../core/values/defined.ts';
import { isLeased } from '../core/records/state.ts';
import { adoptsLate } from '../core/step/report.ts';
import { mayStillSucceed } from '../core/step/turn.ts';
import { isTimeOver } from '../core/step/within.ts';
import { commit } from '../engine/commit.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { recordDeath } from '../engine/death.ts';
import { decideWith } from '../engine/large-values.ts';
import type { PlanCache } from '../engine/plans.ts';
import { continueWith, reconcile } from '../engine/reconcile.ts';
import { type Claim, runAttempt } from './attempt.ts';
import type { Worker } from './author-code.ts';
import type { KeptMessage } from './kept-message.ts';
import { notifyBreaker } from './notify-breaker.ts';

/** The first and the longest pause between two tries at the store. */
export const STORE_RETRY_MS = 200;
const MAX_STORE_RETRY_MS = 5_000;

/**
 * Runs the author's code, then reports its outcome.
 * @param kept keeps a message that follows a success whose code has returned
 * @throws as `deliverReport`
 */
export async function performAndReport(
  ports: Ports,
  plans: PlanCache,
  worker: Worker,
  claim: Claim,
  trial: string | undefined,
  kept?: KeptMessage,
): Promise<void> {
  const ran = await runAttempt(ports, worker, claim);
  const { report, work, lost } = ran;
  const notBefore = await notifyBreaker(ports, worker, claim, ran, trial);
  if (notBefore !== undefined) claim.notBefore = notBefore;
  // Code that has not returned occupies this process, and would delay the message. Probe and undo never
  // report 'done'.
  const mayKeep = report.kind === 'done' && report.codeReturned && !lost;
  try {
    await deliverReport(ports, worker, claim, report, mayKeep ? kept : undefined);
  } finally {
    // The author's code may act until `processDeadline`, even if its report could not be written. A process
    // that was given back now would be frozen, and would go on beside its next message, later than that
    // (S10). So it stays busy until the code returns or the platform ends it.
    if (!report.codeReturned) await work;
  }
  if (report.codeReturned && !lost) return;
  const { codeReturned } = await work;
  if (!codeReturned) return;
  // Other attempts wait until the process deadline of an attempt that lost its lease; recording its end
  // shortens that wait (S10).
  const { state, planStep, token } = claim;
  await recordDeath(ports, plans, {
    executionId: state.execution.id,
    step: planStep.name,
    token,
    returned: true,
  });
}

/**
 * Tries until the report is written or refused, or the process's time is over: the work is done, and its
 * report must not be lost.
 */
async function deliverReport(
  ports: Ports,
  worker: Worker,
  claim: Claim,
  report: Report,
  kept: KeptMessage | undefined,
): Promise<void> {
  let onTime = true;
  for (let waitMs = STORE_RETRY_MS; ; waitMs = Math.min(waitMs * 2, MAX_STORE_RETRY_MS)) {
    try {
      if (!onTime && !(await rereadClaim(ports, claim))) return;
      const reported = await reportOnce(ports, claim, report, onTime);
      if (reported === 'nothing') return;
      // Keeps a message only after a report that was written at once: what follows a late one may be
      // outdated.
      const own = onTime ? (kept?.behind(ports, claim.state.execution.id) ?? ports) : ports;
      if (reported !== 'conflict') return await followUp(own, worker, claim, reported.unread);
    } catch (error) {
      if (ports.clock.now() + waitMs >= claim.processDeadlineAt) throw error;
      await ports.clock.sleep(waitMs);
    }
    onTime = false;
  }
}

/**
 * Does what follows a written report. It tries twice; after that a supervisor does it at the wake time, so
 * that this process is not kept busy.
 * @param unread work that needs no read, begun without waiting for the rest
 */
async function followUp(
  ports: Ports,
  { singleFlight }: Worker,
  { plan, planStep, state }: Claim,
  unread: ((own: Ports) => Promise<void>) | undefined,
): Promise<void> {
  const { id } = state.execution;
  const evaluate = (affected: AffectedSteps): Promise<unknown> =>
    reconcile(ports, plan, id, { by: 'agent', affected });
  const affected = [planStep.name];
  const afresh = async (): Promise<unknown> =>
    singleFlight === undefined ? evaluate(affected) : singleFlight.take(id, affected, evaluate);
  try {
    await (unread ?? afresh)(ports);
  } catch {
    await ports.clock.sleep(STORE_RETRY_MS);
    await afresh().catch(() => {
      ports.log.note({ what: 'follow-up-failed', executionId: id, step: planStep.name });
    });
  }
}

/** Writes the report unless it was written before. @returns 'conflict', 'nothing' left to do, or `unread` */
async function reportOnce(
  ports: Ports,
  claim: Claim,
  report: Report,
  onTime: boolean,
): Promise<'conflict' | 'nothing' | { readonly unread?: (own: Ports) => Promise<void> }> {
  const { plan, state, token, planStep } = claim;
  const record = state.steps[planStep.name];
  const released = !onTime && record?.token === token && !isLeased(record);
  if (released && !adoptsLate(record, report, mayStillSucceed(plan, planStep, state))) {
    // The report, or the end of the lease, was written before: only what follows may be missing.
    return {};
  }
  const inputs = decisionInputsOf(ports);
  const { now } = inputs;
  // Pauses do not count as the step's time. An earlier read may have missed a pause.
  const isOver = record?.mode !== 'undo' && isTimeOver(planStep, state, now);
  if (isOver && !isTimeOver(planStep, state, claim.rereadAt ?? 0)) return 'conflict';
  const { decision } = await decideWith(ports, plan, state, {
    type: 'report',
    step: planStep.name,
    token,
    report,
    onTime,
    ...defined({ notBefore: claim.notBefore, away: ports.away?.() }),
    ...inputs,
  });
  if ((await commit(ports, decision, state.execution)) === 'conflict') return 'conflict';
  if (decision.next.kind !== 'evaluate') return 'nothing';
  return decision.next.fresh ? {} : { unread: (own) => continueWith(own, plan, state, decision, now) };
}

async function rereadClaim(ports: Ports, claim: Claim): Promise<boolean> {
  const readAt = ports.clock.now();
  const state = await ports.store.read(claim.state.execution.id);
  if (state === undefined) return false;
  claim.state = state;
  claim.rereadAt = readAt;
  return true;
}
