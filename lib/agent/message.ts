/**
 * The agent: takes a message, claims the step, performs it, reports, and evaluates the execution again.
 *
 * Owns: handling one message, and a claim whose write got no clear answer. Does not own: whether the message
 * is outdated (`decide`), the needs of a claim (`claim-pass.ts`), the attempt (`attempt.ts`) and its report
 * (`reporting.ts`), the queue's acknowledgement (`handler.ts`).
 *
 * S5 if the answer to a claim is ambiguous, the step is read again: its token shows if the claim was written.
 * S9 a message that could not be handled is returned to the queue, and uses up no attempt.
 */

import type { Ports } from '../core/ports.ts';
import { evaluateNext, nothing } from '../core/decisions/decision.ts';
import type { Message } from '../core/decisions/message.ts';
import type { Plan } from '../core/plan/plan.ts';
import { type Snapshot, withWrite } from '../core/records/snapshot.ts';
import { type LeasedStep, isLeased } from '../core/records/state.ts';
import { type PlanCache, planOf } from '../engine/plans.ts';
import { carryOut, continueWith } from '../engine/reconcile.ts';
import { claimOf } from './attempt.ts';
import type { Worker } from './author-code.ts';
import { readForClaim } from './claim-read.ts';
import type { KeptMessage } from './kept-message.ts';
import { commitClaim, decideDelivery, type Pass } from './claim-pass.ts';
import { performAndReport } from './reporting.ts';

/**
 * The number of lost races and ambiguous answers to a claim, after which the message is returned to the
 * queue.
 */
const MAX_CLAIM_LAPS = 5;

/**
 * @param deadline when this process is certainly dead; called after an answer has corrected its clock
 * @returns 'give-back' if the message must be delivered again, to a process with more time
 * @throws the error of a port; the message must then be delivered again
 */
export async function handleMessage(
  ports: Ports,
  plans: PlanCache,
  worker: Worker,
  message: Message,
  deadline: () => number,
  kept?: KeptMessage,
): Promise<'handled' | 'give-back'> {
  // Each claim has a token of its own (S3), so it is recognised in the record if its answer was lost.
  const tokens = new Set<string>();
  let pass: Pass = {};
  let processDeadlineAt: number | undefined;
  let isUnsure = false;
  const leftMs = (): number => deadline() - ports.clock.now();
  const perform = async (plan: Plan, claimed: Snapshot, step: LeasedStep, deadlineAt: number) => {
    kept?.claimed(ports, message);
    const claim = claimOf(plan, claimed, step, deadlineAt);
    if (claim !== undefined) await performAndReport(ports, plans, worker, claim, pass.trial, kept);
  };
  // If the last try lost its answer, read once more: the claim may have been written.
  for (let lap = 0; lap < MAX_CLAIM_LAPS || (lap === MAX_CLAIM_LAPS && isUnsure); lap += 1) {
    const [readAt, readWithMs] = [ports.clock.now(), leftMs()];
    const state = await readForClaim(ports, plans, message, lap === 0, worker.recordsARead);
    if (state === undefined) return noSuch(ports, message);
    const plan = await planOf(ports.store, plans, state.execution.plan);
    const mine = state.steps[message.step];
    // Rounded up: instants are whole milliseconds, and before this one the process may be alive.
    processDeadlineAt ??= Math.ceil(deadline());
    if (isLeased(mine) && tokens.has(mine.token)) {
      // S12 a paused execution's wake time may be far off, so bring it forward to the end of this lease.
      if (state.execution.status === 'paused')
        await carryOut(ports, plan, state, nothing(evaluateNext([mine.name], false)), readAt, mine.name);
      await perform(plan, state, mine, processDeadlineAt);
      return 'handled';
    }
    if (lap === MAX_CLAIM_LAPS) break;
    const token = ports.random.id();
    tokens.add(token);
    // Once the message has a slot of its agent's rate, or the breaker's trial, the remaining time is not
    // checked again.
    const isFree = pass.trial === undefined && pass.slotUntil === undefined;
    const about = isFree ? kept?.about : undefined;
    const delivery = { message, token, processDeadlineAt, readAt, ...about };
    const decided = await decideDelivery(ports, worker, plan, state, delivery, pass);
    const { decision } = decided;
    pass = decided.pass;
    const { next } = decision;
    // For a claim, the part that was read is enough. For anything else the next iteration reads all steps.
    if (state.isReadInPart === true && next.kind !== 'perform') continue;
    if (next.kind === 'give-back') return 'give-back';
    if (next.kind === 'wait') {
      await ports.clock.sleep(next.untilAt - ports.clock.now());
      continue;
    }
    const result = await commitClaim(ports, decision, state.execution, readAt, () => readWithMs - leftMs());
    isUnsure = result === 'unsure';
    if (result !== 'written') continue;
    if (next.kind === 'perform')
      await perform(plan, withWrite(state, decision.write), next.step as LeasedStep, processDeadlineAt);
    else await continueWith(ports, plan, state, decision, readAt);
    return 'handled';
  }
  return 'give-back';
}

function noSuch({ log }: Ports, { execution: executionId }: Message): 'handled' {
  log.note({ what: 'message-dropped', executionId, detail: 'no such execution' });
  return 'handled';
}
