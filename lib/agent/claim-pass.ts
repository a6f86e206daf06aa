/**
 * Requests all that a claim needs besides the execution: that its agent has no reason to defer it, a slot of
 * the agent's rate, and permission of the breaker.
 *
 * Owns: their order, the decision if one is missing, and the claim's write, whose answer may be lost. Does
 * not own: the slots (`process-rate.ts`), the breaker (`breaker.ts`), the claim (`message.ts`).
 *
 * They are requested only if the step would be claimed, so an outdated message uses up neither slot nor
 * trial. The slot comes first: a trial that had to wait for one would block the breaker for all others.
 */

import { decide } from '../core/decide.ts';
import { type Decision, IDLE, nothing } from '../core/decisions/decision.ts';
import type { EventOf } from '../core/decisions/events.ts';
import type { Message } from '../core/decisions/message.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Ports } from '../core/ports.ts';
import { CLAIM_READ_HOLDS_MS, CLAIM_WRITE_MS } from '../core/records/pauses.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { Execution } from '../core/records/state.ts';
import { defined } from '../core/values/defined.ts';
import { commit } from '../engine/commit.ts';
import { decisionInputsOf } from '../engine/decision-inputs.ts';
import { decideWith } from '../engine/large-values.ts';
import { isStillThere } from '../engine/still-there.ts';
import type { Worker } from './author-code.ts';
import { STORE_RETRY_MS } from './reporting.ts';

/** How much shorter a lease may be for a delay before its write. */
const SOON_MS = 20;

/** What one message has obtained so far, and keeps if its claim loses a race. */
export interface Pass {
  readonly trial?: string;
  /** The time until which the slot of the rate is valid. */
  readonly slotUntil?: number;
}

/** Decides about the message. */
export async function decideDelivery(
  ports: Ports,
  { agent, breaker, rate, deferredBy }: Worker,
  plan: Plan,
  state: Snapshot,
  delivered: Pick<EventOf<'deliver'>, 'message' | 'token' | 'processDeadlineAt' | 'readAt' | 'isKept'>,
  pass: Pass,
): Promise<{ readonly decision: Decision; readonly pass: Pass }> {
  const { message } = delivered;
  const delivery: EventOf<'deliver'> = {
    type: 'deliver',
    agent: agent.spec.name,
    ...delivered,
    ...decisionInputsOf(ports),
  };
  const { decision, state: known } = await decideWith(ports, plan, state, delivery);
  // Once a kept message has its slot and trial, the time left is not checked again.
  const { isKept: _judged, ...again } = delivery;
  const later = (more: Pick<EventOf<'deliver'>, 'notBefore'> = {}): Decision =>
    decide(plan, known, { ...again, ...decisionInputsOf(ports), ...more });
  if (decision.next.kind !== 'perform') return { decision, pass };
  const notBefore = await deferredBy?.(ports, state.execution);
  if (notBefore !== undefined) return { decision: later({ notBefore }), pass };
  let { trial, slotUntil } = pass;
  let giveBack: (() => void) | undefined;
  if (rate !== undefined && (slotUntil === undefined || slotUntil < ports.clock.now())) {
    const hasTurn = state.steps[message.step]?.deferred?.why === 'rate';
    const slot = await rate.slot(ports, hasTurn, state.execution.fairGroup);
    if (slot === 'unread') return { decision: unread(message, 'rate'), pass };
    // If the process was frozen meanwhile, its turn may be over.
    if ('turnAt' in slot)
      return { decision: later(afterTurn(Math.max(slot.turnAt, ports.clock.now()))), pass };
    slotUntil = slot.untilAt;
    ({ giveBack } = slot);
  }
  if (trial === undefined && breaker !== undefined) {
    const passed = await breaker.pass(ports, agent.spec.timeoutMs);
    if (passed === 'unread') return { decision: unread(message, 'pause'), pass };
    if (passed.notBefore !== undefined) {
      giveBack?.();
      return { decision: later({ notBefore: passed.notBefore }), pass: defined({ trial }) };
    }
    trial = passed.trial;
  }
  // A lease counts from just before its write, not from before a wait. Right after the decision there is no
  // difference.
  const now = ports.clock.now();
  // The slot has expired, so ask again: using it would make one call too many in this second.
  if (slotUntil !== undefined && slotUntil < now && trial === undefined)
    return { decision: later(afterTurn(now)), pass: {} };
  const isSoon = now - delivery.now < SOON_MS;
  return { decision: isSoon ? decision : later(), pass: defined({ trial, slotUntil }) };
}

const afterTurn = (at: number): Pick<EventOf<'deliver'>, 'notBefore'> => ({ notBefore: { why: 'rate', at } });

/**
 * The decision if an agent's pause or rate cannot be read. The message is acknowledged, because after five
 * receipts it would be a dead letter; at the wake time another is sent, and no attempt is used up (S9). The
 * execution's deadline limits how long this repeats; for an undo, the day for which it may be deferred.
 */
const unread = ({ execution, step, attempt }: Message, what: 'pause' | 'rate'): Decision =>
  nothing(IDLE, {
    what: 'message-dropped',
    executionId: execution,
    step,
    attempt,
    detail:
      what === 'pause' ? 'whether its agent is paused cannot be read' : "its agent's rate cannot be read",
  });

/**
 * Writes a claim. If the answer is ambiguous, the next read shows whether it was written. A first claim finds
 * no record in its way even if the execution was erased meanwhile. So this is checked before the write, to
 * create no record anew, and after it, so that nothing acts.
 *
 * F1 The execution may have been paused since it was read: a claim decided on an old read is decided again,
 * and one written late is read again.
 * @param readAt when `before` was read
 * @param agoMs how long ago that was, however the clock is set meanwhile
 */
export async function commitClaim(
  ports: Ports,
  decision: Decision,
  before: Execution,
  readAt: number,
  agoMs: () => number,
): Promise<'written' | 'conflict' | 'unsure'> {
  const { next } = decision;
  const isClaim = next.kind === 'perform';
  const begunMs = agoMs();
  if (isClaim && !isWithin(begunMs, CLAIM_READ_HOLDS_MS)) return 'conflict';
  const isGone = async (): Promise<boolean> =>
    isClaim && next.step.version === 1 && !(await isStillThere(ports, before, readAt));
  try {
    if (await isGone()) return 'conflict';
    const result = await commit(ports, decision, before);
    if (result === 'conflict' || (await isGone())) return 'conflict';
    return isClaim && !isWithin(agoMs() - begunMs, CLAIM_WRITE_MS) ? 'unsure' : 'written';
  } catch (error) {
    if (!isClaim) throw error;
    await ports.clock.sleep(STORE_RETRY_MS);
    return 'unsure';
  }
}

/** A step back by more than this means that the clock was set. */
const BACK_MS = 1_000;

const isWithin = (ms: number, mostMs: number): boolean => ms > -BACK_MS && ms <= mostMs;
