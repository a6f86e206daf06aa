/**
 * The agent: takes a message, claims the step, performs it, reports, and carries the execution on.
 *
 * Owns: what happens to one message, and what an ambiguous answer to a claim means. Does not own: whether the
 * message is still true (`decide`), the attempt itself (`attempt.ts`), its report (`report.ts`), the queue's
 * acknowledgement (`handler.ts`).
 *
 * S5 after an ambiguous answer the token decides whether a claim took place, never the answer.
 * S9 a message that could not be handled is given back, and costs no attempt.
 */

import { decide } from '../core/decide.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Ports } from '../core/ports.ts';
import type { Decision } from '../core/decisions/decision.ts';
import type { Event } from '../core/decisions/events.ts';
import type { Message } from '../core/decisions/message.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import { type Execution, type LeasedStep, isLeased } from '../core/records/state.ts';
import { commit, withWrite } from '../engine/commit.ts';
import { type PlanCache, planOf } from '../engine/plans.ts';
import { continueWith } from '../engine/reconcile.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { type Claim, claimOf, runAttempt } from './attempt.ts';
import type { Worker } from './author-code.ts';
import { readForClaim } from './claim-read.ts';
import { unread } from './breaker.ts';
import { notifyBreaker } from './notify-breaker.ts';
import { deliverReport, STORE_RETRY_MS } from './reporting.ts';

/** Lost races and ambiguous answers to a claim before the message is given back. */
const MAX_CLAIM_ROUNDS = 5;
/** A lease may be shorter by so much. */
const SOON_MS = 20;

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
  let trial: string | undefined;
  for (let round = 0; round < MAX_CLAIM_ROUNDS; round += 1) {
    const readAt = ports.clock.now();
    const { state, isPart } = await readForClaim(ports, plans, message, round === 0, worker.recordsARead);
    if (state === undefined) {
      const { execution: executionId } = message;
      ports.log.note({ what: 'message-dropped', executionId, detail: 'no such execution' });
      return 'handled';
    }
    const plan = await planOf(ports.store, plans, state.execution.plan);
    const mine = state.steps[message.step];
    if (isLeased(mine) && tokens.has(mine.token)) {
      const claim = claimOf(plan, state, mine, processDeadlineAt);
      if (claim !== undefined) await performAndReport(ports, worker, claim, trial);
      return 'handled';
    }
    const token = ports.random.id();
    tokens.add(token);
    const delivery: Delivery = {
      type: 'deliver',
      agent: worker.agent.spec.name,
      message,
      token,
      processDeadlineAt,
      readAt,
      ...decisionInputsOf(ports),
    };
    const { decision, ...taken } = await decideDelivery(ports, worker, plan, state, delivery, trial);
    trial = taken.trial;
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
      if (claim !== undefined) await performAndReport(ports, worker, claim, trial);
    } else {
      await continueWith(ports, plan, state, decision, readAt);
    }
    return 'handled';
  }
  return 'give-back';
}

type Delivery = Extract<Event, { readonly type: 'deliver' }>;

/**
 * Decides about the message. Breaker and pauses are read only if the step would be claimed, so an
 * outdated message uses up no trial.
 */
async function decideDelivery(
  ports: Ports,
  { agent, breaker, deferredBy }: Worker,
  plan: Plan,
  state: Snapshot,
  delivery: Delivery,
  trial: string | undefined,
): Promise<{ readonly decision: Decision; readonly trial: string | undefined }> {
  const decision = decide(plan, state, delivery);
  if (decision.next.kind !== 'perform') return { decision, trial };
  const openBreaker = await deferredBy?.(ports, state.execution);
  if (openBreaker !== undefined)
    return { decision: decide(plan, state, { ...delivery, ...decisionInputsOf(ports), openBreaker }), trial };
  if (trial !== undefined || breaker === undefined) return { decision, trial };
  const pass = await breaker.pass(ports, agent.spec.timeoutMs);
  if (pass === 'unread') return { decision: unread(delivery.message), trial };
  // A lease counts from before its write, not from before a pause: what has just been decided still holds.
  const isSoon = ports.clock.now() - delivery.now < SOON_MS;
  if (isSoon && !('openBreaker' in pass)) return { decision, trial: pass.trial };
  const later = { ...delivery, ...decisionInputsOf(ports) };
  if ('openBreaker' in pass)
    return { decision: decide(plan, state, { ...later, openBreaker: pass.openBreaker }), trial };
  return { decision: decide(plan, state, later), trial: pass.trial };
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
