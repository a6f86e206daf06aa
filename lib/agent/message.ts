/**
 * The agent: takes a message, claims the step, performs it, reports, and carries the execution on.
 *
 * Owns: what happens to one message, and what an ambiguous answer to a claim means. Does not own: whether
 * the message is still true (`decide`), what a claim needs (`claim-pass.ts`), the attempt itself
 * (`attempt.ts`), its report (`reporting.ts`), the queue's acknowledgement (`handler.ts`).
 *
 * S5 after an ambiguous answer the token decides whether a claim took place, never the answer. S9 a
 * message that could not be handled is given back, and costs no attempt.
 */

import type { Ports } from '../core/ports.ts';
import type { Decision } from '../core/decisions/decision.ts';
import type { EventOf } from '../core/decisions/events.ts';
import type { Message } from '../core/decisions/message.ts';
import { type Execution, type LeasedStep, isLeased } from '../core/records/state.ts';
import { commit, withWrite } from '../engine/commit.ts';
import { type PlanCache, planOf } from '../engine/plans.ts';
import { continueWith } from '../engine/reconcile.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { type Claim, claimOf, runAttempt } from './attempt.ts';
import type { Worker } from './author-code.ts';
import { readForClaim } from './claim-read.ts';
import { decideDelivery, type Pass } from './claim-pass.ts';
import { notifyBreaker } from './notify-breaker.ts';
import { deliverReport, STORE_RETRY_MS } from './reporting.ts';

/** Lost races and ambiguous answers to a claim before the message is given back. */
const MAX_CLAIM_LAPS = 5;

/**
 * @param processDeadlineAt when this process is dead for certain
 * @returns 'give-back' when the message must be delivered again, to a process with more time
 * @throws as the ports reject; the message must then be delivered again
 */
export async function handleMessage(
  ports: Ports,
  plans: PlanCache,
  worker: Worker,
  message: Message,
  processDeadlineAt: number,
): Promise<'handled' | 'give-back'> {
  // One for each claim (S3); a claim whose answer was lost is recognised by any of them.
  const tokens = new Set<string>();
  let pass: Pass = {};
  for (let lap = 0; lap < MAX_CLAIM_LAPS; lap += 1) {
    const readAt = ports.clock.now();
    const { state, isPart } = await readForClaim(ports, plans, message, lap === 0, worker.recordsARead);
    if (state === undefined) {
      const { execution: executionId } = message;
      ports.log.note({ what: 'message-dropped', executionId, detail: 'no such execution' });
      return 'handled';
    }
    const plan = await planOf(ports.store, plans, state.execution.plan);
    const mine = state.steps[message.step];
    if (isLeased(mine) && tokens.has(mine.token)) {
      const claim = claimOf(plan, state, mine, processDeadlineAt);
      if (claim !== undefined) await performAndReport(ports, worker, claim, pass.trial);
      return 'handled';
    }
    const token = ports.random.id();
    tokens.add(token);
    const delivery: EventOf<'deliver'> = {
      type: 'deliver',
      agent: worker.agent.spec.name,
      message,
      token,
      processDeadlineAt,
      readAt,
      ...decisionInputsOf(ports),
    };
    const decided = await decideDelivery(ports, worker, plan, state, delivery, pass);
    const { decision } = decided;
    pass = decided.pass;
    const { next } = decision;
    if (isPart && next.kind !== 'perform') continue;
    if (next.kind === 'give-back') return 'give-back';
    if (next.kind === 'wait') {
      await ports.clock.sleep(next.untilAt - ports.clock.now());
      continue;
    }
    const result = await commitOrUnsure(ports, decision, state.execution);
    if (result !== 'written') continue;
    if (next.kind === 'perform') {
      const claimed = withWrite(state, decision.write);
      const claim = claimOf(plan, claimed, next.step as LeasedStep, processDeadlineAt);
      if (claim !== undefined) await performAndReport(ports, worker, claim, pass.trial);
    } else {
      await continueWith(ports, plan, state, decision, readAt);
    }
    return 'handled';
  }
  return 'give-back';
}

/** A rejected write may have taken place: the next read shows it. */
async function commitOrUnsure(
  ports: Ports,
  decision: Decision,
  before: Execution,
): Promise<'written' | 'conflict' | 'unsure'> {
  try {
    return await commit(ports, decision, before);
  } catch (error) {
    if (decision.next.kind !== 'perform') throw error;
    await ports.clock.sleep(STORE_RETRY_MS);
    return 'unsure';
  }
}

async function performAndReport(
  ports: Ports,
  worker: Worker,
  claim: Claim,
  trial: string | undefined,
): Promise<void> {
  const ran = await runAttempt(ports, worker, claim);
  const { report, work } = ran;
  const openBreaker = await notifyBreaker(ports, worker, claim, ran, trial);
  if (openBreaker !== undefined) claim.openBreaker = openBreaker;
  await deliverReport(ports, worker, claim, report);
  // Until `processDeadline` the author's code may still act. A process that is given back now would be frozen
  // and go on beside its next message, so it is kept busy until its own return or the platform ends it.
  if (!report.codeReturned) await work;
}
